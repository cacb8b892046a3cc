// The types of TorchScript by kind, and the types of values.
#pragma once

#include <ATen/core/class_type.h>
#include <ATen/core/jit_type_base.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace c10 {
RLT_NAMESPACE_BEGIN
struct FunctionSchema;

namespace detail {
template <class Print>
std::string joined(const std::vector<TypePtr>& types, const Print& print) {
  std::string text;
  for (const TypePtr& type : types) text += (text.empty() ? "" : ", ") + print(*type);
  return text;
}
RLT_LAZY std::string joined_str(const std::vector<TypePtr>& types) {
  return joined(types, [](const Type& type) { return type.str(); });
}
RLT_LAZY std::string joined_annotation(const std::vector<TypePtr>& types, const TypePrinter& printer) {
  return joined(types, [&](const Type& type) { return type.annotation_str(printer); });
}
}  // namespace detail

namespace detail {
/// The annotation of a type without parameters.
RLT_LAZY const char* simple_annotation(TypeKind kind) {
  switch (kind) {
    case TypeKind::AnyType: return "Any";
    case TypeKind::AnyEnumType: return "AnyEnumType";
    case TypeKind::StorageType: return "Storage";
    case TypeKind::NumberType: return "number";
    case TypeKind::FloatType: return "float";
    case TypeKind::ComplexType: return "complex";
    case TypeKind::IntType: return "int";
    case TypeKind::NoneType: return "NoneType";
    case TypeKind::StringType: return "str";
    case TypeKind::GeneratorType: return "Generator";
    case TypeKind::BoolType: return "bool";
    case TypeKind::DeviceObjType: return "Device";
    case TypeKind::StreamObjType: return "Stream";
    case TypeKind::CapsuleType: return "Capsule";
    case TypeKind::AnyListType: return "list";
    case TypeKind::AnyTupleType: return "tuple";
    case TypeKind::QSchemeType: return "QScheme";
    case TypeKind::ScalarTypeType: return "ScalarType";
    case TypeKind::LayoutType: return "Layout";
    case TypeKind::MemoryFormatType: return "MemoryFormat";
    default: return typeKindToString(kind);
  }
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

// The classes below are templates of a parameter that is always void: what a program does not use is not instantiated.

/// A type without parameters, of which there is one object. `str` and `annotation_str` return its name.
template <TypeKind kind_of, class RltLazy = void>
struct SimpleTypeOf final : Type {
  static constexpr TypeKind Kind = kind_of;
  SimpleTypeOf() : Type(Kind) {}
  static const SingletonTypePtr<SimpleTypeOf>& get() {
    static const SingletonTypePtr<SimpleTypeOf> only = std::make_shared<SimpleTypeOf>();
    return only;
  }
  std::string str() const override { return Kind == TypeKind::NumberType ? "Scalar" : detail::simple_annotation(Kind); }

 protected:
  std::string annotation(const TypePrinter&) const override { return detail::simple_annotation(Kind); }
};
#define RLT_SIMPLE_TYPE(Name)                     \
  using Name = SimpleTypeOf<TypeKind::Name>;      \
  using Name##Ptr = SingletonTypePtr<Name>;
RLT_SIMPLE_TYPE(AnyType)
RLT_SIMPLE_TYPE(AnyEnumType)
RLT_SIMPLE_TYPE(StorageType)
RLT_SIMPLE_TYPE(NumberType)
RLT_SIMPLE_TYPE(FloatType)
RLT_SIMPLE_TYPE(ComplexType)
RLT_SIMPLE_TYPE(IntType)
RLT_SIMPLE_TYPE(NoneType)
RLT_SIMPLE_TYPE(StringType)
RLT_SIMPLE_TYPE(GeneratorType)
RLT_SIMPLE_TYPE(BoolType)
RLT_SIMPLE_TYPE(DeviceObjType)
RLT_SIMPLE_TYPE(StreamObjType)
RLT_SIMPLE_TYPE(CapsuleType)
RLT_SIMPLE_TYPE(AnyListType)
RLT_SIMPLE_TYPE(AnyTupleType)
RLT_SIMPLE_TYPE(AnyClassType)
RLT_SIMPLE_TYPE(QSchemeType)
RLT_SIMPLE_TYPE(ScalarTypeType)
RLT_SIMPLE_TYPE(LayoutType)
RLT_SIMPLE_TYPE(MemoryFormatType)
#undef RLT_SIMPLE_TYPE

/// Sizes of which the number or some may be unknown.
template <class T>
class VaryingShape {
 public:
  /// The number is unknown.
  VaryingShape() = default;
  explicit VaryingShape(std::vector<std::optional<T>> dims) : dims_(std::move(dims)) {}
  std::optional<size_t> size() const { return dims_ ? std::optional<size_t>(dims_->size()) : std::nullopt; }
  const std::optional<std::vector<std::optional<T>>>& sizes() const { return dims_; }
  std::optional<T> operator[](size_t i) const {
    if (!dims_) rlt::raise<Error>("Rank isn't fixed");
    return dims_->at(i);
  }
  bool isComplete() const { return concrete_sizes().has_value(); }
  /// All sizes, if all are known.
  std::optional<std::vector<T>> concrete_sizes() const {
    if (!dims_) return std::nullopt;
    std::vector<T> known;
    for (const std::optional<T>& dim : *dims_) {
      if (!dim) return std::nullopt;
      known.push_back(*dim);
    }
    return known;
  }

 private:
  std::optional<std::vector<std::optional<T>>> dims_;
};

/// Tensor. Types here have no shapes and dtypes, as those of schemas: both are unknown.
template <class RltLazy>
struct TensorTypeOf final : Type {
  static constexpr TypeKind Kind = TypeKind::TensorType;
  TensorTypeOf() : Type(Kind) {}
  static const std::shared_ptr<TensorTypeOf>& get() {
    static const std::shared_ptr<TensorTypeOf> only = std::make_shared<TensorTypeOf>();
    return only;
  }
  static const std::shared_ptr<TensorTypeOf>& create(const at::Tensor&) { return get(); }
  std::string str() const override { return "Tensor"; }
  bool requires_grad() const override { return true; }
  VaryingShape<int64_t> sizes() const { return {}; }
  VaryingShape<int64_t> strides() const { return {}; }
  std::optional<size_t> dim() const { return std::nullopt; }
  std::optional<size_t> numel() const { return std::nullopt; }
  std::optional<at::ScalarType> scalarType() const { return std::nullopt; }
  std::optional<at::Device> device() const { return std::nullopt; }
  std::optional<bool> requiresGrad() const { return std::nullopt; }
  std::optional<bool> undefined() const { return std::nullopt; }
};
using TensorType = TensorTypeOf<void>;
using TensorTypePtr = std::shared_ptr<TensorType>;

// Types with one parameter.
#define RLT_WRAPPING_TYPE(Name, open_str, close_str, word)                                                                      \
  template <class RltLazy>                                                                                                      \
  struct Name##Of final : Type {                                                                                                \
    static constexpr TypeKind Kind = TypeKind::Name;                                                                            \
    explicit Name##Of(TypePtr element) : Type(Kind, {std::move(element)}) {}                                                    \
    static std::shared_ptr<Name##Of> create(TypePtr element) { return std::make_shared<Name##Of>(std::move(element)); }         \
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
  };                                                                                                                            \
  using Name = Name##Of<void>;                                                                                                  \
  using Name##Ptr = std::shared_ptr<Name>;
#define RLT_LIST_OF(name, kind) \
  static std::shared_ptr<ListTypeOf> name() { return create(SimpleTypeOf<TypeKind::kind, RltLazy>::get()); }
#define RLT_EXTRA_ListType                                                                            \
  static std::shared_ptr<ListTypeOf> ofTensors() { return create(TensorTypeOf<RltLazy>::get()); }     \
  RLT_LIST_OF(ofInts, IntType)                                                                        \
  RLT_LIST_OF(ofFloats, FloatType)                                                                    \
  RLT_LIST_OF(ofComplexDoubles, ComplexType)                                                          \
  RLT_LIST_OF(ofBools, BoolType)                                                                      \
  RLT_LIST_OF(ofStrings, StringType)                                                                  \
  RLT_LIST_OF(ofNumbers, NumberType)
#define RLT_EXTRA_FutureType
#define RLT_EXTRA_AwaitType
#define RLT_EXTRA_RRefType
RLT_WRAPPING_TYPE(ListType, "", "[]", "List")
RLT_WRAPPING_TYPE(FutureType, "Future(", ")", "Future")
RLT_WRAPPING_TYPE(AwaitType, "Await(", ")", "Await")
RLT_WRAPPING_TYPE(RRefType, "RRef(", ")", "RRef")
#undef RLT_WRAPPING_TYPE
#undef RLT_LIST_OF

template <class RltLazy>
struct DictTypeOf final : Type {
  static constexpr TypeKind Kind = TypeKind::DictType;
  DictTypeOf(TypePtr key, TypePtr value) : Type(Kind, {std::move(key), std::move(value)}) {}
  static std::shared_ptr<DictTypeOf> create(TypePtr key, TypePtr value) {
    switch (key->kind()) {
      case TypeKind::AnyType: case TypeKind::IntType: case TypeKind::BoolType: case TypeKind::FloatType: case TypeKind::ComplexType:
      case TypeKind::StringType: case TypeKind::TensorType: case TypeKind::DeviceObjType: case TypeKind::EnumType: break;
      default:
        rlt::raise<Error>("Cannot create dict for key type '" + key->str() + "', only int, float, complex, Tensor, device and string keys are supported");
    }
    return std::make_shared<DictTypeOf>(std::move(key), std::move(value));
  }
  const TypePtr& getKeyType() const { return containedType(0); }
  const TypePtr& getValueType() const { return containedType(1); }
  std::string str() const override { return "Dict(" + detail::joined_str(contained_) + ")"; }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return create(contained.at(0), contained.at(1)); }

 protected:
  std::string annotation(const TypePrinter& printer) const override { return "Dict[" + detail::joined_annotation(contained_, printer) + "]"; }
};
using DictType = DictTypeOf<void>;
using DictTypePtr = std::shared_ptr<DictType>;

/// A tuple, or a NamedTuple: one with a name and names of its fields.
template <class RltLazy>
struct TupleTypeOf final : NamedType {
  static constexpr TypeKind Kind = TypeKind::TupleType;
  TupleTypeOf(std::vector<TypePtr> elements, std::optional<QualifiedName> name, std::vector<std::string> fields)
      : NamedType(Kind, std::move(name), std::move(elements)), fields_(std::move(fields)) {}
  static std::shared_ptr<TupleTypeOf> create(std::vector<TypePtr> elements) { return std::make_shared<TupleTypeOf>(std::move(elements), std::nullopt, std::vector<std::string>()); }
  static std::shared_ptr<TupleTypeOf> createNamed(const std::optional<QualifiedName>& name, const std::vector<std::string>& fields, const std::vector<TypePtr>& types) {
    if (fields.size() != types.size()) rlt::raise<Error>("a NamedTuple needs as many names as types");
    return std::make_shared<TupleTypeOf>(types, name, fields);
  }
  const std::vector<TypePtr>& elements() const { return contained_; }
  const std::vector<std::string>& field_names() const { return fields_; }
  /// The fields of a NamedTuple as arguments; null for other tuples. Defined in ATen/core/function_schema.h.
  std::shared_ptr<FunctionSchema> schema() const;
  /// The names of a NamedTuple.
  std::optional<std::vector<std::string_view>> names() const {
    if (fields_.empty() && !name()) return std::nullopt;
    return std::vector<std::string_view>(fields_.begin(), fields_.end());
  }
  bool equals(const Type& other) const override {
    if (!Type::equals(other)) return false;
    const auto& tuple = static_cast<const TupleTypeOf&>(other);
    return fields_ == tuple.fields_ && (!name() || !tuple.name() || name() == tuple.name());
  }
  std::string str() const override {
    return name() ? name()->qualifiedName() : "(" + detail::joined_str(contained_) + ")";
  }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return std::make_shared<TupleTypeOf>(std::move(contained), name(), fields_); }

 protected:
  std::string annotation(const TypePrinter& printer) const override {
    if (name()) return name()->qualifiedName();
    return contained_.empty() ? "Tuple[()]" : "Tuple[" + detail::joined_annotation(contained_, printer) + "]";
  }

 private:
  std::vector<std::string> fields_;
};
using TupleType = TupleTypeOf<void>;
using TupleTypePtr = std::shared_ptr<TupleType>;

/// The annotation of a type that the library computes from an annotation: unions are simplified there.
RLT_LAZY TypePtr parse_type(const std::string& annotation, const detail::ScriptHandle& program = nullptr);

template <class RltLazy>
struct UnionTypeOf : Type {
  static constexpr TypeKind Kind = TypeKind::UnionType;
  explicit UnionTypeOf(std::vector<TypePtr> members, TypeKind kind = Kind) : Type(kind, std::move(members)) {}
  /// The union of types: members that are subtypes of others are left out.
  static std::shared_ptr<UnionTypeOf> create(const std::vector<TypePtr>& types);
  const std::vector<TypePtr>& getTypes() const { return contained_; }
  bool isUnionType() const override { return true; }
  bool canHoldType(const Type& type) const {
    return std::any_of(contained_.begin(), contained_.end(), [&](const TypePtr& member) { return type.isSubtypeOf(*member); });
  }
  bool equals(const Type& other) const override {
    if (!other.isUnionType()) return other.kind() == TypeKind::NumberType && isSubtypeOf(other) && other.isSubtypeOf(*this);
    const auto& members = static_cast<const UnionTypeOf&>(other).contained_;
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
using UnionType = UnionTypeOf<void>;
using UnionTypePtr = std::shared_ptr<UnionType>;

template <class RltLazy>
struct OptionalTypeOf final : UnionTypeOf<RltLazy> {
  using UnionTypeOf<RltLazy>::contained_;
  static constexpr TypeKind Kind = TypeKind::OptionalType;
  explicit OptionalTypeOf(TypePtr element) : UnionTypeOf<RltLazy>({element, SimpleTypeOf<TypeKind::NoneType, RltLazy>::get()}, Kind), element_(std::move(element)) {
    if (element_->isUnionType()) {
      contained_ = element_->containedTypes();
      contained_.push_back(SimpleTypeOf<TypeKind::NoneType, RltLazy>::get());
    }
  }
  static TypePtr create(const TypePtr& element) {
    if (element->kind() == Kind) return element;
    return std::make_shared<OptionalTypeOf>(element);
  }
  static TypePtr get(const TypePtr& element) { return create(element); }
  static TypePtr ofTensor() { return create(TensorTypeOf<RltLazy>::get()); }
  const TypePtr& getElementType() const { return element_; }
  std::string str() const override { return element_->str() + "?"; }
  TypePtr createWithContained(std::vector<TypePtr> contained) const override { return create(contained.at(0)); }

 protected:
  std::string annotation(const TypePrinter& printer) const override { return "Optional[" + element_->annotation_str(printer) + "]"; }

 private:
  TypePtr element_;
};
using OptionalType = OptionalTypeOf<void>;
using OptionalTypePtr = std::shared_ptr<OptionalType>;

/// A type variable of a schema.
template <class RltLazy>
struct VarTypeOf final : Type {
  static constexpr TypeKind Kind = TypeKind::VarType;
  explicit VarTypeOf(std::string name) : Type(Kind), name_(std::move(name)) {}
  static std::shared_ptr<VarTypeOf> create(std::string name) { return std::make_shared<VarTypeOf>(std::move(name)); }
  const std::string& name() const { return name_; }
  bool equals(const Type& other) const override { return other.kind() == Kind && static_cast<const VarTypeOf&>(other).name_ == name_; }
  bool hasFreeVariables() const override { return true; }
  std::string str() const override { return name_; }

 private:
  std::string name_;
};
using VarType = VarTypeOf<void>;
using VarTypePtr = std::shared_ptr<VarType>;

template <class RltLazy>
struct EnumTypeOf final : NamedType {
  static constexpr TypeKind Kind = TypeKind::EnumType;
  using NameValue = std::pair<std::string, IValue>;
  EnumTypeOf(QualifiedName name, TypePtr value, std::vector<NameValue> members) : NamedType(Kind, std::move(name), {std::move(value)}), members_(std::move(members)) {}
  static std::shared_ptr<EnumTypeOf> create(const QualifiedName& name, TypePtr value, std::vector<NameValue> members, const std::weak_ptr<torch::jit::CompilationUnit>& = {}) {
    return std::make_shared<EnumTypeOf>(name, std::move(value), std::move(members));
  }
  const TypePtr& getValueType() const { return containedType(0); }
  const std::vector<NameValue>& enumNamesValues() const { return members_; }
  const std::string& qualifiedClassName() const { return name()->qualifiedName(); }
  bool equals(const Type& other) const override { return other.kind() == Kind && static_cast<const EnumTypeOf&>(other).name() == name(); }
  std::string str() const override { return "Enum<" + annotation_str() + ">"; }

 protected:
  std::string annotation(const TypePrinter&) const override { return name()->qualifiedName(); }

 private:
  std::vector<NameValue> members_;
};
using EnumType = EnumTypeOf<void>;
using EnumTypePtr = std::shared_ptr<EnumType>;

// ---- Subtypes ----

template <class RltLazy>
bool Type::is_subtype(const Type& other, std::ostream* why) const {
  if (other.kind() == TypeKind::AnyType || *this == other) return true;
  const auto& parts = contained_;
  if (other.isUnionType()) return static_cast<const UnionTypeOf<RltLazy>&>(other).canHoldType(*this);
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
      return other.kind() == TypeKind::TupleType && !static_cast<const TupleTypeOf<RltLazy>&>(other).name() && all(other.containedTypes());
    case TypeKind::FutureType: case TypeKind::AwaitType: case TypeKind::RRefType: return other.kind() == kind() && all(other.containedTypes());
    case TypeKind::EnumType: return other.kind() == TypeKind::AnyEnumType;
    case TypeKind::ClassType: case TypeKind::InterfaceType: return detail::class_is_subtype(*this, other, why);
    default: return false;
  }
}
template <class RltLazy>
bool Type::isSubtypeOfExt(const Type& other, std::ostream* why) const {
  if (isUnionType() && other.kind() != TypeKind::AnyType) {
    for (const TypePtr& member : contained_) {
      if (!member->isSubtypeOfExt(other, why)) return false;
    }
    return true;
  }
  if (kind() == TypeKind::NumberType && other.isUnionType()) {
    const auto& members = static_cast<const UnionTypeOf<RltLazy>&>(other);
    if (members.canHoldType(*SimpleTypeOf<TypeKind::IntType, RltLazy>::get()) && members.canHoldType(*SimpleTypeOf<TypeKind::FloatType, RltLazy>::get()) &&
        members.canHoldType(*SimpleTypeOf<TypeKind::ComplexType, RltLazy>::get())) {
      return true;
    }
  }
  return is_subtype(other, why);
}

template <class RltLazy>
std::shared_ptr<UnionTypeOf<RltLazy>> UnionTypeOf<RltLazy>::create(const std::vector<TypePtr>& types) {
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
    return std::static_pointer_cast<UnionTypeOf>(OptionalTypeOf<RltLazy>::create(is_none(members[0]) ? members[1] : members[0]));
  }
  std::stable_sort(members.begin(), members.end(), [](const TypePtr& a, const TypePtr& b) { return a->kind() < b->kind(); });
  return std::make_shared<UnionTypeOf>(std::move(members));
}

/// The type that holds values of both types; `nullopt` if there is none.
RLT_LAZY RLT_LATER(std::optional<TypePtr>) unifyTypes(const TypePtr& a, const TypePtr& b, bool default_to_union = false) {
  if (a->isSubtypeOf(*b)) return b;
  if (b->isSubtypeOf(*a)) return a;
  auto none = TypeKind::NoneType;
  if (a->kind() == none) return OptionalTypeOf<RltLazy>::create(b);
  if (b->kind() == none) return OptionalTypeOf<RltLazy>::create(a);
  for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
    if (auto optional = first->template cast<OptionalTypeOf<RltLazy>>()) {
      if (auto inner = unifyTypes(optional->getElementType(), second)) return OptionalTypeOf<RltLazy>::create(*inner);
    }
  }
  auto tuple = a->template cast<TupleTypeOf<RltLazy>>(), other = b->template cast<TupleTypeOf<RltLazy>>();
  if (tuple && other && tuple->elements().size() == other->elements().size()) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < tuple->elements().size(); ++i) {
      auto element = unifyTypes(tuple->elements()[i], other->elements()[i]);
      if (!element) return std::nullopt;
      elements.push_back(*element);
    }
    return TupleTypeOf<RltLazy>::create(std::move(elements));
  }
  if (a->kind() == TypeKind::FutureType && b->kind() == TypeKind::FutureType) {
    if (auto element = unifyTypes(a->containedType(0), b->containedType(0))) return FutureTypeOf<RltLazy>::create(*element);
  }
  if (default_to_union) return UnionTypeOf<RltLazy>::create({a, b});
  return std::nullopt;
}

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/type_of.h>
