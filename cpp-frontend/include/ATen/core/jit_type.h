// The types of TorchScript by kind, and the types of values.
#pragma once

#include <ATen/core/class_type.h>
#include <ATen/core/jit_type_base.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace c10 {
RLT_NAMESPACE_BEGIN

namespace detail {
inline std::string joined(const std::vector<TypePtr>& types, const std::function<std::string(const Type&)>& print) {
  std::string text;
  for (const TypePtr& type : types) text += (text.empty() ? "" : ", ") + print(*type);
  return text;
}
inline std::string joined_str(const std::vector<TypePtr>& types) {
  return joined(types, [](const Type& type) { return type.str(); });
}
inline std::string joined_annotation(const std::vector<TypePtr>& types, const TypePrinter& printer) {
  return joined(types, [&](const Type& type) { return type.annotation_str(printer); });
}
}  // namespace detail

/// A pointer to the only object of a type. Pointers to different types can be compared.
template <class T>
class SingletonTypePtr : public std::shared_ptr<T> {
 public:
  using std::shared_ptr<T>::shared_ptr;
  SingletonTypePtr(std::shared_ptr<T> pointer) : std::shared_ptr<T>(std::move(pointer)) {}
};
template <class A, class B>
bool operator==(const SingletonTypePtr<A>& a, const SingletonTypePtr<B>& b) {
  return static_cast<const void*>(a.get()) == static_cast<const void*>(b.get());
}
template <class A, class B>
bool operator!=(const SingletonTypePtr<A>& a, const SingletonTypePtr<B>& b) {
  return !(a == b);
}
/// libtorch's pointer to a type of either kind.
template <class T>
using SingletonOrSharedTypePtr = std::shared_ptr<T>;

// Types without parameters: one object each.
#define RLT_SIMPLE_TYPE(Name, text, note)                                             \
  struct Name;                                                                        \
  using Name##Ptr = SingletonTypePtr<Name>;                                           \
  struct Name final : Type {                                                          \
    static constexpr TypeKind Kind = TypeKind::Name;                                  \
    Name() : Type(Kind) {}                                                            \
    static const Name##Ptr& get() {                                                   \
      static const Name##Ptr only = std::make_shared<Name>();                         \
      return only;                                                                    \
    }                                                                                 \
    std::string str() const override { return text; }                                 \
                                                                                      \
   protected:                                                                         \
    std::string annotation(const TypePrinter&) const override { return note; }        \
  };
RLT_SIMPLE_TYPE(AnyType, "Any", "Any")
RLT_SIMPLE_TYPE(AnyEnumType, "AnyEnumType", "AnyEnumType")
RLT_SIMPLE_TYPE(StorageType, "Storage", "Storage")
RLT_SIMPLE_TYPE(NumberType, "Scalar", "number")
RLT_SIMPLE_TYPE(FloatType, "float", "float")
RLT_SIMPLE_TYPE(ComplexType, "complex", "complex")
RLT_SIMPLE_TYPE(IntType, "int", "int")
RLT_SIMPLE_TYPE(NoneType, "NoneType", "NoneType")
RLT_SIMPLE_TYPE(StringType, "str", "str")
RLT_SIMPLE_TYPE(GeneratorType, "Generator", "Generator")
RLT_SIMPLE_TYPE(BoolType, "bool", "bool")
RLT_SIMPLE_TYPE(DeviceObjType, "Device", "Device")
RLT_SIMPLE_TYPE(StreamObjType, "Stream", "Stream")
RLT_SIMPLE_TYPE(CapsuleType, "Capsule", "Capsule")
RLT_SIMPLE_TYPE(AnyListType, "list", "list")
RLT_SIMPLE_TYPE(AnyTupleType, "tuple", "tuple")
RLT_SIMPLE_TYPE(AnyClassType, "AnyClassType", "AnyClassType")
#undef RLT_SIMPLE_TYPE

/// Tensor. Shapes and dtypes are no part of types here.
struct TensorType;
using TensorTypePtr = std::shared_ptr<TensorType>;
struct TensorType final : Type {
  static constexpr TypeKind Kind = TypeKind::TensorType;
  TensorType() : Type(Kind) {}
  static const TensorTypePtr& get() {
    static const TensorTypePtr only = std::make_shared<TensorType>();
    return only;
  }
  static const TensorTypePtr& create(const at::Tensor&) { return get(); }
  std::string str() const override { return "Tensor"; }
  bool requires_grad() const override { return true; }
};

// Types with one parameter.
#define RLT_WRAPPING_TYPE(Name, open_str, close_str, word)                                                                      \
  struct Name;                                                                                                                  \
  using Name##Ptr = std::shared_ptr<Name>;                                                                                      \
  struct Name final : Type {                                                                                                    \
    static constexpr TypeKind Kind = TypeKind::Name;                                                                            \
    explicit Name(TypePtr element) : Type(Kind, {std::move(element)}) {}                                                        \
    static Name##Ptr create(TypePtr element) { return std::make_shared<Name>(std::move(element)); }                             \
    static TypePtr get(const TypePtr& element) { return create(element); }                                                      \
    const TypePtr& getElementType() const { return containedType(0); }                                                          \
    std::string str() const override { return open_str + getElementType()->str() + close_str; }                                 \
    TypePtr createWithContained(std::vector<TypePtr> contained) const override { return create(std::move(contained.at(0))); }   \
    RLT_EXTRA_##Name                                                                                                            \
                                                                                                                                \
   protected:                                                                                                                   \
    std::string annotation(const TypePrinter& printer) const override {                                                         \
      return std::string(word "[") + getElementType()->annotation_str(printer) + "]";                                           \
    }                                                                                                                           \
  };
#define RLT_EXTRA_ListType                                                     \
  static ListTypePtr ofTensors() { return create(TensorType::get()); }         \
  static ListTypePtr ofInts() { return create(IntType::get()); }               \
  static ListTypePtr ofFloats() { return create(FloatType::get()); }           \
  static ListTypePtr ofComplexDoubles() { return create(ComplexType::get()); } \
  static ListTypePtr ofBools() { return create(BoolType::get()); }             \
  static ListTypePtr ofStrings() { return create(StringType::get()); }         \
  static ListTypePtr ofNumbers() { return create(NumberType::get()); }
#define RLT_EXTRA_FutureType
#define RLT_EXTRA_AwaitType
#define RLT_EXTRA_RRefType
RLT_WRAPPING_TYPE(ListType, "", "[]", "List")
RLT_WRAPPING_TYPE(FutureType, "Future(", ")", "Future")
RLT_WRAPPING_TYPE(AwaitType, "Await(", ")", "Await")
RLT_WRAPPING_TYPE(RRefType, "RRef(", ")", "RRef")
#undef RLT_WRAPPING_TYPE

struct DictType;
using DictTypePtr = std::shared_ptr<DictType>;
struct DictType final : Type {
  static constexpr TypeKind Kind = TypeKind::DictType;
  DictType(TypePtr key, TypePtr value) : Type(Kind, {std::move(key), std::move(value)}) {}
  static DictTypePtr create(TypePtr key, TypePtr value) {
    switch (key->kind()) {
      case TypeKind::AnyType: case TypeKind::IntType: case TypeKind::BoolType: case TypeKind::FloatType: case TypeKind::ComplexType:
      case TypeKind::StringType: case TypeKind::TensorType: case TypeKind::DeviceObjType: case TypeKind::EnumType: break;
      default:
        rlt::raise<Error>("Cannot create dict for key type '" + key->str() + "', only int, float, complex, Tensor, device and string keys are supported");
    }
    return std::make_shared<DictType>(std::move(key), std::move(value));
  }
  const TypePtr& getKeyType() const { return containedType(0); }
  const TypePtr& getValueType() const { return containedType(1); }
  std::string str() const override { return "Dict(" + detail::joined_str(contained_) + ")"; }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return create(contained.at(0), contained.at(1)); }

 protected:
  std::string annotation(const TypePrinter& printer) const override { return "Dict[" + detail::joined_annotation(contained_, printer) + "]"; }
};

/// A tuple, or a NamedTuple: one with a name and names of its fields.
struct TupleType final : NamedType {
  static constexpr TypeKind Kind = TypeKind::TupleType;
  TupleType(std::vector<TypePtr> elements, std::optional<QualifiedName> name, std::vector<std::string> fields)
      : NamedType(Kind, std::move(name), std::move(elements)), fields_(std::move(fields)) {}
  static TupleTypePtr create(std::vector<TypePtr> elements) { return std::make_shared<TupleType>(std::move(elements), std::nullopt, std::vector<std::string>()); }
  static TupleTypePtr createNamed(const std::optional<QualifiedName>& name, const std::vector<std::string>& fields, const std::vector<TypePtr>& types) {
    if (fields.size() != types.size()) rlt::raise<Error>("a NamedTuple needs as many names as types");
    return std::make_shared<TupleType>(types, name, fields);
  }
  const std::vector<TypePtr>& elements() const { return contained_; }
  const std::vector<std::string>& field_names() const { return fields_; }
  /// The names of a NamedTuple.
  std::optional<std::vector<std::string_view>> names() const {
    if (fields_.empty() && !name()) return std::nullopt;
    return std::vector<std::string_view>(fields_.begin(), fields_.end());
  }
  bool equals(const Type& other) const override {
    if (!Type::equals(other)) return false;
    const auto& tuple = static_cast<const TupleType&>(other);
    return fields_ == tuple.fields_ && (!name() || !tuple.name() || name() == tuple.name());
  }
  std::string str() const override {
    return name() ? name()->qualifiedName() : "(" + detail::joined_str(contained_) + ")";
  }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return std::make_shared<TupleType>(std::move(contained), name(), fields_); }

 protected:
  std::string annotation(const TypePrinter& printer) const override {
    if (name()) return name()->qualifiedName();
    return contained_.empty() ? "Tuple[()]" : "Tuple[" + detail::joined_annotation(contained_, printer) + "]";
  }

 private:
  std::vector<std::string> fields_;
};

/// The annotation of a type that the library computes from an annotation: unions are simplified there.
inline TypePtr parse_type(const std::string& annotation, const detail::ScriptHandle& program = nullptr);

struct UnionType;
using UnionTypePtr = std::shared_ptr<UnionType>;
struct UnionType : Type {
  static constexpr TypeKind Kind = TypeKind::UnionType;
  explicit UnionType(std::vector<TypePtr> members, TypeKind kind = Kind) : Type(kind, std::move(members)) {}
  /// The union of types: members that are subtypes of others are left out.
  static UnionTypePtr create(const std::vector<TypePtr>& types);
  const std::vector<TypePtr>& getTypes() const { return contained_; }
  bool isUnionType() const override { return true; }
  bool canHoldType(const Type& type) const {
    return std::any_of(contained_.begin(), contained_.end(), [&](const TypePtr& member) { return type.isSubtypeOf(*member); });
  }
  bool equals(const Type& other) const override {
    if (!other.isUnionType()) return other.kind() == TypeKind::NumberType && isSubtypeOf(other) && other.isSubtypeOf(*this);
    const auto& members = static_cast<const UnionType&>(other).contained_;
    auto has = [](const std::vector<TypePtr>& list, const Type& type) {
      return std::any_of(list.begin(), list.end(), [&](const TypePtr& member) { return member->equals(type); });
    };
    return members.size() == contained_.size() && std::all_of(members.begin(), members.end(), [&](const TypePtr& member) { return has(contained_, *member); });
  }
  std::string str() const override { return "Union(" + detail::joined_str(contained_) + ")"; }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return create(contained); }

 protected:
  std::string annotation(const TypePrinter& printer) const override { return "Union[" + detail::joined_annotation(contained_, printer) + "]"; }
};

struct OptionalType;
using OptionalTypePtr = std::shared_ptr<OptionalType>;
struct OptionalType final : UnionType {
  static constexpr TypeKind Kind = TypeKind::OptionalType;
  explicit OptionalType(TypePtr element) : UnionType({element, NoneType::get()}, Kind), element_(std::move(element)) {
    if (element_->isUnionType()) {
      contained_ = element_->containedTypes();
      contained_.push_back(NoneType::get());
    }
  }
  static TypePtr create(const TypePtr& element) {
    if (element->kind() == Kind) return element;
    return std::make_shared<OptionalType>(element);
  }
  static TypePtr get(const TypePtr& element) { return create(element); }
  static TypePtr ofTensor() { return create(TensorType::get()); }
  const TypePtr& getElementType() const { return element_; }
  std::string str() const override { return element_->str() + "?"; }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return create(contained.at(0)); }

 protected:
  std::string annotation(const TypePrinter& printer) const override { return "Optional[" + element_->annotation_str(printer) + "]"; }

 private:
  TypePtr element_;
};

struct VarType;
using VarTypePtr = std::shared_ptr<VarType>;
/// A type variable of a schema.
struct VarType final : Type {
  static constexpr TypeKind Kind = TypeKind::VarType;
  explicit VarType(std::string name) : Type(Kind), name_(std::move(name)) {}
  static VarTypePtr create(std::string name) { return std::make_shared<VarType>(std::move(name)); }
  const std::string& name() const { return name_; }
  bool equals(const Type& other) const override { return other.kind() == Kind && static_cast<const VarType&>(other).name_ == name_; }
  bool hasFreeVariables() const override { return true; }
  std::string str() const override { return name_; }

 private:
  std::string name_;
};

struct EnumType final : NamedType {
  static constexpr TypeKind Kind = TypeKind::EnumType;
  using NameValue = std::pair<std::string, IValue>;
  EnumType(QualifiedName name, TypePtr value, std::vector<NameValue> members) : NamedType(Kind, std::move(name), {std::move(value)}), members_(std::move(members)) {}
  static EnumTypePtr create(const QualifiedName& name, TypePtr value, std::vector<NameValue> members, const std::weak_ptr<torch::jit::CompilationUnit>& = {}) {
    return std::make_shared<EnumType>(name, std::move(value), std::move(members));
  }
  const TypePtr& getValueType() const { return containedType(0); }
  const std::vector<NameValue>& enumNamesValues() const { return members_; }
  const std::string& qualifiedClassName() const { return name()->qualifiedName(); }
  bool equals(const Type& other) const override { return other.kind() == Kind && static_cast<const EnumType&>(other).name() == name(); }
  std::string str() const override { return "Enum<" + annotation_str() + ">"; }

 protected:
  std::string annotation(const TypePrinter&) const override { return name()->qualifiedName(); }

 private:
  std::vector<NameValue> members_;
};

// ---- Subtypes ----

inline bool Type::is_subtype(const Type& other, std::ostream* why) const {
  if (other.kind() == TypeKind::AnyType || *this == other) return true;
  const auto& parts = contained_;
  if (other.isUnionType()) return static_cast<const UnionType&>(other).canHoldType(*this);
  auto all = [&](const std::vector<TypePtr>& others) {
    if (others.size() != parts.size()) return false;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i]->isSubtypeOfExt(*others[i], why)) return false;
    }
    return true;
  };
  switch (kind()) {
    case TypeKind::IntType: case TypeKind::FloatType: case TypeKind::ComplexType: return other.kind() == TypeKind::NumberType;
    case TypeKind::ListType: return other.kind() == TypeKind::AnyListType;
    case TypeKind::TupleType:
      if (other.kind() == TypeKind::AnyTupleType) return true;
      return other.kind() == TypeKind::TupleType && !static_cast<const TupleType&>(other).name() && all(other.containedTypes());
    case TypeKind::FutureType: case TypeKind::AwaitType: case TypeKind::RRefType: return other.kind() == kind() && all(other.containedTypes());
    case TypeKind::EnumType: return other.kind() == TypeKind::AnyEnumType;
    case TypeKind::ClassType: case TypeKind::InterfaceType: return detail::class_is_subtype(*this, other, why);
    default: return false;
  }
}
inline bool Type::isSubtypeOfExt(const Type& other, std::ostream* why) const {
  if (isUnionType() && other.kind() != TypeKind::AnyType) {
    for (const TypePtr& member : contained_) {
      if (!member->isSubtypeOfExt(other, why)) return false;
    }
    return true;
  }
  if (kind() == TypeKind::NumberType && other.isUnionType()) {
    const auto& members = static_cast<const UnionType&>(other);
    if (members.canHoldType(*IntType::get()) && members.canHoldType(*FloatType::get()) && members.canHoldType(*ComplexType::get())) return true;
  }
  return is_subtype(other, why);
}

inline UnionTypePtr UnionType::create(const std::vector<TypePtr>& types) {
  std::vector<TypePtr> members;
  std::function<void(const TypePtr&)> add = [&](const TypePtr& type) {
    if (type->isUnionType()) {
      for (const TypePtr& member : type->containedTypes()) add(member);
      return;
    }
    for (const TypePtr& member : members) {
      if (type->isSubtypeOf(*member)) return;
    }
    members.erase(std::remove_if(members.begin(), members.end(), [&](const TypePtr& member) { return member->isSubtypeOf(*type); }), members.end());
    members.push_back(type);
  };
  for (const TypePtr& type : types) add(type);
  if (members.empty()) rlt::raise<Error>("Cannot create an empty Union");
  auto is_none = [](const TypePtr& type) { return type->kind() == TypeKind::NoneType; };
  if (members.size() == 2 && std::any_of(members.begin(), members.end(), is_none)) {
    return std::static_pointer_cast<UnionType>(OptionalType::create(is_none(members[0]) ? members[1] : members[0]));
  }
  std::stable_sort(members.begin(), members.end(), [](const TypePtr& a, const TypePtr& b) { return a->kind() < b->kind(); });
  return std::make_shared<UnionType>(std::move(members));
}

/// The type that holds values of both types; `nullopt` if there is none.
inline std::optional<TypePtr> unifyTypes(const TypePtr& a, const TypePtr& b, bool default_to_union = false) {
  if (a->isSubtypeOf(*b)) return b;
  if (b->isSubtypeOf(*a)) return a;
  auto none = TypeKind::NoneType;
  if (a->kind() == none) return OptionalType::create(b);
  if (b->kind() == none) return OptionalType::create(a);
  for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
    if (auto optional = first->cast<OptionalType>()) {
      if (auto inner = unifyTypes(optional->getElementType(), second)) return OptionalType::create(*inner);
    }
  }
  auto tuple = a->cast<TupleType>(), other = b->cast<TupleType>();
  if (tuple && other && tuple->elements().size() == other->elements().size()) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < tuple->elements().size(); ++i) {
      auto element = unifyTypes(tuple->elements()[i], other->elements()[i]);
      if (!element) return std::nullopt;
      elements.push_back(*element);
    }
    return TupleType::create(std::move(elements));
  }
  if (a->kind() == TypeKind::FutureType && b->kind() == TypeKind::FutureType) {
    if (auto element = unifyTypes(a->containedType(0), b->containedType(0))) return FutureType::create(*element);
  }
  if (default_to_union) return UnionType::create({a, b});
  return std::nullopt;
}

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/type_of.h>
