// Functional forms of dropout.
#pragma once

#include <torch/nn/options/dropout.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

namespace detail {
inline void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) rlt::raise<Error>("dropout probability has to be between 0 and 1, but got " + rlt::text_of(p));
}
/// An input without a batch dimension is a batch of one.
inline Tensor dropout_channels(Tensor input, int64_t batched_dim, const DropoutFuncOptions& options) {
  check_probability(options.p());
  Tensor result = input.dim() == batched_dim ? torch::feature_dropout(input, options.p(), options.training())
                                             : torch::feature_dropout(input.unsqueeze(0), options.p(), options.training()).squeeze(0);
  return options.inplace() ? input.copy_(result) : result;
}
inline Tensor alpha_dropout(Tensor input, double p, bool training, bool inplace) {
  check_probability(p);
  Tensor result = torch::alpha_dropout(input, p, training);
  return inplace ? input.copy_(result) : result;
}
inline Tensor feature_alpha_dropout(Tensor input, double p, bool training, bool inplace) {
  check_probability(p);
  Tensor result = torch::feature_alpha_dropout(input, p, training);
  return inplace ? input.copy_(result) : result;
}
}  // namespace detail

inline Tensor dropout(Tensor input, const DropoutFuncOptions& options = {}) {
  detail::check_probability(options.p());
  return options.inplace() ? torch::dropout_(input, options.p(), options.training()) : torch::dropout(input, options.p(), options.training());
}
/// Zeroes whole channels of images.
inline Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {}) { return detail::dropout_channels(std::move(input), 4, options); }
/// Zeroes whole channels of volumes.
inline Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {}) { return detail::dropout_channels(std::move(input), 5, options); }
/// Alpha dropout: preserves the mean and variance of SELU's output.
inline Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {}) {
  return detail::alpha_dropout(std::move(input), options.p(), options.training(), options.inplace());
}
inline Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {}) {
  return detail::feature_alpha_dropout(std::move(input), options.p(), options.training(), options.inplace());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
