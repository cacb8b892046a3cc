// Options of the losses.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

#include <variant>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct NLLLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  NLLLossOptions() = default;
  /// A weight per class.
  TORCH_ARG(Tensor, weight) = {};
  /// Targets with this value count for nothing.
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
  CrossEntropyLossOptions() = default;
  /// A weight per class.
  TORCH_ARG(Tensor, weight) = {};
  /// Targets with this value count for nothing.
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// How much of the target is spread over all classes.
  TORCH_ARG(double, label_smoothing) = 0.0;
};

namespace functional {
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
