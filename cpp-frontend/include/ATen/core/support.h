// Conversion of arguments and results for the C ABI, used by every generated method and function.
//
// Arguments become pointers into the C++ objects themselves (a Scalar contains its rlt_scalar, a Tensor its handle), so
// a successful call constructs nothing.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorOptions.h>
#include <rushlight/dispatch.h>

#include <string>
#include <string_view>
#include <vector>

namespace rlt {
RLT_NAMESPACE_BEGIN

/// A number for an optional `const int32_t*` argument; lives to the end of the full expression.
class OptionalInt32 {
 public:
  OptionalInt32() = default;
  explicit OptionalInt32(int32_t value) : value_(value), set_(true) {}
  operator const int32_t*() const { return set_ ? &value_ : nullptr; }

 private:
  int32_t value_ = 0;
  bool set_ = false;
};

/// NUL-terminated copy of a std::string_view; lives until the end of the full expression.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view text) : text_(text), set_(true) {}
  operator const char*() const { return set_ ? text_.c_str() : nullptr; }

 private:
  std::string text_;
  bool set_ = false;
};

/// An array for an argument, until the end of the full expression: every program compiles it, and a std::vector costs more.
template <class T>
class Array {
 public:
  explicit Array(size_t length) : data_(new T[length]) {}
  Array(Array&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Array& operator=(const Array&) = delete;
  ~Array() { delete[] data_; }
  T* data() const { return data_; }

 private:
  T* data_;
};

/// Booleans in the form of C; valid until the end of the full expression.
class Flags {
 public:
  explicit Flags(at::ArrayRef<bool> values) : values_(values.size()) {
    for (size_t i = 0; i < values.size(); ++i) values_.data()[i] = values[i];
  }
  operator const int32_t*() const { return values_.data(); }

 private:
  Array<int32_t> values_;
};

// One name per kind of argument: overload resolution would dominate the compile time of a thousand operators.
inline rlt_generator* optional_generator(const std::optional<at::Generator>& generator) { return generator ? generator->handle() : nullptr; }
inline const rlt_scalar* optional_scalar(const std::optional<at::Scalar>& value) { return value ? &value->raw() : nullptr; }
inline const rlt_scalar* scalars(at::ArrayRef<at::Scalar> list) {
  // A Scalar consists of its C struct.
  static_assert(sizeof(at::Scalar) == sizeof(rlt_scalar) && std::is_standard_layout_v<at::Scalar>, "a Scalar is one struct");
  return reinterpret_cast<const rlt_scalar*>(list.data());
}
inline const rlt_device* optional_device(const std::optional<at::Device>& device) { return device ? &device->raw() : nullptr; }
inline const int64_t* optional_int(const std::optional<int64_t>& value) { return value ? &*value : nullptr; }
inline const double* optional_float(const std::optional<double>& value) { return value ? &*value : nullptr; }
inline OptionalInt32 optional_bool(const std::optional<bool>& value) { return value ? OptionalInt32(*value) : OptionalInt32(); }
inline OptionalInt32 optional_dtype(const std::optional<at::ScalarType>& value) {
  return value ? OptionalInt32(static_cast<int32_t>(*value)) : OptionalInt32();
}
inline OptionalInt32 optional_layout(const std::optional<at::Layout>& value) {
  return value ? OptionalInt32(static_cast<int32_t>(*value)) : OptionalInt32();
}
inline OptionalInt32 optional_memory_format(const std::optional<at::MemoryFormat>& value) {
  return value ? OptionalInt32(static_cast<int32_t>(*value)) : OptionalInt32();
}
/// The memory format of an operator that takes one as an argument and in its options; both at once is an error.
[[noreturn]] RLT_COLD inline void refuse_two_memory_formats() {
  raise<at::Error>("Cannot set memory_format both in TensorOptions and explicit argument; please delete the redundant setter.");
}
inline OptionalInt32 memory_format_of(const at::TensorOptions& options, const std::optional<at::MemoryFormat>& value) {
  if (C10_LIKELY(!options.has_memory_format())) return optional_memory_format(value);
  if (value) refuse_two_memory_formats();
  return OptionalInt32(static_cast<int32_t>(*options.memory_format_opt()));
}
inline Text text(std::string_view value) { return Text(value); }
inline Text optional_text(const std::optional<std::string_view>& value) { return value ? Text(*value) : Text(); }
inline Flags flags(at::ArrayRef<bool> values) { return Flags(values); }
[[noreturn]] RLT_COLD inline void refuse_requires_grad() {
  raise<at::Error>(
      "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true. This isn't implemented yet.");
}
inline int64_t length(size_t size) { return static_cast<int64_t>(size); }

/// An owned value, freed at the end of the scope.
class OwnedValue {
 public:
  explicit OwnedValue(const rlt_value& value) : value_(value) {}
  OwnedValue(const OwnedValue&) = delete;
  OwnedValue& operator=(const OwnedValue&) = delete;
  ~OwnedValue() { rlt_value_free(&value_); }
  size_t size() const { return static_cast<size_t>(value_.len); }
  const rlt_payload& as() const { return value_.as; }
  const rlt_value& get() const { return value_; }

 private:
  rlt_value value_;
};

// Results that are lists or strings: the C++ object is a copy, and the value is freed.
inline std::string adopt_string(const rlt_value& value) {
  OwnedValue owned(value);
  return std::string(owned.as().string, owned.size());
}
inline std::vector<int64_t> adopt_ints(const rlt_value& value) {
  OwnedValue owned(value);
  return std::vector<int64_t>(owned.as().ints, owned.as().ints + owned.size());
}
inline std::vector<double> adopt_floats(const rlt_value& value) {
  OwnedValue owned(value);
  return std::vector<double>(owned.as().floats, owned.as().floats + owned.size());
}
inline std::vector<bool> adopt_bools(const rlt_value& value) {
  OwnedValue owned(value);
  std::vector<bool> flags(owned.size());
  for (size_t i = 0; i < flags.size(); ++i) flags[i] = owned.as().bools[i] != 0;
  return flags;
}
inline std::vector<at::Scalar> adopt_scalars(const rlt_value& value) {
  OwnedValue owned(value);
  std::vector<at::Scalar> scalars;
  scalars.reserve(owned.size());
  for (size_t i = 0; i < owned.size(); ++i) scalars.emplace_back(owned.as().scalars[i]);
  return scalars;
}

RLT_NAMESPACE_END
}  // namespace rlt
