// Functional forms of the losses.
#pragma once

#include <torch/nn/options/loss.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// Negative log likelihood of the target classes, given log-probabilities.
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}) {
  return torch::nll_loss_nd(input, target, options.weight(), enumtype::reduction_get_enum(options.reduction()), options.ignore_index());
}

/// nll_loss of the log-softmax of scores.
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}) {
  return torch::cross_entropy_loss(input, target, options.weight(), enumtype::reduction_get_enum(options.reduction()), options.ignore_index(),
                                   options.label_smoothing());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
