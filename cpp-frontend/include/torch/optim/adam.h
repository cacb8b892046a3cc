// Adam (Kingma & Ba 2014) and AdamW (Loshchilov & Hutter 2017, with decoupled decay).
#pragma once

#include <torch/optim/optimizer.h>

#include <tuple>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

namespace detail {

using Betas = std::tuple<double, double>;

/// Checks the common options of Adam and AdamW.
template <class Options>
const Options& check_adam(const Options& options) {
  check_option(options.lr() >= 0, "Invalid learning rate: ", options.lr());
  check_option(options.eps() >= 0, "Invalid epsilon value: ", options.eps());
  check_option(0 <= std::get<0>(options.betas()) && std::get<0>(options.betas()) < 1, "Invalid beta parameter at index 0: ",
               std::get<0>(options.betas()));
  check_option(0 <= std::get<1>(options.betas()) && std::get<1>(options.betas()) < 1, "Invalid beta parameter at index 1: ",
               std::get<1>(options.betas()));
  check_option(options.weight_decay() >= 0, "Invalid weight_decay value: ", options.weight_decay());
  return options;
}

}  // namespace detail

struct AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  RLT_LAZY AdamOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(detail::Betas, betas) = std::make_tuple(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr_);
    visit("betas", self.betas_);
    visit("eps", self.eps_);
    visit("weight_decay", self.weight_decay_);
    visit("amsgrad", self.amsgrad_);
  }
};

struct AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, exp_avg);
  TORCH_ARG(Tensor, exp_avg_sq);
  TORCH_ARG(Tensor, max_exp_avg_sq) = {};

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("step", self.step_);
    visit("exp_avg", self.exp_avg_);
    visit("exp_avg_sq", self.exp_avg_sq_);
    visit("max_exp_avg_sq", self.max_exp_avg_sq_);
  }
};

struct AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  RLT_LAZY AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(detail::Betas, betas) = std::make_tuple(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr_);
    visit("betas", self.betas_);
    visit("eps", self.eps_);
    visit("weight_decay", self.weight_decay_);
    visit("amsgrad", self.amsgrad_);
  }
};

struct AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, exp_avg);
  TORCH_ARG(Tensor, exp_avg_sq);
  TORCH_ARG(Tensor, max_exp_avg_sq) = {};

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("step", self.step_);
    visit("exp_avg", self.exp_avg_);
    visit("exp_avg_sq", self.exp_avg_sq_);
    visit("max_exp_avg_sq", self.max_exp_avg_sq_);
  }
};

namespace detail {

/// The lists that the fused operators take. Only a completed step counts: one may fail for lack of memory.
template <class State>
struct AdamLists {
  std::vector<Tensor> params, gradients, exp_avgs, exp_avg_sqs, max_exp_avg_sqs;
  std::vector<State*> states;
  StepCounters counters;

  explicit AdamLists(size_t most) {
    for (auto* list : {&params, &gradients, &exp_avgs, &exp_avg_sqs, &counters.steps}) list->reserve(most);
  }

  void add(const Tensor& param, Tensor gradient, State& state, bool amsgrad) {
    if (!state.exp_avg().defined()) state.exp_avg(torch::zeros_like(param));
    if (!state.exp_avg_sq().defined()) state.exp_avg_sq(torch::zeros_like(param));
    if (amsgrad && !state.max_exp_avg_sq().defined()) state.max_exp_avg_sq(torch::zeros_like(param));
    states.push_back(&state);
    params.push_back(param);
    gradients.push_back(std::move(gradient));
    exp_avgs.push_back(state.exp_avg());
    exp_avg_sqs.push_back(state.exp_avg_sq());
    if (amsgrad) max_exp_avg_sqs.push_back(state.max_exp_avg_sq());
    counters.add(state.step() + 1);
  }
  void count() {
    for (State* state : states) state->step(state->step() + 1);
  }
};

}  // namespace detail

namespace detail {

/// Adam and AdamW. (A template, so that only programs that instantiate one compile it.)
template <class Options, class State>
class AdamOf : public Optimizer {
 public:
  explicit AdamOf(const std::vector<OptimizerParamGroup>& param_groups, Options defaults = {})
      : Optimizer(param_groups, as_options(new Options(check_adam(defaults)))) {}
  explicit AdamOf(std::vector<Tensor> params, Options defaults = {}) : AdamOf({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    c10::NoGradGuard guard;
    Tensor loss = loss_of(closure);
    for (OptimizerParamGroup& group : param_groups_) {
      const Options& options = static_cast<const Options&>(group.options());
      AdamLists<State> lists(group.params().size());
      for (Tensor& param : group.params()) {
        Tensor gradient = param.grad();
        if (gradient.defined()) lists.add(param, std::move(gradient), state_of<State>(param), options.amsgrad());
      }
      if (lists.params.empty()) continue;
      auto fused = std::is_same_v<Options, AdamWOptions> ? &torch::_fused_adamw_ : &torch::_fused_adam_;
      fused(lists.params, lists.gradients, lists.exp_avgs, lists.exp_avg_sqs, lists.max_exp_avg_sqs, lists.counters.steps, options.lr(),
            std::get<0>(options.betas()), std::get<1>(options.betas()), options.weight_decay(), options.eps(), options.amsgrad(),
            /*maximize=*/false, std::nullopt, std::nullopt);
      lists.count();
    }
    return loss;
  }

 protected:
  OptimizerParamState* new_state() const override { return new State; }
  void load_old(serialize::InputArchive& archive) override {
    warn_of_old_format(std::is_same_v<Options, AdamWOptions> ? "AdamW" : "Adam");
    this->template give_old<State>(archive, "step_buffers", [](State& state, Tensor& step) { state.step(step.item<int64_t>()); });
    this->template give_old<State>(archive, "exp_average_buffers", [](State& state, Tensor& tensor) { state.exp_avg(tensor); });
    this->template give_old<State>(archive, "exp_average_sq_buffers", [](State& state, Tensor& tensor) { state.exp_avg_sq(tensor); });
    this->template give_old<State>(archive, "max_exp_average_sq_buffers", [](State& state, Tensor& tensor) { state.max_exp_avg_sq(tensor); });
  }
};

}  // namespace detail

class Adam : public detail::AdamOf<AdamOptions, AdamParamState> {
 public:
  using AdamOf::AdamOf;
};

class AdamW : public detail::AdamOf<AdamWOptions, AdamWParamState> {
 public:
  using AdamOf::AdamOf;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
