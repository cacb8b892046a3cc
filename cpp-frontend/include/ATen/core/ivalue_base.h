// The class IValue: see ATen/core/ivalue.h, which programs include.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/type_ptr.h>
#include <c10/util/Type.h>
#include <c10/util/intrusive_ptr.h>

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
/// Base of classes that torch::class_ registers.
class CustomClassHolder : public c10::intrusive_ptr_target {};
namespace jit {
using CustomClassHolder = ::torch::CustomClassHolder;
struct Module;
struct CompilationUnit;
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch

namespace caffe2 {
RLT_NAMESPACE_BEGIN
class Blob;
RLT_NAMESPACE_END
}  // namespace caffe2

namespace c10 {
RLT_NAMESPACE_BEGIN

struct IValue;
class Stream;
template <class T>
class List;
template <class Key, class Value>
class Dict;
namespace ivalue {
struct ConstantString;
struct Tuple;
struct Object;
struct Future;
struct EnumHolder;
}  // namespace ivalue
namespace impl {
using GenericList = List<IValue>;
using GenericDict = Dict<IValue, IValue>;
}  // namespace impl
using torch::CustomClassHolder;
using torch::jit::CompilationUnit;

namespace detail {

struct ListImpl;
struct DictImpl;
/// Its `type` is DimVector; defined in ATen/core/ivalue.h.
template <class RltLazy>
struct DimVectorOf;

RLT_STATIC_TYPE(at::Tensor, "Tensor");
RLT_STATIC_TYPE(int64_t, "int");
RLT_STATIC_TYPE(int32_t, "int");
RLT_STATIC_TYPE(int16_t, "int");
RLT_STATIC_TYPE(int8_t, "int");
RLT_STATIC_TYPE(uint8_t, "int");
RLT_STATIC_TYPE(uint32_t, "int");
RLT_STATIC_TYPE(uint64_t, "int");
RLT_STATIC_TYPE(SymInt, "int");
RLT_STATIC_TYPE(double, "float");
RLT_STATIC_TYPE(SymFloat, "float");
RLT_STATIC_TYPE(float, "float");
RLT_STATIC_TYPE(bool, "bool");
RLT_STATIC_TYPE(SymBool, "bool");
RLT_STATIC_TYPE(c10::complex<double>, "complex");
RLT_STATIC_TYPE(std::string, "str");
RLT_STATIC_TYPE(std::string_view, "str");
RLT_STATIC_TYPE(const char*, "str");
RLT_STATIC_TYPE(IValue, "Any");
RLT_STATIC_TYPE(std::nullopt_t, "NoneType");
RLT_STATIC_TYPE(void, "NoneType");
RLT_STATIC_TYPE(Scalar, "number");
RLT_STATIC_TYPE(Device, "Device");
RLT_STATIC_TYPE(at::Generator, "Generator");
RLT_STATIC_TYPE(Storage, "Storage");
RLT_STATIC_TYPE(ScalarType, "int");
RLT_STATIC_TYPE(Layout, "int");
RLT_STATIC_TYPE(MemoryFormat, "int");
template <class T>
struct StaticTypeOf<List<T>> {
  static constexpr StaticType value{"List", &StaticTypeOf<T>::value};
};
template <class T>
struct StaticTypeOf<std::vector<T>> : StaticTypeOf<List<T>> {};
template <class T>
struct StaticTypeOf<ArrayRef<T>> : StaticTypeOf<List<T>> {};
template <class T, size_t N>
struct StaticTypeOf<std::array<T, N>> : StaticTypeOf<List<T>> {};
template <class T>
struct StaticTypeOf<std::optional<T>> {
  static constexpr StaticType value{"Optional", &StaticTypeOf<T>::value};
};
template <class T>
struct StaticTypeOf<OptionalArrayRef<T>> : StaticTypeOf<std::optional<List<T>>> {};
template <class Key, class Value>
struct StaticTypeOf<Dict<Key, Value>> {
  static constexpr StaticType second{"", &StaticTypeOf<Value>::value};
  static constexpr StaticType value{"Dict", &StaticTypeOf<Key>::value, &second};
};
template <class Key, class Value>
struct StaticTypeOf<std::unordered_map<Key, Value>> : StaticTypeOf<Dict<Key, Value>> {};
template <class... Ts>
struct StaticTypeOf<std::tuple<Ts...>> {
  static constexpr StaticType value{"Tuple", StaticTuple<Ts...>::elements};
};
/// The name of the class that torch::class_ registered for T; an error if there is none.
template <class T>
std::string& custom_class_name() {
  static std::string name;
  return name;
}
template <class T>
std::string registered_class_name() {
  const std::string& name = custom_class_name<T>();
  if (name.empty()) rlt::raise<Error>(std::string("Can't find class id in custom class type map for ") + demangle_type<T>());
  return name;
}
template <class T>
struct StaticTypeOf<intrusive_ptr<T>> {
  static constexpr StaticType value{"Class", nullptr, nullptr, &registered_class_name<T>};
};

/// The value as a T: specialized below for each T.
template <class T, class = void>
struct To;

/// A value in an intrusive_ptr.
template <class T>
struct Held : intrusive_ptr_target {
  explicit Held(T held) : value(std::move(held)) {}
  T value;
};

}  // namespace detail

struct IValue final {
  enum class Tag {
    None, Tensor, Storage, Double, ComplexDouble, Int, Bool, Tuple, String, GenericList, GenericDict, Future, Device, Stream, Object, Capsule, Generator, Enum, Blob
  };

  // ---- Construction ----

  IValue() = default;
  IValue(std::nullopt_t) {}
  IValue(const IValue&) = default;
  IValue(IValue&& other) noexcept { swap(other); }
  IValue& operator=(IValue other) & noexcept {
    swap(other);
    return *this;
  }
  IValue(at::Tensor value) : tag_(Tag::Tensor), tensor_(std::move(value)) {}
  RLT_LAZY IValue(Storage value) : tag_(Tag::Storage), object_(make_intrusive<detail::Held<Storage>>(std::move(value))) {}
  /// A stream or a blob (ATen/core/ivalue.h).
  RLT_LAZY IValue(Stream value);
  RLT_LAZY IValue(intrusive_ptr<caffe2::Blob> value);
  RLT_LAZY IValue(at::Generator value) : tag_(Tag::Generator), object_(make_intrusive<detail::Held<at::Generator>>(std::move(value))) {}
  IValue(Device value) : tag_(Tag::Device) { data_.device = value.raw(); }
  IValue(double value) : tag_(Tag::Double) { data_.real = value; }
  IValue(float value) : IValue(static_cast<double>(value)) {}
  IValue(int64_t value) : tag_(Tag::Int) { data_.integer = value; }
  IValue(int32_t value) : IValue(static_cast<int64_t>(value)) {}
  IValue(const SymInt& value) : IValue(value.expect_int()) {}
  IValue(const SymFloat& value) : IValue(value.expect_float()) {}
  IValue(const SymBool& value) : IValue(value.as_bool_unchecked()) {}
  IValue(bool value) : tag_(Tag::Bool) { data_.boolean = value; }
  IValue(c10::complex<double> value) : tag_(Tag::ComplexDouble) {
    data_.complex[0] = value.real();
    data_.complex[1] = value.imag();
  }
  IValue(const Scalar& value) {
    if (value.isBoolean()) *this = IValue(value.toBool());
    else if (value.isComplex()) *this = IValue(value.toComplexDouble());
    else if (value.isFloatingPoint()) *this = IValue(value.toDouble());
    else *this = IValue(value.toLong());
  }
  IValue(ScalarType value) : IValue(static_cast<int64_t>(value)) {}
  IValue(Layout value) : IValue(static_cast<int64_t>(value)) {}
  IValue(MemoryFormat value) : IValue(static_cast<int64_t>(value)) {}
  RLT_LAZY IValue(std::string value);
  RLT_LAZY IValue(const char* value) : IValue(std::string(value)) {}
  RLT_LAZY IValue(std::string_view value) : IValue(std::string(value)) {}
  RLT_LAZY IValue(intrusive_ptr<ivalue::ConstantString> value);
  RLT_LAZY IValue(intrusive_ptr<ivalue::Tuple> value);
  RLT_LAZY IValue(intrusive_ptr<ivalue::Future> value);
  RLT_LAZY IValue(intrusive_ptr<ivalue::EnumHolder> value);
  RLT_LAZY IValue(intrusive_ptr<ivalue::Object> value);
  /// An object of a class that torch::class_ registered.
  template <class T, std::enable_if_t<std::is_base_of_v<CustomClassHolder, T>, bool> = true>
  IValue(intrusive_ptr<T> value);
  template <class T>
  IValue(const List<T>& value) : tag_(Tag::GenericList), object_(value.body_) {}
  template <class T>
  IValue(List<T>&& value) : tag_(Tag::GenericList), object_(std::move(value.body_)) {}
  template <class T>
  IValue(const std::vector<T>& value) : IValue(List<T>(value)) {}
  template <class T>
  IValue(ArrayRef<T> value) : IValue(List<T>(value)) {}
  template <class T, size_t N>
  IValue(const std::array<T, N>& value) : IValue(List<T>(std::vector<T>(value.begin(), value.end()))) {}
  template <class Key, class Value>
  IValue(const Dict<Key, Value>& value) : tag_(Tag::GenericDict), object_(value.body_) {}
  template <class Key, class Value>
  IValue(Dict<Key, Value>&& value) : tag_(Tag::GenericDict), object_(std::move(value.body_)) {}
  template <class Key, class Value>
  IValue(const std::unordered_map<Key, Value>& value);
  template <class... Ts>
  IValue(const std::tuple<Ts...>& values);
  template <class T>
  IValue(const std::optional<T>& value) {
    if (value) *this = IValue(*value);
  }
  static IValue make_capsule(intrusive_ptr<CustomClassHolder> content) {
    IValue result;
    result.tag_ = Tag::Capsule;
    result.object_ = std::move(content);
    return result;
  }
  void swap(IValue& other) noexcept {
    rlt::swap_values(tag_, other.tag_);
    rlt::swap_values(data_, other.data_);
    rlt::swap_values(tensor_, other.tensor_);
    object_.swap(other.object_);
  }

  // ---- Kinds ----

  bool isNone() const { return tag_ == Tag::None; }
  bool isTensor() const { return tag_ == Tag::Tensor; }
  bool isStorage() const { return tag_ == Tag::Storage; }
  bool isDouble() const { return tag_ == Tag::Double; }
  bool isComplexDouble() const { return tag_ == Tag::ComplexDouble; }
  bool isInt() const { return tag_ == Tag::Int; }
  bool isSymInt() const { return false; }
  bool isSymFloat() const { return false; }
  bool isSymBool() const { return false; }
  bool isBool() const { return tag_ == Tag::Bool; }
  bool isTuple() const { return tag_ == Tag::Tuple; }
  bool isString() const { return tag_ == Tag::String; }
  bool isList() const { return tag_ == Tag::GenericList; }
  bool isGenericDict() const { return tag_ == Tag::GenericDict; }
  bool isFuture() const { return tag_ == Tag::Future; }
  bool isAwait() const { return false; }
  bool isRRef() const { return false; }
  bool isDevice() const { return tag_ == Tag::Device; }
  bool isStream() const { return tag_ == Tag::Stream; }
  bool isObject() const { return tag_ == Tag::Object; }
  RLT_LAZY bool isModule() const;
  bool isPyObject() const { return false; }
  bool isBlob() const { return tag_ == Tag::Blob; }
  bool isQuantizer() const { return false; }
  bool isCapsule() const { return tag_ == Tag::Capsule; }
  RLT_LAZY bool isCustomClass() const;
  bool isGenerator() const { return tag_ == Tag::Generator; }
  bool isEnum() const { return tag_ == Tag::Enum; }
  bool isScalar() const { return isDouble() || isInt() || isComplexDouble() || isBool(); }
  RLT_LAZY bool isIntList() const { return isListOf("int"); }
  RLT_LAZY bool isDoubleList() const { return isListOf("float"); }
  RLT_LAZY bool isComplexDoubleList() const { return isListOf("complex"); }
  RLT_LAZY bool isBoolList() const { return isListOf("bool"); }
  RLT_LAZY bool isTensorList() const { return isListOf("Tensor"); }
  bool isSymIntList() const { return false; }
  /// Whether the value is shared by its copies.
  bool isPtrType() const { return (isTensor() && tensor_.defined()) || static_cast<bool>(object_); }
  RLT_LAZY std::string tagKind() const {
    static constexpr const char* names[] = {"None",        "Tensor",      "Storage", "Double", "ComplexDouble", "Int",    "Bool",    "Tuple",     "String",
                                            "GenericList", "GenericDict", "Future",  "Device", "Stream",        "Object", "Capsule", "Generator", "Enum", "Blob"};
    return names[static_cast<int>(tag_)];
  }
  /// The type (ATen/core/jit_type.h).
  template <class Lazy = void>
  TypePtr type() const;

  // ---- Conversion ----

  const at::Tensor& toTensor() const& { return expect(Tag::Tensor, "Tensor"), tensor_; }
  at::Tensor& toTensor() & { return expect(Tag::Tensor, "Tensor"), tensor_; }
  at::Tensor toTensor() && { return expect(Tag::Tensor, "Tensor"), std::move(take().tensor_); }
  int64_t toInt() const { return expect(Tag::Int, "Int"), data_.integer; }
  double toDouble() const { return expect(Tag::Double, "Double"), data_.real; }
  bool toBool() const { return expect(Tag::Bool, "Bool"), data_.boolean; }
  c10::complex<double> toComplexDouble() const { return expect(Tag::ComplexDouble, "ComplexDouble"), c10::complex<double>(data_.complex[0], data_.complex[1]); }
  SymInt toSymInt() const { return toInt(); }
  SymFloat toSymFloat() const { return toDouble(); }
  SymBool toSymBool() const { return toBool(); }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Layout toLayout() const { return static_cast<Layout>(toInt()); }
  MemoryFormat toMemoryFormat() const { return static_cast<MemoryFormat>(toInt()); }
  Scalar toScalar() const {
    if (isInt()) return data_.integer;
    if (isDouble()) return data_.real;
    if (isBool()) return data_.boolean;
    return toComplexDouble();
  }
  Device toDevice() const { return expect(Tag::Device, "Device"), Device(data_.device); }
  RLT_LAZY const at::Generator& toGenerator() const { return held<at::Generator>(Tag::Generator, "Generator"); }
  RLT_LAZY const Storage& toStorage() const { return held<Storage>(Tag::Storage, "Storage"); }
  RLT_LAZY Stream toStream() const;
  RLT_LAZY intrusive_ptr<caffe2::Blob> toBlob() const;
  RLT_LAZY typename detail::DimVectorOf<RltLazy>::type toDimVector() const;
  RLT_LAZY intrusive_ptr<ivalue::ConstantString> toString() const { return as<ivalue::ConstantString>(Tag::String, "String"); }
  RLT_LAZY const std::string& toStringRef() const;
  RLT_LAZY std::string_view toStringView() const { return toStringRef(); }
  RLT_LAZY RLT_LATER(std::optional<std::reference_wrapper<const std::string>>) toOptionalStringRef() const {
    if (isNone()) return std::nullopt;
    return std::cref(toStringRef<RltLazy>());
  }
  RLT_LAZY intrusive_ptr<ivalue::Tuple> toTuple() const { return as<ivalue::Tuple>(Tag::Tuple, "Tuple"); }
  RLT_LAZY ivalue::Tuple& toTupleRef() const { return ref<ivalue::Tuple>(Tag::Tuple, "Tuple"); }
  RLT_LAZY intrusive_ptr<ivalue::Future> toFuture() const { return as<ivalue::Future>(Tag::Future, "Future"); }
  RLT_LAZY intrusive_ptr<ivalue::Object> toObject() const { return as<ivalue::Object>(Tag::Object, "Object"); }
  RLT_LAZY ivalue::Object& toObjectRef() const { return ref<ivalue::Object>(Tag::Object, "Object"); }
  RLT_LAZY intrusive_ptr<ivalue::EnumHolder> toEnumHolder() const { return as<ivalue::EnumHolder>(Tag::Enum, "Enum"); }
  RLT_LAZY intrusive_ptr<CustomClassHolder> toCapsule() const { return as<CustomClassHolder>(Tag::Capsule, "Capsule"); }
  /// The object as the C++ class that torch::class_ registered.
  template <class T>
  intrusive_ptr<T> toCustomClass() const;
  /// The module (torch/script.h).
  template <class Module = torch::jit::Module>
  Module toModule() const;
  RLT_LAZY Dict<IValue, IValue> toGenericDict() const;
#define RLT_TO_LIST(name, element)              \
  RLT_LAZY List<element> to##name##List() const&; \
  RLT_LAZY List<element> to##name##List() &&;     \
  RLT_LAZY std::vector<element> to##name##Vector() const;
  RLT_TO_LIST(Int, int64_t)
  RLT_TO_LIST(Double, double)
  RLT_TO_LIST(ComplexDouble, c10::complex<double>)
  RLT_TO_LIST(Bool, bool)
  RLT_TO_LIST(Tensor, at::Tensor)
#undef RLT_TO_LIST
  RLT_LAZY std::vector<SymInt> toSymIntVector() const;
  RLT_LAZY List<std::optional<at::Tensor>> toOptionalTensorList() const;
  RLT_LAZY std::vector<std::optional<at::Tensor>> toOptionalTensorVector() const;
  RLT_LAZY List<IValue> toList() const&;
  RLT_LAZY List<IValue> toList() &&;
  RLT_LAZY ArrayRef<IValue> toListRef() const;
  template <class T>
  T to() const {
    return detail::To<T>::from(*this);
  }
  template <class T>
  std::optional<T> toOptional() const {
    if (isNone()) return std::nullopt;
    return to<T>();
  }
  RLT_LAZY std::optional<at::Tensor> tryToTensor() const { return isTensor() ? std::optional<at::Tensor>(tensor_) : std::nullopt; }

  // ---- Identity and equality ----

  /// Whether both are the same object, or equal values without identity.
  RLT_LAZY bool is(const IValue& other) const {
    if (isTensor() || other.isTensor()) {
      // An undefined tensor is None.
      if (isNone() || other.isNone()) return !tensor_.defined() && !other.tensor_.defined();
      return isTensor() && other.isTensor() && tensor_.is_same(other.tensor_);
    }
    if (tag_ != other.tag_) return false;
    if (isString() || isEnum() || !object_) return *this == other;
    return same_object(other);
  }
  RLT_LAZY bool isSameIdentity(const IValue& other) const { return is(other); }
  /// Whether both share memory.
  RLT_LAZY bool isAliasOf(const IValue& other) const {
    if (tag_ != other.tag_) return false;
    if (isTensor()) return share_memory(tensor_, other.tensor_);
    return object_ && same_object(other);
  }
  /// Whether a value inside of this one shares memory with one inside of the other.
  RLT_LAZY bool overlaps(const IValue& other) const {
    std::vector<IValue> mine = parts(), others = other.parts();
    for (const IValue& part : mine) {
      for (const IValue& candidate : others) {
        if (part.isAliasOf(candidate)) return true;
      }
    }
    return false;
  }
  /// The operator `==` of programs: a bool, or a tensor for tensors.
  RLT_LAZY IValue equals(const IValue& other) const;
  template <class Lazy = IValue>
  friend bool operator==(const IValue& a, const Lazy& b) {
    return a.equals(IValue(b)).as_condition();
  }
  template <class Lazy = IValue>
  friend bool operator!=(const IValue& a, const Lazy& b) {
    return !(a == IValue(b));
  }
  /// An error for values that cannot be keys.
  RLT_LAZY size_t hash() const;
  static size_t hash(const IValue& value) { return value.hash<>(); }
  size_t use_count() const { return isTensor() ? tensor_.use_count() : object_ ? object_.use_count() : 1; }
  /// The address that the copies of this value share; null for values that are copied.
  RLT_LAZY void* internalToPointer() const { return isTensor() ? static_cast<void*>(tensor_.unsafeGetTensorImpl()) : object_.get(); }
  RLT_LAZY auto unsafeToTensorImpl() const { return tensor_.unsafeGetTensorImpl(); }

  /// The kind and the type of this value, without its object; and the value of a kind with an object. For weak references.
  IValue without_object() const {
    IValue result = *this;
    result.object_ = nullptr;
    return result;
  }
  IValue with_object(intrusive_ptr<intrusive_ptr_target> object) const {
    IValue result = *this;
    result.object_ = std::move(object);
    return result;
  }

  struct CompIdentityIValues {
    RLT_LAZY bool operator()(const IValue& a, const IValue& b) const { return a.is(b); }
  };
  /// For sets of values that are told apart by the memory they share.
  struct HashAliasedIValue {
    RLT_LAZY size_t operator()(const IValue& value) const { return value.address(); }
  };
  struct CompAliasedIValues {
    RLT_LAZY bool operator()(const IValue& a, const IValue& b) const { return a.isAliasOf(b); }
  };
  using HashAliasedIValues = std::unordered_set<IValue, HashAliasedIValue, CompAliasedIValues>;
  using HashAliasedIValueMap = std::unordered_map<IValue, IValue, HashAliasedIValue, CompAliasedIValues>;
  struct HashIdentityIValue {
    RLT_LAZY size_t operator()(const IValue& value) const { return value.address(); }
  };
  using HashIdentityIValueMap = std::unordered_map<IValue, IValue, HashIdentityIValue, CompIdentityIValues>;

  /// Adds this value and those inside of it that are shared by their copies.
  template <class Set>
  void getSubValues(Set& values) const {
    for (IValue& part : parts()) {
      if (part.isPtrType()) values.insert(std::move(part));
    }
  }
  /// Whether a value inside of this one, or itself, satisfies a condition.
  template <class Condition>
  bool visit(const Condition& condition) const {
    for (const IValue& part : parts()) {
      if (condition(part)) return true;
    }
    return false;
  }
  /// A deep copy. Identical objects here are identical in the copy.
  template <class Value = IValue>
  Value deepcopy(std::optional<Device> device = std::nullopt) const;
  template <class Value = IValue>
  Value deepcopy(HashIdentityIValueMap& memo, std::optional<Device> device = std::nullopt) const;

  /// Prints the value as a literal of Python; `customFormatter` may print a value itself and return true.
  template <class Formatter>
  std::ostream& repr(std::ostream& stream, Formatter customFormatter) const;

  // ---- The C interface ----

  /// A value of the C interface that no C++ type describes. Borrowed: valid as long as this value.
  RLT_LAZY const rlt_value& boxed() const {
    if (!isBoxed()) fail("a stream or a storage");
    return static_cast<const detail::Held<std::shared_ptr<rlt::OwnedValue>>*>(object_.get())->value->get();
  }
  bool isBoxed() const { return isStream() || boxed_storage_; }
  /// Holds a copy of `value`, which is a stream or a storage.
  RLT_LAZY static IValue of_boxed(const rlt_value& value) {
    rlt_value copy;
    rlt::check(rlt_value_copy(&value, &copy));
    IValue result;
    result.tag_ = value.tag == RLT_VALUE_STREAM ? Tag::Stream : Tag::Storage;
    result.boxed_storage_ = result.tag_ == Tag::Storage;
    result.object_ = make_intrusive<detail::Held<std::shared_ptr<rlt::OwnedValue>>>(std::make_shared<rlt::OwnedValue>(copy));
    return result;
  }

 private:
  template <class T>
  friend class List;
  template <class Key, class Value>
  friend class Dict;
  template <class T, class Enable>
  friend struct detail::To;
  friend struct detail::DictImpl;

  [[noreturn]] RLT_COLD void fail(const char* expected) const {
    rlt::raise<Error>(std::string("Expected ") + expected + " but got " + tagKind<>());
  }
  void expect(Tag tag, const char* name) const {
    if (C10_UNLIKELY(tag_ != tag)) fail(name);
  }
  IValue take() { return std::move(*this); }
  template <class T>
  T& ref(Tag tag, const char* name) const {
    expect(tag, name);
    if (C10_UNLIKELY(!object_)) rlt::raise<Error>(std::string("the value of kind ") + name + " is null");
    return *static_cast<T*>(object_.get());
  }
  template <class T>
  intrusive_ptr<T> as(Tag tag, const char* name) const {
    expect(tag, name);
    return intrusive_ptr<T>::reclaim_copy(static_cast<T*>(object_.get()));
  }
  template <class T>
  const T& held(Tag tag, const char* name) const {
    const auto& holder = ref<detail::Held<T>>(tag, name);
    if (boxed_storage_) rlt::raise<NotImplementedError>("a storage that a program returned has no at::Storage");
    return holder.value;
  }
  RLT_LAZY bool isListOf(const char* element) const;
  template <class T>
  List<T> listed(const char* name) const;
  bool as_condition() const { return isBool() ? data_.boolean : tensor_.is_nonzero(); }
  /// A sparse tensor shares memory with its indices and values.
  RLT_LAZY static bool share_memory(const at::Tensor& a, const at::Tensor& b) {
    if (!a.defined() || !b.defined()) return false;
    if (a.is_same(b)) return true;
    if (a.is_sparse()) return share_memory(a._indices(), b) || share_memory(a._values(), b);
    if (b.is_sparse()) return share_memory(b, a);
    return a.is_alias_of(b);
  }
  RLT_LAZY bool same_object(const IValue& other) const;
  /// A number that values which share memory have in common.
  RLT_LAZY size_t address() const;
  /// This value and all inside of it.
  RLT_LAZY std::vector<IValue> parts() const;

  union Data {
    int64_t integer;
    double real;
    double complex[2];
    bool boolean;
    rlt_device device;
  };
  Tag tag_ = Tag::None;
  bool boxed_storage_ = false;
  Data data_ = {};
  at::Tensor tensor_;
  intrusive_ptr<intrusive_ptr_target> object_;
};

RLT_NAMESPACE_END
}  // namespace c10
