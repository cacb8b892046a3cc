// Optimizer: groups of parameters with options, and a state per parameter. The arithmetic of a step is one fused
// operator of the core per group.
#pragma once

#include <torch/arg.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

/// What an optimizer remembers of one parameter.
class OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  virtual ~OptimizerParamState() = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const = 0;
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
};

template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
  std::unique_ptr<OptimizerParamState> clone() const override { return std::unique_ptr<OptimizerParamState>(new Derived(static_cast<const Derived&>(*this))); }
};

/// The numbers that steer an optimizer.
class OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
};

template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override { return std::unique_ptr<OptimizerOptions>(new Derived(static_cast<const Derived&>(*this))); }
  double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Derived&>(*this).lr(lr); }
};

/// Parameters that share options.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other) {
    params_ = other.params_;
    options_ = other.options_ ? other.options_->clone() : nullptr;
    return *this;
  }
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options() {
    check();
    return *options_;
  }
  const OptimizerOptions& options() const {
    check();
    return *options_;
  }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  void check() const {
    if (!options_) rlt::raise<Error>("Cannot get options of a parameter group that has none");
  }
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

namespace detail {

/// What Optimizer is. (A template, so that only programs that make one compile it.)
template <class RltLazy = void>
class OptimizerOf {
 public:
  using LossClosure = std::function<Tensor()>;

  OptimizerOf(const OptimizerOf&) = delete;
  OptimizerOf(OptimizerOf&&) = default;
  OptimizerOf& operator=(const OptimizerOf&) = delete;
  OptimizerOf& operator=(OptimizerOf&&) = default;
  explicit OptimizerOf(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults)
      : defaults_(std::move(defaults)) {
    for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
  }
  explicit OptimizerOf(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
      : OptimizerOf({OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}
  virtual ~OptimizerOf() = default;

  /// Adds parameters with options of their own, or with the defaults.
  void add_param_group(const OptimizerParamGroup& param_group) {
    OptimizerParamGroup group(param_group);
    if (!group.has_options()) group.set_options(defaults_->clone());
    for (const Tensor& param : group.params()) {
      if (!param.is_leaf()) rlt::raise<Error>("can't optimize a non-leaf Tensor");
      for (const OptimizerParamGroup& other : param_groups_) {
        for (const Tensor& known : other.params()) {
          if (known.is_same(param)) rlt::raise<Error>("some parameters appear in more than one parameter group");
        }
      }
    }
    param_groups_.push_back(std::move(group));
  }
  void add_parameters(const std::vector<Tensor>& parameters) {
    std::vector<Tensor>& params = first().params();
    params.insert(params.end(), parameters.begin(), parameters.end());
  }

  /// One step. A closure computes the loss and its gradients first; its loss is returned.
  virtual Tensor step(LossClosure closure = nullptr) = 0;

  /// Drops every gradient, or sets it to zero.
  void zero_grad(bool set_to_none = true) {
    for (OptimizerParamGroup& group : param_groups_) {
      for (Tensor& param : group.params()) {
        Tensor gradient = param.grad();
        if (!gradient.defined()) continue;
        if (set_to_none) {
          param.mutable_grad().reset();
        } else {
          gradient.detach().zero_();
        }
      }
    }
  }

  const std::vector<Tensor>& parameters() const noexcept { return param_groups_.at(0).params(); }
  std::vector<Tensor>& parameters() noexcept { return param_groups_.at(0).params(); }
  size_t size() const noexcept {
    size_t count = 0;
    for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
    return count;
  }
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// By the parameter's unsafeGetTensorImpl().
  std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>& state() noexcept { return state_; }
  const std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>& state() const noexcept { return state_; }

  /// `param_groups.0.lr`, `state.0.exp_avg`: options by group, states by the position of the parameter.
  virtual void save(serialize::OutputArchive& archive) const {
    size_t position = 0;
    for (size_t g = 0; g < param_groups_.size(); ++g) {
      serialize::OutputArchive options;
      param_groups_[g].options().serialize(options);
      archive.write("param_groups." + std::to_string(g), options);
      for (const Tensor& param : param_groups_[g].params()) {
        auto found = state_.find(param.unsafeGetTensorImpl());
        if (found != state_.end()) {
          serialize::OutputArchive state;
          found->second->serialize(state);
          archive.write("state." + std::to_string(position), state);
        }
        ++position;
      }
    }
  }
  virtual void load(serialize::InputArchive& archive) {
    size_t position = 0;
    for (size_t g = 0; g < param_groups_.size(); ++g) {
      serialize::InputArchive options;
      if (archive.try_read("param_groups." + std::to_string(g), options)) param_groups_[g].options().serialize(options);
      for (const Tensor& param : param_groups_[g].params()) {
        serialize::InputArchive nested;
        if (archive.try_read("state." + std::to_string(position), nested)) {
          std::unique_ptr<OptimizerParamState> fresh = new_state();
          fresh->serialize(nested);
          state_[param.unsafeGetTensorImpl()] = std::move(fresh);
        }
        ++position;
      }
    }
  }

 protected:
  /// An empty state of the optimizer's own kind, to load into.
  virtual std::unique_ptr<OptimizerParamState> new_state() const = 0;

  template <class State>
  State& state_of(const Tensor& param, bool* fresh = nullptr) {
    auto& slot = state_[param.unsafeGetTensorImpl()];
    if (fresh) *fresh = slot == nullptr;
    if (!slot) slot.reset(new State);
    return static_cast<State&>(*slot);
  }
  static Tensor loss_of(const LossClosure& closure) {
    if (!closure) return {};
    c10::AutoGradMode recording(true);
    return closure();
  }
  OptimizerParamGroup& first() {
    if (param_groups_.empty()) rlt::raise<Error>("the optimizer has no parameter group");
    return param_groups_[0];
  }

  std::vector<OptimizerParamGroup> param_groups_;
  std::unordered_map<void*, std::unique_ptr<OptimizerParamState>> state_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

}  // namespace detail

class Optimizer : public detail::OptimizerOf<> {
 public:
  using OptimizerOf::OptimizerOf;
};

RLT_LAZY serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
RLT_LAZY serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

namespace detail {
inline void check_option(bool valid, const char* text, double value) {
  if (C10_UNLIKELY(!valid)) rlt::raise<Error>(text + rlt::text_of(value));
}
inline void write_flag(serialize::OutputArchive& archive, const char* name, bool value) { archive.write(name, static_cast<int64_t>(value)); }
inline void read_flag(serialize::InputArchive& archive, const char* name, bool& value) {
  int64_t number = value;
  if (archive.try_read(name, number)) value = number != 0;
}
}  // namespace detail

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
