// ClassType, InterfaceType, FunctionType: types with methods.
#pragma once

#include <ATen/core/jit_type_base.h>

#include <algorithm>
#include <map>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
struct Function;
}
RLT_NAMESPACE_END
}  // namespace torch

namespace c10 {
RLT_NAMESPACE_BEGIN

namespace detail {

/// What a program knows of a class: see rlt_script_class.
struct ClassData {
  std::string kind;
  std::vector<ClassAttribute> attributes;
  std::vector<std::pair<std::string, IValue>> constants;
  std::vector<TypePtr> constant_types;
  std::vector<std::string> methods, static_methods;
};
/// Defined in ATen/core/type_of.h.
RLT_LAZY ClassData class_data(const ScriptHandle& program, const std::string& name);
RLT_LAZY bool class_is_subtype(const Type& type, const Type& other, std::ostream* why);

}  // namespace detail

/// A class or a module: of a program, of C++ (torch::class_), or one that C++ code describes before the first module of it.
template <class RltLazy>
struct ClassTypeOf final : NamedType {
  static constexpr TypeKind Kind = TypeKind::ClassType;
  ClassTypeOf(std::optional<QualifiedName> name, std::shared_ptr<torch::jit::CompilationUnit> unit, bool is_module, std::string doc = "")
      : NamedType(Kind, std::move(name)), unit_(std::move(unit)), is_module_(is_module), doc_(std::move(doc)) {}
  /// A class of a program.
  ClassTypeOf(const std::string& name, detail::ScriptHandle program) : NamedType(Kind, QualifiedName(name)), program_(std::move(program)) {
    is_module_ = data().kind == "Module";
  }
  static std::shared_ptr<ClassTypeOf> create(std::optional<QualifiedName> name, std::shared_ptr<torch::jit::CompilationUnit> unit, bool is_module = false, std::string doc = "") {
    return std::make_shared<ClassTypeOf>(std::move(name), std::move(unit), is_module, std::move(doc));
  }
  template <class Unit, std::enable_if_t<std::is_same_v<Unit, std::weak_ptr<torch::jit::CompilationUnit>>, bool> = true>
  static std::shared_ptr<ClassTypeOf> create(std::optional<QualifiedName> name, Unit unit, bool is_module = false, std::string doc = "") {
    return create(std::move(name), unit.lock(), is_module, std::move(doc));
  }

  bool is_module() const override { return is_module_; }
  const std::string& doc_string() const { return doc_; }
  std::shared_ptr<torch::jit::CompilationUnit> compilation_unit() const { return unit_; }
  /// Methods are added by Module::define.
  [[noreturn]] void addMethod(torch::jit::Function*) {
    rlt::raise<NotImplementedError>("c10::ClassType::addMethod is not available: methods are added by torch::jit::Module::define");
  }

  size_t numAttributes() const { return getAttributes().size(); }
  const std::vector<ClassAttribute>& getAttributes() const {
    if (program_) {
      // Attributes are only added, so that references stay valid as long as none is.
      std::vector<ClassAttribute> found = data().attributes;
      std::lock_guard<std::mutex> lock(mutex_);
      if (found.size() != attributes_.size()) attributes_ = std::move(found);
    }
    return attributes_;
  }
  std::optional<size_t> findAttributeSlot(const std::string& name) const {
    const auto& attributes = getAttributes();
    for (size_t i = 0; i < attributes.size(); ++i) {
      if (attributes[i].getName() == name) return i;
    }
    return std::nullopt;
  }
  size_t getAttributeSlot(const std::string& name) const {
    if (auto slot = findAttributeSlot(name)) return *slot;
    rlt::raise<Error>(repr_str() + " does not have an attribute with name '" + name + "'");
  }
  bool hasAttribute(const std::string& name) const { return findAttributeSlot(name).has_value(); }
  TypePtr findAttribute(const std::string& name) const {
    auto slot = findAttributeSlot(name);
    return slot ? attributes_[*slot].getType() : nullptr;
  }
  TypePtr getAttribute(const std::string& name) const { return getAttribute(getAttributeSlot(name)); }
  TypePtr getAttribute(size_t slot) const { return attribute(slot).getType(); }
  std::string getAttributeName(size_t slot) const { return attribute(slot).getName(); }
  bool is_parameter(size_t slot) const { return attribute(slot).getKind() == AttributeKind::PARAMETER; }
  bool is_buffer(size_t slot) const { return attribute(slot).getKind() == AttributeKind::BUFFER; }
  /// Adds an attribute. A class of a program gets it with the first module that registers it.
  size_t addAttribute(const std::string& name, TypePtr type, bool is_parameter = false, bool is_buffer = false) {
    if (hasAttribute(name)) rlt::raise<Error>("attempting to add attribute '" + name + "' to " + repr_str() + " but an attribute with the same name already exists");
    if ((is_parameter || is_buffer) && !is_module_) rlt::raise<Error>("adding a parameter or a buffer to a non-module class");
    auto kind = is_parameter ? AttributeKind::PARAMETER : is_buffer ? AttributeKind::BUFFER : AttributeKind::REGULAR_ATTRIBUTE;
    if (program_) rlt::raise<NotImplementedError>("attributes are added to a class of a program by Module::register_attribute");
    attributes_.emplace_back(kind, std::move(type), name);
    return attributes_.size() - 1;
  }
  void unsafeRemoveAttribute(const std::string& name) {
    size_t slot = getAttributeSlot(name);
    if (program_) rlt::raise<NotImplementedError>("attributes of a class of a program cannot be removed");
    attributes_.erase(attributes_.begin() + static_cast<std::ptrdiff_t>(slot));
  }

  size_t numConstants() const { return constants().size(); }
  std::optional<size_t> findConstantSlot(const std::string& name) const {
    const auto& found = constants();
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].first == name) return i;
    }
    return std::nullopt;
  }
  bool hasConstant(const std::string& name) const { return findConstantSlot(name).has_value(); }
  std::optional<IValue> findConstant(const std::string& name) const {
    auto slot = findConstantSlot(name);
    return slot ? std::optional<IValue>(constants_[*slot].second) : std::nullopt;
  }
  IValue getConstant(const std::string& name) const {
    if (auto value = findConstant(name)) return *value;
    rlt::raise<Error>(repr_str() + " does not have constant field with the name '" + name + "'");
  }
  size_t addConstant(const std::string& name, const IValue& value) {
    if (hasConstant(name)) rlt::raise<Error>("attempting to add constant '" + name + "' to " + repr_str() + " but a constant field of the same name already exists");
    if (program_) rlt::raise<NotImplementedError>("constants cannot be added to a class of a program");
    constants_.emplace_back(name, value);
    return constants_.size() - 1;
  }
  void unsafeRemoveConstant(const std::string& name) {
    auto slot = findConstantSlot(name);
    if (!slot || program_) rlt::raise<Error>("the constant '" + name + "' of " + repr_str() + " cannot be removed");
    constants_.erase(constants_.begin() + static_cast<std::ptrdiff_t>(*slot));
  }

  /// The methods (torch/csrc/jit/api/function.h).
  template <class Lazy = void>
  torch::jit::Function* findMethod(const std::string& name) const;
  template <class Lazy = void>
  torch::jit::Function& getMethod(const std::string& name) const;
  template <class Lazy = void>
  std::vector<torch::jit::Function*> methods() const;
  bool hasMethod(const std::string& name) const {
    const std::vector<std::string> names = method_names();
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  std::vector<std::string> method_names() const {
    std::vector<std::string> names;
    if (program_ || is_custom()) {
      detail::ClassData found = data();
      names = found.methods;
      names.insert(names.end(), found.static_methods.begin(), found.static_methods.end());
    }
    return names;
  }

  bool equals(const Type& other) const override {
    if (other.kind() != Kind) return false;
    const auto& type = static_cast<const ClassTypeOf&>(other);
    return this == &type || (name() && name() == type.name() && unit_ == type.unit_ && same_program(type));
  }
  std::string str() const override { return annotation_str(); }
  std::string repr_str() const override { return annotation_str(); }
  TypePtr createWithContained(std::vector<TypePtr>) const override { return std::const_pointer_cast<Type>(shared_from_this()); }

  /// The program; null for a class of C++ and one that has no program yet.
  const detail::ScriptHandle& program() const { return program_; }
  /// A class that C++ code has described becomes that of a program.
  void bind(detail::ScriptHandle program, detail::ModuleHandle prototype) {
    bound_ = std::move(program);
    prototype_ = std::move(prototype);
  }
  const detail::ModuleHandle& prototype() const { return prototype_; }
  std::map<std::string, std::shared_ptr<torch::jit::Function>>& function_cache() const { return functions_; }

 protected:
  std::string annotation(const TypePrinter&) const override { return name() ? name()->qualifiedName() : "class"; }

 private:
  bool is_custom() const { return name() && name()->qualifiedName().rfind("__torch__.torch.classes.", 0) == 0; }
  bool same_program(const ClassTypeOf& other) const {
    if (!program_ || !other.program_) return !program_ && !other.program_;
    int64_t mine = 0, theirs = 0;
    rlt::check(rlt_script_identity(program_.get(), &mine));
    rlt::check(rlt_script_identity(other.program_.get(), &theirs));
    return mine == theirs;
  }
  detail::ClassData data() const { return detail::class_data(program_, name()->qualifiedName()); }
  const ClassAttribute& attribute(size_t slot) const {
    const auto& attributes = getAttributes();
    if (slot >= attributes.size()) rlt::raise<IndexError>("the class has no attribute " + std::to_string(slot));
    return attributes[slot];
  }
  const std::vector<std::pair<std::string, IValue>>& constants() const {
    if (program_) {
      auto found = data().constants;
      std::lock_guard<std::mutex> lock(mutex_);
      if (found.size() != constants_.size()) constants_ = std::move(found);
    }
    return constants_;
  }

  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  bool is_module_ = false;
  std::string doc_;
  detail::ScriptHandle program_, bound_;
  detail::ModuleHandle prototype_;
  mutable std::mutex mutex_;
  mutable std::vector<ClassAttribute> attributes_;
  mutable std::vector<std::pair<std::string, IValue>> constants_;
  mutable std::map<std::string, std::shared_ptr<torch::jit::Function>> functions_;
};
using ClassType = ClassTypeOf<void>;
using ClassTypePtr = std::shared_ptr<ClassType>;

/// An interface of a program.
template <class RltLazy>
struct InterfaceTypeOf final : NamedType {
  static constexpr TypeKind Kind = TypeKind::InterfaceType;
  InterfaceTypeOf(const std::string& name, detail::ScriptHandle program) : NamedType(Kind, QualifiedName(name)), program_(std::move(program)) {}
  bool is_module() const override { return detail::class_data(program_, name()->qualifiedName()).kind == "ModuleInterface"; }
  std::vector<std::string> method_names() const { return detail::class_data(program_, name()->qualifiedName()).methods; }
  /// Interfaces of different programs are the same type if they have the same name and methods.
  bool equals(const Type& other) const override {
    if (other.kind() != Kind) return false;
    const InterfaceTypeOf& interface = static_cast<const InterfaceTypeOf&>(other);
    if (interface.name() != name()) return false;
    if (interface.program_ == program_) return true;
    std::vector<std::string> mine = method_names(), others = interface.method_names();
    return std::is_permutation(mine.begin(), mine.end(), others.begin(), others.end());
  }
  std::string str() const override { return name()->qualifiedName(); }

 private:
  detail::ScriptHandle program_;
};
using InterfaceType = InterfaceTypeOf<void>;
using InterfaceTypePtr = std::shared_ptr<InterfaceType>;

template <class RltLazy>
struct FunctionTypeOf final : NamedType {
  static constexpr TypeKind Kind = TypeKind::FunctionType;
  explicit FunctionTypeOf(const std::string& name) : NamedType(Kind, QualifiedName(name)) {}
  bool equals(const Type& other) const override { return other.kind() == Kind && static_cast<const FunctionTypeOf&>(other).name() == name(); }
  std::string str() const override { return "Function"; }
};
using FunctionType = FunctionTypeOf<void>;
using FunctionTypePtr = std::shared_ptr<FunctionType>;

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/jit_type.h>
