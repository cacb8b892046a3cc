// Adam (Kingma & Ba 2014) and AdamW (Loshchilov & Hutter 2017, decay apart from the gradient).
#pragma once

#include <torch/optim/optimizer.h>

#include <tuple>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

namespace detail {

using Betas = std::tuple<double, double>;

/// Checks, saves and loads what the options of Adam and AdamW have in common.
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
template <class Options>
void write_adam(serialize::OutputArchive& archive, const Options& options) {
  write_value(archive, "lr", options.lr());
  write_value(archive, "beta1", std::get<0>(options.betas()));
  write_value(archive, "beta2", std::get<1>(options.betas()));
  write_value(archive, "eps", options.eps());
  write_value(archive, "weight_decay", options.weight_decay());
  write_value(archive, "amsgrad", options.amsgrad());
}
template <class Options>
void read_adam(serialize::InputArchive& archive, Options& options) {
  read_value(archive, "lr", options.lr());
  read_value(archive, "beta1", std::get<0>(options.betas()));
  read_value(archive, "beta2", std::get<1>(options.betas()));
  read_value(archive, "eps", options.eps());
  read_value(archive, "weight_decay", options.weight_decay());
  read_value(archive, "amsgrad", options.amsgrad());
}

}  // namespace detail

struct AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(detail::Betas, betas) = std::make_tuple(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  void serialize(serialize::OutputArchive& archive) const override { detail::write_adam(archive, *this); }
  void serialize(serialize::InputArchive& archive) override { detail::read_adam(archive, *this); }
  double get_lr() const override { return lr(); }
  void set_lr(const double lr) override { lr_ = lr; }
  friend bool operator==(const AdamOptions& a, const AdamOptions& b) {
    return a.lr() == b.lr() && a.betas() == b.betas() && a.eps() == b.eps() && a.weight_decay() == b.weight_decay() && a.amsgrad() == b.amsgrad();
  }
};

struct AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, exp_avg);
  TORCH_ARG(Tensor, exp_avg_sq);
  TORCH_ARG(Tensor, max_exp_avg_sq) = {};

 public:
  void serialize(serialize::OutputArchive& archive) const override {
    detail::write_value(archive, "step", step());
    detail::write_value(archive, "exp_avg", exp_avg());
    detail::write_value(archive, "exp_avg_sq", exp_avg_sq());
    detail::write_value(archive, "max_exp_avg_sq", max_exp_avg_sq());
  }
  void serialize(serialize::InputArchive& archive) override {
    detail::read_value(archive, "step", step());
    detail::read_value(archive, "exp_avg", exp_avg());
    detail::read_value(archive, "exp_avg_sq", exp_avg_sq());
    detail::read_value(archive, "max_exp_avg_sq", max_exp_avg_sq());
  }
  friend bool operator==(const AdamParamState& a, const AdamParamState& b) {
    return a.step() == b.step() && detail::same(a.exp_avg(), b.exp_avg()) && detail::same(a.exp_avg_sq(), b.exp_avg_sq()) &&
           detail::same(a.max_exp_avg_sq(), b.max_exp_avg_sq());
  }
};

struct AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(detail::Betas, betas) = std::make_tuple(0.9, 0.999);
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;

 public:
  void serialize(serialize::OutputArchive& archive) const override { detail::write_adam(archive, *this); }
  void serialize(serialize::InputArchive& archive) override { detail::read_adam(archive, *this); }
  double get_lr() const override { return lr(); }
  void set_lr(const double lr) override { lr_ = lr; }
  friend bool operator==(const AdamWOptions& a, const AdamWOptions& b) {
    return a.lr() == b.lr() && a.betas() == b.betas() && a.eps() == b.eps() && a.weight_decay() == b.weight_decay() && a.amsgrad() == b.amsgrad();
  }
};

struct AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, exp_avg);
  TORCH_ARG(Tensor, exp_avg_sq);
  TORCH_ARG(Tensor, max_exp_avg_sq) = {};

 public:
  void serialize(serialize::OutputArchive& archive) const override {
    detail::write_value(archive, "step", step());
    detail::write_value(archive, "exp_avg", exp_avg());
    detail::write_value(archive, "exp_avg_sq", exp_avg_sq());
    detail::write_value(archive, "max_exp_avg_sq", max_exp_avg_sq());
  }
  void serialize(serialize::InputArchive& archive) override {
    detail::read_value(archive, "step", step());
    detail::read_value(archive, "exp_avg", exp_avg());
    detail::read_value(archive, "exp_avg_sq", exp_avg_sq());
    detail::read_value(archive, "max_exp_avg_sq", max_exp_avg_sq());
  }
  friend bool operator==(const AdamWParamState& a, const AdamWParamState& b) {
    return a.step() == b.step() && detail::same(a.exp_avg(), b.exp_avg()) && detail::same(a.exp_avg_sq(), b.exp_avg_sq()) &&
           detail::same(a.max_exp_avg_sq(), b.max_exp_avg_sq());
  }
};

namespace detail {

/// The lists that the fused operators take.
struct AdamLists {
  std::vector<Tensor> params, gradients, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps;
  int64_t last_step = 0;

  explicit AdamLists(size_t most) {
    for (auto* list : {&params, &gradients, &exp_avgs, &exp_avg_sqs, &steps}) list->reserve(most);
  }

  template <class State>
  void add(const Tensor& param, Tensor gradient, State& state, bool amsgrad) {
    if (!state.exp_avg().defined()) {
      state.exp_avg(torch::zeros_like(param));
      state.exp_avg_sq(torch::zeros_like(param));
    }
    if (amsgrad && !state.max_exp_avg_sq().defined()) state.max_exp_avg_sq(torch::zeros_like(param));
    state.step(state.step() + 1);
    params.push_back(param);
    gradients.push_back(std::move(gradient));
    exp_avgs.push_back(state.exp_avg());
    exp_avg_sqs.push_back(state.exp_avg_sq());
    if (amsgrad) max_exp_avg_sqs.push_back(state.max_exp_avg_sq());
    // The counters are only read: parameters of one age share theirs.
    if (state.step() != last_step) steps.push_back(torch::full({}, static_cast<double>(last_step = state.step()), kFloat));
    if (steps.size() < params.size()) steps.push_back(Tensor(steps.back()));
  }
};

}  // namespace detail

namespace detail {

/// Adam and AdamW. (A template, so that only programs that make one compile it.)
template <class Options, class State>
class AdamOf : public Optimizer {
 public:
  explicit AdamOf(const std::vector<OptimizerParamGroup>& param_groups, Options defaults = {})
      : Optimizer(param_groups, std::unique_ptr<OptimizerOptions>(new Options(check_adam(defaults)))) {}
  explicit AdamOf(std::vector<Tensor> params, Options defaults = {}) : AdamOf({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    c10::NoGradGuard guard;
    Tensor loss = loss_of(closure);
    for (OptimizerParamGroup& group : param_groups_) {
      const Options& options = static_cast<const Options&>(group.options());
      AdamLists lists(group.params().size());
      for (Tensor& param : group.params()) {
        Tensor gradient = param.grad();
        if (gradient.defined()) lists.add(param, std::move(gradient), state_of<State>(param), options.amsgrad());
      }
      if (lists.params.empty()) continue;
      auto fused = std::is_same_v<Options, AdamWOptions> ? &torch::_fused_adamw_ : &torch::_fused_adam_;
      fused(lists.params, lists.gradients, lists.exp_avgs, lists.exp_avg_sqs, lists.max_exp_avg_sqs, lists.steps, options.lr(),
            std::get<0>(options.betas()), std::get<1>(options.betas()), options.weight_decay(), options.eps(), options.amsgrad(),
            /*maximize=*/false, std::nullopt, std::nullopt);
    }
    return loss;
  }

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::unique_ptr<OptimizerParamState>(new State); }
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
