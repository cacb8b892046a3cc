// c10::Half: IEEE half precision in memory, a float in arithmetic.
#pragma once

#include <c10/macros/Macros.h>

#include <cstring>
#include <iosfwd>
#include <limits>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

namespace detail {
inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float half_to_float(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return float_from_bits(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    // A denormal half is mantissa * 2^-24, which a float holds exactly.
    float value = static_cast<float>(mantissa) * float_from_bits(0x33800000u);
    return float_from_bits(sign | float_bits(value));
  }
  return float_from_bits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline uint16_t half_from_float(float value) {
  uint32_t bits = float_bits(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (bits >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (bits < 0x38800000u) {
    // Below the smallest normal half-precision number: adding 0.5 makes the float unit round to a multiple of 2^-24.
    uint32_t rounded = float_bits(float_from_bits(bits) + 0.5f) - 0x3f000000u;
    return static_cast<uint16_t>(sign | rounded);
  }
  // To nearest, ties to even; a carry runs into the exponent as it should.
  uint32_t odd = (bits >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((bits + 0xfffu + odd - 0x38000000u) >> 13));
}
// libtorch's names of these functions.
inline float fp16_ieee_to_fp32_value(uint16_t half) { return half_to_float(half); }
inline uint16_t fp16_ieee_from_fp32_value(float value) { return half_from_float(value); }
}  // namespace detail

// Arithmetic of a half precision number with another number: double and float are unchanged, integers become half precision.
#define RLT_HALF_OPERATOR(Half, op)                                                                                       \
  Half& operator op##=(Half other) { return *this = Half(float(*this) op float(other)); }                                 \
  friend Half operator op(Half a, Half b) { return a op##= b; }                                                           \
  template <class T, std::enable_if_t<rlt::is_number<T>, bool> = true>                                              \
  friend auto operator op(Half a, T b) {                                                                                  \
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(static_cast<float>(a)) op b;                         \
    else return a op Half(static_cast<float>(b));                                                                         \
  }                                                                                                                       \
  template <class T, std::enable_if_t<rlt::is_number<T>, bool> = true>                                              \
  friend auto operator op(T a, Half b) {                                                                                  \
    if constexpr (std::is_floating_point_v<T>) return a op static_cast<T>(static_cast<float>(b));                         \
    else return Half(static_cast<float>(a)) op b;                                                                         \
  }

// The members of a half precision type besides its conversions from and to float.
#define RLT_HALF_MEMBERS(Half)                                                                                            \
  uint16_t x = 0;                                                                                                         \
  struct from_bits_t {};                                                                                                  \
  static constexpr from_bits_t from_bits() { return {}; }                                                                 \
  Half() = default;                                                                                                       \
  constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}                                                                 \
  RLT_HALF_OPERATOR(Half, +)                                                                                              \
  RLT_HALF_OPERATOR(Half, -)                                                                                              \
  RLT_HALF_OPERATOR(Half, *)                                                                                              \
  RLT_HALF_OPERATOR(Half, /)

struct alignas(2) Half {
  RLT_HALF_MEMBERS(Half)
  Half(float value) : x(detail::half_from_float(value)) {}
  operator float() const { return detail::half_to_float(x); }
};

inline Half operator-(Half a) { return Half(static_cast<uint16_t>(a.x ^ 0x8000u), Half::from_bits()); }

RLT_NAMESPACE_END
}  // namespace c10
