// RMSprop (Hinton 2012): gradients divided by a running root mean square.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

struct RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RLT_LAZY RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, alpha) = 0.99;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(bool, centered) = false;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr_);
    visit("alpha", self.alpha_);
    visit("eps", self.eps_);
    visit("weight_decay", self.weight_decay_);
    visit("momentum", self.momentum_);
    visit("centered", self.centered_);
  }
};

struct RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, square_avg);
  TORCH_ARG(Tensor, momentum_buffer) = {};
  TORCH_ARG(Tensor, grad_avg) = {};

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("step", self.step_);
    visit("square_avg", self.square_avg_);
    visit("momentum_buffer", self.momentum_buffer_);
    visit("grad_avg", self.grad_avg_);
  }
};

namespace detail {

/// RMSprop. (A template, so that only programs that instantiate one compile it.)
template <class Options>
class RMSpropOf : public Optimizer {
 public:
  explicit RMSpropOf(const std::vector<OptimizerParamGroup>& param_groups, Options defaults = {})
      : Optimizer(param_groups, as_options(new Options(checked(defaults)))) {}
  explicit RMSpropOf(std::vector<Tensor> params, Options defaults = {}) : RMSpropOf({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    return this->template step_groups<Options>(closure, [this](const Options& options, const std::vector<Tensor>& params, const std::vector<Tensor>& gradients) {
      std::vector<Tensor> square_avgs, grad_avgs, buffers;
      typename rlt::Later<Options, std::vector<RMSpropParamState*>>::type states;
      for (const Tensor& param : params) {
        RMSpropParamState& state = state_of<RMSpropParamState>(param);
        if (!state.square_avg().defined()) {
          if (options.momentum() > 0) state.momentum_buffer(torch::zeros_like(param));
          if (options.centered()) state.grad_avg(torch::zeros_like(param));
          // Created last: if it exists, the others do.
          state.square_avg(torch::zeros_like(param));
        }
        states.push_back(&state);
        square_avgs.push_back(state.square_avg());
        if (options.centered()) grad_avgs.push_back(state.grad_avg());
        if (options.momentum() > 0) buffers.push_back(state.momentum_buffer());
      }
      torch::_fused_rmsprop_(params, gradients, square_avgs, grad_avgs, buffers, options.lr(), options.alpha(), options.eps(), options.weight_decay(),
                             options.momentum(), options.centered(), /*maximize=*/false);
      for (RMSpropParamState* state : states) state->step(state->step() + 1);
    });
  }

 protected:
  OptimizerParamState* new_state() const override { return new typename rlt::Later<Options, RMSpropParamState>::type; }
  void load_old(serialize::InputArchive& archive) override {
    using State = RMSpropParamState;
    warn_of_old_format("RMSprop", "The step value in state will be set to 0 because the old RMSprop optimizer didn't track the step value.");
    this->template give_old<State>(archive, "square_average_buffers", [](State& state, Tensor& tensor) { state.square_avg(tensor); });
    this->template give_old<State>(archive, "momentum_buffers", [](State& state, Tensor& tensor) { state.momentum_buffer(tensor); });
    this->template give_old<State>(archive, "grad_average_buffers", [](State& state, Tensor& tensor) { state.grad_avg(tensor); });
  }

 private:
  static const Options& checked(const Options& options) {
    check_option(options.lr() >= 0, "Invalid learning rate: ", options.lr());
    check_option(options.eps() >= 0, "Invalid epsilon value: ", options.eps());
    check_option(options.momentum() >= 0, "Invalid momentum value: ", options.momentum());
    check_option(options.weight_decay() >= 0, "Invalid weight_decay value: ", options.weight_decay());
    check_option(options.alpha() >= 0, "Invalid alpha value: ", options.alpha());
    return options;
  }
};

}  // namespace detail

class RMSprop : public detail::RMSpropOf<RMSpropOptions> {
 public:
  using RMSpropOf::RMSpropOf;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
