// SymInt, SymFloat, SymBool: the sizes, numbers and conditions of libtorch's functions for symbolic shapes. There are no
// symbolic shapes: each holds a plain value. As in libtorch, a SymInt does not convert to int64_t by itself.
#pragma once

#include <c10/macros/Macros.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <ostream>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

class SymBool {
 public:
  SymBool() = default;
  constexpr SymBool(bool value) : value_(value) {}
  constexpr bool is_heap_allocated() const { return false; }
  constexpr bool has_hint() const { return true; }
  constexpr bool guard_bool(const char*, int64_t) const { return value_; }
  constexpr bool guard_size_oblivious(const char*, int64_t) const { return value_; }
  constexpr bool guard_or_false(const char*, int64_t) const { return value_; }
  constexpr bool guard_or_true(const char*, int64_t) const { return value_; }
  constexpr bool expect_true(const char*, int64_t) const { return value_; }
  constexpr std::optional<bool> maybe_as_bool() const { return value_; }
  constexpr bool as_bool_unchecked() const { return value_; }
  constexpr SymBool sym_and(const SymBool& other) const { return value_ && other.value_; }
  constexpr SymBool sym_or(const SymBool& other) const { return value_ || other.value_; }
  constexpr SymBool sym_not() const { return !value_; }
  constexpr SymBool operator&(const SymBool& other) const { return sym_and(other); }
  constexpr SymBool operator|(const SymBool& other) const { return sym_or(other); }
  constexpr SymBool operator||(const SymBool& other) const { return sym_or(other); }
  constexpr SymBool operator~() const { return sym_not(); }

 private:
  bool value_ = false;
};

class SymFloat {
 public:
  SymFloat() = default;
  constexpr SymFloat(double value) : value_(value) {}
  constexpr bool is_symbolic() const { return false; }
  constexpr bool has_hint() const { return true; }
  constexpr double expect_float() const { return value_; }
  constexpr double as_float_unchecked() const { return value_; }
  constexpr double guard_float(const char*, int64_t) const { return value_; }
  constexpr std::optional<double> maybe_as_float() const { return value_; }
  SymFloat min(const SymFloat& other) const { return std::min(value_, other.value_); }
  SymFloat max(const SymFloat& other) const { return std::max(value_, other.value_); }
  SymFloat sqrt() const { return std::sqrt(value_); }
  constexpr SymFloat operator+(const SymFloat& other) const { return value_ + other.value_; }
  constexpr SymFloat operator-(const SymFloat& other) const { return value_ - other.value_; }
  constexpr SymFloat operator*(const SymFloat& other) const { return value_ * other.value_; }
  constexpr SymFloat operator/(const SymFloat& other) const { return value_ / other.value_; }
  constexpr bool operator==(const SymFloat& other) const { return value_ == other.value_; }
  constexpr bool operator!=(const SymFloat& other) const { return value_ != other.value_; }
  constexpr bool operator<(const SymFloat& other) const { return value_ < other.value_; }
  constexpr bool operator<=(const SymFloat& other) const { return value_ <= other.value_; }
  constexpr bool operator>(const SymFloat& other) const { return value_ > other.value_; }
  constexpr bool operator>=(const SymFloat& other) const { return value_ >= other.value_; }

 private:
  double value_ = 0;
};

class SymInt {
 public:
  enum Unchecked { UNCHECKED };

  SymInt() = default;
  constexpr SymInt(int64_t value) : value_(value) {}
  constexpr SymInt(Unchecked, int64_t value) : value_(value) {}

  constexpr bool is_symbolic() const { return false; }
  constexpr bool is_heap_allocated() const { return false; }
  constexpr bool has_hint() const { return true; }
  constexpr bool is_same(const SymInt& other) const { return value_ == other.value_; }
  constexpr SymInt clone() const { return *this; }
  constexpr int64_t expect_int() const { return value_; }
  constexpr int64_t guard_int(const char*, int64_t) const { return value_; }
  constexpr int64_t as_int_unchecked() const { return value_; }
  constexpr std::optional<int64_t> maybe_as_int() const { return value_; }
  /// Whether the number can be a size.
  constexpr bool expect_size(const char*, int64_t) const { return value_ >= 0; }
  constexpr operator SymFloat() const { return static_cast<double>(value_); }
  /// Whether libtorch stores the number inline. It represents symbolic integers by the numbers below -2^62.
  static constexpr bool check_range(int64_t value) { return value > -(int64_t{1} << 62) - 1; }
  static constexpr int64_t min_representable_int() { return -(int64_t{1} << 62); }

  SymInt min(const SymInt& other) const { return std::min(value_, other.value_); }
  SymInt max(const SymInt& other) const { return std::max(value_, other.value_); }
  SymBool sym_eq(const SymInt& other) const { return value_ == other.value_; }
  SymBool sym_ne(const SymInt& other) const { return value_ != other.value_; }
  SymBool sym_lt(const SymInt& other) const { return value_ < other.value_; }
  SymBool sym_le(const SymInt& other) const { return value_ <= other.value_; }
  SymBool sym_gt(const SymInt& other) const { return value_ > other.value_; }
  SymBool sym_ge(const SymInt& other) const { return value_ >= other.value_; }

  /// Sums and products wrap around.
  constexpr SymInt operator-() const { return wrapped(0 - bits(value_)); }
  constexpr SymInt& operator+=(const SymInt& other) { return *this = sum(*this, other); }
  constexpr SymInt& operator-=(const SymInt& other) { return *this = difference(*this, other); }
  constexpr SymInt& operator*=(const SymInt& other) { return *this = product(*this, other); }
  constexpr SymInt& operator/=(const SymInt& other) { return *this = quotient(*this, other); }

// An operator of two SymInts, of a SymInt and an integer, and, as SymFloat, of a SymInt and a floating-point number.
#define RLT_SYM_ARITHMETIC(op, function)                                                                            \
  friend constexpr SymInt operator op(const SymInt& a, const SymInt& b) { return function(a, b); }                  \
  template <class T, std::enable_if_t<rlt::is_number<T>, bool> = true>                                        \
  friend constexpr auto operator op(const SymInt& a, T b) {                                                         \
    if constexpr (std::is_integral_v<T>) return function(a, static_cast<int64_t>(b));                               \
    else return SymFloat(a) op SymFloat(b);                                                                         \
  }                                                                                                                 \
  template <class T, std::enable_if_t<rlt::is_number<T>, bool> = true>                                        \
  friend constexpr auto operator op(T a, const SymInt& b) {                                                         \
    if constexpr (std::is_integral_v<T>) return function(static_cast<int64_t>(a), b);                               \
    else return SymFloat(a) op SymFloat(b);                                                                         \
  }
  RLT_SYM_ARITHMETIC(+, sum)
  RLT_SYM_ARITHMETIC(-, difference)
  RLT_SYM_ARITHMETIC(*, product)
  RLT_SYM_ARITHMETIC(/, quotient)
#undef RLT_SYM_ARITHMETIC
  friend constexpr SymInt operator%(const SymInt& a, const SymInt& b) { return a.value_ % b.value_; }

#define RLT_SYM_COMPARISON(op)                                                                                      \
  friend constexpr bool operator op(const SymInt& a, const SymInt& b) { return a.value_ op b.value_; }              \
  template <class T, std::enable_if_t<rlt::is_number<T>, bool> = true>                                        \
  friend constexpr bool operator op(const SymInt& a, T b) {                                                         \
    return a.value_ op static_cast<std::conditional_t<std::is_integral_v<T>, int64_t, T>>(b);                       \
  }                                                                                                                 \
  template <class T, std::enable_if_t<rlt::is_number<T>, bool> = true>                                        \
  friend constexpr bool operator op(T a, const SymInt& b) {                                                         \
    return static_cast<std::conditional_t<std::is_integral_v<T>, int64_t, T>>(a) op b.value_;                       \
  }
  RLT_SYM_COMPARISON(==)
  RLT_SYM_COMPARISON(!=)
  RLT_SYM_COMPARISON(<)
  RLT_SYM_COMPARISON(<=)
  RLT_SYM_COMPARISON(>)
  RLT_SYM_COMPARISON(>=)
#undef RLT_SYM_COMPARISON

  friend std::ostream& operator<<(std::ostream& out, const SymInt& number) { return out << number.value_; }

 private:
  static constexpr uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
  static constexpr SymInt wrapped(uint64_t value) { return static_cast<int64_t>(value); }
  static constexpr SymInt sum(const SymInt& a, const SymInt& b) { return wrapped(bits(a.value_) + bits(b.value_)); }
  static constexpr SymInt difference(const SymInt& a, const SymInt& b) { return wrapped(bits(a.value_) - bits(b.value_)); }
  static constexpr SymInt product(const SymInt& a, const SymInt& b) { return wrapped(bits(a.value_) * bits(b.value_)); }
  static constexpr SymInt quotient(const SymInt& a, const SymInt& b) { return a.value_ / b.value_; }

  int64_t value_ = 0;
};
static_assert(sizeof(SymInt) == sizeof(int64_t));

RLT_NAMESPACE_END
}  // namespace c10
