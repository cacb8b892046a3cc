// c10::llvm: bits of integers, powers of two and alignment, under the names of LLVM's MathExtras.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace llvm {

/// What counts of bits return for 0: an undefined value, the greatest value of the type, or the width of the type.
enum ZeroBehavior { ZB_Undefined, ZB_Max, ZB_Width };

template <class T>
constexpr unsigned bit_width_of = std::numeric_limits<T>::digits;

template <class T>
std::size_t countTrailingZeros(T value, ZeroBehavior = ZB_Width) {
  static_assert(std::is_unsigned_v<T>, "only unsigned integers are allowed");
  unsigned count = 0;
  while (count < bit_width_of<T> && !(value >> count & 1)) ++count;
  return count;
}
template <class T>
std::size_t countLeadingZeros(T value, ZeroBehavior = ZB_Width) {
  static_assert(std::is_unsigned_v<T>, "only unsigned integers are allowed");
  unsigned count = 0;
  while (count < bit_width_of<T> && !(value >> (bit_width_of<T> - 1 - count) & 1)) ++count;
  return count;
}
template <class T>
std::size_t countLeadingOnes(T value, ZeroBehavior behavior = ZB_Width) {
  return countLeadingZeros<T>(static_cast<T>(~value), behavior);
}
template <class T>
std::size_t countTrailingOnes(T value, ZeroBehavior behavior = ZB_Width) {
  return countTrailingZeros<T>(static_cast<T>(~value), behavior);
}
template <class T>
unsigned countPopulation(T value) {
  static_assert(std::is_unsigned_v<T>, "only unsigned integers are allowed");
  unsigned count = 0;
  for (; value; value = static_cast<T>(value & (value - 1))) ++count;
  return count;
}
/// The index of the lowest and of the highest bit that is set.
template <class T>
T findFirstSet(T value, ZeroBehavior behavior = ZB_Max) {
  if (behavior == ZB_Max && value == 0) return std::numeric_limits<T>::max();
  return static_cast<T>(countTrailingZeros(value, ZB_Undefined));
}
template <class T>
T findLastSet(T value, ZeroBehavior behavior = ZB_Max) {
  if (behavior == ZB_Max && value == 0) return std::numeric_limits<T>::max();
  return static_cast<T>(bit_width_of<T> - 1 - countLeadingZeros(value, ZB_Undefined));
}
template <class T>
T maskTrailingOnes(unsigned n) {
  static_assert(std::is_unsigned_v<T>, "only unsigned integers are allowed");
  return n == 0 ? T(0) : static_cast<T>(static_cast<T>(-1) >> (bit_width_of<T> - n));
}
template <class T>
T maskLeadingOnes(unsigned n) {
  return static_cast<T>(~maskTrailingOnes<T>(bit_width_of<T> - n));
}
template <class T>
T maskTrailingZeros(unsigned n) {
  return maskLeadingOnes<T>(bit_width_of<T> - n);
}
template <class T>
T maskLeadingZeros(unsigned n) {
  return maskTrailingOnes<T>(bit_width_of<T> - n);
}
template <class T>
T reverseBits(T value) {
  T result = 0;
  for (unsigned i = 0; i < bit_width_of<T>; ++i) {
    if (value >> i & 1) result = static_cast<T>(result | static_cast<T>(1) << (bit_width_of<T> - 1 - i));
  }
  return result;
}

constexpr uint32_t Hi_32(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
constexpr uint32_t Lo_32(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint64_t Make_64(uint32_t high, uint32_t low) { return static_cast<uint64_t>(high) << 32 | low; }

/// Whether a number is representable in N bits, and in N bits followed by S zeros.
template <unsigned N>
constexpr bool isInt(int64_t x) {
  if constexpr (N >= 64) return true;
  else return x >= -(int64_t(1) << (N - 1)) && x < (int64_t(1) << (N - 1));
}
template <unsigned N, unsigned S>
constexpr bool isShiftedInt(int64_t x) {
  return isInt<N + S>(x) && x % (int64_t(1) << S) == 0;
}
template <unsigned N>
constexpr bool isUInt(uint64_t x) {
  if constexpr (N >= 64) return true;
  else return x < (uint64_t(1) << N);
}
template <unsigned N, unsigned S>
constexpr bool isShiftedUInt(uint64_t x) {
  return isUInt<N + S>(x) && x % (uint64_t(1) << S) == 0;
}
inline uint64_t maxUIntN(uint64_t n) { return std::numeric_limits<uint64_t>::max() >> (64 - n); }
inline int64_t minIntN(int64_t n) { return static_cast<int64_t>(-(uint64_t(1) << (n - 1))); }
inline int64_t maxIntN(int64_t n) { return static_cast<int64_t>((uint64_t(1) << (n - 1)) - 1); }
inline bool isUIntN(unsigned n, uint64_t x) { return n >= 64 || x <= maxUIntN(n); }
inline bool isIntN(unsigned n, int64_t x) { return n >= 64 || (minIntN(n) <= x && x <= maxIntN(n)); }

/// Ones from the lowest bit, and ones anywhere without a gap.
constexpr bool isMask_64(uint64_t value) { return value && ((value + 1) & value) == 0; }
constexpr bool isMask_32(uint32_t value) { return isMask_64(value); }
constexpr bool isShiftedMask_64(uint64_t value) { return value && isMask_64((value - 1) | value); }
constexpr bool isShiftedMask_32(uint32_t value) { return isShiftedMask_64(value); }

constexpr bool isPowerOf2_64(uint64_t value) { return value && !(value & (value - 1)); }
constexpr bool isPowerOf2_32(uint32_t value) { return isPowerOf2_64(value); }
inline double Log2(double value) { return std::log2(value); }
/// -1 for 0.
inline unsigned Log2_32(uint32_t value) { return static_cast<unsigned>(31 - countLeadingZeros(value)); }
inline unsigned Log2_64(uint64_t value) { return static_cast<unsigned>(63 - countLeadingZeros(value)); }
inline unsigned Log2_32_Ceil(uint32_t value) { return static_cast<unsigned>(32 - countLeadingZeros(static_cast<uint32_t>(value - 1))); }
inline unsigned Log2_64_Ceil(uint64_t value) { return static_cast<unsigned>(64 - countLeadingZeros(value - 1)); }
/// The next power is greater than the number; PowerOf2Ceil may be the number itself. 0 if there is none.
inline uint64_t NextPowerOf2(uint64_t value) {
  for (unsigned shift = 1; shift < 64; shift *= 2) value |= value >> shift;
  return value + 1;
}
inline uint64_t PowerOf2Floor(uint64_t value) { return value ? uint64_t(1) << Log2_64(value) : 0; }
inline uint64_t PowerOf2Ceil(uint64_t value) { return value ? NextPowerOf2(value - 1) : 0; }
inline uint64_t GreatestCommonDivisor64(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

namespace detail {
template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "the types have the same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
}  // namespace detail
inline double BitsToDouble(uint64_t bits) { return detail::same_bits<double>(bits); }
inline float BitsToFloat(uint32_t bits) { return detail::same_bits<float>(bits); }
inline uint64_t DoubleToBits(double value) { return detail::same_bits<uint64_t>(value); }
inline uint32_t FloatToBits(float value) { return detail::same_bits<uint32_t>(value); }

/// The greatest power of two that divides both.
constexpr uint64_t MinAlign(uint64_t a, uint64_t b) { return (a | b) & (1 + ~(a | b)); }
inline uintptr_t alignAddr(const void* address, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(address) + alignment - 1) & ~(static_cast<uintptr_t>(alignment) - 1);
}
inline size_t alignmentAdjustment(const void* address, size_t alignment) { return alignAddr(address, alignment) - reinterpret_cast<uintptr_t>(address); }
inline uint64_t divideCeil(uint64_t numerator, uint64_t denominator) { return numerator / denominator + (numerator % denominator != 0); }
/// The least number of at least `value` that is `skew` more than a multiple of `align`, and the greatest of at most `value`.
inline uint64_t alignTo(uint64_t value, uint64_t align, uint64_t skew = 0) {
  skew %= align;
  return (value + align - 1 - skew) / align * align + skew;
}
inline uint64_t alignDown(uint64_t value, uint64_t align, uint64_t skew = 0) {
  skew %= align;
  return (value - skew) / align * align + skew;
}
inline uint64_t OffsetToAlignment(uint64_t value, uint64_t align) { return alignTo(value, align) - value; }
template <unsigned B>
constexpr int32_t SignExtend32(uint32_t x) {
  static_assert(B > 0 && B <= 32, "a width of 1 to 32 bits");
  return static_cast<int32_t>(x << (32 - B)) >> (32 - B);
}
template <unsigned B>
constexpr int64_t SignExtend64(uint64_t x) {
  static_assert(B > 0 && B <= 64, "a width of 1 to 64 bits");
  return static_cast<int64_t>(x << (64 - B)) >> (64 - B);
}

/// Arithmetic that returns the greatest value instead of overflowing.
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> AbsoluteDifference(T a, T b) {
  return a > b ? static_cast<T>(a - b) : static_cast<T>(b - a);
}
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingAdd(T a, T b, bool* overflowed = nullptr) {
  auto sum = static_cast<T>(a + b);
  bool over = sum < a;
  if (overflowed) *overflowed = over;
  return over ? std::numeric_limits<T>::max() : sum;
}
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingMultiply(T a, T b, bool* overflowed = nullptr) {
  bool over = a != 0 && b > std::numeric_limits<T>::max() / a;
  if (overflowed) *overflowed = over;
  return over ? std::numeric_limits<T>::max() : static_cast<T>(a * b);
}
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingMultiplyAdd(T a, T b, T c, bool* overflowed = nullptr) {
  bool in_product = false, in_sum = false;
  T product = SaturatingMultiply(a, b, &in_product), sum = SaturatingAdd(product, c, &in_sum);
  if (overflowed) *overflowed = in_product || in_sum;
  return sum;
}

}  // namespace llvm
RLT_NAMESPACE_END
}  // namespace c10
