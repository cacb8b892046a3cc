// Objects of classes of TorchScript: their attributes and methods.
#pragma once

#include <torch/csrc/jit/api/method.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Thrown for attributes that an object does not have.
class ObjectAttributeError : public c10::Error {
 public:
  using c10::Error::Error;
};

/// An object with attributes and methods. Copies are the same object.
struct Object {
  Object() = default;
  explicit Object(detail::ModuleHandle handle) : handle_(std::move(handle)) {}
  explicit Object(const ObjectPtr& object) : handle_(object->module()) {}
  /// A new object of a class.
  Object(const std::shared_ptr<CompilationUnit>& unit, const c10::ClassTypePtr& type);

  /// The handle of the C interface. Borrowed: valid as long as the object.
  RLT_LAZY rlt_module* handle() const {
    if (!handle_) rlt::raise<c10::Error>("the module was not loaded");
    return handle_.get();
  }
  /// The object as a value.
  RLT_LAZY ObjectPtr _ivalue() const {
    rlt_object* object = nullptr;
    rlt::check(rlt_module_object(handle(), &object));
    return c10::make_intrusive<c10::ivalue::Object>(object, program());
  }
  RLT_LAZY c10::ClassTypePtr type() const {
    if (described_) return described_;
    std::lock_guard<std::mutex> lock(cache_->mutex);
    if (!cache_->type) cache_->type = c10::detail::class_type(class_name(), program());
    return cache_->type;
  }
  RLT_LAZY std::shared_ptr<CompilationUnit> compilation_unit() const { return std::make_shared<CompilationUnit>(program()); }

  // ---- Attributes ----

  RLT_LAZY c10::IValue attr(const std::string& name) const {
    if (std::optional<c10::IValue> found = find_attribute(name)) return *std::move(found);
    rlt::raise<ObjectAttributeError>(class_name() + " does not have a field with name '" + name + "'");
  }
  RLT_LAZY c10::IValue attr(const std::string& name, c10::IValue otherwise) const {
    RLT_LATER(std::optional<c10::IValue>) found = find_attribute(name);
    return found ? *std::move(found) : std::move(otherwise);
  }
  RLT_LAZY bool hasattr(const std::string& name) const { return find_attribute(name).has_value(); }
  RLT_LAZY void setattr(const std::string& name, c10::IValue value) const {
    if (described_ && described_->hasAttribute(name)) {
      set_described(name, value);
      return;
    }
    if (!hasattr(name)) rlt::raise<c10::Error>("Module has no attribute '" + name + "'");
    RLT_LATER(rlt::Lent<c10::IValue>) lent(value);
    rlt::check(rlt_module_set_attribute(handle(), name.c_str(), &lent.value));
  }

  // ---- Methods ----

  RLT_LAZY Method get_method(const std::string& name) const {
    if (auto found = find_method<RltLazy>(name)) return *found;
    rlt::raise<c10::Error>("Method '" + name + "' is not defined.");
  }
  RLT_LAZY RLT_LATER(std::optional<Method>) find_method(const std::string& name) const {
    for (const std::string& known : method_names()) {
      if (known == name) return Method(handle_, name, cache_);
    }
    return std::nullopt;
  }
  RLT_LAZY RLT_LATER(std::vector<Method>) get_methods() const {
    RLT_LATER(std::vector<Method>) methods;
    for (const std::string& name : method_names()) methods.emplace_back(handle_, name, cache_);
    return methods;
  }
  bool has_property(const std::string&) const { return false; }
  template <class... Values>
  c10::IValue run_method(const std::string& name, Values&&... values) const {
    return get_method(name)({c10::IValue(std::forward<Values>(values))...});
  }
  /// Adds methods from source code: functions whose first parameter is `self`.
  RLT_LAZY void define(const std::string& source) const { rlt::check(rlt_module_define(handle(), source.c_str())); }

  /// An object of the same class with the same values, which are shared.
  RLT_LAZY Object copy() const {
    rlt_module* copied = nullptr;
    rlt::check(rlt_module_copy(handle(), &copied));
    return like(copied);
  }
  /// An object with copies of all tensors and containers.
  RLT_LAZY Object deepcopy() const {
    rlt_module* copied = nullptr;
    rlt::check(rlt_module_clone(handle(), &copied));
    return like(copied);
  }
  friend bool operator==(const Object& a, const Object& b) {
    if (a.handle_ == b.handle_) return true;
    if (!a.handle_ || !b.handle_) return false;
    int64_t mine = 0, theirs = 0;
    rlt::check(rlt_module_identity(a.handle(), &mine));
    rlt::check(rlt_module_identity(b.handle(), &theirs));
    return mine == theirs;
  }
  friend bool operator!=(const Object& a, const Object& b) { return !(a == b); }

 protected:
  RLT_LAZY detail::ScriptHandle program() const {
    rlt_script* script = nullptr;
    rlt::check(rlt_module_script(handle(), &script));
    return detail::adopt_script(script);
  }
  RLT_LAZY std::string class_name() const {
    return detail::text([&](rlt_value* out) { return rlt_module_class_name(handle(), out); });
  }
  RLT_LAZY std::vector<std::string> method_names() const {
    return detail::texts([&](rlt_value* out) { return rlt_module_methods(handle(), out); });
  }
  RLT_LAZY Object like(rlt_module* adopted) const {
    Object object(detail::adopt_module(adopted));
    object.described_ = described_;
    return object;
  }
  RLT_LAZY std::optional<c10::IValue> find_attribute(const std::string& name) const {
    rlt_value value = {};
    int32_t status = rlt_module_attribute(handle(), name.c_str(), &value);
    rlt::OwnedValue owned(value);
    if (status == RLT_OK) {
      c10::detail::ProgramScope scope(program());
      return rlt::Unbox<c10::IValue>(owned.get()).object;
    }
    if (described_) {
      if (std::optional<c10::IValue> constant = described_->findConstant(name)) return constant;
      if (described_->hasAttribute(name)) return c10::IValue();
    }
    return std::nullopt;
  }
  RLT_LAZY void register_value(const std::string& name, const c10::TypePtr& type, const c10::IValue& value, int32_t role) const {
    RLT_LATER(rlt::Lent<c10::IValue>) lent(value);
    std::string annotation = type ? type->annotation_str() : std::string();
    rlt::check(rlt_module_register(handle(), name.c_str(), type ? annotation.c_str() : nullptr, &lent.value, role));
  }
  /// Sets an attribute of a class that C++ code has described: the first value adds it to the class of the program.
  RLT_LAZY void set_described(const std::string& name, const c10::IValue& value) const {
    const c10::ClassAttribute& attribute = described_->getAttributes()[described_->getAttributeSlot(name)];
    using Kind = c10::AttributeKind;
    register_value(name, attribute.getType(), value, attribute.getKind() == Kind::PARAMETER ? 1 : attribute.getKind() == Kind::BUFFER ? 2 : 0);
  }

  detail::ModuleHandle handle_;
  std::shared_ptr<detail::MethodCache> cache_ = std::make_shared<detail::MethodCache>();
  /// The class, if C++ code has described it.
  c10::ClassTypePtr described_;
};

inline Object::Object(const std::shared_ptr<CompilationUnit>& unit, const c10::ClassTypePtr& type) {
  const detail::ScriptHandle& program = unit ? unit->handle() : type->program();
  rlt_module* module = nullptr;
  if (type->prototype()) {
    rlt::check(rlt_module_copy(type->prototype().get(), &module));
  } else if (type->program()) {
    rlt::raise<c10::NotImplementedError>("an object of the class " + type->repr_str() + " is created by Module::create_class");
  } else {
    rlt::check(rlt_module_new(type->annotation_str().c_str(), program.get(), &module));
  }
  handle_ = detail::adopt_module(module);
  described_ = type;
  if (!type->prototype()) {
    rlt_module* prototype = nullptr;
    rlt::check(rlt_module_copy(module, &prototype));
    type->bind(program, detail::adopt_module(prototype));
  }
}

namespace script {
using Object = jit::Object;
using Method = jit::Method;
}  // namespace script
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
