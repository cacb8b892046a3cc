// Functional forms of layer, local response and group normalization.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/options/normalization.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// input / max(|input|, eps), with the norm along a dimension.
inline Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {}) {
  Tensor divisor = input.norm(options.p(), options.dim(), /*keepdim=*/true).clamp_min(options.eps()).expand_as(input);
  return options.out() ? torch::div_out(*options.out(), input, divisor) : input / divisor;
}

inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return torch::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps());
}

namespace detail {
/// The mean of the squares of `size` neighbouring channels, `before` of them ahead of the channel itself, with zeros at the ends.
inline Tensor mean_square_of_channels(const Tensor& input, int64_t size, int64_t before) {
  Tensor squares = (input * input).reshape({input.size(0), 1, input.size(1), -1});
  squares = torch::constant_pad_nd(squares, {0, 0, before, size - 1 - before});
  return torch::avg_pool2d(squares, {size, 1}, 1).view(input.sizes());
}
}  // namespace detail

/// Divides by a power of the mean square of neighbouring channels.
inline Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options) {
  if (input.dim() < 3) nn::detail::Words("Expected 3D or higher dimensionality input (got ").add(input.dim()).add(" dimensions)").raise();
  Tensor mean = detail::mean_square_of_channels(input, options.size(), options.size() / 2);
  return input / mean.mul(options.alpha()).add(options.k()).pow(options.beta());
}

inline Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return torch::group_norm(input, options.num_groups(), options.weight(), options.bias(), options.eps(), /*cudnn_enabled=*/true);
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
