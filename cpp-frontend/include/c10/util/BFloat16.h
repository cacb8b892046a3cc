// c10::BFloat16: the upper half of a float in memory, a float in arithmetic.
#pragma once

#include <c10/util/Half.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

namespace detail {
inline float f32_from_bits(uint16_t upper) { return float_from_bits(static_cast<uint32_t>(upper) << 16); }
/// The upper half of the float, without rounding.
inline uint16_t bits_from_f32(float value) { return static_cast<uint16_t>(float_bits(value) >> 16); }
/// To nearest, ties to even.
inline uint16_t round_to_nearest_even(float value) {
  uint32_t bits = float_bits(value);
  bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return is_nan ? uint16_t{0x7fc0} : static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
}  // namespace detail

struct alignas(2) BFloat16 {
  RLT_HALF_MEMBERS(BFloat16)
  BFloat16(float value) : x(detail::round_to_nearest_even(value)) {}
  operator float() const { return detail::f32_from_bits(x); }
};

inline BFloat16 operator-(BFloat16 a) { return BFloat16(static_cast<uint16_t>(a.x ^ 0x8000u), BFloat16::from_bits()); }

#undef RLT_HALF_MEMBERS
#undef RLT_HALF_OPERATOR

RLT_NAMESPACE_END
}  // namespace c10
