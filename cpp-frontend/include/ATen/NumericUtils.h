// at::_isnan, at::_isinf, and functions of numbers of any type of elements.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/TypeCast.h>
#include <c10/util/complex.h>

#include <cmath>
#include <type_traits>

namespace at {
RLT_NAMESPACE_BEGIN

template <class T>
bool _isnan(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else if constexpr (c10::is_complex<T>::value) {
    return _isnan(value.real()) || _isnan(value.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return std::isnan(static_cast<float>(value));
  }
}
template <class T>
bool _isinf(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isinf(value);
  } else {
    return std::isinf(static_cast<float>(value));
  }
}
// Computed in double for double, and in float otherwise.
#define RLT_FUNCTION(name)                                                         \
  template <class T>                                                               \
  T name(T value) {                                                                \
    using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>; \
    return static_cast<T>(std::name(static_cast<Computed>(value)));                \
  }
RLT_FUNCTION(exp)
RLT_FUNCTION(log)
RLT_FUNCTION(log1p)
RLT_FUNCTION(tan)
#undef RLT_FUNCTION

RLT_NAMESPACE_END
}  // namespace at
