// Functional form of instance normalization.
#pragma once

#include <torch/nn/options/instancenorm.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// Normalizes each channel of each sample.
inline Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {}) {
  return torch::instance_norm(input, options.weight(), options.bias(), options.running_mean(), options.running_var(), options.use_input_stats(),
                              options.momentum(), options.eps(), /*cudnn_enabled=*/true);
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
