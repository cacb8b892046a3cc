// Options of the losses.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>
#include <functional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// Reduction of the element losses. Most losses have this option.
using reduction_t = enumtype::OneOf<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
}  // namespace detail

struct L1LossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(L1LossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct KLDivLossOptions {
  using reduction_t = enumtype::OneOf<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  TORCH_OPTIONS_CTOR_VARIANT_ARG4(KLDivLossOptions, reduction, kNone, kBatchMean, kSum, kMean)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Whether the target also holds log probabilities.
  TORCH_ARG(bool, log_target) = false;
};

struct MSELossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MSELossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct BCELossOptions {
  using reduction_t = detail::reduction_t;
  /// A weight per element.
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct HingeEmbeddingLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiMarginLossOptions {
  using reduction_t = detail::reduction_t;
  /// The power of the margins, 1 or 2.
  TORCH_ARG(int64_t, p) = 1;
  TORCH_ARG(double, margin) = 1.0;
  /// A weight per class.
  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CosineEmbeddingLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_ARG(double, margin) = 0.0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiLabelMarginLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(MultiLabelMarginLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct SoftMarginLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SoftMarginLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiLabelSoftMarginLossOptions {
  using reduction_t = detail::reduction_t;
  /// A weight per class.
  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TripletMarginLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_ARG(double, margin) = 1.0;
  /// The degree of the norm.
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  /// Uses the distance between positive and negative if it is smaller.
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TripletMarginWithDistanceLossOptions {
  using reduction_t = detail::reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// pairwise_distance by default.
  TORCH_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CTCLossOptions {
  using reduction_t = detail::reduction_t;
  /// The blank label.
  TORCH_ARG(int64_t, blank) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Replaces infinite losses and their gradients by zero.
  TORCH_ARG(bool, zero_infinity) = false;
};

struct SmoothL1LossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(SmoothL1LossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Threshold between the quadratic and the linear part; 1 by default.
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
};

struct HuberLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(HuberLossOptions, reduction, kNone, kMean, kSum)
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Threshold between the quadratic and the linear part.
  TORCH_ARG(double, delta) = 1.0;
};

struct PoissonNLLLossOptions {
  using reduction_t = detail::reduction_t;
  /// Whether the input is a logarithm.
  TORCH_ARG(bool, log_input) = true;
  /// Adds the Stirling approximation.
  TORCH_ARG(bool, full) = false;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MarginRankingLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_ARG(double, margin) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct NLLLossOptions {
  using reduction_t = detail::reduction_t;
  /// A weight per class.
  TORCH_ARG(Tensor, weight) = {};
  /// Targets with this value are ignored.
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// Fraction of the target that is distributed over all classes.
  TORCH_ARG(double, label_smoothing) = 0.0;
};

struct BCEWithLogitsLossOptions {
  using reduction_t = detail::reduction_t;
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  /// A weight of positive targets per class.
  TORCH_ARG(Tensor, pos_weight) = {};
};

namespace functional {
using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
