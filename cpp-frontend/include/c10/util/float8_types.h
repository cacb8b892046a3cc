// The floating point types of 8 bits: a sign, 4 or 5 bits of exponent and 3 or 2 of mantissa. Arithmetic is that of float.
//
// `fn` formats have no infinities. `fnuz` formats have no negative zero either: its bits are the only NaN.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <limits>
#include <ostream>

namespace c10 {
RLT_NAMESPACE_BEGIN

namespace detail {

template <int MantissaBits, int Bias, bool HasInfinity, bool UnsignedZero>
struct Float8Format {
  static constexpr uint8_t not_a_number = UnsignedZero ? 0x80 : 0x7f;
  static constexpr uint8_t overflow = HasInfinity ? 0x7c : not_a_number;
  /// The bits of the largest number.
  static constexpr uint8_t largest = HasInfinity ? 0x7b : UnsignedZero ? 0x7f : 0x7e;

  static float decode(uint8_t bits) {
    unsigned magnitude = bits & 0x7fu;
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (UnsignedZero && bits == not_a_number) return std::numeric_limits<float>::quiet_NaN();
    if (!UnsignedZero && magnitude > largest) {
      bool infinite = HasInfinity && magnitude == overflow;
      return infinite ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    int exponent = static_cast<int>(magnitude >> MantissaBits), mantissa = static_cast<int>(magnitude & ((1u << MantissaBits) - 1));
    // Without an exponent there is no implicit bit.
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), 1 - Bias - MantissaBits);
    return sign * std::ldexp(static_cast<float>(mantissa + (1 << MantissaBits)), exponent - Bias - MantissaBits);
  }

  /// To nearest, ties to even. Numbers beyond the largest become infinity, or NaN where there is none.
  static uint8_t encode(float value) {
    uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value)) return UnsignedZero ? not_a_number : static_cast<uint8_t>(sign | not_a_number);
    double size = std::abs(static_cast<double>(value));
    uint8_t magnitude = overflow;
    if (!std::isinf(size)) {
      int exponent = 0;
      std::frexp(size, &exponent);
      exponent = size == 0 || exponent - 1 < 1 - Bias ? 1 - Bias : exponent - 1;
      double digits = std::nearbyint(std::ldexp(size, MantissaBits - exponent));
      // The carry of a rounding increases the exponent, as the sum of the fields does.
      double fields = (exponent + Bias - 1) * static_cast<double>(1 << MantissaBits) + digits;
      if (fields <= largest) magnitude = static_cast<uint8_t>(fields);
    }
    if (UnsignedZero && (magnitude == 0 || magnitude == not_a_number)) return magnitude;
    return static_cast<uint8_t>(sign | magnitude);
  }
};

}  // namespace detail

#define RLT_FLOAT8(Name, MantissaBits, Bias, HasInfinity, UnsignedZero)                        \
  struct alignas(1) Name {                                                                     \
    using Format = detail::Float8Format<MantissaBits, Bias, HasInfinity, UnsignedZero>;        \
    uint8_t x = 0;                                                                             \
    struct from_bits_t {};                                                                     \
    static constexpr from_bits_t from_bits() { return {}; }                                    \
    Name() = default;                                                                          \
    constexpr Name(uint8_t bits, from_bits_t) : x(bits) {}                                     \
    Name(float value) : x(Format::encode(value)) {}                                            \
    operator float() const { return Format::decode(x); }                                       \
    bool isnan() const { return std::isnan(static_cast<float>(*this)); }                       \
    friend std::ostream& operator<<(std::ostream& out, Name value) { return out << static_cast<float>(value); } \
  };
RLT_FLOAT8(Float8_e5m2, 2, 15, true, false)
RLT_FLOAT8(Float8_e4m3fn, 3, 7, false, false)
RLT_FLOAT8(Float8_e5m2fnuz, 2, 16, false, true)
RLT_FLOAT8(Float8_e4m3fnuz, 3, 8, false, true)
#undef RLT_FLOAT8

RLT_NAMESPACE_END
}  // namespace c10
