// Special functions of a single number, under the names that PyTorch's kernels use.
#pragma once

#include <c10/util/BFloat16-math.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace rlt {
RLT_NAMESPACE_BEGIN
namespace special {

constexpr double kPi = 3.141592653589793238462643383279502884;

inline double erfinv(double y) {
  if (std::isnan(y) || y < -1 || y > 1) return std::numeric_limits<double>::quiet_NaN();
  if (y == 1 || y == -1) return y * std::numeric_limits<double>::infinity();
  // Winitzki's approximation is within 0.2 % of the result. Halley's iteration triples the number of correct digits.
  double log = std::log1p(-y * y), a = 0.147, b = 2 / (kPi * a) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(b * b - log / a) - b), y);
  for (int step = 0; step < 3; ++step) {
    // Near 1 the difference of erf and y loses its digits; that of the complements does not.
    double error = std::abs(y) < 0.5 ? std::erf(x) - y : (1 - std::abs(y) - std::erfc(std::abs(x))) * (y < 0 ? -1 : 1);
    double newton = error / (2 / std::sqrt(kPi) * std::exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return x;
}

/// exp(-|x|) I0(x), the modified Bessel function of the first kind.
inline double i0e(double x) {
  x = std::abs(x);
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return 0;
  if (x <= 25) {
    // All terms of the power series are positive.
    double quarter = x * x / 4, term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= quarter / (static_cast<double>(k) * k);
      sum += term;
    }
    return std::exp(-x) * sum;
  }
  // The asymptotic series: its smallest term is below 1e-20 here.
  double term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    double odd = 2 * k - 1, next = term * odd * odd / (8 * x * k);
    if (next >= term || next < sum * 1e-17) break;
    term = next;
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * x);
}
inline double i0(double x) {
  double size = std::abs(x), scaled = i0e(size);
  // exp(size) alone may overflow.
  return scaled * std::exp(size / 2) * std::exp(size / 2);
}

inline double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    double whole, fraction = std::modf(x, &whole);
    if (fraction == 0) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  double inverse = 1 / (x * x);
  // The Bernoulli numbers B2 / 2, B4 / 4 to B14 / 14.
  constexpr double terms[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double power = inverse, tail = 0;
  for (double term : terms) {
    tail += term * power;
    power *= inverse;
  }
  return sum + std::log(x) - 0.5 / x - tail;
}

/// The regularized incomplete gamma functions: the lower one P(a, x) and the upper one 1 - P(a, x).
struct IncompleteGamma {
  double lower, upper;
};
inline IncompleteGamma incomplete_gamma(double a, double x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (!(a >= 0) || !(x >= 0)) return {nan, nan};
  if (a == 0) return x > 0 ? IncompleteGamma{1, 0} : IncompleteGamma{nan, nan};
  if (x == 0) return {0, 1};
  if (std::isinf(a)) return std::isinf(x) ? IncompleteGamma{nan, nan} : IncompleteGamma{0, 1};
  if (std::isinf(x)) return {1, 0};
  double factor = std::exp(a * std::log(x) - x - std::lgamma(a));
  // Both expansions need about sqrt(a) terms where x is near a.
  int limit = 200 + static_cast<int>(std::fmin(20 * std::sqrt(a), 1e6));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < limit && term > sum * 1e-17; ++k) sum += term *= x / (a + k);
    double lower = factor * sum;
    return {lower, 1 - lower};
  }
  // Lentz's evaluation of the continued fraction.
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, fraction = d;
  for (int k = 1; k < limit; ++k) {
    double an = -k * (k - a);
    b += 2;
    d = an * d + b;
    c = b + an / c;
    if (std::abs(d) < tiny) d = tiny;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  double upper = factor * fraction;
  return {1 - upper, upper};
}

}  // namespace special
RLT_NAMESPACE_END
}  // namespace rlt

template <class T>
T calc_erfinv(T value) {
  return static_cast<T>(rlt::special::erfinv(static_cast<double>(value)));
}
template <class T>
T calc_i0(T value) {
  return static_cast<T>(rlt::special::i0(static_cast<double>(value)));
}
template <class T>
T calc_i0e(T value) {
  return static_cast<T>(rlt::special::i0e(static_cast<double>(value)));
}
template <class T>
T calc_digamma(T value) {
  return static_cast<T>(rlt::special::digamma(static_cast<double>(value)));
}
template <class T>
T calc_igamma(T a, T x) {
  return static_cast<T>(rlt::special::incomplete_gamma(static_cast<double>(a), static_cast<double>(x)).lower);
}
template <class T>
T calc_igammac(T a, T x) {
  return static_cast<T>(rlt::special::incomplete_gamma(static_cast<double>(a), static_cast<double>(x)).upper);
}
