// Optimizer: groups of parameters with options, and a state per parameter. The arithmetic of a step is one fused
// operator of the core per group.
#pragma once

#include <c10/util/flat_hash_map.h>
#include <torch/arg.h>
#include <torch/detail/owned.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

namespace detail {
using torch::detail::Owned;

// Defaults of a custom optimizer subclass for functions that it does not override.
[[noreturn]] RLT_COLD inline void not_cloneable(const std::string& base) {
  size_t last = base.rfind(':') + 1;
  std::string name = base.substr(last), cloneable = base.substr(0, last) + "OptimizerCloneable" + name.substr(9);
  rlt::raise<Error>("clone() has not been implemented for " + base + ". Subclass " + cloneable + "<Your" + name + "> instead of " + base +
                    " to inherit the ability to clone.");
}
[[noreturn]] RLT_COLD inline void not_serializable(const std::string& base, const char* archive) {
  size_t last = base.rfind(':') + 1;
  std::string name = base.substr(last), cloneable = base.substr(0, last) + "OptimizerCloneable" + name.substr(9);
  rlt::raise<Error>(std::string("void serialize(torch::serialize::") + archive + "& archive) has not been implemented for " + base +
                    ". You must override it in your subclass of " + cloneable + "<Your" + name + ">.");
}
[[noreturn]] RLT_COLD inline void no_lr(const char* function) {
  rlt::raise<Error>(std::string("double ") + function +
                    "() has not been overridden and implemented in subclass of torch::optim::OptimizerOptions, you must override it in your subclass.");
}

// Options and states list their fields once, for saving, loading and comparing: `fields(self, visit)` calls
// `visit("lr", self.lr_)` and so on.
template <class T, class = void>
constexpr bool has_fields = false;
struct IgnoreField {
  template <class T>
  void operator()(const char*, const T&) const {}
};
template <class T>
constexpr bool has_fields<T, std::void_t<decltype(T::fields(std::declval<const T&>(), IgnoreField()))>> = true;

template <class T>
c10::IValue field(const T& value) {
  return value;
}
template <class T>
c10::IValue field(const std::deque<T>& values) {
  return std::vector<T>(values.begin(), values.end());
}
RLT_LAZY c10::IValue field(const std::tuple<double, double>& pair) { return std::vector<double>{std::get<0>(pair), std::get<1>(pair)}; }
template <class T>
void set_field(T& place, const c10::IValue& value) {
  place = value.to<T>();
}
template <class T>
void set_field(std::optional<T>& place, const c10::IValue& value) {
  place = value.toOptional<T>();
}
template <class T>
void set_field(std::deque<T>& place, const c10::IValue& value) {
  auto values = value.to<std::vector<T>>();
  place.assign(values.begin(), values.end());
}
RLT_LAZY void set_field(std::tuple<double, double>& place, const c10::IValue& value) {
  auto values = value.to<std::vector<double>>();
  TORCH_CHECK(values.size() == 2, "a pair of numbers is expected, not ", values.size());
  place = {values[0], values[1]};
}
RLT_LAZY bool same(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() && b.isTensor()) {
    const Tensor &x = a.toTensor(), &y = b.toTensor();
    return x.defined() == y.defined() && (!x.defined() || x.equal(y));
  }
  if (!a.isList() || !b.isList()) return a.is(b);
  auto x = a.toList(), y = b.toList();
  bool equal = x.size() == y.size();
  for (size_t i = 0; equal && i < x.size(); ++i) equal = same(x.get(i), y.get(i));
  return equal;
}
template <class Fields>
void write_fields(serialize::OutputArchive& archive, const Fields& fields, const char* base) {
  if constexpr (has_fields<Fields>) {
    // An undefined tensor leaves no entry.
    Fields::fields(fields, [&](const char* name, const auto& value) { archive.write(name, field(value)); });
  } else {
    (void)archive, (void)fields;
    not_serializable(base, "OutputArchive");
  }
}
template <class Fields>
void read_fields(serialize::InputArchive& archive, Fields& fields, const char* base) {
  if constexpr (has_fields<Fields>) {
    // Fields that are not in the file are unchanged.
    Fields::fields(fields, [&](const char* name, auto& value) {
      c10::IValue found;
      if (archive.try_read(name, found)) set_field(value, found);
    });
  } else {
    (void)archive, (void)fields;
    not_serializable(base, "InputArchive");
  }
}

}  // namespace detail

// The parts of optimizers are templates below, parameterized by each other's types, so that only programs with an
// optimizer compile them and their pointers.
namespace detail {
template <class State>
class OptimizerParamStateOf {
 public:
  OptimizerParamStateOf() = default;
  OptimizerParamStateOf(const OptimizerParamStateOf&) = default;
  OptimizerParamStateOf& operator=(const OptimizerParamStateOf&) = default;
  virtual ~OptimizerParamStateOf() = default;
  virtual std::unique_ptr<State> clone() const { not_cloneable("torch::optim::OptimizerParamState"); }
  virtual void serialize(torch::serialize::OutputArchive&) const {
    not_serializable("torch::optim::OptimizerParamState", "OutputArchive");
  }
  virtual void serialize(torch::serialize::InputArchive&) { not_serializable("torch::optim::OptimizerParamState", "InputArchive"); }
};
}  // namespace detail

/// State of an optimizer for one parameter.
class OptimizerParamState : public detail::OptimizerParamStateOf<OptimizerParamState> {};

template <class Derived, class State = OptimizerParamState>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<State> clone() const override { return std::unique_ptr<State>(new Derived(static_cast<const Derived&>(*this))); }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    detail::write_fields(archive, static_cast<const Derived&>(*this), "torch::optim::OptimizerParamState");
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    detail::read_fields(archive, static_cast<Derived&>(*this), "torch::optim::OptimizerParamState");
  }
};

namespace detail {
template <class Options>
class OptimizerOptionsOf {
 public:
  OptimizerOptionsOf() = default;
  OptimizerOptionsOf(const OptimizerOptionsOf&) = default;
  OptimizerOptionsOf& operator=(const OptimizerOptionsOf&) = default;
  virtual ~OptimizerOptionsOf() = default;
  virtual std::unique_ptr<Options> clone() const { not_cloneable("torch::optim::OptimizerOptions"); }
  virtual void serialize(torch::serialize::OutputArchive&) const {
    not_serializable("torch::optim::OptimizerOptions", "OutputArchive");
  }
  virtual void serialize(torch::serialize::InputArchive&) { not_serializable("torch::optim::OptimizerOptions", "InputArchive"); }
  virtual double get_lr() const { no_lr("get_lr"); }
  virtual void set_lr(const double) { no_lr("set_lr"); }
};
}  // namespace detail

/// The options of a parameter group.
class OptimizerOptions : public detail::OptimizerOptionsOf<OptimizerOptions> {};

template <class Derived, class Options = OptimizerOptions>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<Options> clone() const override { return std::unique_ptr<Options>(new Derived(static_cast<const Derived&>(*this))); }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    detail::write_fields(archive, static_cast<const Derived&>(*this), "torch::optim::OptimizerOptions");
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    detail::read_fields(archive, static_cast<Derived&>(*this), "torch::optim::OptimizerOptions");
  }
  double get_lr() const override {
    if constexpr (detail::has_fields<Derived>) return static_cast<const Derived&>(*this).lr();
    return OptimizerOptions::get_lr();
  }
  void set_lr(const double lr) override {
    if constexpr (detail::has_fields<Derived>) {
      static_cast<Derived&>(*this).lr(lr);
    } else {
      OptimizerOptions::set_lr(lr);
    }
  }
};

/// Options and states are equal if all of their fields are.
template <class Fields, std::enable_if_t<detail::has_fields<Fields>, bool> = true>
bool operator==(const Fields& a, const Fields& b) {
  std::vector<c10::IValue> values;
  Fields::fields(a, [&](const char*, const auto& value) { values.push_back(detail::field(value)); });
  size_t place = 0;
  bool equal = true;
  Fields::fields(b, [&](const char*, const auto& value) { equal = equal && detail::same(values[place++], detail::field(value)); });
  return equal;
}

namespace detail {
template <class Options>
class OptimizerParamGroupOf {
 public:
  OptimizerParamGroupOf(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroupOf(std::vector<Tensor> params, std::unique_ptr<Options> options) : params_(std::move(params)), options_(options.release()) {}
  OptimizerParamGroupOf(const OptimizerParamGroupOf& other) : params_(other.params_), options_(other.clone_options()) {}
  OptimizerParamGroupOf(OptimizerParamGroupOf&&) = default;
  OptimizerParamGroupOf& operator=(const OptimizerParamGroupOf& other) {
    params_ = other.params_;
    options_ = Owned<Options>(other.clone_options());
    return *this;
  }
  OptimizerParamGroupOf& operator=(OptimizerParamGroupOf&&) = default;

  bool has_options() const { return options_.get() != nullptr; }
  Options& options() {
    check();
    return *options_;
  }
  const Options& options() const {
    check();
    return *options_;
  }
  void set_options(std::unique_ptr<Options> options) { options_ = Owned<Options>(options.release()); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  void check() const {
    if (!has_options()) rlt::raise<Error>("Cannot get options of a parameter group that has none");
  }
  Options* clone_options() const { return has_options() ? options_->clone().release() : nullptr; }

  std::vector<Tensor> params_;
  Owned<Options> options_;
};
}  // namespace detail

/// A group of parameters that share options.
class OptimizerParamGroup : public detail::OptimizerParamGroupOf<OptimizerOptions> {
 public:
  using OptimizerParamGroupOf::OptimizerParamGroupOf;
};

namespace detail {

/// The step number of each parameter, as the fused operators require it. It is only read: parameters with the same
/// number share it.
struct StepCounters {
  std::vector<Tensor> steps;
  int64_t last_step = 0;

  RLT_LAZY void add(int64_t step) {
    if (step == last_step) return steps.push_back(Tensor(steps.back()));
    steps.push_back(torch::full({}, static_cast<double>(last_step = step), kFloat));
  }
};

/// The implementation of Optimizer. (A template, so that only programs that instantiate one compile it.)
template <class AnyOptions = OptimizerOptions, class AnyState = OptimizerParamState>
class OptimizerOf {
 public:
  using LossClosure = std::function<Tensor()>;

  OptimizerOf(const OptimizerOf&) = delete;
  OptimizerOf(OptimizerOf&&) = default;
  OptimizerOf& operator=(const OptimizerOf&) = delete;
  OptimizerOf& operator=(OptimizerOf&&) = default;
  explicit OptimizerOf(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<AnyOptions> defaults)
      : defaults_(defaults.release()) {
    for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
  }
  explicit OptimizerOf(std::vector<Tensor> parameters, std::unique_ptr<AnyOptions> defaults)
      : OptimizerOf({OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}
  virtual ~OptimizerOf() = default;

  /// Adds parameters with their own options, or with the defaults.
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
    TORCH_WARN("Optimizer::add_parameters() will be removed in PyTorch 1.6");
    std::vector<Tensor>& params = param_groups_.at(0).params();
    params.insert(params.end(), parameters.begin(), parameters.end());
  }

  /// One step. A closure computes the loss and its gradients first; its loss is returned.
  virtual Tensor step(LossClosure closure = nullptr) = 0;

  /// Removes every gradient, or sets it to zero.
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

  const std::vector<Tensor>& parameters() const noexcept { return const_cast<OptimizerOf*>(this)->parameters(); }
  std::vector<Tensor>& parameters() noexcept {
    TORCH_WARN("Optimizer::parameters() will be removed in PyTorch 1.6");
    return param_groups_.at(0).params();
  }
  size_t size() const noexcept {
    TORCH_WARN("Optimizer::size() will be removed in PyTorch 1.6");
    size_t count = 0;
    for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
    return count;
  }
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// By the parameter's unsafeGetTensorImpl().
  ska::flat_hash_map<void*, std::unique_ptr<AnyState>>& state() noexcept { return state_; }
  const ska::flat_hash_map<void*, std::unique_ptr<AnyState>>& state() const noexcept { return state_; }

  /// libtorch's layout: `state` by parameter, and `param_groups` with the names of their parameters and with their
  /// options. A parameter's name is any string; here, its index.
  virtual void save(serialize::OutputArchive& archive) const {
    archive.write("pytorch_version", c10::IValue("1.5.0"));
    serialize::OutputArchive states, groups;
    auto write_size = [](serialize::OutputArchive& list, const char* name, size_t size) {
      list.write(name, at::full({}, static_cast<int64_t>(size), at::kLong));
    };
    write_size(groups, "param_groups/size", param_groups_.size());
    size_t position = 0;
    for (size_t g = 0; g < param_groups_.size(); ++g) {
      const std::vector<Tensor>& params = param_groups_[g].params();
      serialize::OutputArchive group, options;
      write_size(group, "params/size", params.size());
      for (size_t i = 0; i < params.size(); ++i) {
        const std::string name = std::to_string(position++);
        group.write("params/" + std::to_string(i), c10::IValue(name));
        auto found = state_.find(params[i].unsafeGetTensorImpl());
        if (found == state_.end()) continue;
        serialize::OutputArchive state;
        found->second->serialize(state);
        states.write(name, state);
      }
      param_groups_[g].options().serialize(options);
      group.write("options", options);
      groups.write("param_groups/" + std::to_string(g), group);
    }
    archive.write("state", states);
    archive.write("param_groups", groups);
  }
  virtual void load(serialize::InputArchive& archive) {
    c10::IValue value;
    if (!archive.try_read("pytorch_version", value)) return load_old(archive);
    load_new(archive, [this] { return std::unique_ptr<AnyState>(new_state()); });
  }
  /// Loads the output of save, into states that a function creates.
  template <class Make>
  void load_new(serialize::InputArchive& archive, const Make& make_state) {
    serialize::InputArchive states, groups;
    archive.try_read("state", states);
    archive.read("param_groups", groups);
    TORCH_CHECK(size_in(groups, "param_groups/size") == param_groups_.size(), "loaded state dict has a different number of parameter groups");
    for (size_t g = 0; g < param_groups_.size(); ++g) {
      const std::vector<Tensor>& params = param_groups_[g].params();
      serialize::InputArchive group, options;
      groups.read("param_groups/" + std::to_string(g), group);
      TORCH_CHECK(size_in(group, "params/size") == params.size(),
                  "loaded state dict contains a parameter group that has a different size than the optimizer's parameter group");
      group.try_read("options", options);
      param_groups_[g].options().serialize(options);
      for (size_t i = 0; i < params.size(); ++i) {
        c10::IValue name;
        group.read("params/" + std::to_string(i), name);
        serialize::InputArchive state;
        if (!states.try_read(name.toStringRef(), state)) continue;
        std::unique_ptr<AnyState> fresh = make_state();
        fresh->serialize(state);
        state_[params[i].unsafeGetTensorImpl()] = std::move(fresh);
      }
    }
  }

 protected:
  /// An empty state of the optimizer's own kind, to load into. The caller owns it.
  virtual AnyState* new_state() const { rlt::raise<Error>("this optimizer does not say how its states are loaded"); }
  /// Loads a file of PyTorch before 1.5, which holds lists of tensors.
  virtual void load_old(serialize::InputArchive&) { rlt::raise<Error>("this optimizer does not load files of PyTorch before 1.5"); }

  /// The options of a subclass as the constructor takes them.
  template <class Options>
  static std::unique_ptr<AnyOptions> as_options(Options* options) {
    return std::unique_ptr<AnyOptions>(options);
  }
  template <class State>
  State& state_of(const Tensor& param, bool* fresh = nullptr) {
    auto& slot = state_[param.unsafeGetTensorImpl()];
    if (fresh) *fresh = slot == nullptr;
    if (!slot) slot.reset(new State);
    return static_cast<State&>(*slot);
  }
  /// One step: calls `apply` for each group with its options, and those of its parameters that have a gradient.
  template <class Options, class Apply>
  Tensor step_groups(const LossClosure& closure, const Apply& apply) {
    c10::NoGradGuard guard;
    Tensor loss = loss_of(closure);
    for (OptimizerParamGroup& group : param_groups_) {
      std::vector<Tensor> params, gradients;
      for (const Tensor& param : group.params()) {
        Tensor gradient = param.grad();
        if (!gradient.defined()) continue;
        params.push_back(param);
        gradients.push_back(std::move(gradient));
      }
      if (!params.empty()) apply(static_cast<const Options&>(group.options()), params, gradients);
    }
    return loss;
  }
  static Tensor loss_of(const LossClosure& closure) {
    if (!closure) return {};
    c10::AutoGradMode recording(true);
    return closure();
  }
  /// Marks a file that has the format of PyTorch before 1.5.
  static void warn_of_old_format(const std::string& name, const std::string& more = "") {
    TORCH_WARN("Your serialized ", name, " optimizer is still using the old serialization format. ", more, "You should re-save your ", name,
               " optimizer to use the new serialization format.");
  }
  static size_t size_in(serialize::InputArchive& archive, const std::string& name) {
    Tensor size;
    archive.read(name, size);
    return static_cast<size_t>(size.template item<int64_t>());
  }
  /// A list in that format: its length, and each tensor under its position.
  template <class Tensors>
  static Tensors read_old(serialize::InputArchive& archive, const std::string& key) {
    Tensors tensors(size_in(archive, key + "/size"));
    for (size_t i = 0; i < tensors.size(); ++i) archive.read(key + "/" + std::to_string(i), tensors[i], /*is_buffer=*/true);
    return tensors;
  }
  /// Assigns the tensors of a list to the first parameters of the first group.
  template <class State, class Give>
  void give_old(serialize::InputArchive& archive, const char* key, const Give& give) {
    auto tensors = read_old<std::vector<Tensor>>(archive, key);
    std::vector<Tensor>& params = param_groups_.at(0).params();
    for (size_t i = 0; i < tensors.size() && i < params.size(); ++i) give(state_of<State>(params[i]), tensors[i]);
  }

  std::vector<OptimizerParamGroup> param_groups_;
  ska::flat_hash_map<void*, std::unique_ptr<AnyState>> state_;
  Owned<AnyOptions> defaults_;
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
}  // namespace detail

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
