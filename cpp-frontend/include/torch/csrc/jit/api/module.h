// torch::jit::Module: a model that Python saved with torch.jit.save, or one that C++ code builds.
#pragma once

#include <torch/csrc/jit/api/object.h>
#include <torch/serialize/state-dict.h>

#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <unordered_set>
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
using module_list = std::vector<Module>;
using named_module_list = std::vector<NameModule>;
using parameter_list = std::vector<at::Tensor>;
using named_parameter_list = std::vector<NameTensor>;
using buffer_list = std::vector<at::Tensor>;
using named_buffer_list = std::vector<NameTensor>;
using attribute_list = std::vector<c10::IValue>;
using named_attribute_list = std::vector<NameValue>;

/// A module with attributes and methods. Copies are the same module.
struct Module : Object {
  Module() = default;
  /// Takes ownership of a handle of the C interface.
  explicit Module(rlt_module* handle) : Object(detail::adopt_module(handle)) {}
  Module(const ObjectPtr& object) : Object(object) {}
  Module(const Object& object) : Object(object) {}
  /// A module without attributes and methods, of a new class.
  explicit Module(const c10::QualifiedName& class_name) : Module(class_name, nullptr) {}
  explicit Module(const char* class_name) : Module(c10::QualifiedName(class_name)) {}
  Module(const c10::QualifiedName& class_name, const std::shared_ptr<CompilationUnit>& unit, bool = false) {
    rlt_module* module = nullptr;
    rlt::check(rlt_module_new(class_name.qualifiedName().c_str(), unit ? unit->handle().get() : nullptr, &module));
    handle_ = detail::adopt_module(module);
  }
  Module(const std::shared_ptr<CompilationUnit>& unit, const c10::ClassTypePtr& type) : Object(unit, type) {}

  // ---- Methods ----

  /// Calls the method forward. `operator()` runs the module's hooks around it.
  RLT_LAZY c10::IValue forward(std::vector<c10::IValue> inputs, const Kwargs& kwargs = Kwargs()) const { return get_method("forward")(std::move(inputs), kwargs); }
  RLT_LAZY c10::IValue operator()(std::vector<c10::IValue> inputs, const Kwargs& kwargs = Kwargs()) const;

  // ---- What is inside ----

  RLT_LAZY RLT_LATER(std::vector<NameModule>) named_children() const;
  RLT_LAZY RLT_LATER(std::vector<Module>) children() const { return values(named_children<RltLazy>()); }
  /// This module, whose name is empty, and all inside of it, whose names are joined by dots.
  RLT_LAZY RLT_LATER(std::vector<NameModule>) named_modules() const;
  RLT_LAZY RLT_LATER(std::vector<Module>) modules() const { return values(named_modules<RltLazy>()); }
  RLT_LAZY RLT_LATER(std::vector<NameTensor>) named_parameters(bool recurse = true) const { return tensors<RltLazy>(rlt_module_parameters, recurse); }
  RLT_LAZY std::vector<at::Tensor> parameters(bool recurse = true) const { return values(named_parameters<RltLazy>(recurse)); }
  RLT_LAZY RLT_LATER(std::vector<NameTensor>) named_buffers(bool recurse = true) const { return tensors<RltLazy>(rlt_module_buffers, recurse); }
  RLT_LAZY std::vector<at::Tensor> buffers(bool recurse = true) const { return values(named_buffers<RltLazy>(recurse)); }
  /// All attributes: parameters, buffers and modules, too.
  RLT_LAZY RLT_LATER(std::vector<NameValue>) named_attributes(bool recurse = true) const;
  RLT_LAZY std::vector<c10::IValue> attributes(bool recurse = true) const { return values(named_attributes<RltLazy>(recurse)); }

  // ---- Building ----

  RLT_LAZY void register_parameter(const std::string& name, at::Tensor value, bool is_buffer) const {
    register_value(name, c10::TensorType::get(), std::move(value), is_buffer ? 2 : 1);
  }
  RLT_LAZY void register_buffer(const std::string& name, at::Tensor value) const { register_parameter(name, std::move(value), true); }
  RLT_LAZY void register_attribute(const std::string& name, const c10::TypePtr& type, c10::IValue value, bool is_param = false, bool is_buffer = false) const {
    register_value(name, type, value, is_param ? 1 : is_buffer ? 2 : 0);
  }
  /// Both modules must belong to one CompilationUnit.
  RLT_LAZY void register_module(const std::string& name, const Module& module) const {
    rlt::check(rlt_module_register_module(handle(), name.c_str(), module.handle()));
  }
  template <class Resolver>
  void define(const std::string& source, const Resolver&) const {
    Object::define(source);
  }
  using Object::define;
  /// An object of a class of the module's program: calls `__init__`.
  RLT_LAZY c10::IValue create_class(const c10::QualifiedName& name, Stack stack) const;
  RLT_LAZY void apply(const std::function<void(Module&)>& function) {
    for (NameModule& each : named_modules()) function(each.value);
  }

  // ---- Changes ----

  RLT_LAZY void train(bool on = true) const { rlt::check(rlt_module_train(handle(), on)); }
  void eval() const { train(false); }
  RLT_LAZY bool is_training() const { return attr("training", true).toBool(); }
  RLT_LAZY void to(at::Device device, at::ScalarType dtype, bool non_blocking = false) const { move(device, dtype, non_blocking); }
  RLT_LAZY void to(at::ScalarType dtype, bool non_blocking = false) const { move(std::nullopt, dtype, non_blocking); }
  RLT_LAZY void to(at::Device device, bool non_blocking = false) const { move(device, std::nullopt, non_blocking); }
  RLT_LAZY Module copy() const { return Module(Object::copy()); }
  /// A module with copies of all tensors and containers.
  RLT_LAZY Module deepcopy(std::optional<at::Device> device = std::nullopt) const {
    Module module(Object::deepcopy());
    if (device) module.to(*device);
    return module;
  }
  /// With `inplace`, the tensors are shared.
  RLT_LAZY Module clone(bool inplace = false) const { return inplace ? copy() : deepcopy(); }
  bool is_optimized() const { return true; }
  /// Has no effect: graphs are always optimized.
  void set_optimized(bool) const {}

  // ---- Output ----

  /// Writes the module as torch.jit.save does, with extra files by name (torch/csrc/jit/serialization/export.h).
  RLT_LAZY void save(std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap()) const;
  /// A file is replaced atomically.
  RLT_LAZY void save(const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap()) const;
  /// Writes the module for the lite interpreter, as an archive.
  RLT_LAZY void _save_for_mobile(std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap(), bool save_mobile_debug_info = false,
                        bool use_flatbuffer = false) const;
  RLT_LAZY void _save_for_mobile(const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap(), bool save_mobile_debug_info = false,
                        bool use_flatbuffer = false) const;

  RLT_LAZY void dump(bool print_method_bodies = true, bool print_attr_values = true, bool print_param_values = true) const {
    std::fputs((dump_to_str(print_method_bodies, print_attr_values, print_param_values) + "\n").c_str(), stdout);
  }
  RLT_LAZY std::string dump_to_str(bool print_method_bodies = true, bool print_attr_values = true, bool print_param_values = true) const;

 private:
  template <class T>
  static std::vector<T> values(std::vector<Named<T>> named) {
    std::vector<T> values;
    for (Named<T>& each : named) values.push_back(std::move(each.value));
    return values;
  }
  RLT_LAZY RLT_LATER(std::vector<NameTensor>) tensors(int32_t (*function)(const rlt_module*, rlt_state_dict**), bool recurse) const {
    rlt_state_dict* dict = nullptr;
    rlt::check(function(handle(), &dict));
    serialize::detail::StateDict owned(dict, serialize::detail::FreeStateDict());
    RLT_LATER(std::vector<NameTensor>) tensors;
    for (const auto& item : serialize::detail::from_state_dict(dict)) {
      if (recurse || item.key().find('.') == std::string::npos) tensors.push_back({item.key(), item.value()});
    }
    return tensors;
  }
  RLT_LAZY void move(std::optional<at::Device> device, std::optional<at::ScalarType> dtype, bool) const {
    rlt_device place = {};
    int32_t number = dtype ? static_cast<int32_t>(*dtype) : 0;
    if (device) place = rlt::Box<at::Device>::lend(*device).as.device;
    rlt::check(rlt_module_to(handle(), device ? &place : nullptr, dtype ? &number : nullptr));
  }
};

template <class RltLazy>
RLT_LATER(std::vector<NameModule>) Module::named_children() const {
  RLT_LATER(std::vector<NameModule>) children;
  for (const std::string& name : detail::texts([&](rlt_value* out) { return rlt_module_children(handle(), out); })) {
    rlt_module* child = nullptr;
    rlt::check(rlt_module_child(handle(), name.c_str(), &child));
    children.push_back({name, Module(child)});
  }
  return children;
}
template <class RltLazy>
RLT_LATER(std::vector<NameModule>) Module::named_modules() const {
  RLT_LATER(std::vector<NameModule>) modules{{"", *this}};
  // The list grows while it is read: modules are listed before those inside of them.
  for (size_t i = 0; i < modules.size(); ++i) {
    std::string prefix = modules[i].name.empty() ? "" : modules[i].name + ".";
    for (NameModule& child : modules[i].value.named_children()) modules.push_back({prefix + child.name, child.value});
  }
  return modules;
}
template <class RltLazy>
RLT_LATER(std::vector<NameValue>) Module::named_attributes(bool recurse) const {
  RLT_LATER(std::vector<NameValue>) attributes;
  for (const c10::ClassAttribute& attribute : type()->getAttributes()) attributes.push_back({attribute.getName(), attr(attribute.getName())});
  if (!recurse) return attributes;
  for (const NameModule& child : named_children()) {
    for (NameValue& inner : child.value.named_attributes()) attributes.push_back({child.name + "." + inner.name, std::move(inner.value)});
  }
  return attributes;
}

/// Hooks that the file has: those before forward may replace its inputs, those after it its result.
template <class RltLazy>
c10::IValue Module::operator()(std::vector<c10::IValue> inputs, const Kwargs& kwargs) const {
  c10::IValue data = c10::detail::described([&](rlt_value* out) { return rlt_script_class(program().get(), class_name().c_str(), out); });
  const auto& parts = data.toTupleRef().elements();
  for (const std::string& name : parts[6].to<std::vector<std::string>>()) {
    c10::IValue changed = get_method(name)({c10::ivalue::Tuple::create(inputs)});
    if (changed.isNone()) continue;
    inputs = changed.isTuple() ? changed.toTupleRef().elements().vec() : std::vector<c10::IValue>{changed};
  }
  c10::IValue result = forward(inputs, kwargs);
  for (const std::string& name : parts[7].to<std::vector<std::string>>()) {
    c10::IValue changed = get_method(name)({c10::ivalue::Tuple::create(inputs), result});
    if (!changed.isNone()) result = std::move(changed);
  }
  return result;
}

template <class RltLazy>
c10::IValue Module::create_class(const c10::QualifiedName& name, Stack stack) const {
  RLT_LATER(c10::ClassTypePtr) type = compilation_unit()->get_class(name);
  if (!type) rlt::raise<c10::Error>("Type '" + name.qualifiedName() + "' does not exist");
  // A function of the program creates the object, so that __init__ is called as programs do.
  CompilationUnit unit(program());
  std::string maker = "__create_" + name.qualifiedName();
  for (char& each : maker) each = each == '.' ? '_' : each;
  if (!unit.find_function(maker)) {
    std::string parameters, arguments;
    const auto& formals = type->getMethod("__init__").getSchema().arguments();
    for (size_t i = 1; i < formals.size(); ++i) {
      parameters += (i > 1 ? ", " : "") + formals[i].name() + ": " + formals[i].type()->annotation_str();
      arguments += (i > 1 ? ", " : "") + formals[i].name();
    }
    unit.define("def " + maker + "(" + parameters + "):\n    return " + name.qualifiedName() + "(" + arguments + ")\n");
  }
  return unit.get_function(maker)(std::move(stack));
}

template <class RltLazy>
std::string Module::dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const {
  auto indented = [](const std::string& prefix, const std::string& text) {
    std::string result;
    for (size_t start = 0; start < text.size();) {
      size_t end = text.find('\n', start);
      if (end == std::string::npos) end = text.size();
      result += prefix + text.substr(start, end - start) + "\n";
      start = end + 1;
    }
    return result;
  };
  std::ostringstream text;
  text << "module " << class_name() << " {\n  parameters {\n";
  for (const NameTensor& parameter : named_parameters(false)) {
    text << "    " << parameter.name << " = ";
    if (print_param_values) text << parameter.value << '\n';
    else text << "...\n";
  }
  text << "  }\n  attributes {\n";
  for (const NameValue& attribute : named_attributes(false)) {
    text << "    " << attribute.name << " = ";
    if (!attribute.value.isTensor() || print_attr_values) text << attribute.value << '\n';
    else text << "...\n";
  }
  text << "  }\n  methods {\n";
  for (const Method& method : get_methods()) {
    text << "    method " << method.name() << " {\n";
    if (print_method_bodies) text << indented("      ", method.graph()->toString());
    text << "    }\n";
  }
  text << "  }\n  submodules {\n";
  for (const NameModule& child : named_children()) text << indented("    ", child.value.dump_to_str(print_method_bodies, print_attr_values, print_param_values));
  text << "  }\n}\n";
  return text.str();
}

namespace detail {
/// The arrays of names that the C functions take.
class NameArray {
 public:
  explicit NameArray(const std::vector<std::string>& names) {
    for (const std::string& name : names) pointers_.push_back(name.c_str());
  }
  const char* const* data() const { return pointers_.data(); }
  RLT_LAZY int64_t size() const { return static_cast<int64_t>(pointers_.size()); }

 private:
  std::vector<const char*> pointers_;
};
}  // namespace detail

/// A copy in which the attributes that the methods only read are constants of the graphs. The module must be in evaluation
/// mode.
RLT_LAZY Module freeze(const Module& module, const std::optional<std::vector<std::string>>& preserved_attrs = std::nullopt, bool optimize_numerics = true) {
  detail::NameArray names(preserved_attrs ? *preserved_attrs : std::vector<std::string>());
  rlt_module* frozen = nullptr;
  rlt::check(rlt_module_freeze(module.handle(), names.data(), names.size(), optimize_numerics, &frozen));
  return Module(frozen);
}
RLT_LAZY Module freeze_module(const Module& module, std::vector<std::string> preserved_attrs = {}, bool freeze_interfaces = true, bool preserve_parameters = false) {
  (void)freeze_interfaces;
  if (preserve_parameters) rlt::raise<c10::NotImplementedError>("freeze_module with preserve_parameters is not implemented");
  detail::NameArray names(preserved_attrs);
  rlt_module* frozen = nullptr;
  rlt::check(rlt_module_freeze(module.handle(), names.data(), names.size(), 0, &frozen));
  return Module(frozen);
}
/// A copy that is made to run fast: it is frozen, batch norms are folded, and each method is compiled for the shapes of the
/// inputs with which it is called. `rlt_module_method_plan` shows the result. `weights` is an extension of libtorch: the dtype in
/// which linear layers keep their weights, `kFloat`, `kBFloat16`, or `kChar` with a scale for each output. Results are then those
/// of the module with its weights rounded.
RLT_LAZY Module optimize_for_inference(const Module& module, const std::vector<std::string>& other_methods = {}, c10::ScalarType weights = c10::ScalarType::Float) {
  detail::NameArray names(other_methods);
  rlt_module* optimized = nullptr;
  rlt::check(rlt_module_compile(module.handle(), names.data(), names.size(), static_cast<int32_t>(weights), &optimized));
  return Module(optimized);
}

namespace script {
using Module = jit::Module;
using ExtraFilesMap = jit::ExtraFilesMap;
using jit::module_list;
using jit::parameter_list;
}  // namespace script
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch

namespace c10 {
RLT_NAMESPACE_BEGIN
template <class Module>
Module IValue::toModule() const {
  return Module(toObject());
}
RLT_NAMESPACE_END
}  // namespace c10
