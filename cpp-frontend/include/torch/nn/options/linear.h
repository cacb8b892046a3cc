// Options of the linear layers.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features) : in_features_(in_features), out_features_(out_features) {}
  /// Size of each input sample.
  TORCH_ARG(int64_t, in_features);
  /// Size of each output sample.
  TORCH_ARG(int64_t, out_features);
  /// With a bias that is learned.
  TORCH_ARG(bool, bias) = true;
};

struct FlattenOptions {
  TORCH_ARG(int64_t, start_dim) = 1;
  TORCH_ARG(int64_t, end_dim) = -1;
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
