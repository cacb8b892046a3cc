// Module: the base of layers and models. It owns named parameters, buffers and submodules, and iterates over them.
#pragma once

#include <c10/util/Type.h>
#include <torch/ordered_dict.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

class Module;
template <class Contained>
class ModuleHolder;

namespace detail {

struct ModuleHolderIndicator {};
template <class T>
constexpr bool is_module_holder = std::is_base_of_v<ModuleHolderIndicator, std::decay_t<T>>;
template <class T>
constexpr bool is_module = std::is_base_of_v<Module, std::decay_t<T>>;

/// One address per type: identifies types in a program without RTTI.
template <class T>
const void* type_token() {
  static const char token = 0;
  return &token;
}

}  // namespace detail

class Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module() : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule") {}
  /// A module with an explicit name, instead of that of its class.
  explicit Module(std::string name) : Module() {
    name_ = std::move(name);
    has_name_ = true;
  }
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  virtual ~Module() = default;

  /// The class's name.
  const std::string& name() const noexcept {
    if (!has_name_) {
#if RLT_RTTI
      name_ = c10::demangle(typeid(*this).name());
#else
      name_ = "Module";
#endif
      has_name_ = true;
    }
    return name_;
  }

  /// A deep copy; modules that derive from Cloneable have one.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const {
    (void)device;
    rlt::raise<Error>("clone() has not been implemented for " + name() + ". Subclass torch::nn::Cloneable<" + name() + "> instead of torch::nn::Module to inherit the ability to clone.");
  }

  // Calls a function with this module and then with its descendants, parents first.
  RLT_LAZY void apply(const ModuleApplyFunction& function) {
    function(*this);
    walk("", [&](const std::string&, const std::shared_ptr<Module>& module) { function(*module); });
  }
  RLT_LAZY void apply(const ConstModuleApplyFunction& function) const {
    function(*this);
    walk("", [&](const std::string&, const std::shared_ptr<Module>& module) { function(*module); });
  }
  RLT_LAZY void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = {}) {
    function(name_prefix, *this);
    walk(name_prefix, [&](const std::string& name, const std::shared_ptr<Module>& module) { function(name, *module); });
  }
  RLT_LAZY void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = {}) const {
    function(name_prefix, *this);
    walk(name_prefix, [&](const std::string& name, const std::shared_ptr<Module>& module) { function(name, *module); });
  }
  RLT_LAZY void apply(const ModulePointerApplyFunction& function) const {
    function(checked_shared());
    walk("", [&](const std::string&, const std::shared_ptr<Module>& module) { function(module); });
  }
  RLT_LAZY void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = {}) const {
    function(name_prefix, checked_shared());
    walk(name_prefix, function);
  }

  std::vector<Tensor> parameters(bool recurse = true) const { return collect_values(&Module::parameters_, recurse); }
  RLT_LAZY OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const {
    OrderedDict<std::string, Tensor> result;
    collect(result, &Module::parameters_, recurse);
    return result;
  }
  RLT_LAZY std::vector<Tensor> buffers(bool recurse = true) const { return collect_values(&Module::buffers_, recurse); }
  RLT_LAZY OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const {
    OrderedDict<std::string, Tensor> result;
    collect(result, &Module::buffers_, recurse);
    return result;
  }
  RLT_LAZY std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const { return named_modules({}, include_self).values(); }
  RLT_LAZY OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = {}, bool include_self = true) const {
    OrderedDict<std::string, std::shared_ptr<Module>> result;
    if (include_self) result.insert(name_prefix, checked_shared());
    walk(name_prefix, [&](const std::string& name, const std::shared_ptr<Module>& module) { result.insert(name, module); });
    return result;
  }
  RLT_LAZY std::vector<std::shared_ptr<Module>> children() const { return children_.values(); }
  RLT_LAZY OrderedDict<std::string, std::shared_ptr<Module>> named_children() const { return children_; }

  /// Names that load_state_dict ignored.
  struct IncompatibleKeys {
    std::vector<std::string> missing_keys, unexpected_keys;
  };
  /// The parameters and buffers of this module and its descendants, under the names and in the order of Python. The
  /// tensors share memory with the module's, but not their history.
  RLT_LAZY OrderedDict<std::string, Tensor> state_dict() const {
    OrderedDict<std::string, Tensor> result = own_state();
    for (auto& item : result) item.value() = item.value().detach();
    return result;
  }
  /// Copies tensors into the parameters and buffers of the same names. With `strict`, the names must be those of
  /// state_dict(). If names or shapes do not match, the error lists all mismatches, and nothing is written.
  RLT_LAZY IncompatibleKeys load_state_dict(const OrderedDict<std::string, Tensor>& state_dict, bool strict = true) {
    auto source = serialize::detail::to_state_dict(state_dict), target = serialize::detail::to_state_dict(own_state());
    rlt_state_dict *missing = nullptr, *unexpected = nullptr;
    rlt::check(rlt_state_dict_copy_into(source.get(), target.get(), name().c_str(), strict, &missing, &unexpected));
    serialize::detail::StateDict lacking(missing, serialize::detail::FreeStateDict()), unknown(unexpected, serialize::detail::FreeStateDict());
    return {serialize::detail::from_state_dict(lacking.get()).keys(), serialize::detail::from_state_dict(unknown.get()).keys()};
  }

  /// Sets training mode for this module and its descendants: dropout, batch norm and similar modules depend on it.
  virtual void train(bool on = true) {
    for (auto& child : children_) child.value()->train(on);
    is_training_ = on;
  }
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }

  // Moves and converts parameters and buffers in place.
  virtual void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) { convert(TensorOptions(device).dtype(dtype), non_blocking); }
  virtual void to(torch::Dtype dtype, bool non_blocking = false) { convert(TensorOptions(dtype), non_blocking); }
  virtual void to(torch::Device device, bool non_blocking = false) { convert(TensorOptions(device), non_blocking); }

  /// Removes every gradient, or sets it to zero.
  virtual void zero_grad(bool set_to_none = true) {
    for (Tensor& parameter : parameters()) {
      Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (set_to_none) {
        parameter.mutable_grad().reset();
      } else {
        gradient.detach().zero_();
      }
    }
  }

  virtual void save(serialize::OutputArchive& archive) const {
    for (const auto& parameter : parameters_) archive.write(parameter.key(), parameter.value());
    for (const auto& buffer : buffers_) archive.write(buffer.key(), buffer.value(), /*is_buffer=*/true);
    for (const auto& child : children_) {
      if (!child.value()->is_serializable()) continue;
      serialize::OutputArchive nested;
      child.value()->save(nested);
      archive.write(child.key(), nested);
    }
  }
  virtual void load(serialize::InputArchive& archive) {
    for (auto& parameter : parameters_) {
      if (parameter.value().defined()) archive.read(parameter.key(), parameter.value());
    }
    for (auto& buffer : buffers_) {
      if (buffer.value().defined()) archive.read(buffer.key(), buffer.value(), /*is_buffer=*/true);
    }
    for (const auto& child : children_) {
      if (!child.value()->is_serializable()) continue;
      serialize::InputArchive nested;
      archive.read_submodule(child.key(), nested);
      child.value()->load(nested);
    }
  }
  virtual bool is_serializable() const { return true; }

  /// One line for this module, without its children.
  virtual void pretty_print(std::ostream& stream) const { stream << name(); }

  /// This module as a T, or nullptr.
  template <class T, class = std::enable_if_t<detail::is_module_holder<T>>>
  typename T::ContainedType* as() noexcept {
    return as<typename T::ContainedType>();
  }
  template <class T, class = std::enable_if_t<detail::is_module_holder<T>>>
  const typename T::ContainedType* as() const noexcept {
    return as<typename T::ContainedType>();
  }
  template <class T, std::enable_if_t<!detail::is_module_holder<T>, bool> = true>
  T* as() noexcept {
#if RLT_RTTI
    return dynamic_cast<T*>(this);
#else
    return type_token() == detail::type_token<T>() ? static_cast<T*>(this) : nullptr;
#endif
  }
  template <class T, std::enable_if_t<!detail::is_module_holder<T>, bool> = true>
  const T* as() const noexcept {
    return const_cast<Module*>(this)->as<T>();
  }
  /// The class's address among types (set by Cloneable): `as` compares it without RTTI.
  virtual const void* type_token() const { return nullptr; }

  /// Registers a tensor as a parameter. The returned reference stays valid.
  RLT_LAZY Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true) {
    check_name("Parameter", name);
    if (tensor.defined()) {
      tensor.set_requires_grad(requires_grad);
    } else if (requires_grad) {
      TORCH_WARN("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function parameter.");
    }
    return parameters_.insert(std::move(name), std::move(tensor));
  }
  /// Registers a tensor that is saved and moved with the module, but not trained.
  RLT_LAZY Tensor& register_buffer(std::string name, Tensor tensor) {
    check_name("Buffer", name);
    return buffers_.insert(std::move(name), std::move(tensor));
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    check_name("Submodule", name);
    children_.insert(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    children_[name] = module;
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, ModuleHolder<M> holder) {
    return replace_module(name, holder.ptr());
  }
  RLT_LAZY void unregister_module(const std::string& name) {
    if (!children_.contains(name)) rlt::raise<Error>("No Module with name `" + name + "` is registered");
    children_.erase(name);
  }

  friend std::ostream& operator<<(std::ostream& stream, const Module& module) {
    module.print_tree(stream, "");
    return stream;
  }

 protected:
  OrderedDict<std::string, Tensor> parameters_;
  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;

 private:
  template <class Derived>
  friend class Cloneable;

  virtual void clone_(Module& other, const std::optional<Device>& device) { (void)other, (void)device; }

  // The steps of Cloneable for a copy before and after reset().
  RLT_LAZY void forget_registrations() {
    parameters_.clear();
    buffers_.clear();
    children_.clear();
  }
  RLT_LAZY void copy_values(const Module& from, const std::optional<Device>& device) {
    auto copy = [&](const char* what, OrderedDict<std::string, Tensor>& to, const OrderedDict<std::string, Tensor>& source) {
      check_cloned_size(what, to.size(), source.size());
      for (const auto& item : source) {
        if (!item.value().defined()) continue;
        Tensor value = item.value().detach().clone();
        to[item.key()].set_data(device ? value.to(TensorOptions(*device)) : value);
      }
    };
    copy("parameters", parameters_, from.parameters_);
    copy("buffers", buffers_, from.buffers_);
    check_cloned_size("child modules", children_.size(), from.children_.size());
    for (const auto& child : from.children_) children_[child.key()]->clone_(*child.value(), device);
  }
  static void check_cloned_size(const char* what, size_t cloned, size_t expected) {
    if (cloned == expected) return;
    rlt::raise<Error>(std::string("The cloned module does not have the same number of ") + what +
                      " as the original module after calling reset(). Are you sure you called register_parameter(), register_buffer() or "
                      "register_module() inside reset() and not the constructor?");
  }

  static std::string join(const std::string& prefix, const std::string& name) { return prefix.empty() ? name : prefix + "." + name; }

  template <class Visit>
  void walk(const std::string& prefix, const Visit& visit) const {
    for (const auto& child : children_) {
      std::string name = join(prefix, child.key());
      visit(name, child.value());
      child.value()->walk(name, visit);
    }
  }
  RLT_LAZY void collect(OrderedDict<std::string, Tensor>& result, OrderedDict<std::string, Tensor> Module::*own, bool recurse) const {
    auto add = [&](const std::string& prefix, const Module& module) {
      for (const auto& item : module.*own) {
        if (item.value().defined()) result.insert(join(prefix, item.key()), item.value());
      }
    };
    add("", *this);
    if (recurse) walk("", [&](const std::string& name, const std::shared_ptr<Module>& module) { add(name, *module); });
  }
  RLT_LAZY OrderedDict<std::string, Tensor> own_state() const {
    OrderedDict<std::string, Tensor> result;
    auto add = [&](const std::string& prefix, const Module& module) {
      for (const auto* own : {&module.parameters_, &module.buffers_}) {
        for (const auto& item : *own) {
          if (item.value().defined()) result.insert(join(prefix, item.key()), item.value());
        }
      }
    };
    add("", *this);
    walk("", [&](const std::string& name, const std::shared_ptr<Module>& module) { add(name, *module); });
    return result;
  }
  std::vector<Tensor> collect_values(OrderedDict<std::string, Tensor> Module::*own, bool recurse) const {
    std::vector<Tensor> result;
    append_values(result, own, recurse);
    return result;
  }
  void append_values(std::vector<Tensor>& result, OrderedDict<std::string, Tensor> Module::*own, bool recurse) const {
    for (const auto& item : this->*own) {
      if (item.value().defined()) result.push_back(item.value());
    }
    if (!recurse) return;
    for (const auto& child : children_) child.value()->append_values(result, own, recurse);
  }
  RLT_LAZY std::shared_ptr<Module> checked_shared() const {
    std::shared_ptr<const Module> self = weak_from_this().lock();
    if (!self) {
      rlt::raise<Error>(
          "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored in a shared_ptr. Use "
          "std::make_shared<" + name() + "> instead of creating your module on the stack, or alternatively do not try to access your "
          "top-level module at all by passing /*include_self=*/false to modules() or named_modules()");
    }
    return std::const_pointer_cast<Module>(self);
  }
  static void check_name(const char* what, const std::string& name) {
    if (name.empty()) rlt::raise<Error>(std::string(what) + " name must not be empty");
    if (name.find('.') != std::string::npos) rlt::raise<Error>(std::string(what) + " name must not contain a dot (got '" + name + "')");
  }
  void convert(const TensorOptions& options, bool non_blocking) {
    c10::NoGradGuard guard;
    for (auto& child : children_) child.value()->convert_dispatch(options, non_blocking);
    for (auto* own : {&parameters_, &buffers_}) {
      for (auto& item : *own) {
        Tensor& tensor = item.value();
        if (!tensor.defined()) continue;
        Tensor gradient = tensor.grad();
        tensor.set_data(tensor.detach().to(options, non_blocking));
        if (gradient.defined()) tensor.mutable_grad() = gradient.detach().to(options, non_blocking);
      }
    }
  }
  // Children convert through their own virtual `to`.
  void convert_dispatch(const TensorOptions& options, bool non_blocking) {
    if (options.has_device() && options.has_dtype()) to(options.device(), options.dtype().toScalarType(), non_blocking);
    else if (options.has_dtype()) to(options.dtype().toScalarType(), non_blocking);
    else to(options.device(), non_blocking);
  }
  void print_tree(std::ostream& stream, const std::string& indent) const {
    pretty_print(stream);
    if (children_.is_empty()) return;
    std::string inner = indent + "  ";
    stream << "(\n";
    for (const auto& child : children_) {
      stream << inner << "(" << child.key() << "): ";
      child.value()->print_tree(stream, inner);
      stream << "\n";
    }
    stream << indent << ")";
  }

  // Set explicitly, or computed from the class on demand. (Not a std::optional, which each program would compile.)
  mutable std::string name_;
  mutable bool has_name_ = false;
  bool is_training_ = true;
};

inline serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  if (!module) rlt::raise<Error>("Cannot serialize empty module");
  module->save(archive);
  return archive;
}
inline serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  if (!module) rlt::raise<Error>("Cannot deserialize empty module");
  module->load(archive);
  return archive;
}

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
