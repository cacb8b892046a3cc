// Functional forms of the linear layers.
#pragma once

#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// input weight^T + bias
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) { return torch::linear(input, weight, bias); }

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
