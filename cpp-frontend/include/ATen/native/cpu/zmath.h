// Elementary functions of kernels that real and complex numbers share.
#pragma once

#include <c10/util/BFloat16-math.h>
#include <c10/util/MathConstants.h>
#include <c10/util/TypeCast.h>
#include <c10/util/complex.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace native {

template <class T>
T conj_impl(T value) {
  if constexpr (c10::is_complex<T>::value) return T(value.real(), -value.imag());
  else return value;
}

/// The angle of a number in the complex plane: 0 or pi for real numbers, NaN for NaN.
template <class T>
T angle_impl(T value) {
  if constexpr (c10::is_complex<T>::value) {
    return T(std::atan2(value.imag(), value.real()));
  } else {
    if constexpr (!std::is_integral_v<T>) {
      if (std::isnan(value)) return value;
    }
    return value < T(0) ? static_cast<T>(c10::pi<double>) : T(0);
  }
}

/// z / |z|; 0 for 0.
template <class T>
T sgn_impl(T value) {
  if constexpr (c10::is_complex<T>::value) {
    if (value == T(0)) return T(0);
    return value / std::abs(value);
  } else {
    return static_cast<T>((T(0) < value) - (value < T(0)));
  }
}

// Each part of a complex number is rounded for itself. Ties go to the even number.
#define RLT_ROUNDING(name, function)                                                               \
  template <class T>                                                                               \
  T name(T value) {                                                                                \
    if constexpr (c10::is_complex<T>::value) return T(std::function(value.real()), std::function(value.imag())); \
    else if constexpr (std::is_integral_v<T>) return value;                                        \
    else return std::function(value);                                                              \
  }
RLT_ROUNDING(ceil_impl, ceil)
RLT_ROUNDING(floor_impl, floor)
RLT_ROUNDING(round_impl, nearbyint)
RLT_ROUNDING(trunc_impl, trunc)
#undef RLT_ROUNDING

namespace detail {
template <class T>
bool number_is_nan(T value) {
  if constexpr (c10::is_complex<T>::value) return std::isnan(value.real()) || std::isnan(value.imag());
  else if constexpr (std::is_integral_v<T>) return false;
  else return std::isnan(value);
}
/// Complex numbers are ordered by magnitude.
template <class T>
bool number_is_less(T a, T b) {
  if constexpr (c10::is_complex<T>::value) return std::abs(a) < std::abs(b);
  else return a < b;
}
}  // namespace detail

/// The larger number; NaN if one of them is NaN.
template <class T>
T max_impl(T a, T b) {
  if (detail::number_is_nan(a)) return a;
  if (detail::number_is_nan(b)) return b;
  return detail::number_is_less(a, b) ? b : a;
}
template <class T>
T min_impl(T a, T b) {
  if (detail::number_is_nan(a)) return a;
  if (detail::number_is_nan(b)) return b;
  return detail::number_is_less(b, a) ? b : a;
}

}  // namespace native
RLT_NAMESPACE_END
}  // namespace at
