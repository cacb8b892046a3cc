// Functional forms of the losses.
#pragma once

#include <torch/nn/detail/words.h>
#include <torch/nn/functional/distance.h>
#include <torch/nn/options/loss.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

namespace detail {
inline Tensor reduced(const Tensor& losses, const nn::detail::reduction_t& reduction) {
  return reduction.index() == 0 ? losses : reduction.index() == 1 ? losses.mean() : losses.sum();
}
/// Broadcasts input and target to one shape; warns if they differ.
inline std::vector<Tensor> broadcast_to_target(const Tensor& input, const Tensor& target) {
  if (!target.sizes().equals(input.sizes())) {
    c10::warn(c10::Warning(nn::detail::Words("Using a target size (").add(target.sizes()).add(") that is different to the input size (").add(input.sizes())
                               .add("). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.").text(),
                           RLT_SOURCE_LOCATION));
  }
  return torch::broadcast_tensors({input, target});
}
}  // namespace detail

inline Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {}) {
  return torch::l1_loss(input, target, enumtype::reduction_get_enum(options.reduction()));
}

/// The Kullback-Leibler divergence of `target` from `input`, which holds log-probabilities.
inline Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {}) {
  bool per_sample = options.reduction().index() == 1;
  if (options.reduction().index() == 3) {
    TORCH_WARN(
        "reduction: 'mean' divides the total loss by both the batch size and the support size."
        "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
        "'mean' will be changed to behave the same as 'batchmean' in the next major release.");
  }
  int64_t reduction = per_sample ? at::Reduction::Sum : enumtype::reduction_get_enum(options.reduction());
  Tensor result = torch::kl_div(input, target, reduction, options.log_target());
  return per_sample && input.dim() != 0 ? result / input.size(0) : result;
}

inline Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {}) {
  std::vector<Tensor> both = detail::broadcast_to_target(input, target);
  return torch::mse_loss(both[0], both[1], enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options = {}) {
  if (!target.sizes().equals(input.sizes())) {
    nn::detail::Words("Using a target size (").add(target.sizes()).add(") that is different to the input size (").add(input.sizes())
        .add(") is deprecated. Please ensure they have the same size.").raise();
  }
  Tensor weight = options.weight();
  if (weight.defined()) weight = torch::broadcast_tensors({weight, target})[0];
  return torch::binary_cross_entropy(input, target, weight, enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsFuncOptions& options = {}) {
  if (!target.sizes().equals(input.sizes())) {
    nn::detail::Words("Target size (").add(target.sizes()).add(") must be the same as input size (").add(input.sizes()).add(")").raise();
  }
  return torch::binary_cross_entropy_with_logits(input, target, options.weight(), options.pos_weight(), enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options = {}) {
  return torch::hinge_embedding_loss(input, target, options.margin(), enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options = {}) {
  if (options.p() != 1 && options.p() != 2) rlt::raise<Error>("only p == 1 and p == 2 supported");
  if (options.weight().defined() && options.weight().dim() != 1) rlt::raise<Error>("weight must be one-dimensional");
  return torch::multi_margin_loss(input, target, options.p(), options.margin(), options.weight(), enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, const CosineEmbeddingLossFuncOptions& options = {}) {
  return torch::cosine_embedding_loss(input1, input2, target, options.margin(), enumtype::reduction_get_enum(options.reduction()));
}

namespace detail {
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const nn::detail::reduction_t& reduction, double beta) {
  std::vector<Tensor> both = broadcast_to_target(input, target);
  return torch::smooth_l1_loss(both[0], both[1], enumtype::reduction_get_enum(reduction), beta);
}
}  // namespace detail

inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {}) {
  return detail::smooth_l1_loss(input, target, options.reduction(), options.beta().value_or(1.0));
}
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, double beta) {
  if (options.beta()) nn::detail::Words("expected beta not to be provided in 'options', but got ").add(*options.beta()).raise();
  return detail::smooth_l1_loss(input, target, options.reduction(), beta);
}

inline Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {}) {
  std::vector<Tensor> both = detail::broadcast_to_target(input, target);
  return torch::huber_loss(both[0], both[1], enumtype::reduction_get_enum(options.reduction()), options.delta());
}

inline Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& options = {}) {
  return torch::multilabel_margin_loss(input, target, enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options = {}) {
  return torch::soft_margin_loss(input, target, enumtype::reduction_get_enum(options.reduction()));
}

/// Binary cross entropy of each class, with logits, as a mean over classes.
inline Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& options = {}) {
  Tensor losses = -(target * torch::log_sigmoid(input) + (1 - target) * torch::log_sigmoid(-input));
  if (options.weight().defined()) losses = losses * options.weight();
  losses = losses.sum(-1) / input.size(-1);
  return detail::reduced(losses, options.reduction());
}

inline Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, const TripletMarginLossFuncOptions& options = {}) {
  return torch::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(), options.eps(), options.swap(),
                                    enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                                const TripletMarginWithDistanceLossFuncOptions& options = {}) {
  auto distance = [&](const Tensor& a, const Tensor& b) { return options.distance_function() ? (*options.distance_function())(a, b) : torch::pairwise_distance(a, b); };
  Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = torch::min(far, distance(positive, negative));
  return detail::reduced(torch::clamp_min(near - far + options.margin(), 0), options.reduction());
}

/// Connectionist temporal classification: the negative log-likelihood of the targets over all alignments.
inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                       const CTCLossFuncOptions& options = {}) {
  return torch::ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(), enumtype::reduction_get_enum(options.reduction()),
                         options.zero_infinity());
}

inline Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options = {}) {
  return torch::poisson_nll_loss(input, target, options.log_input(), options.full(), options.eps(), enumtype::reduction_get_enum(options.reduction()));
}

inline Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, const MarginRankingLossFuncOptions& options = {}) {
  if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
    nn::detail::Words("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: ").add(input1.sizes()).add(", input2: ")
        .add(input2.sizes()).add(", target: ").add(target.sizes()).raise();
  }
  return torch::margin_ranking_loss(input1, input2, target, options.margin(), enumtype::reduction_get_enum(options.reduction()));
}

/// Negative log likelihood of the target classes, from log probabilities.
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}) {
  if (input.dim() < 2) nn::detail::Words("Expected 2 or more dimensions (got ").add(input.dim()).add(")").raise();
  if (target.dim() == 0 || input.size(0) != target.size(0)) {
    nn::detail::Words("Expected input batch_size (").add(input.size(0)).add(") to match target batch_size (").add(target.dim() ? target.size(0) : int64_t(0))
        .add(").").raise();
  }
  return torch::nll_loss_nd(input, target, options.weight(), enumtype::reduction_get_enum(options.reduction()), options.ignore_index());
}

/// nll_loss of the log-softmax of scores.
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}) {
  return torch::cross_entropy_loss(input, target, options.weight(), enumtype::reduction_get_enum(options.reduction()), options.ignore_index(),
                                   options.label_smoothing());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
