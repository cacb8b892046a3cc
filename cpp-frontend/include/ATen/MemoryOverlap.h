// Whether elements of tensors share memory, for in-place and out= functions outside of the library.
#pragma once

#include <ATen/core/TensorBody.h>

#include <algorithm>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

/// TooHard: a cheap test does not decide it.
enum class MemOverlap { No, Yes, TooHard };
enum class MemOverlapStatus { Full, Partial, No, TooHard };

/// Whether two indices of one tensor are the same memory.
inline MemOverlap has_internal_overlap(const TensorBase& tensor) {
  if (tensor.layout() != kStrided) return MemOverlap::No;
  if (tensor.is_non_overlapping_and_dense()) return MemOverlap::No;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) > 1 && tensor.stride(dim) == 0) return MemOverlap::Yes;
  }
  return MemOverlap::TooHard;
}
inline void assert_no_internal_overlap(const TensorBase& tensor) {
  TORCH_CHECK(has_internal_overlap(tensor) != MemOverlap::Yes,
              "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before "
              "performing the operation.");
}

/// Whether two tensors are the same memory, or share a part of it.
inline MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b) {
  if (a.handle() == b.handle()) return MemOverlapStatus::Full;
  if (a.numel() == 0 || b.numel() == 0) return MemOverlapStatus::No;
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) return MemOverlapStatus::TooHard;
  if (!a.storage().is_alias_of(b.storage())) return MemOverlapStatus::No;
  const auto* first = static_cast<const char*>(a.const_data_ptr());
  const auto* second = static_cast<const char*>(b.const_data_ptr());
  auto first_size = static_cast<int64_t>(a.nbytes()), second_size = static_cast<int64_t>(b.nbytes());
  if (first == second && first_size == second_size) return a.strides().equals(b.strides()) ? MemOverlapStatus::Full : MemOverlapStatus::Partial;
  return first < second + second_size && second < first + first_size ? MemOverlapStatus::Partial : MemOverlapStatus::No;
}
inline void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b) {
  TORCH_CHECK(get_overlap_status(a, b) != MemOverlapStatus::Partial,
              "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor "
              "before performing the operation.");
}
inline void assert_no_overlap(const TensorBase& a, const TensorBase& b) {
  MemOverlapStatus status = get_overlap_status(a, b);
  TORCH_CHECK(status != MemOverlapStatus::Partial && status != MemOverlapStatus::Full,
              "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor "
              "before performing the operation.");
}

RLT_NAMESPACE_END
}  // namespace at
