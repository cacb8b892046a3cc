// Options of the normalisations over what is not the batch.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  /// The last dimensions, which are normalised together.
  TORCH_ARG(std::vector<int64_t>, normalized_shape);
  TORCH_ARG(double, eps) = 1e-5;
  /// With weight and bias that are learned.
  TORCH_ARG(bool, elementwise_affine) = true;
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
