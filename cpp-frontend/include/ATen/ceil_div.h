// Division of integers that rounds up.
#pragma once

#include <c10/macros/Macros.h>

#include <type_traits>

namespace at {
RLT_NAMESPACE_BEGIN

template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
C10_HOST_DEVICE constexpr T ceil_div(T dividend, T divisor) {
  return (dividend + divisor - 1) / divisor;
}
/// The smallest multiple of `step` that is not below `number`.
template <class T>
C10_HOST_DEVICE constexpr T round_up(T number, T step) {
  return ceil_div(number, step) * step;
}

RLT_NAMESPACE_END
}  // namespace at
