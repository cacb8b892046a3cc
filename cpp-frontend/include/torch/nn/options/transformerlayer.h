// Options of the layers of a Transformer.
#pragma once

#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/types.h>

#include <functional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// What stands between the two linear layers: ReLU, GELU or a function.
using activation_t = std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  /// Features of input and output.
  TORCH_ARG(int64_t, d_model);
  /// Heads of the attention.
  TORCH_ARG(int64_t, nhead);
  /// Features between the two linear layers.
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(activation_t, activation) = torch::kReLU;
};

struct TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TORCH_ARG(int64_t, d_model);
  TORCH_ARG(int64_t, nhead);
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(activation_t, activation) = torch::kReLU;
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
