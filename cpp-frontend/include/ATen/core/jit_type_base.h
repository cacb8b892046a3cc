// Type: the types of TorchScript. The classes of kinds are in ATen/core/jit_type.h.
#pragma once

#include <ATen/core/ivalue_all.h>
#include <ATen/core/qualified_name.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

#define C10_FORALL_TYPES(_)                                                                                                                        \
  _(AnyType) _(EnumType) _(AnyEnumType) _(TensorType) _(StorageType) _(TupleType) _(ListType) _(DictType) _(NumberType) _(FloatType) _(ComplexType) \
  _(FutureType) _(AwaitType) _(RRefType) _(IntType) _(NoneType) _(StringType) _(GeneratorType) _(BoolType) _(OptionalType) _(VarType)              \
  _(DeviceObjType) _(StreamObjType) _(FunctionType) _(ClassType) _(CapsuleType) _(InterfaceType) _(AnyListType) _(AnyTupleType) _(AnyClassType)    \
  _(UnionType) _(QSchemeType) _(ScalarTypeType) _(LayoutType) _(MemoryFormatType)

enum class TypeKind {
#define RLT_DEFINE(kind) kind,
  C10_FORALL_TYPES(RLT_DEFINE)
#undef RLT_DEFINE
};

inline const char* typeKindToString(TypeKind kind) {
  static constexpr const char* names[] = {
#define RLT_DEFINE(name) #name,
      C10_FORALL_TYPES(RLT_DEFINE)
#undef RLT_DEFINE
  };
  return names[static_cast<int>(kind)];
}

/// A function that may print a type itself.
using TypePrinter = std::function<std::optional<std::string>(const Type&)>;

struct Type : std::enable_shared_from_this<Type> {
  explicit Type(TypeKind kind, std::vector<TypePtr> contained = {}) : kind_(kind), contained_(std::move(contained)) {}
  Type(const Type&) = delete;
  virtual ~Type() = default;

  TypeKind kind() const { return kind_; }
  const std::vector<TypePtr>& containedTypes() const { return contained_; }
  const TypePtr& containedType(size_t index) const { return contained_.at(index); }
  size_t containedTypeSize() const { return contained_.size(); }

  /// The type as schemas print it: `int[]`.
  virtual std::string str() const = 0;
  /// The annotation that means the type: `List[int]`.
  std::string annotation_str(const TypePrinter& printer = nullptr) const {
    if (printer) {
      if (std::optional<std::string> text = printer(*this)) return *text;
    }
    return annotation(printer);
  }
  virtual std::string repr_str() const { return annotation_str(); }

  virtual bool equals(const Type& other) const {
    if (kind_ != other.kind_ || contained_.size() != other.contained_.size()) return false;
    for (size_t i = 0; i < contained_.size(); ++i) {
      if (!contained_[i]->equals(*other.contained_[i])) return false;
    }
    return true;
  }
  friend bool operator==(const Type& a, const Type& b) { return a.equals(b) || b.equals(a); }
  friend bool operator!=(const Type& a, const Type& b) { return !(a == b); }
  /// Whether values of this type may be used where `other` is expected. The reason for a no is written to `why`.
  RLT_LAZY bool isSubtypeOf(const Type& other) const { return isSubtypeOfExt(other, nullptr); }
  RLT_LAZY bool isSubtypeOf(const TypePtr& other) const { return isSubtypeOf(*other); }
  RLT_LAZY bool isSubtypeOfExt(const TypePtr& other, std::ostream* why) const { return isSubtypeOfExt(*other, why); }
  RLT_LAZY bool isSubtypeOfExt(const Type& other, std::ostream* why) const;

  virtual bool requires_grad() const {
    for (const TypePtr& part : contained_) {
      if (part->requires_grad()) return true;
    }
    return false;
  }
  virtual bool hasFreeVariables() const {
    for (const TypePtr& part : contained_) {
      if (part->hasFreeVariables()) return true;
    }
    return false;
  }
  virtual bool is_module() const { return false; }
  /// The qualified name of a type that has one.
  virtual std::string class_name() const { return "class"; }
  virtual bool isUnionType() const { return false; }

  /// The type as one of a class; null if it is of another kind.
  template <class T>
  std::shared_ptr<T> cast() {
    return is<T>() ? std::static_pointer_cast<T>(shared_from_this()) : nullptr;
  }
  template <class T>
  std::shared_ptr<const T> cast() const {
    return is<T>() ? std::static_pointer_cast<const T>(shared_from_this()) : nullptr;
  }
  template <class T>
  T* castRaw() {
    return is<T>() ? static_cast<T*>(this) : nullptr;
  }
  template <class T>
  const T* castRaw() const {
    return is<T>() ? static_cast<const T*>(this) : nullptr;
  }
  template <class T>
  std::shared_ptr<T> expect() {
    check<T>();
    return std::static_pointer_cast<T>(shared_from_this());
  }
  template <class T>
  std::shared_ptr<const T> expect() const {
    check<T>();
    return std::static_pointer_cast<const T>(shared_from_this());
  }
  template <class T>
  const T& expectRef() const {
    check<T>();
    return static_cast<const T&>(*this);
  }
  /// The same type with other types inside of it.
  TypePtr withContained(std::vector<TypePtr> contained) const { return createWithContained(std::move(contained)); }
  virtual TypePtr createWithContained(std::vector<TypePtr>) const {
    rlt::raise<Error>("type with contained types did not overload createWithContained: " + str());
  }

 private:
  TypeKind kind_;

 protected:
  virtual std::string annotation(const TypePrinter&) const { return str(); }
  RLT_LAZY bool is_subtype(const Type& other, std::ostream* why) const;
  std::vector<TypePtr> contained_;

 private:
  template <class T>
  bool is() const {
    return kind_ == T::Kind || (T::Kind == TypeKind::UnionType && isUnionType());
  }
  template <class T>
  void check() const {
    if (!is<T>()) rlt::raise<Error>(std::string("Expected type of kind ") + typeKindToString(T::Kind) + " but got " + str());
  }
};

/// A type with a qualified name.
struct NamedType : Type {
  NamedType(TypeKind kind, std::optional<QualifiedName> name, std::vector<TypePtr> contained = {}) : Type(kind, std::move(contained)), name_(std::move(name)) {}
  const std::optional<QualifiedName>& name() const { return name_; }
  std::string class_name() const override { return name_ ? name_->qualifiedName() : Type::class_name(); }

 private:
  std::optional<QualifiedName> name_;
};
using NamedTypePtr = std::shared_ptr<NamedType>;

/// What an attribute of a class is.
enum class AttributeKind { BUFFER, PARAMETER, REGULAR_ATTRIBUTE };

struct ClassAttribute {
  ClassAttribute(AttributeKind kind, TypePtr type, std::string name) : kind_(kind), type_(std::move(type)), name_(std::move(name)) {}
  AttributeKind getKind() const { return kind_; }
  const TypePtr& getType() const { return type_; }
  const std::string& getName() const { return name_; }

 private:
  AttributeKind kind_;
  TypePtr type_;
  std::string name_;
};

inline std::ostream& operator<<(std::ostream& stream, const Type& type) {
  return stream << (type.kind() == TypeKind::FutureType ? type.annotation_str() : type.str());
}

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/class_type.h>
