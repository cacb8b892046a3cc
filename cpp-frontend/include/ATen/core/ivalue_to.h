// IValue::to, equality, hashes, copies and printing.
#pragma once

#include <ATen/core/ivalue_all.h>

#include <cmath>
#include <iomanip>
#include <limits>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

#define RLT_TO(type, method)                                              \
  template <>                                                             \
  struct To<type> {                                                       \
    static type from(const IValue& value) { return value.method(); }      \
  }
RLT_TO(at::Tensor, toTensor);
RLT_TO(bool, toBool);
RLT_TO(Scalar, toScalar);
RLT_TO(SymInt, toSymInt);
RLT_TO(SymFloat, toSymFloat);
RLT_TO(SymBool, toSymBool);
RLT_TO(c10::complex<double>, toComplexDouble);
RLT_TO(ScalarType, toScalarType);
RLT_TO(Layout, toLayout);
RLT_TO(MemoryFormat, toMemoryFormat);
RLT_TO(Device, toDevice);
#undef RLT_TO
template <>
struct To<IValue> {
  static const IValue& from(const IValue& value) { return value; }
};
template <class T>
struct To<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static T from(const IValue& value) { return static_cast<T>(value.toInt()); }
};
template <class T>
struct To<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static T from(const IValue& value) { return static_cast<T>(value.toDouble()); }
};
#define RLT_TO_CLASS(Class, method)                                           \
  template <class T>                                                          \
  struct To<T, std::enable_if_t<std::is_same_v<T, Class>>> {                  \
    static T from(const IValue& value) { return value.method(); }             \
  }
RLT_TO_CLASS(std::string, toStringRef);
RLT_TO_CLASS(std::string_view, toStringRef);
RLT_TO_CLASS(at::Generator, toGenerator);
RLT_TO_CLASS(Storage, toStorage);
RLT_TO_CLASS(intrusive_ptr<ivalue::Tuple>, toTuple);
RLT_TO_CLASS(intrusive_ptr<ivalue::Object>, toObject);
RLT_TO_CLASS(intrusive_ptr<ivalue::Future>, toFuture);
RLT_TO_CLASS(intrusive_ptr<ivalue::EnumHolder>, toEnumHolder);
RLT_TO_CLASS(intrusive_ptr<ivalue::ConstantString>, toString);
#undef RLT_TO_CLASS
template <class T>
struct To<intrusive_ptr<T>, std::enable_if_t<std::is_base_of_v<CustomClassHolder, T>>> {
  static intrusive_ptr<T> from(const IValue& value) { return value.toCustomClass<T>(); }
};
template <class T>
struct To<List<T>> {
  static List<T> from(const IValue& value) { return value.listed<T>("List"); }
};
template <class T>
struct To<std::vector<T>> {
  static std::vector<T> from(const IValue& value) {
    std::vector<T> result;
    for (const IValue& item : value.listed<IValue>("List")) result.push_back(item.to<T>());
    return result;
  }
};
template <class T, size_t N>
struct To<std::array<T, N>> {
  static std::array<T, N> from(const IValue& value) {
    List<IValue> list = value.listed<IValue>("List");
    if (list.size() != N) rlt::raise<Error>("Tried to convert a List with " + std::to_string(list.size()) + " elements to a fixed-size array of size " + std::to_string(N));
    std::array<T, N> result;
    for (size_t i = 0; i < N; ++i) result[i] = list.get(i).template to<T>();
    return result;
  }
};
template <class T>
struct To<std::optional<T>> {
  static std::optional<T> from(const IValue& value) { return value.toOptional<T>(); }
};
template <class Key, class Value>
struct To<Dict<Key, Value>> {
  static Dict<Key, Value> from(const IValue& value) { return impl::toTypedDict<Key, Value>(value.toGenericDict()); }
};
template <class Key, class Value>
struct To<std::unordered_map<Key, Value>> {
  static std::unordered_map<Key, Value> from(const IValue& value) {
    std::unordered_map<Key, Value> result;
    for (const auto& entry : value.toGenericDict()) result[entry.key().template to<Key>()] = entry.value().template to<Value>();
    return result;
  }
};
template <class... Ts>
struct To<std::tuple<Ts...>> {
  static std::tuple<Ts...> from(const IValue& value) { return from(value, std::index_sequence_for<Ts...>()); }

 private:
  template <size_t... I>
  static std::tuple<Ts...> from(const IValue& value, std::index_sequence<I...>) {
    const std::vector<IValue>& items = value.toTupleRef().elements();
    if (items.size() != sizeof...(Ts)) {
      rlt::raise<Error>("Expected a tuple of " + std::to_string(sizeof...(Ts)) + " elements but got one of " + std::to_string(items.size()));
    }
    return std::tuple<Ts...>(items[I].to<Ts>()...);
  }
};

}  // namespace detail

template <class RltLazy>
IValue::IValue(std::string value) : tag_(Tag::String), object_(make_intrusive<ivalue::ConstantString>(std::move(value))) {}
#define RLT_FROM(Class, tag) \
  template <class RltLazy>   \
  IValue::IValue(intrusive_ptr<ivalue::Class> value) : tag_(Tag::tag), object_(std::move(value)) {}
RLT_FROM(ConstantString, String)
RLT_FROM(Tuple, Tuple)
RLT_FROM(Future, Future)
RLT_FROM(EnumHolder, Enum)
RLT_FROM(Object, Object)
#undef RLT_FROM
template <class Key, class Value>
IValue::IValue(const std::unordered_map<Key, Value>& value) {
  Dict<Key, Value> dict;
  for (const auto& [key, item] : value) dict.insert(key, item);
  *this = IValue(std::move(dict));
}
template <class... Ts>
IValue::IValue(const std::tuple<Ts...>& values)
    : IValue(std::apply([](const Ts&... each) { return make_intrusive<ivalue::Tuple>(std::vector<IValue>{IValue(each)...}); }, values)) {}

template <class RltLazy>
const std::string& IValue::toStringRef() const {
  return ref<ivalue::ConstantString>(Tag::String, "String").string();
}
#define RLT_TO_LIST(name, element)                              \
  template <class RltLazy>                                      \
  List<element> IValue::to##name##List() const& {               \
    return listed<element>(#name "List");                       \
  }                                                             \
  template <class RltLazy>                                      \
  List<element> IValue::to##name##List() && {                   \
    return take().template listed<element>(#name "List");       \
  }                                                             \
  template <class RltLazy>                                      \
  std::vector<element> IValue::to##name##Vector() const {       \
    return listed<element>(#name "List").vec();                 \
  }
RLT_TO_LIST(Int, int64_t)
RLT_TO_LIST(Double, double)
RLT_TO_LIST(ComplexDouble, c10::complex<double>)
RLT_TO_LIST(Bool, bool)
RLT_TO_LIST(Tensor, at::Tensor)
#undef RLT_TO_LIST
template <class RltLazy>
List<std::optional<at::Tensor>> IValue::toOptionalTensorList() const {
  return listed<std::optional<at::Tensor>>("OptionalTensorList");
}
template <class RltLazy>
std::vector<std::optional<at::Tensor>> IValue::toOptionalTensorVector() const {
  return toOptionalTensorList().vec();
}
template <class RltLazy>
std::vector<SymInt> IValue::toSymIntVector() const {
  std::vector<int64_t> numbers = toIntVector();
  return std::vector<SymInt>(numbers.begin(), numbers.end());
}
template <class RltLazy>
List<IValue> IValue::toList() const& {
  return listed<IValue>("GenericList");
}
template <class RltLazy>
List<IValue> IValue::toList() && {
  return take().template listed<IValue>("GenericList");
}
template <class RltLazy>
Dict<IValue, IValue> IValue::toGenericDict() const {
  return Dict<IValue, IValue>(as<detail::DictImpl>(Tag::GenericDict, "GenericDict"));
}
template <class RltLazy>
ArrayRef<IValue> IValue::toListRef() const {
  return ref<detail::ListImpl>(Tag::GenericList, "GenericList").items;
}
template <class T>
List<T> IValue::listed(const char* name) const {
  auto body = as<detail::ListImpl>(Tag::GenericList, name);
  if constexpr (!std::is_same_v<T, IValue>) {
    // An empty list fits every type; others are checked when elements are read.
    const char* kind = detail::StaticTypeOf<T>::value.kind;
    bool simple = std::is_same_v<T, at::Tensor> || std::is_same_v<T, int64_t> || std::is_same_v<T, double> || std::is_same_v<T, bool>;
    if (simple && body && body->element_kind != kind && !(body->element_kind == "Any" && body->items.empty())) fail(name);
  }
  return List<T>(std::move(body));
}
template <class RltLazy>
bool IValue::isListOf(const char* element) const {
  return isList() && ref<detail::ListImpl>(Tag::GenericList, "GenericList").element_kind == element;
}

template <class RltLazy>
bool IValue::same_object(const IValue& other) const {
  if (object_ == other.object_) return true;
  return isObject() && object_ && other.object_ && toObjectRef().is(other.toObjectRef());
}
template <class RltLazy>
size_t IValue::address() const {
  if (isTensor()) return tensor_.defined() && tensor_.layout() == kStrided ? reinterpret_cast<size_t>(tensor_.storage().data()) : 0;
  if (isObject() && object_) return 1;  // handles of the same object differ
  return reinterpret_cast<size_t>(object_.get());
}
template <class RltLazy>
std::vector<IValue> IValue::parts() const {
  std::vector<IValue> found{*this};
  RLT_LATER(std::unordered_set<const void*>) seen;
  for (size_t i = 0; i < found.size(); ++i) {
    IValue value = found[i];
    if (!value.object_ || !seen.insert(value.object_.get()).second) continue;
    auto add = [&](const IValue& part) { found.push_back(part); };
    if (value.isList()) {
      for (const IValue& item : value.toListRef()) add(item);
    } else if (value.isTuple()) {
      for (const IValue& item : value.toTupleRef().elements()) add(item);
    } else if (value.isGenericDict()) {
      for (const auto& entry : value.toGenericDict()) {
        add(entry.key());
        add(entry.value());
      }
    } else if (value.isObject()) {
      for (const IValue& item : detail::attributes_of(value.toObjectRef())) add(item);
    }
  }
  return found;
}

template <class RltLazy>
IValue IValue::equals(const IValue& other) const {
  if (isTensor() && other.isTensor()) return tensor_.eq(other.tensor_);
  if (tag_ != other.tag_) return false;
  // Elements are compared by identity first, so that a list of NaNs is equal to itself.
  auto same = [](const IValue& a, const IValue& b) { return a.is(b) || a == b; };
  switch (tag_) {
    case Tag::None: return true;
    case Tag::Int: return data_.integer == other.data_.integer;
    case Tag::Double: return data_.real == other.data_.real;
    case Tag::Bool: return data_.boolean == other.data_.boolean;
    case Tag::ComplexDouble: return toComplexDouble() == other.toComplexDouble();
    case Tag::String: return toStringRef() == other.toStringRef();
    case Tag::Device: return toDevice() == other.toDevice();
    case Tag::Enum: return *toEnumHolder() == *other.toEnumHolder();
    case Tag::Storage:
      if (object_ == other.object_) return true;
      return !boxed_storage_ && !other.boxed_storage_ && toStorage().data() == other.toStorage().data();
    case Tag::Stream: return boxed().as.stream.id == other.boxed().as.stream.id && boxed().as.stream.device.type == other.boxed().as.stream.device.type &&
                             boxed().as.stream.device.index == other.boxed().as.stream.device.index;
    case Tag::Tuple: {
      const auto &mine = toTupleRef().elements(), &theirs = other.toTupleRef().elements();
      if (mine.size() != theirs.size()) return false;
      for (size_t i = 0; i < mine.size(); ++i) {
        if (!same(mine[i], theirs[i])) return false;
      }
      return true;
    }
    case Tag::GenericList: {
      ArrayRef<IValue> mine = toListRef(), theirs = other.toListRef();
      if (mine.size() != theirs.size()) return false;
      for (size_t i = 0; i < mine.size(); ++i) {
        if (!same(mine[i], theirs[i])) return false;
      }
      return true;
    }
    case Tag::GenericDict: {
      Dict<IValue, IValue> mine = toGenericDict(), theirs = other.toGenericDict();
      if (mine.size() != theirs.size()) return false;
      for (const auto& entry : mine) {
        auto found = theirs.find(entry.key());
        if (found == theirs.end() || !same(entry.value(), found->value())) return false;
      }
      return true;
    }
    default: return same_object(other);
  }
}

template <class RltLazy>
size_t IValue::hash() const {
  switch (tag_) {
    case Tag::None: return 0;
    case Tag::Bool: return std::hash<bool>()(data_.boolean);
    case Tag::Int: return std::hash<int64_t>()(data_.integer);
    case Tag::Double: return std::hash<double>()(data_.real);
    case Tag::ComplexDouble: return std::hash<double>()(data_.complex[0]) * 31 + std::hash<double>()(data_.complex[1]);
    case Tag::String: return std::hash<std::string>()(toStringRef());
    case Tag::Tensor: return tensor_.defined() ? reinterpret_cast<size_t>(tensor_.unsafeGetTensorImpl()) : 1;
    case Tag::Device: return static_cast<size_t>(data_.device.type) * 1024 + static_cast<size_t>(data_.device.index) + 7;
    case Tag::Storage: return std::hash<const void*>()(object_.get());
    case Tag::Generator: return std::hash<const void*>()(object_.get());
    case Tag::Enum: return std::hash<std::string>()(toEnumHolder()->qualifiedClassName() + "." + toEnumHolder()->name());
    case Tag::Tuple: {
      size_t result = 5381;
      for (const IValue& item : toTupleRef().elements()) result = result * 33 + item.hash();
      return result;
    }
    default: rlt::raise<Error>("unhashable type: '" + tagKind() + "'");
  }
}

template <class Value>
Value IValue::deepcopy(std::optional<Device> device) const {
  typename rlt::Later<Value, HashIdentityIValueMap>::type memo;
  return deepcopy(memo, device);
}
template <class Value>
Value IValue::deepcopy(HashIdentityIValueMap& memo, std::optional<Device> device) const {
  if (!isPtrType() || isString() || isEnum() || isCapsule() || isFuture() || isGenerator() || isBoxed()) return *this;
  typename rlt::Later<Value, HashIdentityIValueMap>::type& copies = memo;
  auto known = copies.find(*this);
  if (known != copies.end()) return known->second;
  IValue copy;
  if (isTensor()) {
    // A parameter's copy is a leaf, too.
    at::Tensor source = tensor_.is_leaf() ? tensor_.detach() : tensor_;
    at::Tensor cloned = source.clone();
    if (device) cloned = cloned.to(*device);
    if (tensor_.is_leaf() && tensor_.requires_grad()) cloned.requires_grad_(true);
    copy = IValue(std::move(cloned));
  } else if (isStorage()) {
    return *this;
  } else if (isTuple()) {
    std::vector<IValue> items;
    for (const IValue& item : toTupleRef().elements()) items.push_back(item.deepcopy(memo, device));
    copy = IValue(make_intrusive<ivalue::Tuple>(std::move(items), toTupleRef().named_type()));
  } else if (isList()) {
    auto body = make_intrusive<detail::ListImpl>(ref<detail::ListImpl>(Tag::GenericList, "GenericList"));
    for (IValue& item : body->items) item = item.deepcopy(memo, device);
    copy.tag_ = Tag::GenericList;
    copy.object_ = std::move(body);
  } else if (isGenericDict()) {
    const auto& source = ref<detail::DictImpl>(Tag::GenericDict, "GenericDict");
    auto body = make_intrusive<detail::DictImpl>(source);
    body->entries.clear();
    body->places.clear();
    for (const auto& entry : source.entries) body->add(entry.first.deepcopy(memo, device), entry.second.deepcopy(memo, device));
    copy.tag_ = Tag::GenericDict;
    copy.object_ = std::move(body);
  } else {
    copy = detail::copied_object(toObjectRef(), [&](const IValue& value) { return value.deepcopy(memo, device); });
  }
  copies.emplace(*this, copy);
  return copy;
}

namespace detail {
template <class Real>
std::ostream& print_real(std::ostream& stream, Real value) {
  if (std::isfinite(value) && std::abs(value) < 1e10) {
    auto whole = static_cast<int64_t>(value);
    if (static_cast<Real>(whole) == value) return stream << whole << '.';
  }
  auto before = stream.precision(std::numeric_limits<double>::max_digits10);
  stream << value;
  stream.precision(before);
  return stream;
}
template <class Items, class Print>
std::ostream& print_items(std::ostream& stream, const Items& items, const char* open, const char* close, const Print& print) {
  stream << open;
  bool first = true;
  for (const IValue& item : items) {
    if (!first) stream << ", ";
    first = false;
    print(item);
  }
  return stream << close;
}
template <class Value, class Print>
std::ostream& print_value(std::ostream& stream, const Value& value, const Print& print) {
  if (value.isTensor()) return stream << value.toTensor();
  if (value.isNone()) return stream << "None";
  if (value.isDouble()) return print_real(stream, value.toDouble());
  if (value.isInt()) return stream << value.toInt();
  if (value.isBool()) return stream << (value.toBool() ? "True" : "False");
  if (value.isComplexDouble()) {
    c10::complex<double> number = value.toComplexDouble();
    print_real(stream, number.real());
    if (std::isnan(number.imag()) || !std::signbit(number.imag())) stream << '+';
    return print_real(stream, number.imag()) << 'j';
  }
  if (value.isString()) return stream << value.toStringRef();
  if (value.isDevice()) return stream << value.toDevice();
  if (value.isTuple()) return print_items(stream, value.toTupleRef().elements(), "(", value.toTupleRef().size() == 1 ? ",)" : ")", print);
  if (value.isList()) return print_items(stream, value.toListRef(), "[", "]", print);
  if (value.isGenericDict()) {
    stream << '{';
    bool first = true;
    for (const auto& entry : value.toGenericDict()) {
      if (!first) stream << ", ";
      first = false;
      print(entry.key());
      stream << ": ";
      print(entry.value());
    }
    return stream << '}';
  }
  if (value.isEnum()) return stream << "Enum<" << value.toEnumHolder()->unqualifiedClassName() << '.' << value.toEnumHolder()->name() << '>';
  if (value.isObject()) return stream << '<' << value.toObjectRef().name() << " object at " << static_cast<const void*>(&value.toObjectRef()) << '>';
  return stream << value.tagKind();
}
}  // namespace detail

/// As PyTorch prints values: strings without quotes.
template <class Value, std::enable_if_t<std::is_same_v<Value, IValue>, bool> = true>
std::ostream& operator<<(std::ostream& stream, const Value& value) {
  return detail::print_value(stream, value, [&](const IValue& part) { stream << part; });
}
template <class Formatter>
std::ostream& IValue::repr(std::ostream& stream, Formatter customFormatter) const {
  if (customFormatter(stream, *this)) return stream;
  if (isString()) {
    stream << '"';
    for (char each : toStringRef()) {
      switch (each) {
        case '\n': stream << "\\n"; break;
        case '\t': stream << "\\t"; break;
        case '\r': stream << "\\r"; break;
        case '"': stream << "\\\""; break;
        case '\\': stream << "\\\\"; break;
        default: stream << each;
      }
    }
    return stream << '"';
  }
  if (isEnum()) return stream << toEnumHolder()->qualifiedClassName() << '.' << toEnumHolder()->name();
  return detail::print_value(stream, *this, [&](const IValue& part) { part.repr(stream, customFormatter); });
}

RLT_NAMESPACE_END
}  // namespace c10

template <>
struct std::hash<c10::IValue> {
  size_t operator()(const c10::IValue& value) const { return value.hash(); }
};
