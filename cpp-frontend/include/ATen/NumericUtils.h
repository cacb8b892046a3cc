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
  } else if constexpr (c10::detail::is_complex_number<T>::value) {
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
template <class T>
T exp(T value) {
  return static_cast<T>(std::exp(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value)));
}
template <class T>
T log(T value) {
  return static_cast<T>(std::log(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value)));
}
template <class T>
T log1p(T value) {
  return static_cast<T>(std::log1p(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value)));
}
template <class T>
T tan(T value) {
  return static_cast<T>(std::tan(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value)));
}

RLT_NAMESPACE_END
}  // namespace at
