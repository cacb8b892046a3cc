// Functional forms of the linear layers.
#pragma once

#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// input weight^T + bias
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) { return torch::linear(input, weight, bias); }
/// input1^T weight[k] input2 + bias[k], for each k
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = Tensor()) {
  return torch::bilinear(input1, input2, weight, bias);
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
