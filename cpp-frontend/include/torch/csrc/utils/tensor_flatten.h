// Flattens many tensors into one, and back: used to copy or send many small tensors at once.
#pragma once

#include <ATen/ATen.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace utils {

/// All elements, one tensor after the other, as one tensor of one dimension.
inline at::Tensor flatten_dense_tensors(at::TensorList tensors) {
  std::vector<at::Tensor> flat;
  flat.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.contiguous().view({-1}));
  return flat.size() == 1 ? flat[0] : at::cat(flat);
}

/// The inverse: views of `flat` with the sizes of `tensors`. An empty tensor gets its own memory, so that no two
/// results share theirs.
inline std::vector<at::Tensor> unflatten_dense_tensors(const at::Tensor& flat, at::TensorList tensors) {
  std::vector<at::Tensor> results;
  results.reserve(tensors.size());
  int64_t offset = 0;
  for (const at::Tensor& tensor : tensors) {
    int64_t count = tensor.numel();
    results.push_back(count == 0 ? at::empty(tensor.sizes(), flat.options()) : flat.narrow(0, offset, count).view(tensor.sizes()));
    offset += count;
  }
  return results;
}

}  // namespace utils
RLT_NAMESPACE_END
}  // namespace torch
