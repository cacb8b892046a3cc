// at::TensorGeometry: the sizes, strides and offset of a tensor without its memory.
#pragma once

#include <ATen/core/TensorBody.h>

#include <utility>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

/// Whether elements of these sizes and strides follow each other in memory. Dimensions of size 1 may have any stride.
inline bool geometry_is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  TORCH_CHECK(sizes.size() == strides.size(), "geometry_is_contiguous: got ", sizes.size(), " sizes and ", strides.size(), " strides");
  int64_t expected = 1;
  bool contiguous = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    contiguous = contiguous && (sizes[i] == 1 || strides[i] == expected);
    expected *= sizes[i];
  }
  return contiguous;
}

struct TensorGeometry {
  TensorGeometry() = default;
  /// A contiguous tensor of these sizes.
  explicit TensorGeometry(IntArrayRef sizes) : sizes_(sizes.vec()), strides_(sizes.size()) {
    int64_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= sizes[i] > 1 ? sizes[i] : 1;
    }
    recompute();
  }
  explicit TensorGeometry(const TensorBase& tensor)
      : sizes_(tensor.sizes().vec()), strides_(tensor.strides().vec()), storage_offset_(tensor.storage_offset()), numel_(tensor.numel()) {}
  explicit TensorGeometry(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t storage_offset)
      : sizes_(std::move(sizes)), strides_(std::move(strides)), storage_offset_(storage_offset) {
    TORCH_CHECK(sizes_.size() == strides_.size(), "TensorGeometry: got ", sizes_.size(), " sizes and ", strides_.size(), " strides");
    recompute();
  }

  bool is_contiguous() const { return numel_ == 0 || geometry_is_contiguous(sizes_, strides_); }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t size(int64_t dim) const { return sizes_.at(wrap(dim)); }
  IntArrayRef sizes() const { return sizes_; }
  int64_t stride(int64_t dim) const { return strides_.at(wrap(dim)); }
  IntArrayRef strides() const { return strides_; }
  int64_t storage_offset() const { return storage_offset_; }
  int64_t numel() const { return numel_; }
  SymInt sym_size(int64_t dim) const { return size(dim); }
  SymIntArrayRef sym_sizes() const { return c10::fromIntArrayRefUnchecked(sizes_); }
  SymInt sym_stride(int64_t dim) const { return stride(dim); }
  SymIntArrayRef sym_strides() const { return c10::fromIntArrayRefUnchecked(strides_); }
  SymInt sym_storage_offset() const { return storage_offset_; }
  SymInt sym_numel() const { return numel_; }
  bool has_symbolic_sizes_strides() const { return false; }

  TensorGeometry transpose(int64_t dim0, int64_t dim1) const {
    TensorGeometry result = *this;
    std::swap(result.sizes_.at(wrap(dim0)), result.sizes_.at(wrap(dim1)));
    std::swap(result.strides_.at(wrap(dim0)), result.strides_.at(wrap(dim1)));
    return result;
  }
  std::vector<int64_t>& mutable_sizes() { return sizes_; }
  std::vector<int64_t>& mutable_strides() { return strides_; }
  int64_t& mutable_storage_offset() { return storage_offset_; }
  /// Call it after a change of `mutable_sizes()`.
  void recompute() {
    numel_ = 1;
    for (int64_t size : sizes_) numel_ *= size;
  }

  friend bool operator==(const TensorGeometry& a, const TensorGeometry& b) {
    return a.sizes_ == b.sizes_ && a.strides_ == b.strides_ && a.storage_offset_ == b.storage_offset_ && a.numel_ == b.numel_;
  }
  friend bool operator!=(const TensorGeometry& a, const TensorGeometry& b) { return !(a == b); }

 private:
  size_t wrap(int64_t dim) const {
    int64_t count = this->dim() > 0 ? this->dim() : 1;
    TORCH_CHECK_INDEX(dim >= -count && dim < count, "Dimension out of range (expected to be in range of [", -count, ", ", count - 1, "], but got ", dim, ")");
    return static_cast<size_t>(dim < 0 ? dim + count : dim);
  }

  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  int64_t storage_offset_ = 0;
  int64_t numel_ = 0;
};

RLT_NAMESPACE_END
}  // namespace at
