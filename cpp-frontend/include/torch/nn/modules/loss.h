// NLLLoss and CrossEntropyLoss.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Negative log likelihood of the target classes, given log-probabilities.
struct NLLLossImpl : public Cloneable<NLLLossImpl> {
  RLT_LAZY explicit NLLLossImpl(NLLLossOptions options_ = {}) : options(std::move(options_)) { NLLLossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); }
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::NLLLoss()"; }
  Tensor forward(const Tensor& input, const Tensor& target) {
    NLLLossOptions with(options);
    with.weight(weight);
    return functional::nll_loss(input, target, with);
  }

  NLLLossOptions options;
  Tensor weight;
};
TORCH_MODULE(NLLLoss);

/// NLLLoss of the log-softmax of scores.
struct CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
  RLT_LAZY explicit CrossEntropyLossImpl(CrossEntropyLossOptions options_ = {}) : options(std::move(options_)) { CrossEntropyLossImpl::reset(); }
  void reset() override { weight = register_buffer("weight", options.weight()); }
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::CrossEntropyLoss()"; }
  Tensor forward(const Tensor& input, const Tensor& target) {
    CrossEntropyLossOptions with(options);
    with.weight(weight);
    return functional::cross_entropy(input, target, with);
  }

  CrossEntropyLossOptions options;
  Tensor weight;
};
TORCH_MODULE(CrossEntropyLoss);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
