// Sliding windows of images as columns, and the reverse.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/options/fold.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// Sums columns into the windows from which they were extracted.
inline Tensor fold(const Tensor& input, const FoldFuncOptions& options) {
  if (input.dim() != 2 && input.dim() != 3) {
    nn::detail::Words("Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ").add(input.dim()).add("D)").raise();
  }
  return torch::col2im(input, options.output_size(), options.kernel_size(), options.dilation(), options.padding(), options.stride());
}
inline Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options) {
  if (input.dim() != 4) nn::detail::Words("Input Error: Only 4D input Tensors are supported (got ").add(input.dim()).add("D)").raise();
  return torch::im2col(input, options.kernel_size(), options.dilation(), options.padding(), options.stride());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
