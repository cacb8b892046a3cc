// Conversion between C++ arguments or results and rlt_value: for kernels in C++ that are called by name, and for calls
// by name.
//
// `Box<T>` lends a C++ object to the C interface; `Unbox<T>` converts a value that the C interface lends. T is a
// decayed parameter type; both have `name`, its name in schemas.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue_all.h>
#include <rushlight/dispatch.h>

#include <array>
#include <deque>
#include <tuple>

namespace rlt {
RLT_NAMESPACE_BEGIN

inline rlt_value value_of(int32_t tag) {
  rlt_value value = {};
  value.tag = tag;
  return value;
}
inline rlt_value integer_value(int32_t tag, int64_t integer) {
  rlt_value value = value_of(tag);
  value.as.i = integer;
  return value;
}

/// A list of `count` items; `member` is the field of the value for its kind of list.
template <class Member, class Items>
rlt_value list_value(int32_t tag, Member rlt_payload::* member, Items items, size_t count) {
  rlt_value value = value_of(tag);
  value.len = static_cast<int64_t>(count);
  value.as.*member = items;
  return value;
}

[[noreturn]] RLT_COLD inline void wrong_value(const char* expected, const rlt_value& value) {
  static constexpr const char* names[] = {"None",    "bool",    "int",    "int",      "float",  "complex", "str",          "Tensor",    "Tensor[]",
                                          "int[]",   "float[]", "bool[]", "Scalar[]", "ScalarType", "Layout", "MemoryFormat", "Device", "Generator",
                                          "list",    "tuple",   "Dict",   "str[]",    "object", "Future",  "Enum",         "Stream",    "Storage",  "QScheme"};
  bool known = value.tag >= 0 && value.tag < static_cast<int32_t>(sizeof names / sizeof *names);
  raise<at::Error>(std::string("Expected a value of type '") + expected + "' but got " + (known ? names[value.tag] : "something else"));
}
inline const rlt_value& expect_value(const rlt_value& value, int32_t tag, const char* expected) {
  if (C10_UNLIKELY(value.tag != tag)) wrong_value(expected, value);
  return value;
}
inline at::Tensor retained(rlt_tensor* borrowed) {
  rlt_tensor* held = nullptr;
  if (borrowed) check(rlt_tensor_retain(borrowed, &held));
  return at::Tensor(held);
}

template <class T, class = void>
struct Box {
  static_assert(!std::is_same_v<T, T>, "an operator cannot take or return this type; numbers are int64_t, double or bool");
};
template <class T>
using Unbox = Box<T>;

template <>
struct Box<at::Tensor> {
  static constexpr const char* name = "Tensor";
  static rlt_value lend(const at::Tensor& tensor) {
    rlt_value value = value_of(tensor.defined() ? RLT_VALUE_TENSOR : RLT_VALUE_NONE);
    value.as.tensor = tensor.handle();
    return value;
  }
  explicit Box(const rlt_value& value)
      : object(value.tag == RLT_VALUE_NONE ? at::Tensor() : retained(expect_value(value, RLT_VALUE_TENSOR, name).as.tensor)) {}
  at::Tensor object;
};

// A number whose kind the schema determines: an integer may stand for a real number.
template <class T>
struct Box<T, std::enable_if_t<std::is_same_v<T, int64_t> || std::is_same_v<T, double> || std::is_same_v<T, bool>>> {
  static constexpr const char* name = std::is_same_v<T, bool> ? "bool" : std::is_same_v<T, double> ? "float" : "int";
  static rlt_value lend(T number) {
    if constexpr (std::is_same_v<T, double>) {
      rlt_value value = value_of(RLT_VALUE_FLOAT);
      value.as.f = number;
      return value;
    } else {
      return integer_value(std::is_same_v<T, bool> ? RLT_VALUE_BOOL : RLT_VALUE_INT, number);
    }
  }
  explicit Box(const rlt_value& value) {
    bool integral = value.tag == RLT_VALUE_INT || value.tag == RLT_VALUE_BOOL;
    if (std::is_same_v<T, double> && value.tag == RLT_VALUE_FLOAT) {
      object = static_cast<T>(value.as.f);
    } else if (integral) {
      object = static_cast<T>(value.as.i);
    } else {
      wrong_value(name, value);
    }
  }
  T object{};
};

template <>
struct Box<at::Scalar> {
  static constexpr const char* name = "Scalar";
  static rlt_value lend(const at::Scalar& scalar) {
    const rlt_scalar& raw = scalar.raw();
    switch (raw.tag) {
      case RLT_SCALAR_FLOAT: return Box<double>::lend(raw.re);
      case RLT_SCALAR_COMPLEX: {
        rlt_value value = value_of(RLT_VALUE_COMPLEX);
        value.as.c = {raw.re, raw.im};
        return value;
      }
      default: return integer_value(raw.tag == RLT_SCALAR_BOOL ? RLT_VALUE_BOOL : raw.tag == RLT_SCALAR_UINT ? RLT_VALUE_UINT : RLT_VALUE_INT, raw.i);
    }
  }
  explicit Box(const rlt_value& value) {
    switch (value.tag) {
      case RLT_VALUE_BOOL: object = value.as.i != 0; break;
      case RLT_VALUE_INT: object = value.as.i; break;
      case RLT_VALUE_UINT: object = static_cast<uint64_t>(value.as.i); break;
      case RLT_VALUE_FLOAT: object = value.as.f; break;
      case RLT_VALUE_COMPLEX: object = c10::complex<double>(value.as.c.re, value.as.c.im); break;
      default: wrong_value(name, value);
    }
  }
  at::Scalar object;
};

// Kinds that are represented by a number in C.
#define RLT_BOX_NUMBERED(type, tag)                                                                               \
  template <>                                                                                                     \
  struct Box<type> {                                                                                              \
    static constexpr const char* name = #tag;                                                                     \
    static rlt_value lend(type item) { return integer_value(number, static_cast<int64_t>(item)); }                \
    explicit Box(const rlt_value& value) : object(static_cast<type>(expect_value(value, number, name).as.i)) {}   \
    type object;                                                                                                  \
                                                                                                                  \
   private:                                                                                                       \
    enum { ScalarType = RLT_VALUE_DTYPE, Layout = RLT_VALUE_LAYOUT, MemoryFormat = RLT_VALUE_MEMORY_FORMAT };     \
    static constexpr int32_t number = tag;                                                                        \
  }
RLT_BOX_NUMBERED(at::ScalarType, ScalarType);
RLT_BOX_NUMBERED(at::Layout, Layout);
RLT_BOX_NUMBERED(at::MemoryFormat, MemoryFormat);
#undef RLT_BOX_NUMBERED

template <>
struct Box<at::Device> {
  static constexpr const char* name = "Device";
  static rlt_value lend(const at::Device& device) {
    rlt_value value = value_of(RLT_VALUE_DEVICE);
    value.as.device = device.raw();
    return value;
  }
  explicit Box(const rlt_value& value) : object(expect_value(value, RLT_VALUE_DEVICE, name).as.device) {}
  at::Device object;
};

template <>
struct Box<at::Generator> {
  static constexpr const char* name = "Generator";
  static rlt_value lend(const at::Generator& generator) {
    rlt_value value = value_of(generator.defined() ? RLT_VALUE_GENERATOR : RLT_VALUE_NONE);
    value.as.generator = generator.handle();
    return value;
  }
  explicit Box(const rlt_value& value) {
    if (value.tag == RLT_VALUE_NONE) return;
    rlt_generator* held = nullptr;
    check(rlt_generator_retain(expect_value(value, RLT_VALUE_GENERATOR, name).as.generator, &held));
    object = at::Generator(held);
  }
  at::Generator object;
};

template <>
struct Box<std::string> {
  static constexpr const char* name = "str";
  static rlt_value lend(const std::string& text) {
    rlt_value value = value_of(RLT_VALUE_STRING);
    value.as.string = text.c_str();
    return value;
  }
  explicit Box(const rlt_value& value) : object(expect_value(value, RLT_VALUE_STRING, name).as.string) {}
  std::string object;
};

template <>
struct Box<c10::SymInt> {
  static constexpr const char* name = "int";
  static rlt_value lend(const c10::SymInt& number) { return Box<int64_t>::lend(number.expect_int()); }
  explicit Box(const rlt_value& value) : object(Box<int64_t>(value).object) {}
  c10::SymInt object;
};

template <>
struct Box<std::string_view> {
  static constexpr const char* name = "str";
  explicit Box(const rlt_value& value) : object(expect_value(value, RLT_VALUE_STRING, name).as.string) {}
  std::string_view object;
};

/// The C form of a list of T.
template <class T>
struct ListOf;
template <>
struct ListOf<int64_t> {
  static constexpr const char* name = "int[]";
  static constexpr int32_t tag = RLT_VALUE_INT_LIST;
  static rlt_value lend(at::ArrayRef<int64_t> items) { return list_value(tag, &rlt_payload::ints, items.data(), items.size()); }
  static int64_t at(const rlt_value& value, int64_t i) { return value.as.ints[i]; }
};
template <>
struct ListOf<c10::SymInt> {
  static constexpr const char* name = "int[]";
  static constexpr int32_t tag = RLT_VALUE_INT_LIST;
  static rlt_value lend(c10::SymIntArrayRef items) { return ListOf<int64_t>::lend(c10::asIntArrayRefUnchecked(items)); }
  static c10::SymInt at(const rlt_value& value, int64_t i) { return value.as.ints[i]; }
};
template <>
struct ListOf<double> {
  static constexpr const char* name = "float[]";
  static constexpr int32_t tag = RLT_VALUE_FLOAT_LIST;
  static rlt_value lend(at::ArrayRef<double> items) { return list_value(tag, &rlt_payload::floats, items.data(), items.size()); }
  static double at(const rlt_value& value, int64_t i) { return value.as.floats[i]; }
};
template <>
struct ListOf<at::Scalar> {
  static constexpr const char* name = "Scalar[]";
  static constexpr int32_t tag = RLT_VALUE_SCALAR_LIST;
  static rlt_value lend(at::ArrayRef<at::Scalar> items) { return list_value(tag, &rlt_payload::scalars, scalars(items), items.size()); }
  static at::Scalar at(const rlt_value& value, int64_t i) { return at::Scalar(value.as.scalars[i]); }
};
template <>
struct ListOf<at::Tensor> {
  static constexpr const char* name = "Tensor[]";
  static constexpr int32_t tag = RLT_VALUE_TENSOR_LIST;
  static rlt_value lend(at::TensorList items) {
    return list_value(tag, &rlt_payload::tensors, const_cast<rlt_tensor* const*>(reinterpret_cast<const rlt_tensor* const*>(handles(items))), items.size());
  }
  static at::Tensor at(const rlt_value& value, int64_t i) { return retained(value.as.tensors[i]); }
};
/// `Tensor?[]` is supported as an argument, not as a result: an optional contains no handle.
template <>
struct ListOf<std::optional<at::Tensor>> {
  static constexpr const char* name = "Tensor?[]";
  static constexpr int32_t tag = RLT_VALUE_TENSOR_LIST;
  static std::optional<at::Tensor> at(const rlt_value& value, int64_t i) {
    return value.as.tensors[i] ? std::optional<at::Tensor>(retained(value.as.tensors[i])) : std::nullopt;
  }
};

/// Lists of other types are IValues on their way.
template <class T, class = void>
constexpr bool has_list_form = false;
template <class T>
constexpr bool has_list_form<T, std::void_t<decltype(ListOf<T>::tag)>> = true;

template <class T>
struct Box<std::vector<T>, std::enable_if_t<has_list_form<T>>> {
  static constexpr const char* name = ListOf<T>::name;
  static rlt_value lend(const std::vector<T>& items) { return ListOf<T>::lend(items); }
  explicit Box(const rlt_value& value) {
    // An empty list has no element kind.
    if (value.len != 0) expect_value(value, ListOf<T>::tag, name);
    object.reserve(static_cast<size_t>(value.len));
    for (int64_t i = 0; i < value.len; ++i) object.push_back(ListOf<T>::at(value, i));
  }
  std::vector<T> object;
};
/// A view of a list, over a list that lives as long as the box.
template <class T>
struct Box<at::ArrayRef<T>> {
  static constexpr const char* name = ListOf<T>::name;
  static rlt_value lend(at::ArrayRef<T> items) { return ListOf<T>::lend(items); }
  explicit Box(const rlt_value& value) : list(value), object(list.object) {}
  Box<std::vector<T>> list;
  at::ArrayRef<T> object;
};
template <class T>
struct Box<c10::List<T>> {
  static constexpr const char* name = ListOf<T>::name;
  explicit Box(const rlt_value& value) : object(Box<std::vector<T>>(value).object) {}
  c10::List<T> object;
};

template <class T>
struct Box<std::optional<T>> {
  static constexpr const char* name = Box<T>::name;
  static constexpr bool optional = true;
  static rlt_value lend(const std::optional<T>& item) { return item ? Box<T>::lend(*item) : value_of(RLT_VALUE_NONE); }
  explicit Box(const rlt_value& value) {
    if (value.tag != RLT_VALUE_NONE) object = Box<T>(value).object;
  }
  std::optional<T> object;
};
template <class T>
struct Box<at::OptionalArrayRef<T>> {
  static constexpr const char* name = ListOf<T>::name;
  static constexpr bool optional = true;
  static rlt_value lend(const at::OptionalArrayRef<T>& items) { return items ? ListOf<T>::lend(*items) : value_of(RLT_VALUE_NONE); }
  explicit Box(const rlt_value& value) {
    if (value.tag == RLT_VALUE_NONE) return;
    list = Box<std::vector<T>>(value).object;
    object = at::OptionalArrayRef<T>(at::ArrayRef<T>(list));
  }
  std::vector<T> list;
  at::OptionalArrayRef<T> object;
};

/// An argument or result on its way to C, with the memory that its form in C needs.
template <class T, class = void>
struct Lent {
  explicit Lent(const T& object) : value(Box<T>::lend(object)) {}
  rlt_value value;
};

template <>
struct Lent<std::string_view> {
  explicit Lent(std::string_view view) : text(view), value(Box<std::string>::lend(text)) {}
  Lent(const Lent&) = delete;
  std::string text;
  rlt_value value;
};

template <>
struct Box<std::vector<std::string>> {
  static constexpr const char* name = "str[]";
  RLT_LAZY explicit Box(const rlt_value& value) {
    if (value.len != 0) expect_value(value, RLT_VALUE_STRING_LIST, name);
    for (int64_t i = 0; i < value.len; ++i) object.emplace_back(value.as.strings[i]);
  }
  std::vector<std::string> object;
};
template <>
struct Lent<std::vector<std::string>> {
  RLT_LAZY explicit Lent(const std::vector<std::string>& strings) : texts(strings.size()) {
    for (size_t i = 0; i < strings.size(); ++i) texts[i] = strings[i].c_str();
    value = list_value(RLT_VALUE_STRING_LIST, &rlt_payload::strings, texts.data(), texts.size());
  }
  Lent(const Lent&) = delete;
  std::vector<const char*> texts;
  rlt_value value;
};

/// Any value. Numbers that stand for a dtype, a layout or a memory format are integers, as in libtorch.
template <class T>
struct Box<T, std::enable_if_t<std::is_same_v<T, c10::IValue>>> {
  static constexpr const char* name = "Any";
  explicit Box(const rlt_value& value) : object(of(value)) {}
  c10::IValue object;

 private:
  template <class Item>
  static c10::IValue list_of(const rlt_value& value) {
    return c10::IValue(Box<std::vector<Item>>(value).object);
  }
  static std::vector<c10::IValue> items(const rlt_value& value, int64_t count) {
    std::vector<c10::IValue> items;
    items.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) items.push_back(of(value.as.values[i]));
    return items;
  }
  static c10::IValue of(const rlt_value& value) {
    switch (value.tag) {
      case RLT_VALUE_NONE: return {};
      case RLT_VALUE_TENSOR: return Box<at::Tensor>(value).object;
      case RLT_VALUE_BOOL:
      case RLT_VALUE_INT:
      case RLT_VALUE_UINT:
      case RLT_VALUE_FLOAT:
      case RLT_VALUE_COMPLEX: return Box<at::Scalar>(value).object;
      case RLT_VALUE_STRING: return std::string(value.as.string);
      case RLT_VALUE_DTYPE:
      case RLT_VALUE_LAYOUT:
      case RLT_VALUE_MEMORY_FORMAT:
      case RLT_VALUE_QSCHEME: return value.as.i;
      case RLT_VALUE_INT_LIST: return list_of<int64_t>(value);
      case RLT_VALUE_FLOAT_LIST: return list_of<double>(value);
      case RLT_VALUE_BOOL_LIST: {
        c10::List<bool> flags;
        for (int64_t i = 0; i < value.len; ++i) flags.push_back(value.as.bools[i] != 0);
        return flags;
      }
      case RLT_VALUE_SCALAR_LIST: {
        bool all = true;
        for (int64_t i = 0; i < value.len; ++i) all = all && value.as.scalars[i].tag == RLT_SCALAR_COMPLEX;
        if (all) {
          c10::List<c10::complex<double>> numbers;
          for (int64_t i = 0; i < value.len; ++i) numbers.push_back({value.as.scalars[i].re, value.as.scalars[i].im});
          return numbers;
        }
        c10::List<c10::IValue> numbers;
        for (int64_t i = 0; i < value.len; ++i) numbers.push_back(at::Scalar(value.as.scalars[i]));
        return numbers;
      }
      case RLT_VALUE_STRING_LIST: return c10::IValue(Box<std::vector<std::string>>(value).object);
      case RLT_VALUE_TENSOR_LIST: {
        bool all = true;
        for (int64_t i = 0; i < value.len; ++i) all = all && value.as.tensors[i];
        if (all) return list_of<at::Tensor>(value);
        c10::List<std::optional<at::Tensor>> tensors;
        for (int64_t i = 0; i < value.len; ++i) {
          tensors.push_back(value.as.tensors[i] ? std::optional<at::Tensor>(retained(value.as.tensors[i])) : std::nullopt);
        }
        return tensors;
      }
      case RLT_VALUE_LIST: return items(value, value.len);
      case RLT_VALUE_TUPLE: return c10::ivalue::Tuple::create(items(value, value.len));
      case RLT_VALUE_DICT: {
        c10::Dict<c10::IValue, c10::IValue> dict;
        for (int64_t i = 0; i < value.len; ++i) dict.insert(of(value.as.values[2 * i]), of(value.as.values[2 * i + 1]));
        return dict;
      }
      case RLT_VALUE_DEVICE: return at::Device(value.as.device);
      case RLT_VALUE_GENERATOR: return Box<at::Generator>(value).object;
      case RLT_VALUE_ENUM: {
        const rlt_value* parts = value.as.values;
        return c10::make_intrusive<c10::ivalue::EnumHolder>(std::string(parts[0].as.string), parts[1].as.string, of(parts[2]));
      }
      case RLT_VALUE_OBJECT: {
        rlt_object* held = nullptr;
        check(rlt_object_retain(value.as.object, &held));
        return c10::make_intrusive<c10::ivalue::Object>(held, c10::detail::current_program());
      }
      case RLT_VALUE_FUTURE: return future(value.as.future);
      default: return c10::IValue::of_boxed(value);
    }
  }
  /// A future that is complete: the run time of TorchScript waits for what it forks.
  static c10::IValue future(const rlt_future* handle) {
    auto result = c10::make_intrusive<c10::ivalue::Future>(nullptr);
    rlt_value value = {};
    int32_t status = rlt_future_wait(handle, &value);
    OwnedValue owned(value);
    if (status == RLT_OK) {
      result->markCompleted(of(owned.get()));
      return result;
    }
#if RLT_EXCEPTIONS
    try {
      check(status);
    } catch (...) {
      result->setErrorIfNeeded(std::current_exception());
    }
#else
    check(status);
#endif
    return result;
  }
};

template <class T>
struct Lent<T, std::enable_if_t<std::is_same_v<T, c10::IValue>>> {
 private:
  // What the value points into, and therefore before it: none of these moves its elements.
  std::deque<std::vector<rlt_value>> arrays;
  std::deque<c10::IValue> contents;
  std::vector<std::shared_ptr<rlt_future>> futures;

 public:
  explicit Lent(const c10::IValue& object) : value(lend(object, 0)) {}
  Lent(const Lent&) = delete;
  rlt_value value;

 private:
  static rlt_value lend_object(const c10::ivalue::Object& object) {
    if (!object.handle()) raise<at::NotImplementedError>("an object that C++ code built of slots cannot be passed to a program");
    rlt_value borrowed = value_of(RLT_VALUE_OBJECT);
    borrowed.as.object = object.handle();
    return borrowed;
  }
  rlt_value lend_future(c10::ivalue::Future& future) {
    rlt_future* handle = nullptr;
    check(rlt_future_new(&handle));
    futures.emplace_back(handle, rlt_future_free);
    // The other owner is the callback, which may be called after this value is gone.
    future.addCallback([kept = futures.back()](c10::ivalue::Future& completed) {
      if (completed.hasError()) {
        rlt_future_set_error(kept.get(), RLT_ERROR_RUNTIME, completed.tryRetrieveErrorMessage().c_str());
      } else {
        Lent<c10::IValue> lent(completed.constValue());
        rlt_future_set_value(kept.get(), &lent.value);
      }
    });
    rlt_value borrowed = value_of(RLT_VALUE_FUTURE);
    borrowed.as.future = handle;
    return borrowed;
  }
  rlt_value lend(const c10::IValue& object, int depth) {
    // The C interface takes no values that are nested deeper.
    if (depth > 64) raise<at::Error>("values are nested more than 64 deep");
    if (object.isNone()) return value_of(RLT_VALUE_NONE);
    if (object.isTensor()) return Box<at::Tensor>::lend(object.toTensor());
    if (object.isScalar()) return Box<at::Scalar>::lend(object.toScalar());
    if (object.isString()) return Box<std::string>::lend(object.toStringRef());
    if (object.isBoxed()) {
      rlt_value borrowed = object.boxed();
      borrowed.flags = 0;
      return borrowed;
    }
    if (object.isDevice()) return Box<at::Device>::lend(object.toDevice());
    if (object.isGenerator()) return Box<at::Generator>::lend(object.toGenerator());
    if (object.isObject()) return lend_object(object.toObjectRef());
    if (object.isFuture()) return lend_future(*object.toFuture());
    if (object.isStorage() || object.isCapsule()) raise<at::NotImplementedError>("a value of kind " + object.tagKind() + " cannot be passed to a program");
    std::vector<rlt_value>& values = *arrays.insert(arrays.end(), std::vector<rlt_value>());
    int32_t tag = RLT_VALUE_LIST;
    if (object.isEnum()) {
      tag = RLT_VALUE_ENUM;
      auto member = object.toEnumHolder();
      for (const std::string& text : {member->qualifiedClassName(), member->name()}) {
        contents.push_back(text);
        values.push_back(lend(contents.back(), depth + 1));
      }
      values.push_back(lend(member->value(), depth + 1));
    } else if (object.isTuple()) {
      tag = RLT_VALUE_TUPLE;
      for (const c10::IValue& item : object.toTuple()->elements()) values.push_back(lend(item, depth + 1));
    } else if (object.isGenericDict()) {
      tag = RLT_VALUE_DICT;
      for (const auto& entry : object.toGenericDict()) {
        for (const c10::IValue& part : {entry.key(), entry.value()}) {
          contents.push_back(part);
          values.push_back(lend(contents.back(), depth + 1));
        }
      }
    } else {
      for (const c10::IValue& item : object.toList()) {
        contents.push_back(item);
        values.push_back(lend(contents.back(), depth + 1));
      }
    }
    return list_value(tag, &rlt_payload::values, values.data(), tag == RLT_VALUE_DICT ? values.size() / 2 : values.size());
  }
};

/// An object of a class that torch::class_ registered.
template <class T>
struct Box<c10::intrusive_ptr<T>> {
  static constexpr const char* name = "object";
  static std::string schema_name() { return c10::detail::registered_class_name<T>(); }
  explicit Box(const rlt_value& value) : object(Box<c10::IValue>(value).object.template to<c10::intrusive_ptr<T>>()) {}
  c10::intrusive_ptr<T> object;
};
template <class T>
struct Lent<c10::intrusive_ptr<T>> {
  explicit Lent(const c10::intrusive_ptr<T>& pointer) : object(pointer), lent(object), value(lent.value) {}
  Lent(const Lent&) = delete;
  c10::IValue object;
  Lent<c10::IValue> lent;
  rlt_value value;
};
template <class Key, class Value>
struct Box<c10::Dict<Key, Value>> {
  static constexpr const char* name = "Dict";
  static std::string schema_name() { return std::string("Dict(") + Box<Key>::name + ", " + Box<Value>::name + ")"; }
  explicit Box(const rlt_value& value) : object(Box<c10::IValue>(value).object.template to<c10::Dict<Key, Value>>()) {}
  c10::Dict<Key, Value> object;
};
template <class Key, class Value>
struct Lent<c10::Dict<Key, Value>> {
  explicit Lent(const c10::Dict<Key, Value>& dict) : object(dict), lent(object), value(lent.value) {}
  Lent(const Lent&) = delete;
  c10::IValue object;
  Lent<c10::IValue> lent;
  rlt_value value;
};

template <class T, class = void>
constexpr bool lends_directly = false;
template <class T>
constexpr bool lends_directly<T, std::void_t<decltype(Box<T>::lend(std::declval<const T&>()))>> = true;
/// An optional value whose form in C needs memory.
template <class T>
struct Lent<std::optional<T>, std::enable_if_t<!lends_directly<T>>> {
  explicit Lent(const std::optional<T>& item) : value(value_of(RLT_VALUE_NONE)) {
    if (item) value = lent.emplace(*item).value;
  }
  Lent(const Lent&) = delete;
  std::optional<Lent<T>> lent;
  rlt_value value;
};

template <class T>
std::string schema_name();
/// A list or a tuple as the types of TorchScript: `(str, int)[]`.
template <class T>
struct Box<std::vector<T>, std::enable_if_t<!has_list_form<T>>> {
  static constexpr const char* name = "list";
  static std::string schema_name() { return rlt::schema_name<T>() + "[]"; }
  explicit Box(const rlt_value& value) : object(Box<c10::IValue>(value).object.template to<std::vector<T>>()) {}
  std::vector<T> object;
};
template <class... Ts>
struct Box<std::tuple<Ts...>> {
  static constexpr const char* name = "tuple";
  static std::string schema_name() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + rlt::schema_name<Ts>()), ...);
    return "(" + text + ")";
  }
  explicit Box(const rlt_value& value) : object(Box<c10::IValue>(value).object.template to<std::tuple<Ts...>>()) {}
  std::tuple<Ts...> object;
};
template <class T>
struct Lent<std::vector<T>, std::enable_if_t<!has_list_form<T> && !std::is_same_v<T, std::string>>> {
  explicit Lent(const std::vector<T>& items) : object(items), lent(object), value(lent.value) {}
  Lent(const Lent&) = delete;
  c10::IValue object;
  Lent<c10::IValue> lent;
  rlt_value value;
};

template <class T, class = void>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<T, std::enable_if_t<Box<T>::optional>> = true;

template <class T, class = void>
constexpr bool has_schema_name = false;
template <class T>
constexpr bool has_schema_name<T, std::void_t<decltype(Box<T>::schema_name())>> = true;
/// The schema's name of a parameter of this type.
template <class T>
std::string schema_name() {
  using Plain = std::decay_t<T>;
  if constexpr (has_schema_name<Plain>) return Box<Plain>::schema_name();
  else return std::string(Box<Plain>::name) + (is_optional<Plain> ? "?" : "");
}

/// The results of a call: one, several as a tuple, or none.
template <class R>
struct Results {
  static constexpr size_t count = 1;
  static std::string schema() {
    std::string text = schema_name<R>();
    // A parenthesis opens the list of results.
    return text.front() == '(' ? "(" + text + ")" : text;
  }
  static void give(const std::decay_t<R>& result, rlt_value* outs) {
    Lent<std::decay_t<R>> lent(result);
    check(rlt_value_copy(&lent.value, outs));
  }
  static std::decay_t<R> take(const rlt_value* outs) { return std::move(Box<std::decay_t<R>>(outs[0]).object); }
};
template <class... Rs>
struct Results<std::tuple<Rs...>> {
  static constexpr size_t count = sizeof...(Rs);
  static std::string schema() {
    std::string text;
    ((text += (text.empty() ? "(" : ", ") + schema_name<Rs>()), ...);
    return text + ")";
  }
  static void give(const std::tuple<Rs...>& results, rlt_value* outs) {
    std::apply([&](const auto&... each) { (Results<std::decay_t<decltype(each)>>::give(each, outs++), ...); }, results);  // in order
  }
  static std::tuple<Rs...> take(const rlt_value* outs) { return take(outs, std::make_index_sequence<count>()); }

 private:
  template <size_t... I>
  static std::tuple<Rs...> take(const rlt_value* outs, std::index_sequence<I...>) {
    return {Results<Rs>::take(outs + I)...};
  }
};
template <>
struct Results<void> {
  static constexpr size_t count = 0;
  static std::string schema() { return "()"; }
};

/// The signature of a function, a pointer to one, or an object with one operator().
template <class F, class = void>
struct FunctionOf : FunctionOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct FunctionOf<R(Args...)> {
  using Result = R;
  static constexpr size_t arity = sizeof...(Args);
  /// `(Tensor _0, int _1) -> Tensor`
  static std::string schema() {
    std::string text;
    size_t position = 0;
    ((text += (position == 0 ? "" : ", ") + schema_name<Args>() + " _" + std::to_string(position), ++position), ...);
    return "(" + text + ") -> " + Results<R>::schema();
  }
  template <class F, size_t... I>
  static void call(F& function, const rlt_value* args, rlt_value* outs, std::index_sequence<I...>) {
    (void)args;
    (void)outs;
    std::tuple<Unbox<std::decay_t<Args>>...> unboxed{Unbox<std::decay_t<Args>>(args[I])...};
    if constexpr (std::is_void_v<R>) {
      function(static_cast<Args&&>(std::get<I>(unboxed).object)...);
    } else {
      Results<R>::give(function(static_cast<Args&&>(std::get<I>(unboxed).object)...), outs);
    }
  }
};
template <class R, class... Args>
struct FunctionOf<R (*)(Args...)> : FunctionOf<R(Args...)> {};
template <class F, class R, class... Args>
struct FunctionOf<R (F::*)(Args...)> : FunctionOf<R(Args...)> {};
template <class F, class R, class... Args>
struct FunctionOf<R (F::*)(Args...) const> : FunctionOf<R(Args...)> {};

RLT_NAMESPACE_END
}  // namespace rlt
