// Options of AdaptiveLogSoftmaxWithLoss.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, n_classes);
  /// The boundaries between clusters of classes, from frequent to rare ones.
  TORCH_ARG(std::vector<int64_t>, cutoffs);
  /// Each cluster is projected to fewer features than the previous one, by this factor.
  TORCH_ARG(double, div_value) = 4.;
  TORCH_ARG(bool, head_bias) = false;
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
