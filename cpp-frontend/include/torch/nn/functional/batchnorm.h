// Functional form of batch normalization.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/options/batchnorm.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// Normalizes each channel by the statistics of the batch, or by the running statistics.
inline Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const BatchNormFuncOptions& options = {}) {
  IntArrayRef sizes = input.sizes();
  if (sizes.size() < 2) nn::detail::Words("Expected at least 2 input dimensions, but got ").add(input.dim()).raise();
  if (options.training()) {
    int64_t values = sizes[0];
    for (size_t i = 2; i < sizes.size(); ++i) values *= sizes[i];
    if (values == 1) nn::detail::Words("Expected more than 1 value per channel when training, got input size ").add(sizes).raise();
  }
  return torch::batch_norm(input, options.weight(), options.bias(), running_mean, running_var, options.training(), options.momentum(), options.eps(),
                           /*cudnn_enabled=*/true);
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
