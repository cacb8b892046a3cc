// Nested tensors: parts of a buffer, rows of a padded tensor, and gradients. The parts are copies.
#pragma once

#include <ATen/NamedFunctions.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/out_forms.h>
#include <ATen/internal_functions/integers.h>

namespace at {
RLT_NAMESPACE_BEGIN

/// The strides of contiguous tensors with the sizes of each row, and where each begins if they follow each other.
RLT_LAZY std::tuple<Tensor, Tensor> _nested_compute_contiguous_strides_offsets(const Tensor& nested_size) {
  TORCH_CHECK(nested_size.dim() == 2 && nested_size.scalar_type() == kLong, "_nested_compute_contiguous_strides_offsets: expected a matrix of int64 sizes");
  Tensor counts = nested_size.flip({1}).cumprod(1).flip({1}), ones = at::ones({nested_size.size(0), 1}, nested_size.options());
  Tensor strides = nested_size.size(1) == 0 ? nested_size.clone() : at::cat({counts.slice(1, 1), ones}, 1);
  Tensor numbers = nested_size.prod(1);
  return {strides, numbers.cumsum(0) - numbers};
}
/// The tensors of `self`, a vector, with the sizes, strides and offsets of each row.
RLT_LAZY Tensor _nested_view_from_buffer(const Tensor& self, const Tensor& nested_size, const Tensor& nested_strides, const Tensor& offsets) {
  TORCH_CHECK(self.dim() == 1, "_nested_view_from_buffer: Expected a flat buffer, but got ", self.dim(), " dimensions");
  TORCH_CHECK(nested_size.dim() == 2 && nested_size.sizes() == nested_strides.sizes() && offsets.sizes() == IntArrayRef({nested_size.size(0)}),
              "_nested_view_from_buffer: expected sizes and strides of each tensor and its offset, but got shapes ", nested_size.sizes(), ", ",
              nested_strides.sizes(), " and ", offsets.sizes());
  std::vector<int64_t> starts = rlt::integers(offsets);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < nested_size.size(0); ++i) {
    std::vector<int64_t> sizes = rlt::integers(nested_size[i]), strides = rlt::integers(nested_strides[i]);
    parts.push_back(self.as_strided(sizes, strides, self.storage_offset() + starts[static_cast<size_t>(i)]));
  }
  return at::_nested_tensor_from_tensor_list(parts);
}
RLT_LAZY Tensor _nested_view_from_buffer_copy(const Tensor& self, const Tensor& nested_size, const Tensor& nested_strides, const Tensor& offsets) {
  return at::_nested_view_from_buffer(self, nested_size, nested_strides, offsets);
}
/// The beginning of each tensor of a batch, with the sizes of each row; with `fuse_transform_0213` after dimensions 1 and 2 were exchanged
/// and the last two joined.
RLT_LAZY Tensor _nested_from_padded(const Tensor& padded, const Tensor& cpu_nested_shape_example, bool fuse_transform_0213 = false) {
  TORCH_CHECK(!fuse_transform_0213 || padded.dim() == 4, "_nested_from_padded: expected 4 dimensions with fuse_transform_0213, but got ", padded.dim());
  Tensor batch = fuse_transform_0213 ? padded.permute({0, 2, 1, 3}).flatten(2, 3) : padded;
  TORCH_CHECK(cpu_nested_shape_example.dim() == 2 && batch.dim() == cpu_nested_shape_example.size(1) + 1 && batch.size(0) == cpu_nested_shape_example.size(0),
              "_nested_from_padded: expected the sizes of each tensor of the batch, but got shapes ", padded.sizes(), " and ", cpu_nested_shape_example.sizes());
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < batch.size(0); ++i) {
    Tensor part = batch[i];
    std::vector<int64_t> sizes = rlt::integers(cpu_nested_shape_example[i]);
    for (size_t dim = 0; dim < sizes.size(); ++dim) part = part.narrow(static_cast<int64_t>(dim), 0, sizes[dim]);
    parts.push_back(part);
  }
  return at::_nested_tensor_from_tensor_list(parts);
}
RLT_LAZY Tensor _nested_from_padded_and_nested_example(const Tensor& padded, const Tensor& nt_example) {
  return at::_nested_from_padded(padded, at::_nested_tensor_size(nt_example));
}
/// The gradient of one tensor, and zeros for the others.
RLT_LAZY Tensor _nested_select_backward(const Tensor& grad_output, const Tensor& self, int64_t dim, int64_t index) {
  TORCH_CHECK(dim == 0, "_nested_select_backward: only dimension 0 is supported, got ", dim);
  std::vector<Tensor> parts;
  for (const Tensor& part : self.unbind(0)) parts.push_back(at::zeros_like(part));
  auto count = static_cast<int64_t>(parts.size());
  TORCH_CHECK_INDEX(index >= -count && index < count, "_nested_select_backward: index ", index, " is out of range for ", count, " tensors");
  parts[static_cast<size_t>(index < 0 ? index + count : index)].copy_(grad_output);
  return at::_nested_tensor_from_tensor_list(parts);
}
/// The gradient of a sum over the last dimension.
RLT_LAZY Tensor _nested_sum_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim, bool keepdim = false) {
  TORCH_CHECK(dim && dim->size() == 1 && ((*dim)[0] == -1 || (*dim)[0] == self.dim() - 1), "_nested_sum_backward: only the last dimension is supported");
  std::vector<Tensor> parts, grads = grad.unbind(0), inputs = self.unbind(0);
  TORCH_CHECK(grads.size() == inputs.size(), "_nested_sum_backward: expected gradients of ", inputs.size(), " tensors, but got ", grads.size());
  for (size_t i = 0; i < grads.size(); ++i) parts.push_back((keepdim ? grads[i] : grads[i].unsqueeze(-1)).expand(inputs[i].sizes()));
  return at::_nested_tensor_from_tensor_list(parts);
}

// Out forms replace the tensors of the output.
#define RLT_NESTED_OUT(name)                                                                  \
  template <class... Args>                                                                    \
  Tensor& name##_out(Tensor& out, const Args&... args) {                                      \
    out = at::name(args...);                                                                  \
    return out;                                                                               \
  }
RLT_NESTED_OUT(_nested_from_padded)
RLT_NESTED_OUT(_nested_from_padded_and_nested_example)
RLT_NESTED_OUT(_nested_view_from_buffer_copy)
#undef RLT_NESTED_OUT

RLT_NAMESPACE_END
}  // namespace at
