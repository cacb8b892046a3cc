// Functional forms of the activations.
#pragma once

#include <torch/nn/functional/multihead_attention.h>
#include <torch/nn/options/activation.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

inline Tensor elu(Tensor input, const ELUFuncOptions& options = {}) {
  return options.inplace() ? torch::elu_(input, options.alpha()) : torch::elu(input, options.alpha());
}
inline Tensor selu(Tensor input, const SELUFuncOptions& options = {}) { return options.inplace() ? torch::selu_(input) : torch::selu(input); }
inline Tensor celu(Tensor input, const CELUFuncOptions& options = {}) {
  return options.inplace() ? torch::celu_(input, options.alpha()) : torch::celu(input, options.alpha());
}
inline Tensor relu(Tensor input, const ReLUFuncOptions& options = {}) { return options.inplace() ? torch::relu_(input) : torch::relu(input); }
inline Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {}) { return options.inplace() ? torch::relu6_(input) : torch::relu6(input); }
inline Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {}) {
  return options.inplace() ? torch::leaky_relu_(input, options.negative_slope()) : torch::leaky_relu(input, options.negative_slope());
}
inline Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {}) {
  if (!options.inplace()) return torch::rrelu(input, options.lower(), options.upper(), options.training());
  return input.copy_(torch::rrelu(input.clone(), options.lower(), options.upper(), options.training()));
}
inline Tensor prelu(const Tensor& input, const Tensor& weight) { return torch::prelu(input, weight); }
inline Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {}) {
  return options.inplace() ? torch::hardtanh_(input, options.min_val(), options.max_val())
                           : torch::hardtanh(input, options.min_val(), options.max_val());
}
inline Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  return options.inplace() ? torch::threshold_(input, options.threshold(), options.value())
                           : torch::threshold(input, options.threshold(), options.value());
}
inline Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {}) { return torch::hardshrink(input, options.lambda()); }
inline Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {}) { return torch::softshrink(input, options.lambda()); }
inline Tensor tanhshrink(const Tensor& input) { return input - input.tanh(); }
inline Tensor softsign(const Tensor& input) { return input / (input.abs() + 1); }
inline Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {}) {
  return torch::softplus(input, options.beta(), options.threshold());
}
inline Tensor logsigmoid(const Tensor& input) { return torch::log_sigmoid(input); }
inline Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {}) { return torch::gelu(input, options.approximate()); }
inline Tensor silu(const Tensor& input) { return torch::silu(input); }
inline Tensor mish(const Tensor& input) { return torch::mish(input); }
/// Gated linear unit: the first half of a dimension times the sigmoid of the second.
inline Tensor glu(const Tensor& input, const GLUFuncOptions& options = {}) {
  if (input.dim() == 0) rlt::raise<Error>("glu does not suppport scalars because halving size must be even");
  return torch::glu(input, options.dim());
}

inline Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) { return torch::softmax(input, options.dim(), options.dtype()); }
inline Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) { return torch::softmax(-input, options.dim(), options.dtype()); }
inline Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return torch::log_softmax(input, options.dim(), options.dtype());
}
/// Samples from the categorical distribution of `logits`, differentiably: softmax of the logits plus Gumbel noise.
inline Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {}) {
  Tensor noise = -torch::empty_like(logits).exponential_().log();
  Tensor soft = torch::softmax((logits + noise) / options.tau(), options.dim());
  if (!options.hard()) return soft;
  Tensor winner = std::get<1>(soft.max(options.dim(), /*keepdim=*/true));
  Tensor one_hot = torch::zeros_like(logits).scatter_(options.dim(), winner, 1.0);
  return one_hot - soft.detach() + soft;
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
