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

inline rlt_tensor* handle(const at::TensorBase& tensor) { return tensor.handle(); }
inline rlt_generator* handle(const std::optional<at::Generator>& generator) { return generator ? generator->handle() : nullptr; }

inline const rlt_scalar* scalar(const at::Scalar& value) { return &value.raw(); }
inline const rlt_scalar* scalar(const std::optional<at::Scalar>& value) { return value ? &value->raw() : nullptr; }
inline rlt_scalar* scalar_out(at::Scalar& value) { return value.raw_out(); }

template <class T>
const T* data(const c10::ArrayRef<T>& list) {
  return list.data();
}
template <class T>
const T* data(const c10::OptionalArrayRef<T>& list) {
  // NULL says None, so that an empty list needs an address.
  static constexpr T none{};
  if (!list.has_value()) return nullptr;
  return list->data() ? list->data() : &none;
}
template <class T>
int64_t length(const c10::ArrayRef<T>& list) {
  return static_cast<int64_t>(list.size());
}
template <class T>
int64_t length(const c10::OptionalArrayRef<T>& list) {
  return list.has_value() ? static_cast<int64_t>(list->size()) : 0;
}

inline int32_t flag(bool value) { return value; }
template <class E>
int32_t code(E value) {
  return static_cast<int32_t>(value);
}
inline const int64_t* pointer(const std::optional<int64_t>& value) { return value ? &*value : nullptr; }
inline const double* pointer(const std::optional<double>& value) { return value ? &*value : nullptr; }
template <class E>
OptionalInt32 pointer(const std::optional<E>& value) {
  return value ? OptionalInt32(static_cast<int32_t>(*value)) : OptionalInt32();
}

inline const rlt_device* device(const at::Device& device) { return &device.raw(); }
inline const rlt_device* device(const std::optional<at::Device>& device) { return device ? &device->raw() : nullptr; }
inline const rlt_tensor_options* options(const at::TensorOptions& options) { return &options.raw(); }

inline Text text(std::string_view value) { return Text(value); }
inline Text text(const std::optional<std::string_view>& value) { return value ? Text(*value) : Text(); }

RLT_NAMESPACE_END
}  // namespace rlt
