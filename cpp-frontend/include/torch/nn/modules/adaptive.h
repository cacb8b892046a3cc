// AdaptiveLogSoftmaxWithLoss: a softmax over many classes, the rare ones of which are computed in two steps (Grave et
// al. 2017).
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/options/adaptive.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// The log-probability of each target, and the mean loss.
struct ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;
  double loss;
};

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class AdaptiveLogSoftmaxWithLossBase : public Cloneable<Derived> {
 public:
  explicit AdaptiveLogSoftmaxWithLossBase(AdaptiveLogSoftmaxWithLossOptions options_) : options(std::move(options_)) { AdaptiveLogSoftmaxWithLossBase::reset(); }

  void reset() override { make(); }
  void reset_parameters() {
    head->reset_parameters();
    for (int64_t i = 0; i < n_clusters; ++i) {
      for (const auto& layer : cluster(i)->children()) layer->template as<Linear>()->reset_parameters();
    }
  }
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::AdaptiveLogSoftmaxWithLoss"; }

  ASMoutput forward(const Tensor& input, const Tensor& target) { return losses(input, target); }
  /// The log probabilities of all classes, from the scores of the head.
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output) {
    Tensor head_log_prob = torch::log_softmax(head_output, 1);
    std::vector<Tensor> parts = {head_log_prob.slice(1, 0, shortlist_size)};
    for (int64_t i = 0; i < n_clusters; ++i) {
      parts.push_back(torch::log_softmax(cluster(i)->forward(input), 1) + head_log_prob.select(1, shortlist_size + i).unsqueeze(1));
    }
    return torch::cat(parts, 1);
  }
  /// The log-probabilities of all classes.
  Tensor log_prob(const Tensor& input) { return _get_full_log_prob(input, head->forward(input)); }
  /// The most probable classes.
  Tensor predict(const Tensor& input) {
    Tensor head_output = head->forward(input);
    Tensor output = torch::argmax(head_output, 1);
    Tensor rare = output >= shortlist_size;
    if (!rare.any().template item<bool>()) return output;
    if (rare.all().template item<bool>()) return torch::argmax(_get_full_log_prob(input, head_output), 1);
    Tensor rows = rare.nonzero().squeeze(1);
    Tensor full = _get_full_log_prob(input.index_select(0, rows), head_output.index_select(0, rows));
    return output.index_copy_(0, rows, torch::argmax(full, 1));
  }

  AdaptiveLogSoftmaxWithLossOptions options;
  /// The cutoffs of the options, and the number of classes.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0;
  int64_t n_clusters = 0;
  int64_t head_size = 0;
  Linear head = nullptr;
  ModuleList tail;

 private:
  SequentialImpl* cluster(int64_t index) const { return (*tail.ptr())[static_cast<size_t>(index)]->template as<SequentialImpl>(); }

  void make() {
    const std::vector<int64_t>& ends = options.cutoffs();
    int64_t before = 0;
    bool rising = !ends.empty();
    for (int64_t end : ends) {
      rising = rising && end > before && end < options.n_classes();
      before = end;
    }
    TORCH_CHECK(rising,
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and n_classes-1");
    TORCH_CHECK(options.div_value() != 0, "div_value should not be equal to 0");
    cutoffs = ends;
    cutoffs.push_back(options.n_classes());
    shortlist_size = cutoffs[0];
    n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
    head_size = shortlist_size + n_clusters;
    head = this->register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
    tail = this->register_module("tail", ModuleList());
    for (int64_t i = 0; i < n_clusters; ++i) {
      size_t place = static_cast<size_t>(i);
      auto hidden = static_cast<int64_t>(static_cast<double>(options.in_features()) / std::pow(options.div_value(), static_cast<double>(i + 1)));
      // The last one first, independent of the compiler: libtorch, as built, initializes the parameters in this order.
      Linear classes(LinearOptions(hidden, cutoffs[place + 1] - cutoffs[place]).bias(false));
      Linear projection(LinearOptions(options.in_features(), hidden).bias(false));
      tail->push_back(Sequential(projection, classes));
    }
  }

  ASMoutput losses(const Tensor& input_, const Tensor& target_) {
    bool batched = target_.dim() == 1;
    TORCH_CHECK(target_.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    TORCH_CHECK(!batched || input_.dim() == 2, "1D target tensor expects 2D input tensors, but found inputs with sizes ", input_.sizes(), ".");
    TORCH_CHECK(batched || input_.dim() == 1, "0D target tensor expects 1D input tensors, but found inputs with sizes ", input_.sizes(), ".");
    Tensor input = batched ? input_ : input_.unsqueeze(0), target = batched ? target_ : target_.unsqueeze(0);

    int64_t batch = target.size(0), used = 0, low = 0;
    Tensor output = torch::zeros({batch}, input.options()), places = torch::zeros({batch}, target.options());
    for (int64_t i = 0; i <= n_clusters; ++i) {
      int64_t high = cutoffs[static_cast<size_t>(i)];
      Tensor rows = target.ge(low).logical_and(target.lt(high)).nonzero().squeeze(1);
      int64_t count = rows.numel();
      if (count > 0) {
        Tensor relative = target.index_select(0, rows) - low;
        if (i == 0) {
          places.index_copy_(0, rows, relative);
        } else {
          Tensor local = torch::log_softmax(cluster(i - 1)->forward(input.index_select(0, rows)), 1);
          places.index_fill_(0, rows, shortlist_size + i - 1);
          output.index_copy_(0, rows, local.gather(1, relative.unsqueeze(1)).squeeze(1));
        }
      }
      used += count;
      low = high;
    }
    TORCH_CHECK(used == batch, "Target values should be in [0, ", options.n_classes() - 1, "], but values in range [",
                target.min().item().toDouble(), ", ", target.max().item().toDouble(), "] were found. ");
    output += torch::log_softmax(head->forward(input), 1).gather(1, places.unsqueeze(1)).squeeze(1);
    double loss = (-output).mean().item().toDouble();
    return ASMoutput(batched ? output : output.squeeze(0), loss);
  }
};
}  // namespace detail

class AdaptiveLogSoftmaxWithLossImpl : public detail::AdaptiveLogSoftmaxWithLossBase<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  RLT_LAZY AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs_)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs_))) {}
  RLT_LAZY explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_) : AdaptiveLogSoftmaxWithLossBase(std::move(options_)) {}
};
TORCH_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
