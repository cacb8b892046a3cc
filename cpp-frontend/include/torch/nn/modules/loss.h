// Losses.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/loss.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

class L1LossImpl : public detail::WithOptions<L1LossImpl, L1LossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::L1Loss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::l1_loss(input, target, options); }
};
TORCH_MODULE(L1Loss);

class KLDivLossImpl : public detail::WithOptions<KLDivLossImpl, KLDivLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::KLDivLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::kl_div(input, target, options); }
};
TORCH_MODULE(KLDivLoss);

class MSELossImpl : public detail::WithOptions<MSELossImpl, MSELossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::MSELoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::mse_loss(input, target, options); }
};
TORCH_MODULE(MSELoss);

class BCELossImpl : public detail::WithOptions<BCELossImpl, BCELossOptions> {
 public:
  RLT_LAZY explicit BCELossImpl(BCELossOptions options_ = {}) : WithOptions(std::move(options_)) { BCELossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); }
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::BCELoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) {
    BCELossOptions with(options);
    with.weight(weight);
    return functional::binary_cross_entropy(input, target, with);
  }

  Tensor weight;
};
TORCH_MODULE(BCELoss);

class HingeEmbeddingLossImpl : public detail::WithOptions<HingeEmbeddingLossImpl, HingeEmbeddingLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::HingeEmbeddingLoss(").named("margin", options.margin()).close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::hinge_embedding_loss(input, target, options); }
};
TORCH_MODULE(HingeEmbeddingLoss);

class MultiMarginLossImpl : public detail::WithOptions<MultiMarginLossImpl, MultiMarginLossOptions> {
 public:
  RLT_LAZY explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {}) : WithOptions(std::move(options_)) { MultiMarginLossImpl::reset(); }
  void reset() override {
    if (options.p() != 1 && options.p() != 2) rlt::raise<Error>("only p == 1 and p == 2 supported");
    if (options.weight().defined() && options.weight().dim() != 1) rlt::raise<Error>("weight must be one-dimensional");
    weight = register_buffer("weight", options.weight());
  }
  void pretty_print(std::ostream& stream) const override {
    stream << detail::Words("torch::nn::MultiMarginLoss(").named("p", options.p()).named("margin", options.margin()).add(", weight=").text();
    stream << options.weight();
    detail::Words("").add(", reduction=").add(enumtype::get_enum_name(options.reduction())).close(stream);
  }
  Tensor forward(const Tensor& input, const Tensor& target) {
    MultiMarginLossOptions with(options);
    with.weight(weight);
    return functional::multi_margin_loss(input, target, with);
  }

  Tensor weight;
};
TORCH_MODULE(MultiMarginLoss);

class CosineEmbeddingLossImpl : public detail::WithOptions<CosineEmbeddingLossImpl, CosineEmbeddingLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::CosineEmbeddingLoss(").named("margin", options.margin()).close(stream); }
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target) { return functional::cosine_embedding_loss(input1, input2, target, options); }
};
TORCH_MODULE(CosineEmbeddingLoss);

class SmoothL1LossImpl : public detail::WithOptions<SmoothL1LossImpl, SmoothL1LossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::SmoothL1Loss"; }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::smooth_l1_loss(input, target, options); }
};
TORCH_MODULE(SmoothL1Loss);

class HuberLossImpl : public detail::WithOptions<HuberLossImpl, HuberLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::HuberLoss"; }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::huber_loss(input, target, options); }
};
TORCH_MODULE(HuberLoss);

class MultiLabelMarginLossImpl : public detail::WithOptions<MultiLabelMarginLossImpl, MultiLabelMarginLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::MultiLabelMarginLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::multilabel_margin_loss(input, target, options); }
};
TORCH_MODULE(MultiLabelMarginLoss);

class SoftMarginLossImpl : public detail::WithOptions<SoftMarginLossImpl, SoftMarginLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::SoftMarginLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) { return functional::soft_margin_loss(input, target, options); }
};
TORCH_MODULE(SoftMarginLoss);

class MultiLabelSoftMarginLossImpl : public detail::WithOptions<MultiLabelSoftMarginLossImpl, MultiLabelSoftMarginLossOptions> {
 public:
  RLT_LAZY explicit MultiLabelSoftMarginLossImpl(MultiLabelSoftMarginLossOptions options_ = {}) : WithOptions(std::move(options_)) { MultiLabelSoftMarginLossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); }
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::MultiLabelSoftMarginLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) {
    MultiLabelSoftMarginLossOptions with(options);
    with.weight(weight);
    return functional::multilabel_soft_margin_loss(input, target, with);
  }

  Tensor weight;
};
TORCH_MODULE(MultiLabelSoftMarginLoss);

class TripletMarginLossImpl : public detail::WithOptions<TripletMarginLossImpl, TripletMarginLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::TripletMarginLoss(").named("margin", options.margin()).named("p", options.p()).named("eps", options.eps())
        .named("swap", options.swap()).close(stream); }
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) { return functional::triplet_margin_loss(anchor, positive, negative, options); }
};
TORCH_MODULE(TripletMarginLoss);

class TripletMarginWithDistanceLossImpl : public detail::WithOptions<TripletMarginWithDistanceLossImpl, TripletMarginWithDistanceLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::TripletMarginWithDistanceLoss(").named("margin", options.margin()).named("swap", options.swap()).close(stream); }
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) { return functional::triplet_margin_with_distance_loss(anchor, positive, negative, options); }
};
TORCH_MODULE(TripletMarginWithDistanceLoss);

class CTCLossImpl : public detail::WithOptions<CTCLossImpl, CTCLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::CTCLoss(").close(stream); }
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths) { return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options); }
};
TORCH_MODULE(CTCLoss);

class PoissonNLLLossImpl : public detail::WithOptions<PoissonNLLLossImpl, PoissonNLLLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::PoissonNLLLoss(").close(stream); }
  Tensor forward(const Tensor& log_input, const Tensor& targets) { return functional::poisson_nll_loss(log_input, targets, options); }
};
TORCH_MODULE(PoissonNLLLoss);

class MarginRankingLossImpl : public detail::WithOptions<MarginRankingLossImpl, MarginRankingLossOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::MarginRankingLoss(").close(stream); }
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& targets) { return functional::margin_ranking_loss(input1, input2, targets, options); }
};
TORCH_MODULE(MarginRankingLoss);

/// Negative log likelihood of the target classes, from log probabilities.
class NLLLossImpl : public detail::WithOptions<NLLLossImpl, NLLLossOptions> {
 public:
  RLT_LAZY explicit NLLLossImpl(NLLLossOptions options_ = {}) : WithOptions(std::move(options_)) { NLLLossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); }
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::NLLLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) {
    NLLLossOptions with(options);
    with.weight(weight);
    return functional::nll_loss(input, target, with);
  }

  Tensor weight;
};
TORCH_MODULE(NLLLoss);

/// NLLLoss of the log-softmax of scores.
class CrossEntropyLossImpl : public detail::WithOptions<CrossEntropyLossImpl, CrossEntropyLossOptions> {
 public:
  RLT_LAZY explicit CrossEntropyLossImpl(CrossEntropyLossOptions options_ = {}) : WithOptions(std::move(options_)) { CrossEntropyLossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); }
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::CrossEntropyLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) {
    CrossEntropyLossOptions with(options);
    with.weight(weight);
    return functional::cross_entropy(input, target, with);
  }

  Tensor weight;
};
TORCH_MODULE(CrossEntropyLoss);

class BCEWithLogitsLossImpl : public detail::WithOptions<BCEWithLogitsLossImpl, BCEWithLogitsLossOptions> {
 public:
  RLT_LAZY explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {}) : WithOptions(std::move(options_)) { BCEWithLogitsLossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); pos_weight = register_buffer("pos_weight", options.pos_weight()); }
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::BCEWithLogitsLoss(").close(stream); }
  Tensor forward(const Tensor& input, const Tensor& target) {
    BCEWithLogitsLossOptions with(options);
    with.weight(weight);
    with.pos_weight(pos_weight);
    return functional::binary_cross_entropy_with_logits(input, target, with);
  }

  Tensor weight;
  Tensor pos_weight;
};
TORCH_MODULE(BCEWithLogitsLoss);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
