// Integer powers.
#pragma once

#include <ATen/Functions.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace native {

/// base^exponent modulo the numbers of T. A negative exponent results in 0 unless the base is 1 or -1.
template <class T, std::enable_if_t<std::is_integral_v<T>, bool> = true>
T powi(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == T(1)) return 1;
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
      return 0;
    }
  }
  // Unsigned numbers wrap around.
  uint64_t result = 1, power = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) result *= power;
    power *= power;
  }
  return static_cast<T>(result);
}

}  // namespace native
RLT_NAMESPACE_END
}  // namespace at
