// The functions of <cmath> for Half and BFloat16: computed as float, then rounded.
#pragma once

#include <c10/util/BFloat16.h>

#include <cmath>

namespace std {

/// Half and BFloat16.
template <class T>
struct is_reduced_floating_point : bool_constant<is_same_v<T, c10::Half> || is_same_v<T, c10::BFloat16>> {};
template <class T>
constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;

#define RLT_HALF_FUNCTION(name)                                                                       \
  inline c10::Half name(c10::Half value) { return std::name(static_cast<float>(value)); }             \
  inline c10::BFloat16 name(c10::BFloat16 value) { return std::name(static_cast<float>(value)); }
RLT_HALF_FUNCTION(acos)
RLT_HALF_FUNCTION(acosh)
RLT_HALF_FUNCTION(asin)
RLT_HALF_FUNCTION(asinh)
RLT_HALF_FUNCTION(atan)
RLT_HALF_FUNCTION(atanh)
RLT_HALF_FUNCTION(ceil)
RLT_HALF_FUNCTION(cos)
RLT_HALF_FUNCTION(cosh)
RLT_HALF_FUNCTION(erf)
RLT_HALF_FUNCTION(erfc)
RLT_HALF_FUNCTION(exp)
RLT_HALF_FUNCTION(exp2)
RLT_HALF_FUNCTION(expm1)
RLT_HALF_FUNCTION(fabs)
RLT_HALF_FUNCTION(floor)
RLT_HALF_FUNCTION(lgamma)
RLT_HALF_FUNCTION(log)
RLT_HALF_FUNCTION(log10)
RLT_HALF_FUNCTION(log1p)
RLT_HALF_FUNCTION(log2)
RLT_HALF_FUNCTION(nearbyint)
RLT_HALF_FUNCTION(rint)
RLT_HALF_FUNCTION(round)
RLT_HALF_FUNCTION(sin)
RLT_HALF_FUNCTION(sinh)
RLT_HALF_FUNCTION(sqrt)
RLT_HALF_FUNCTION(tan)
RLT_HALF_FUNCTION(tanh)
RLT_HALF_FUNCTION(tgamma)
RLT_HALF_FUNCTION(trunc)
#undef RLT_HALF_FUNCTION

#define RLT_HALF_FUNCTION(name)                                                                                          \
  inline c10::Half name(c10::Half a, c10::Half b) { return std::name(static_cast<float>(a), static_cast<float>(b)); }     \
  inline c10::BFloat16 name(c10::BFloat16 a, c10::BFloat16 b) { return std::name(static_cast<float>(a), static_cast<float>(b)); }
RLT_HALF_FUNCTION(atan2)
RLT_HALF_FUNCTION(fmax)
RLT_HALF_FUNCTION(fmin)
RLT_HALF_FUNCTION(fmod)
RLT_HALF_FUNCTION(hypot)
RLT_HALF_FUNCTION(pow)
#undef RLT_HALF_FUNCTION

#define RLT_HALF_FUNCTION(name) \
  inline bool name(c10::Half value) { return std::name(static_cast<float>(value)); } \
  inline bool name(c10::BFloat16 value) { return std::name(static_cast<float>(value)); }
RLT_HALF_FUNCTION(isinf)
RLT_HALF_FUNCTION(isnan)
RLT_HALF_FUNCTION(isfinite)
RLT_HALF_FUNCTION(signbit)
#undef RLT_HALF_FUNCTION

/// The number of this format next to `from` in the direction of `to`.
template <class Half, std::enable_if_t<std::is_same_v<Half, c10::Half> || std::is_same_v<Half, c10::BFloat16>, bool> = true>
Half nextafter(Half from, Half to) {
  float start = from, target = to;
  if (std::isnan(start) || std::isnan(target)) return start + target;
  if (start == target) return to;
  // Away from 0 the bits without the sign increase.
  if (start == 0) return Half(static_cast<uint16_t>((target < 0 ? 0x8000u : 0u) | 1u), Half::from_bits());
  bool away = (start < target) == (start > 0);
  return Half(static_cast<uint16_t>(away ? from.x + 1u : from.x - 1u), Half::from_bits());
}

}  // namespace std
