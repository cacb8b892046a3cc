// How arguments and results cross the C ABI: what every generated method and function calls.
//
// Arguments become pointers into the C++ objects themselves (a Scalar holds its rlt_scalar, a Tensor its handle), so a
// successful call builds nothing.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorOptions.h>

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

/// NUL-terminated text of a std::string_view; lives to the end of the full expression.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view text) : text_(text), set_(true) {}
  operator const char*() const { return set_ ? text_.c_str() : nullptr; }

 private:
  std::string text_;
  bool set_ = false;
};

/// Truth values as C has them; lives to the end of the full expression.
class Flags {
 public:
  explicit Flags(at::ArrayRef<bool> values) : values_(values.begin(), values.end()) {}
  operator const int32_t*() const { return values_.data(); }

 private:
  std::vector<int32_t> values_;
};

// One name per kind of argument: choosing among overloads is what compiling a thousand operators would spend its time on.
inline rlt_generator* optional_generator(const std::optional<at::Generator>& generator) { return generator ? generator->handle() : nullptr; }
inline const rlt_scalar* optional_scalar(const std::optional<at::Scalar>& value) { return value ? &value->raw() : nullptr; }
inline const rlt_scalar* scalars(at::ArrayRef<at::Scalar> list) {
  // A Scalar is its C struct and nothing else.
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
inline Text text(std::string_view value) { return Text(value); }
inline Text optional_text(const std::optional<std::string_view>& value) { return value ? Text(*value) : Text(); }
inline Flags flags(at::ArrayRef<bool> values) { return Flags(values); }
[[noreturn]] RLT_COLD inline void refuse_requires_grad() {
  raise<at::Error>(
      "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true. This isn't implemented yet.");
}
inline int64_t length(size_t size) { return static_cast<int64_t>(size); }

RLT_NAMESPACE_END
}  // namespace rlt
