// IValue: one value of any kind, as AutogradContext::saved_data and archives keep it; List: a list of such values that its
// copies share.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct IValue;
template <class T>
class List;
template <class Key, class Value>
class Dict;
namespace ivalue {
class Tuple;
}

namespace detail {
/// The kind of the elements of a list.
enum class ListOf { Tensor, Int, Double, Bool, Any };
template <class T>
constexpr ListOf list_of = std::is_same_v<T, at::Tensor> ? ListOf::Tensor
                           : std::is_same_v<T, int64_t>  ? ListOf::Int
                           : std::is_same_v<T, double>   ? ListOf::Double
                           : std::is_same_v<T, bool>     ? ListOf::Bool
                                                         : ListOf::Any;
struct ListBody {
  ListOf kind;
  std::vector<IValue> items;
};
}  // namespace detail

struct IValue final {
  IValue() = default;
  IValue(std::nullopt_t) {}
  IValue(at::Tensor value) : tag_(Tag::Tensor), tensor_(std::move(value)) {}
  IValue(const Scalar& value) : tag_(tag_of(value)), number_(value) {}
  IValue(double value) : IValue(Scalar(value)) {}
  IValue(float value) : IValue(Scalar(value)) {}
  IValue(int64_t value) : IValue(Scalar(value)) {}
  IValue(int32_t value) : IValue(Scalar(value)) {}
  IValue(bool value) : IValue(Scalar(value)) {}
  IValue(c10::complex<double> value) : IValue(Scalar(value)) {}
  IValue(ScalarType value) : IValue(static_cast<int64_t>(value)) {}
  RLT_LAZY IValue(std::string value) : tag_(Tag::String), object_(std::make_shared<std::string>(std::move(value))) {}
  RLT_LAZY IValue(const char* value) : IValue(std::string(value)) {}
  RLT_LAZY IValue(IntArrayRef value) : IValue(value.vec()) {}
  template <class T>
  IValue(const List<T>& value) : tag_(Tag::List), object_(value.body_) {}
  template <class T>
  IValue(const std::vector<T>& value) : IValue(List<T>(value)) {}
  template <class Key, class Value>
  IValue(const Dict<Key, Value>& value) : tag_(Tag::Dict), object_(value.body_) {}
  RLT_LAZY IValue(std::shared_ptr<ivalue::Tuple> value) : tag_(Tag::Tuple), object_(std::move(value)) {}
  template <class... Ts>
  IValue(const std::tuple<Ts...>& values);
  template <class T>
  IValue(const std::optional<T>& value) {
    if (value) *this = IValue(*value);
  }

  bool isNone() const { return tag_ == Tag::None; }
  bool isTensor() const { return tag_ == Tag::Tensor; }
  bool isInt() const { return tag_ == Tag::Int; }
  bool isDouble() const { return tag_ == Tag::Double; }
  bool isBool() const { return tag_ == Tag::Bool; }
  bool isComplexDouble() const { return tag_ == Tag::Complex; }
  bool isScalar() const { return isInt() || isDouble() || isBool() || isComplexDouble(); }
  bool isString() const { return tag_ == Tag::String; }
  bool isTuple() const { return tag_ == Tag::Tuple; }
  bool isGenericDict() const { return tag_ == Tag::Dict; }
  /// Whether this is a value that only the C interface knows: an object, a future, a device, ...
  bool isBoxed() const { return tag_ == Tag::Boxed; }
  bool isObject() const { return isBoxed(RLT_VALUE_OBJECT); }
  bool isFuture() const { return isBoxed(RLT_VALUE_FUTURE); }
  bool isEnum() const { return isBoxed(RLT_VALUE_ENUM); }
  bool isDevice() const { return isBoxed(RLT_VALUE_DEVICE); }
  bool isStorage() const { return isBoxed(RLT_VALUE_STORAGE); }
  bool isStream() const { return isBoxed(RLT_VALUE_STREAM); }
  bool isGenerator() const { return isBoxed(RLT_VALUE_GENERATOR); }
  bool isList() const { return tag_ == Tag::List; }
  bool isIntList() const { return isListOf(detail::ListOf::Int); }
  bool isDoubleList() const { return isListOf(detail::ListOf::Double); }
  bool isBoolList() const { return isListOf(detail::ListOf::Bool); }
  bool isTensorList() const { return isListOf(detail::ListOf::Tensor); }

  const at::Tensor& toTensor() const { return expect(Tag::Tensor, "Tensor"), tensor_; }
  int64_t toInt() const { return expect(Tag::Int, "Int"), number_.toLong(); }
  double toDouble() const { return expect(Tag::Double, "Double"), number_.toDouble(); }
  bool toBool() const { return expect(Tag::Bool, "Bool"), number_.toBool(); }
  c10::complex<double> toComplexDouble() const { return expect(Tag::Complex, "ComplexDouble"), number_.toComplexDouble(); }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Scalar toScalar() const {
    if (!isScalar()) fail("Scalar");
    return number_;
  }
  const std::string& toStringRef() const { return expect(Tag::String, "String"), *static_cast<const std::string*>(object_.get()); }
  RLT_LAZY std::shared_ptr<ivalue::Tuple> toTuple() const { return expect(Tag::Tuple, "Tuple"), std::static_pointer_cast<ivalue::Tuple>(object_); }
  RLT_LAZY Dict<IValue, IValue> toGenericDict() const;
  RLT_LAZY Device toDevice() const {
    if (!isDevice()) fail("Device");
    return Device(boxed().as.device);
  }
  /// A copy of a value of the C interface that no C++ type describes. Borrowed: valid as long as this value.
  const rlt_value& boxed() const { return expect(Tag::Boxed, "a boxed value"), static_cast<const rlt::OwnedValue*>(object_.get())->get(); }
  /// Holds a copy of `value`.
  RLT_LAZY static IValue of_boxed(const rlt_value& value) {
    rlt_value copy;
    rlt::check(rlt_value_copy(&value, &copy));
    IValue result;
    result.tag_ = Tag::Boxed;
    result.object_ = std::make_shared<rlt::OwnedValue>(copy);
    return result;
  }
  RLT_LAZY List<IValue> toList() const;
  RLT_LAZY List<int64_t> toIntList() const;
  RLT_LAZY List<double> toDoubleList() const;
  RLT_LAZY List<bool> toBoolList() const;
  RLT_LAZY List<at::Tensor> toTensorList() const;
  RLT_LAZY std::vector<int64_t> toIntVector() const;
  RLT_LAZY std::vector<double> toDoubleVector() const;
  RLT_LAZY std::vector<at::Tensor> toTensorVector() const;
  /// The value as a T.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, IValue>) {
      return *this;
    } else if constexpr (std::is_same_v<T, at::Tensor>) {
      return toTensor();
    } else if constexpr (std::is_same_v<T, bool>) {
      return toBool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(toInt());
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(toDouble());
    } else if constexpr (std::is_same_v<T, std::string>) {
      return toStringRef();
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return toScalar();
    } else if constexpr (std::is_same_v<T, c10::complex<double>>) {
      return toComplexDouble();
    } else {
      return listed<typename T::value_type>("List").as(static_cast<T*>(nullptr));
    }
  }
  template <class T>
  std::optional<T> toOptional() const {
    if (isNone()) return std::nullopt;
    return to<T>();
  }

  /// Whether both are the same object: a tensor or list itself, a number or string of the same value.
  RLT_LAZY bool is(const IValue& other) const {
    if (tag_ != other.tag_) return false;
    if (isTensor()) return tensor_.is_same(other.tensor_);
    if (isString()) return toStringRef() == other.toStringRef();
    if (isList() || isTuple() || isGenericDict() || isBoxed()) return object_ == other.object_;
    return isNone() || (number_.raw().i == other.number_.raw().i && number_.raw().re == other.number_.raw().re && number_.raw().im == other.number_.raw().im);
  }
  /// Whether both show the same memory.
  RLT_LAZY bool isAliasOf(const IValue& other) const {
    if (isTensor() && other.isTensor()) return tensor_.is_alias_of(other.tensor_);
    return isList() && object_ == other.object_;
  }
  /// A deep copy. Identical objects here are identical in the copy.
  template <class Value = IValue>
  Value deepcopy() const {
    std::vector<std::pair<Value, Value>> known;
    return deepcopy(known);
  }
  struct CompIdentityIValues {
    bool operator()(const IValue& a, const IValue& b) const { return a.is(b); }
  };

  RLT_LAZY std::string tagKind() const {
    static constexpr const char* names[] = {"None", "Tensor", "Int", "Double", "Bool", "ComplexDouble", "String", "GenericList", "Tuple", "GenericDict", "Object"};
    static constexpr const char* lists[] = {"TensorList", "IntList", "DoubleList", "BoolList", "GenericList"};
    return isList() ? lists[static_cast<int>(list().kind)] : names[static_cast<int>(tag_)];
  }

 private:
  template <class T>
  friend class List;
  template <class Key, class Value>
  friend class Dict;
  enum class Tag { None, Tensor, Int, Double, Bool, Complex, String, List, Tuple, Dict, Boxed };
  bool isBoxed(int32_t tag) const { return isBoxed() && boxed().tag == tag; }

  static Tag tag_of(const Scalar& value) {
    if (value.isBoolean()) return Tag::Bool;
    if (value.isComplex()) return Tag::Complex;
    return value.isFloatingPoint() ? Tag::Double : Tag::Int;
  }
  [[noreturn]] RLT_COLD void fail(const char* expected) const {
    rlt::raise<Error>(std::string("Expected ") + expected + " but got " + tagKind());
  }
  void expect(Tag tag, const char* name) const {
    if (C10_UNLIKELY(tag_ != tag)) fail(name);
  }
  const detail::ListBody& list() const { return *static_cast<const detail::ListBody*>(object_.get()); }
  bool isListOf(detail::ListOf kind) const { return isList() && list().kind == kind; }
  template <class T>
  List<T> listed(const char* name) const {
    // Any list is a list of values.
    if (!isList() || (!std::is_same_v<T, IValue> && list().kind != detail::list_of<T>)) fail(name);
    return List<T>(std::static_pointer_cast<detail::ListBody>(object_));
  }
  template <class Value>
  Value deepcopy(std::vector<std::pair<Value, Value>>& known) const {
    if (!isList() && !(isTensor() && tensor_.defined())) return *this;
    for (auto& pair : known) {
      if (is(pair.first)) return pair.second;
    }
    IValue copy;
    if (isTensor()) {
      copy = IValue(tensor_.clone());
    } else {
      auto body = std::make_shared<detail::ListBody>(detail::ListBody{list().kind, {}});
      for (const IValue& item : list().items) body->items.push_back(item.deepcopy(known));
      copy.tag_ = Tag::List;
      copy.object_ = std::move(body);
    }
    known.emplace_back(*this, copy);
    return copy;
  }

  Tag tag_ = Tag::None;
  Scalar number_;
  at::Tensor tensor_;
  std::shared_ptr<void> object_;
};

namespace detail {

/// A reference to an element: reads as T or IValue, and can be assigned.
template <class T>
class ListElement {
 public:
  explicit ListElement(IValue& place) : place_(place) {}
  operator T() const { return place_.template to<T>(); }
  const IValue& get() const { return place_; }
  ListElement& operator=(T value) {
    place_ = IValue(std::move(value));
    return *this;
  }

 private:
  IValue& place_;
};

template <class T>
class ListIterator {
 public:
  explicit ListIterator(IValue* place) : place_(place) {}
  T operator*() const { return place_->to<T>(); }
  ListIterator& operator++() { return ++place_, *this; }
  bool operator==(const ListIterator& other) const { return place_ == other.place_; }
  bool operator!=(const ListIterator& other) const { return place_ != other.place_; }

 private:
  IValue* place_;
};

}  // namespace detail

/// A list of values of one type. Copies of it are the same list.
template <class T>
class List final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = detail::ListIterator<T>;

  List() : body_(std::make_shared<detail::ListBody>(detail::ListBody{detail::list_of<T>, {}})) {}
  List(std::initializer_list<T> values) : List() { assign(values); }
  explicit List(ArrayRef<T> values) : List() { assign(values); }
  explicit List(const std::vector<T>& values) : List() { assign(values); }

  size_t size() const { return body_->items.size(); }
  bool empty() const { return body_->items.empty(); }
  T get(size_t position) const { return at(position).template to<T>(); }
  void set(size_t position, T value) const { at(position) = IValue(std::move(value)); }
  T extract(size_t position) const { return get(position); }
  detail::ListElement<T> operator[](size_t position) const { return detail::ListElement<T>(at(position)); }
  iterator begin() const { return iterator(body_->items.data()); }
  iterator end() const { return iterator(body_->items.data() + size()); }
  void push_back(T value) const { body_->items.emplace_back(std::move(value)); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  void reserve(size_t count) const { body_->items.reserve(count); }
  void resize(size_t count) const { body_->items.resize(count, IValue(T())); }
  void pop_back() const { body_->items.pop_back(); }
  void clear() const { body_->items.clear(); }
  /// A new list with the same elements.
  List copy() const { return List(std::make_shared<detail::ListBody>(*body_)); }
  bool is(const List& other) const { return body_ == other.body_; }
  std::vector<T> vec() const {
    std::vector<T> values;
    values.reserve(size());
    for (const IValue& item : body_->items) values.push_back(item.to<T>());
    return values;
  }

 private:
  friend struct IValue;
  explicit List(std::shared_ptr<detail::ListBody> body) : body_(std::move(body)) {}
  template <class Values>
  void assign(const Values& values) {
    body_->items.reserve(values.size());
    for (const T& value : values) body_->items.emplace_back(value);
  }
  IValue& at(size_t position) const {
    if (position >= size()) rlt::raise<IndexError>("list index out of range");
    return body_->items[position];
  }
  List as(List*) const { return *this; }
  std::vector<T> as(std::vector<T>*) const { return vec(); }

  std::shared_ptr<detail::ListBody> body_;
};

namespace ivalue {
/// The values of a tuple.
class Tuple {
 public:
  explicit Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
  static std::shared_ptr<Tuple> create(std::vector<IValue> elements) { return std::make_shared<Tuple>(std::move(elements)); }
  const std::vector<IValue>& elements() const { return elements_; }

 private:
  std::vector<IValue> elements_;
};
}  // namespace ivalue

template <class... Ts>
IValue::IValue(const std::tuple<Ts...>& values)
    : IValue(std::apply([](const Ts&... each) { return ivalue::Tuple::create({IValue(each)...}); }, values)) {}

/// A dict that keeps the order of insertion. Copies of it are the same dict.
template <class Key, class Value>
class Dict final {
 public:
  class Entry {
   public:
    explicit Entry(const std::pair<IValue, IValue>& entry) : entry_(entry) {}
    Key key() const { return entry_.first.template to<Key>(); }
    Value value() const { return entry_.second.template to<Value>(); }

   private:
    const std::pair<IValue, IValue>& entry_;
  };
  class iterator {
   public:
    explicit iterator(const std::pair<IValue, IValue>* place) : place_(place) {}
    Entry operator*() const { return Entry(*place_); }
    iterator& operator++() { return ++place_, *this; }
    bool operator==(const iterator& other) const { return place_ == other.place_; }
    bool operator!=(const iterator& other) const { return place_ != other.place_; }

   private:
    const std::pair<IValue, IValue>* place_;
  };

  Dict() : body_(std::make_shared<Body>()) {}
  size_t size() const { return body_->size(); }
  bool empty() const { return body_->empty(); }
  iterator begin() const { return iterator(body_->data()); }
  iterator end() const { return iterator(body_->data() + size()); }
  bool contains(const Key& key) const { return find(key) != nullptr; }
  Value at(const Key& key) const {
    const auto* found = find(key);
    if (!found) rlt::raise<IndexError>("Argument passed to at() was not in the map.");
    return found->second.template to<Value>();
  }
  /// Adds an entry, unless the key has one. Returns whether it was added.
  bool insert(Key key, Value value) const {
    if (contains(key)) return false;
    body_->emplace_back(IValue(std::move(key)), IValue(std::move(value)));
    return true;
  }
  void insert_or_assign(Key key, Value value) const {
    auto* found = const_cast<std::pair<IValue, IValue>*>(find(key));
    if (found) found->second = IValue(std::move(value));
    else body_->emplace_back(IValue(std::move(key)), IValue(std::move(value)));
  }

 private:
  using Body = std::vector<std::pair<IValue, IValue>>;
  friend struct IValue;
  explicit Dict(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  const std::pair<IValue, IValue>* find(const Key& key) const {
    IValue wanted(key);
    for (const auto& entry : *body_) {
      if (entry.first.is(wanted)) return &entry;
    }
    return nullptr;
  }

  std::shared_ptr<Body> body_;
};

template <class RltLazy>
Dict<IValue, IValue> IValue::toGenericDict() const {
  expect(Tag::Dict, "GenericDict");
  return Dict<IValue, IValue>(std::static_pointer_cast<std::vector<std::pair<IValue, IValue>>>(object_));
}

template <class RltLazy>
List<IValue> IValue::toList() const {
  return listed<IValue>("GenericList");
}
template <class RltLazy>
List<int64_t> IValue::toIntList() const {
  return listed<int64_t>("IntList");
}
template <class RltLazy>
List<double> IValue::toDoubleList() const {
  return listed<double>("DoubleList");
}
template <class RltLazy>
List<bool> IValue::toBoolList() const {
  return listed<bool>("BoolList");
}
template <class RltLazy>
List<at::Tensor> IValue::toTensorList() const {
  return listed<at::Tensor>("TensorList");
}
template <class RltLazy>
std::vector<int64_t> IValue::toIntVector() const {
  return listed<int64_t>("IntList").vec();
}
template <class RltLazy>
std::vector<double> IValue::toDoubleVector() const {
  return listed<double>("DoubleList").vec();
}
template <class RltLazy>
std::vector<at::Tensor> IValue::toTensorVector() const {
  return listed<at::Tensor>("TensorList").vec();
}

RLT_NAMESPACE_END
}  // namespace c10

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
using c10::IValue;
}
RLT_NAMESPACE_END
}  // namespace torch
