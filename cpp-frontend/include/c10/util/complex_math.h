// The mathematical functions of c10::complex, under std:: and the global names of <cmath>.
#pragma once

#include <c10/util/complex_type.h>

#include <cmath>
#include <istream>

namespace c10_complex_math {
RLT_NAMESPACE_BEGIN

// The functions of std::complex.
#define RLT_COMPLEX_FUNCTION(name)                       \
  template <class T>                                     \
  c10::complex<T> name(const c10::complex<T>& value) {   \
    return std::name(static_cast<std::complex<T>>(value)); \
  }
RLT_COMPLEX_FUNCTION(acos)
RLT_COMPLEX_FUNCTION(acosh)
RLT_COMPLEX_FUNCTION(asin)
RLT_COMPLEX_FUNCTION(asinh)
RLT_COMPLEX_FUNCTION(atan)
RLT_COMPLEX_FUNCTION(atanh)
RLT_COMPLEX_FUNCTION(cos)
RLT_COMPLEX_FUNCTION(cosh)
RLT_COMPLEX_FUNCTION(exp)
RLT_COMPLEX_FUNCTION(log)
RLT_COMPLEX_FUNCTION(log10)
RLT_COMPLEX_FUNCTION(sin)
RLT_COMPLEX_FUNCTION(sinh)
RLT_COMPLEX_FUNCTION(sqrt)
RLT_COMPLEX_FUNCTION(tan)
RLT_COMPLEX_FUNCTION(tanh)
#undef RLT_COMPLEX_FUNCTION

template <class T>
c10::complex<T> log2(const c10::complex<T>& value) {
  return log(value) / static_cast<T>(0.693147180559945309417232121458176568);
}

/// exp(z) - 1 without a loss of digits near 0: the real part is expm1(x) cos(y) - 2 sin(y / 2)^2.
template <class T>
c10::complex<T> expm1(const c10::complex<T>& value) {
  T x = value.real(), y = value.imag();
  T growth = std::expm1(x), half = std::sin(y / 2);
  return {growth * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}

namespace detail {
/// a * b as a sum of two numbers without a rounding error.
template <class T>
void exact_product(T a, T b, T& high, T& low) {
  high = a * b;
  low = std::fma(a, b, -high);
}
}  // namespace detail

/// log(1 + z) without a loss of digits near 0: the real part is log1p(2x + x^2 + y^2) / 2.
template <class T>
c10::complex<T> log1p(const c10::complex<T>& value) {
  T x = value.real(), y = value.imag();
  T angle = std::atan2(y, x + 1);
  T size = std::hypot(x + 1, y);
  if (!(size > T(0.5) && size < T(2))) return {std::log(size), angle};
  T x_high, x_low, y_high, y_low;
  detail::exact_product(x, x, x_high, x_low);
  detail::exact_product(y, y, y_high, y_low);
  // The largest numbers first: they cancel.
  T sum = 2 * x + y_high, back = sum - 2 * x, lost = (2 * x - (sum - back)) + (y_high - back);
  T excess = ((sum + x_high) + ((x_high - ((sum + x_high) - sum)) + lost)) + (x_low + y_low);
  return {std::log1p(excess) / 2, angle};
}

template <class T>
c10::complex<T> pow(const c10::complex<T>& base, const c10::complex<T>& exponent) {
  return std::pow(static_cast<std::complex<T>>(base), static_cast<std::complex<T>>(exponent));
}
template <class T>
c10::complex<T> pow(const c10::complex<T>& base, const T& exponent) {
  return std::pow(static_cast<std::complex<T>>(base), exponent);
}
template <class T>
c10::complex<T> pow(const T& base, const c10::complex<T>& exponent) {
  return std::pow(base, static_cast<std::complex<T>>(exponent));
}
template <class T, class U, class Wider = decltype(T() * U())>
c10::complex<Wider> pow(const c10::complex<T>& base, const c10::complex<U>& exponent) {
  return pow(c10::complex<Wider>(base), c10::complex<Wider>(exponent));
}
template <class T, class U, class Wider = decltype(T() * U()), std::enable_if_t<std::is_arithmetic_v<U> && !std::is_same_v<T, U>, bool> = true>
c10::complex<Wider> pow(const c10::complex<T>& base, const U& exponent) {
  return pow(c10::complex<Wider>(base), static_cast<Wider>(exponent));
}
template <class T, class U, class Wider = decltype(T() * U()), std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, U>, bool> = true>
c10::complex<Wider> pow(const T& base, const c10::complex<U>& exponent) {
  return pow(static_cast<Wider>(base), c10::complex<Wider>(exponent));
}

RLT_NAMESPACE_END
}  // namespace c10_complex_math

#define RLT_USE_COMPLEX_FUNCTIONS \
  using c10_complex_math::acos; \
  using c10_complex_math::acosh; \
  using c10_complex_math::asin; \
  using c10_complex_math::asinh; \
  using c10_complex_math::atan; \
  using c10_complex_math::atanh; \
  using c10_complex_math::cos; \
  using c10_complex_math::cosh; \
  using c10_complex_math::exp; \
  using c10_complex_math::expm1; \
  using c10_complex_math::log; \
  using c10_complex_math::log10; \
  using c10_complex_math::log1p; \
  using c10_complex_math::log2; \
  using c10_complex_math::pow; \
  using c10_complex_math::sin; \
  using c10_complex_math::sinh; \
  using c10_complex_math::sqrt; \
  using c10_complex_math::tan; \
  using c10_complex_math::tanh;

RLT_USE_COMPLEX_FUNCTIONS
namespace std {
RLT_USE_COMPLEX_FUNCTIONS
template <class T>
T arg(const c10::complex<T>& value) {
  return std::atan2(value.imag(), value.real());
}
/// The square of the absolute value.
template <class T>
constexpr T norm(const c10::complex<T>& value) {
  return value.real() * value.real() + value.imag() * value.imag();
}
template <class T>
constexpr c10::complex<T> conj(const c10::complex<T>& value) {
  return {value.real(), -value.imag()};
}
template <class T>
c10::complex<T> proj(const c10::complex<T>& value) {
  return std::proj(static_cast<std::complex<T>>(value));
}
}  // namespace std
#undef RLT_USE_COMPLEX_FUNCTIONS

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
complex<T> polar(const T& size, const T& angle = T()) {
  return std::polar(size, angle);
}

template <class T>
std::istream& operator>>(std::istream& in, complex<T>& value) {
  std::complex<T> read;
  if (in >> read) value = read;
  return in;
}

/// `2_if` is 2i of float, `2_id` of double.
inline namespace complex_literals {
constexpr complex<float> operator""_if(long double imag) { return {0, static_cast<float>(imag)}; }
constexpr complex<float> operator""_if(unsigned long long imag) { return {0, static_cast<float>(imag)}; }
constexpr complex<double> operator""_id(long double imag) { return {0, static_cast<double>(imag)}; }
constexpr complex<double> operator""_id(unsigned long long imag) { return {0, static_cast<double>(imag)}; }
}  // namespace complex_literals

RLT_NAMESPACE_END
}  // namespace c10
