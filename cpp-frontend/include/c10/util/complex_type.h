// c10::complex: a complex number with the layout of two T, convertible to and from std::complex.
//
// Its mathematical functions are in complex_math.h; c10/util/complex.h has both.
#pragma once

#include <c10/macros/Macros.h>

#include <complex>
#include <ostream>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() = default;
  constexpr complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}
  constexpr complex(const std::complex<T>& other) : real_(other.real()), imag_(other.imag()) {}
  // Implicit only if no digit is lost.
  template <class U, std::enable_if_t<(sizeof(U) > sizeof(T)), bool> = true>
  constexpr explicit complex(const complex<U>& other) : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <class U, std::enable_if_t<(sizeof(U) < sizeof(T)), bool> = true>
  constexpr complex(const complex<U>& other) : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <class U>
  constexpr explicit complex(const std::complex<U>& other) : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}

  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }
  constexpr void real(T value) { real_ = value; }
  constexpr void imag(T value) { imag_ = value; }

  constexpr complex& operator=(T re) {
    real_ = re;
    imag_ = 0;
    return *this;
  }
  template <class U>
  constexpr complex& operator=(const complex<U>& other) {
    return *this = complex(static_cast<T>(other.real()), static_cast<T>(other.imag()));
  }
  template <class U>
  constexpr complex& operator=(const std::complex<U>& other) {
    return *this = complex(static_cast<T>(other.real()), static_cast<T>(other.imag()));
  }
  constexpr complex& operator+=(T re) {
    real_ += re;
    return *this;
  }
  constexpr complex& operator-=(T re) {
    real_ -= re;
    return *this;
  }
  constexpr complex& operator*=(T re) {
    real_ *= re;
    imag_ *= re;
    return *this;
  }
  constexpr complex& operator/=(T re) {
    real_ /= re;
    imag_ /= re;
    return *this;
  }
  template <class U>
  constexpr complex& operator+=(const complex<U>& other) {
    real_ += other.real_;
    imag_ += other.imag_;
    return *this;
  }
  template <class U>
  constexpr complex& operator-=(const complex<U>& other) {
    real_ -= other.real_;
    imag_ -= other.imag_;
    return *this;
  }
  template <class U>
  constexpr complex& operator*=(const complex<U>& other) {
    U re = other.real_, im = other.imag_;
    return *this = complex(static_cast<T>(real_ * re - imag_ * im), static_cast<T>(real_ * im + imag_ * re));
  }
  /// Smith's algorithm: the numbers are scaled by the larger part of the divisor, so that nothing overflows.
  template <class U>
  constexpr complex& operator/=(const complex<U>& other) {
    T re = static_cast<T>(other.real_), im = static_cast<T>(other.imag_);
    T size_re = re < T(0) ? T(-re) : re, size_im = im < T(0) ? T(-im) : im;
    if (size_re >= size_im) {
      if (size_re == T(0) && size_im == T(0)) return *this = complex(real_ / size_re, imag_ / size_im);
      T ratio = im / re, scale = re + im * ratio;
      return *this = complex((real_ + imag_ * ratio) / scale, (imag_ - real_ * ratio) / scale);
    }
    T ratio = re / im, scale = re * ratio + im;
    return *this = complex((real_ * ratio + imag_) / scale, (imag_ * ratio - real_) / scale);
  }

  constexpr explicit operator bool() const { return real_ != T(0) || imag_ != T(0); }
  constexpr operator std::complex<T>() const { return {real_, imag_}; }

  friend constexpr complex operator+(complex a, const complex& b) { return a += b; }
  friend constexpr complex operator-(complex a, const complex& b) { return a -= b; }
  friend constexpr complex operator*(complex a, const complex& b) { return a *= b; }
  friend constexpr complex operator/(complex a, const complex& b) { return a /= b; }
  friend constexpr complex operator+(complex a, T b) { return a += b; }
  friend constexpr complex operator-(complex a, T b) { return a -= b; }
  friend constexpr complex operator*(complex a, T b) { return a *= b; }
  friend constexpr complex operator/(complex a, T b) { return a /= b; }
  friend constexpr complex operator+(T a, complex b) { return b += a; }
  friend constexpr complex operator-(T a, const complex& b) { return {a - b.real_, -b.imag_}; }
  friend constexpr complex operator*(T a, complex b) { return b *= a; }
  friend constexpr complex operator/(T a, const complex& b) {
    T norm = b.real_ * b.real_ + b.imag_ * b.imag_;
    // Beyond these numbers the squares overflow or lose digits.
    if (norm > T(1e-30) && norm < T(1e30)) return {a * b.real_ / norm, -a * b.imag_ / norm};
    return complex(a) /= b;
  }
  friend constexpr complex operator-(const complex& a) { return {-a.real_, -a.imag_}; }
  friend constexpr complex operator+(const complex& a) { return a; }
  friend constexpr bool operator==(const complex& a, const complex& b) { return a.real_ == b.real_ && a.imag_ == b.imag_; }
  friend constexpr bool operator!=(const complex& a, const complex& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const complex& value) { return out << std::complex<T>(value); }
};

RLT_NAMESPACE_END
}  // namespace c10

namespace std {
template <class T>
constexpr T real(const c10::complex<T>& value) {
  return value.real();
}
template <class T>
constexpr T imag(const c10::complex<T>& value) {
  return value.imag();
}
template <class T>
T abs(const c10::complex<T>& value) {
  return std::abs(static_cast<std::complex<T>>(value));
}
}  // namespace std
