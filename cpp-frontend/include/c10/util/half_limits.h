// std::numeric_limits of Half and BFloat16.
#pragma once

#include <c10/util/BFloat16.h>

#include <limits>

namespace rlt {
RLT_NAMESPACE_BEGIN
/// What both formats have in common with float.
struct HalfLimits {
  using Float = std::numeric_limits<float>;
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false, has_infinity = true, has_quiet_NaN = true,
                        has_signaling_NaN = true, has_denorm_loss = Float::has_denorm_loss, is_iec559 = true, is_bounded = true, is_modulo = false,
                        traps = Float::traps, tinyness_before = Float::tinyness_before;
  static constexpr auto has_denorm = Float::has_denorm;
  static constexpr auto round_style = Float::round_style;
  static constexpr int radix = 2;
};
RLT_NAMESPACE_END
}  // namespace rlt

namespace std {

// The numbers as bits.
#define RLT_LIMITS(Half, smallest, largest, gap, half, inf, quiet, signaling)                          \
  static constexpr Half from(unsigned bits) { return {static_cast<uint16_t>(bits), Half::from_bits()}; } \
  static constexpr Half min() { return from(smallest); }                                              \
  static constexpr Half lowest() { return from(0x8000u | (largest)); }                                \
  static constexpr Half max() { return from(largest); }                                               \
  static constexpr Half epsilon() { return from(gap); }                                               \
  static constexpr Half round_error() { return from(half); }                                          \
  static constexpr Half infinity() { return from(inf); }                                              \
  static constexpr Half quiet_NaN() { return from(quiet); }                                           \
  static constexpr Half signaling_NaN() { return from(signaling); }                                   \
  static constexpr Half denorm_min() { return from(1); }

template <>
class numeric_limits<c10::Half> : public rlt::HalfLimits {
 public:
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5, min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
  RLT_LIMITS(c10::Half, 0x0400, 0x7bff, 0x1400, 0x3800, 0x7c00, 0x7e00, 0x7d00)
};
template <>
class numeric_limits<c10::BFloat16> : public rlt::HalfLimits {
 public:
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4, min_exponent = -125, min_exponent10 = -37, max_exponent = 128, max_exponent10 = 38;
  RLT_LIMITS(c10::BFloat16, 0x0080, 0x7f7f, 0x3c00, 0x3f00, 0x7f80, 0x7fc0, 0x7f90)
};
#undef RLT_LIMITS

}  // namespace std
