// Options of the distances.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct CosineSimilarityOptions {
  /// The dimension of the vectors.
  TORCH_ARG(int64_t, dim) = 1;
  /// The smallest divisor.
  TORCH_ARG(double, eps) = 1e-8;
};

struct PairwiseDistanceOptions {
  /// The degree of the norm.
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, keepdim) = false;
};

namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
