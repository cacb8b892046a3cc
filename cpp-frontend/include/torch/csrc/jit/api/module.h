// torch::jit::Module: a model that Python saved with torch.jit.save.
#pragma once

#include <torch/csrc/jit/api/method.h>
#include <torch/serialize/state-dict.h>

#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

using ExtraFilesMap = std::unordered_map<std::string, std::string>;

/// A name with what it names.
template <class T>
struct Named {
  std::string name;
  T value;
};

struct Module;
using NameModule = Named<Module>;
using NameTensor = Named<at::Tensor>;
using NameValue = Named<c10::IValue>;

/// A module with attributes and methods. Copies are the same module.
struct Module {
  Module() = default;
  /// Takes ownership of a handle of the C interface.
  explicit Module(rlt_module* handle) : handle_(detail::adopt_module(handle)) {}
  /// The handle. Borrowed: valid as long as the module.
  rlt_module* handle() const {
    if (!handle_) rlt::raise<c10::Error>("the module was not loaded");
    return handle_.get();
  }

  // ---- Methods ----

  c10::IValue forward(std::vector<c10::IValue> inputs, const Kwargs& kwargs = Kwargs()) const { return run_method_with("forward", inputs, kwargs); }
  c10::IValue operator()(std::vector<c10::IValue> inputs, const Kwargs& kwargs = Kwargs()) const { return forward(std::move(inputs), kwargs); }
  template <class... Values>
  c10::IValue run_method(const std::string& name, Values&&... values) const {
    return run_method_with(name, {c10::IValue(std::forward<Values>(values))...}, {});
  }
  Method get_method(const std::string& name) const {
    if (std::optional<Method> found = find_method(name)) return *found;
    rlt::raise<c10::Error>("Method '" + name + "' is not defined.");
  }
  std::optional<Method> find_method(const std::string& name) const {
    for (const std::string& known : method_names()) {
      if (known == name) return Method(handle_, name);
    }
    return std::nullopt;
  }
  std::vector<Method> get_methods() const {
    std::vector<Method> methods;
    for (const std::string& name : method_names()) methods.emplace_back(handle_, name);
    return methods;
  }

  // ---- Attributes ----

  c10::IValue attr(const std::string& name) const {
    rlt_value value = {};
    rlt::check(rlt_module_attribute(handle(), name.c_str(), &value));
    rlt::OwnedValue owned(value);
    return rlt::Unbox<c10::IValue>(owned.get()).object;
  }
  c10::IValue attr(const std::string& name, c10::IValue otherwise) const { return hasattr(name) ? attr(name) : std::move(otherwise); }
  bool hasattr(const std::string& name) const {
    rlt_value value = {};
    bool found = rlt_module_attribute(handle(), name.c_str(), &value) == 0;
    rlt_value_free(&value);
    return found;
  }
  void setattr(const std::string& name, c10::IValue value) const {
    rlt::Lent<c10::IValue> lent(value);
    rlt::check(rlt_module_set_attribute(handle(), name.c_str(), &lent.value));
  }

  // ---- Modules inside ----

  std::vector<NameModule> named_children() const;
  std::vector<Module> children() const { return values(named_children()); }
  /// This module, whose name is empty, and all inside of it, whose names are joined by dots.
  std::vector<NameModule> named_modules() const;
  std::vector<Module> modules() const { return values(named_modules()); }

  // ---- Parameters and buffers ----

  std::vector<NameTensor> named_parameters(bool recurse = true) const { return tensors(rlt_module_parameters, recurse); }
  std::vector<at::Tensor> parameters(bool recurse = true) const { return values(named_parameters(recurse)); }
  std::vector<NameTensor> named_buffers(bool recurse = true) const { return tensors(rlt_module_buffers, recurse); }
  std::vector<at::Tensor> buffers(bool recurse = true) const { return values(named_buffers(recurse)); }

  // ---- Changes ----

  void train(bool on = true) const { rlt::check(rlt_module_train(handle(), on)); }
  void eval() const { train(false); }
  bool is_training() const { return attr("training", true).toBool(); }
  void to(at::Device device, at::ScalarType dtype, bool non_blocking = false) const { move(device, dtype, non_blocking); }
  void to(at::ScalarType dtype, bool non_blocking = false) const { move(std::nullopt, dtype, non_blocking); }
  void to(at::Device device, bool non_blocking = false) const { move(device, std::nullopt, non_blocking); }
  /// A module with copies of all tensors and containers.
  Module deepcopy(std::optional<at::Device> device = std::nullopt) const {
    rlt_module* copied = nullptr;
    rlt::check(rlt_module_clone(handle(), &copied));
    Module module(copied);
    if (device) module.to(*device);
    return module;
  }
  Module clone() const { return deepcopy(); }

  /// Writes the module as torch.jit.save does, with extra files by name (torch/csrc/jit/serialization/export.h).
  void save(std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap()) const;
  /// A file is replaced atomically.
  void save(const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap()) const;
  /// Writes the module for the lite interpreter, as an archive.
  void _save_for_mobile(std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap(), bool save_mobile_debug_info = false,
                        bool use_flatbuffer = false) const;
  void _save_for_mobile(const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap(), bool save_mobile_debug_info = false,
                        bool use_flatbuffer = false) const;

  /// The graphs of all methods as text.
  std::string dump_to_str() const {
    std::string text;
    for (const Method& method : get_methods()) text += method.schema() + "\n" + method.graph() + "\n";
    return text;
  }
  friend bool operator==(const Module& a, const Module& b) { return a.handle_ == b.handle_; }

 private:
  template <class T>
  static std::vector<T> values(std::vector<Named<T>> named) {
    std::vector<T> values;
    for (Named<T>& each : named) values.push_back(std::move(each.value));
    return values;
  }
  c10::IValue run_method_with(const std::string& name, const std::vector<c10::IValue>& inputs, const Kwargs& kwargs) const {
    rlt_module* module = handle();
    return detail::Arguments(inputs, kwargs).call([&](auto... arguments) { return rlt_module_run(module, name.c_str(), arguments...); });
  }
  std::vector<std::string> method_names() const {
    return detail::texts([&](rlt_value* out) { return rlt_module_methods(handle(), out); });
  }
  std::vector<NameTensor> tensors(int32_t (*function)(const rlt_module*, rlt_state_dict**), bool recurse) const {
    rlt_state_dict* dict = nullptr;
    rlt::check(function(handle(), &dict));
    serialize::detail::StateDict owned(dict, serialize::detail::FreeStateDict());
    std::vector<NameTensor> tensors;
    for (const auto& item : serialize::detail::from_state_dict(dict)) {
      if (recurse || item.key().find('.') == std::string::npos) tensors.push_back({item.key(), item.value()});
    }
    return tensors;
  }
  void move(std::optional<at::Device> device, std::optional<at::ScalarType> dtype, bool) const {
    rlt_device place = {};
    int32_t number = dtype ? static_cast<int32_t>(*dtype) : 0;
    if (device) place = rlt::Box<at::Device>::lend(*device).as.device;
    rlt::check(rlt_module_to(handle(), device ? &place : nullptr, dtype ? &number : nullptr));
  }

  detail::ModuleHandle handle_;
};

inline std::vector<NameModule> Module::named_children() const {
  std::vector<NameModule> children;
  for (const std::string& name : detail::texts([&](rlt_value* out) { return rlt_module_children(handle(), out); })) {
    rlt_module* child = nullptr;
    rlt::check(rlt_module_child(handle(), name.c_str(), &child));
    children.push_back({name, Module(child)});
  }
  return children;
}
inline std::vector<NameModule> Module::named_modules() const {
  std::vector<NameModule> modules{{"", *this}};
  // The list grows while it is read: modules are listed before those inside of them.
  for (size_t i = 0; i < modules.size(); ++i) {
    std::string prefix = modules[i].name.empty() ? "" : modules[i].name + ".";
    for (NameModule& child : modules[i].value.named_children()) modules.push_back({prefix + child.name, child.value});
  }
  return modules;
}

namespace script {
using Module = jit::Module;
using ExtraFilesMap = jit::ExtraFilesMap;
using Method = jit::Method;
}  // namespace script
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
