// Functional forms of the activations.
#pragma once

#include <torch/nn/options/activation.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

inline Tensor relu(Tensor input, const ReLUFuncOptions& options = {}) { return options.inplace() ? torch::relu_(input) : torch::relu(input); }

inline Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) { return torch::softmax(input, options.dim(), options.dtype()); }

inline Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) { return torch::log_softmax(input, options.dim(), options.dtype()); }

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
