// c10::BFloat16: the upper half of a float in memory, a float in arithmetic.
#pragma once

#include <c10/util/Half.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct alignas(2) BFloat16 {
  uint16_t x = 0;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  BFloat16() = default;
  constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  BFloat16(float value) {
    uint32_t bits = detail::float_bits(value);
    bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    // To nearest, ties to even.
    x = is_nan ? uint16_t{0x7fc0} : static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
  operator float() const { return detail::float_from_bits(static_cast<uint32_t>(x) << 16); }

  BFloat16& operator+=(BFloat16 other) { return *this = BFloat16(float(*this) + float(other)); }
  BFloat16& operator-=(BFloat16 other) { return *this = BFloat16(float(*this) - float(other)); }
  BFloat16& operator*=(BFloat16 other) { return *this = BFloat16(float(*this) * float(other)); }
  BFloat16& operator/=(BFloat16 other) { return *this = BFloat16(float(*this) / float(other)); }
};

inline BFloat16 operator+(BFloat16 a, BFloat16 b) { return a += b; }
inline BFloat16 operator-(BFloat16 a, BFloat16 b) { return a -= b; }
inline BFloat16 operator*(BFloat16 a, BFloat16 b) { return a *= b; }
inline BFloat16 operator/(BFloat16 a, BFloat16 b) { return a /= b; }
inline BFloat16 operator-(BFloat16 a) { return BFloat16(static_cast<uint16_t>(a.x ^ 0x8000u), BFloat16::from_bits()); }

RLT_NAMESPACE_END
}  // namespace c10
