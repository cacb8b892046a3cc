// Divisions that round towards minus infinity, as Python's // and % do.
#pragma once

#include <c10/util/copysign.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// a // b. A division by zero has IEEE's result.
template <class T>
T div_floor_floating(T a, T b) {
  if (b == T(0)) return a / b;
  T remainder = std::fmod(a, b);
  T quotient = (a - remainder) / b;
  if (remainder != T(0) && (b < T(0)) != (remainder < T(0))) quotient -= T(1);
  if (quotient == T(0)) return c10::copysign(T(0), a / b);
  // The quotient is an integer except for the rounding of the division.
  T floored = std::floor(quotient);
  return quotient - floored > T(0.5) ? floored + T(1) : floored;
}

/// a // b of integers; b is not zero.
template <class T>
T div_floor_integer(T a, T b) {
  T quotient = static_cast<T>(a / b);
  if constexpr (std::is_signed_v<T>) {
    if ((a < 0) != (b < 0) && a % b != 0) return static_cast<T>(quotient - 1);
  }
  return quotient;
}

/// a % b with the sign of b.
template <class T>
T div_mod(T a, T b) {
  T remainder;
  if constexpr (std::is_integral_v<T>) remainder = static_cast<T>(a % b);
  else remainder = std::fmod(a, b);
  if (remainder != T(0) && (remainder < T(0)) != (b < T(0))) remainder = static_cast<T>(remainder + b);
  return remainder;
}

RLT_NAMESPACE_END
}  // namespace c10
