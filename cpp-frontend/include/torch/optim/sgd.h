// SGD: gradient descent with momentum.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

struct SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  RLT_LAZY SGDOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr_);
    visit("momentum", self.momentum_);
    visit("dampening", self.dampening_);
    visit("weight_decay", self.weight_decay_);
    visit("nesterov", self.nesterov_);
  }
};

struct SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  TORCH_ARG(Tensor, momentum_buffer);

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("momentum_buffer", self.momentum_buffer_);
  }
};

namespace detail {

/// SGD. (A template, so that only programs that instantiate one compile it.)
template <class Options>
class SGDOf : public Optimizer {
 public:
  explicit SGDOf(const std::vector<OptimizerParamGroup>& param_groups, Options defaults)
      : Optimizer(param_groups, as_options(new Options(checked(defaults)))) {}
  explicit SGDOf(std::vector<Tensor> params, Options defaults) : SGDOf({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    c10::NoGradGuard guard;
    Tensor loss = loss_of(closure);
    for (OptimizerParamGroup& group : param_groups_) {
      const Options& options = static_cast<const Options&>(group.options());
      // The first gradient becomes the momentum buffer itself, without dampening: parameters in their first step are
      // updated in a separate call.
      Lists begin, go_on;
      for (Tensor& param : group.params()) {
        Tensor gradient = param.grad();
        if (!gradient.defined()) continue;
        bool fresh = false;
        if (options.momentum() != 0) {
          SGDParamState& state = state_of<SGDParamState>(param);
          fresh = !state.momentum_buffer().defined();
          (fresh ? begin : go_on).buffers.push_back(fresh ? torch::empty_like(param) : state.momentum_buffer());
          if (fresh) begin.states.push_back(&state);
        }
        (fresh ? begin : go_on).params.push_back(param);
        (fresh ? begin : go_on).gradients.push_back(std::move(gradient));
      }
      begin.apply(options, /*is_first_step=*/true);
      go_on.apply(options, /*is_first_step=*/false);
    }
    return loss;
  }

 protected:
  OptimizerParamState* new_state() const override { return new typename rlt::Later<Options, SGDParamState>::type; }
  void load_old(serialize::InputArchive& archive) override {
    warn_of_old_format("SGD");
    this->template give_old<SGDParamState>(archive, "momentum_buffers", [](SGDParamState& state, Tensor& tensor) { state.momentum_buffer(tensor); });
  }

 private:
  struct Lists {
    std::vector<Tensor> params, gradients, buffers;
    // The states that keep these buffers if the step succeeds; it may fail for lack of memory.
    typename rlt::Later<Options, std::vector<SGDParamState*>>::type states;
    void apply(const Options& options, bool is_first_step) {
      if (params.empty()) return;
      torch::_fused_sgd_(params, gradients, buffers, options.weight_decay(), options.momentum(), options.lr(), options.dampening(),
                         options.nesterov(), /*maximize=*/false, is_first_step);
      for (size_t i = 0; i < states.size(); ++i) states[i]->momentum_buffer(buffers[i]);
    }
  };
  static const Options& checked(const Options& options) {
    check_option(options.lr() >= 0, "Invalid learning rate: ", options.lr());
    check_option(options.momentum() >= 0, "Invalid momentum value: ", options.momentum());
    check_option(options.weight_decay() >= 0, "Invalid weight_decay value: ", options.weight_decay());
    if (options.nesterov() && (options.momentum() <= 0 || options.dampening() != 0)) {
      rlt::raise<Error>("Nesterov momentum requires a momentum and zero dampening");
    }
    return options;
  }
};

}  // namespace detail

class SGD : public detail::SGDOf<SGDOptions> {
 public:
  using SGDOf::SGDOf;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
