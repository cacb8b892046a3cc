// Adagrad (Duchi, Hazan & Singer 2011).
#pragma once

#include <torch/optim/optimizer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

struct AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  RLT_LAZY AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr_);
    visit("lr_decay", self.lr_decay_);
    visit("weight_decay", self.weight_decay_);
    visit("initial_accumulator_value", self.initial_accumulator_value_);
    visit("eps", self.eps_);
  }
};

struct AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  TORCH_ARG(Tensor, sum);
  TORCH_ARG(int64_t, step) = 0;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("sum", self.sum_);
    visit("step", self.step_);
  }
};

namespace detail {

/// Adagrad. (A template, so that only programs that instantiate one compile it.)
template <class Options>
class AdagradOf : public Optimizer {
 public:
  explicit AdagradOf(const std::vector<OptimizerParamGroup>& param_groups, Options defaults = {})
      : Optimizer(param_groups, as_options(new Options(checked(defaults)))) {
    for (const OptimizerParamGroup& group : param_groups_) {
      for (const Tensor& param : group.params()) {
        state_of<AdagradParamState>(param).sum(torch::full_like(param.detach(), defaults.initial_accumulator_value()));
      }
    }
  }
  explicit AdagradOf(std::vector<Tensor> params, Options defaults = {}) : AdagradOf({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    return this->template step_groups<Options>(closure, [this](const Options& options, const std::vector<Tensor>& params, const std::vector<Tensor>& gradients) {
      std::vector<Tensor> sums;
      typename rlt::Later<Options, std::vector<AdagradParamState*>>::type states;
      StepCounters counters;
      for (const Tensor& param : params) {
        AdagradParamState& state = state_of<AdagradParamState>(param);
        TORCH_INTERNAL_ASSERT(state.sum().defined(), "state found NULL for the Tensor ", param);
        states.push_back(&state);
        sums.push_back(state.sum());
        counters.add(state.step() + 1);
      }
      torch::_fused_adagrad_(params, gradients, sums, counters.steps, options.lr(), options.lr_decay(), options.weight_decay(), options.eps(),
                             /*maximize=*/false);
      for (AdagradParamState* state : states) state->step(state->step() + 1);
    });
  }

 protected:
  OptimizerParamState* new_state() const override { return new typename rlt::Later<Options, AdagradParamState>::type; }
  void load_old(serialize::InputArchive& archive) override {
    warn_of_old_format("Adagrad");
    this->template give_old<AdagradParamState>(archive, "sum_buffers", [](AdagradParamState& state, Tensor& tensor) { state.sum(tensor); });
    this->template give_old<AdagradParamState>(archive, "step_buffers",
                                               [](AdagradParamState& state, Tensor& step) { state.step(step.item<int64_t>()); });
  }

 private:
  static const Options& checked(const Options& options) {
    check_option(options.lr() >= 0, "Invalid learning rate: ", options.lr());
    check_option(options.lr_decay() >= 0, "Invalid lr_decay value: ", options.lr_decay());
    check_option(options.weight_decay() >= 0, "Invalid weight_decay value: ", options.weight_decay());
    check_option(options.initial_accumulator_value() >= 0, "Invalid initial_accumulator_value value: ", options.initial_accumulator_value());
    check_option(options.eps() >= 0, "Invalid epsilon value: ", options.eps());
    return options;
  }
};

}  // namespace detail

class Adagrad : public detail::AdagradOf<AdagradOptions> {
 public:
  using AdagradOf::AdagradOf;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
