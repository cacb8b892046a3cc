// c10::complex: a complex number with the layout of two T, convertible to and from std::complex.
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
  template <class U>
  constexpr explicit complex(const complex<U>& other) : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
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
    real_ = static_cast<T>(other.real());
    imag_ = static_cast<T>(other.imag());
    return *this;
  }
  constexpr complex& operator+=(const complex& other) {
    real_ += other.real_;
    imag_ += other.imag_;
    return *this;
  }
  constexpr complex& operator-=(const complex& other) {
    real_ -= other.real_;
    imag_ -= other.imag_;
    return *this;
  }
  constexpr complex& operator*=(const complex& other) {
    T re = real_ * other.real_ - imag_ * other.imag_;
    imag_ = real_ * other.imag_ + imag_ * other.real_;
    real_ = re;
    return *this;
  }
  complex& operator/=(const complex& other) { return *this = complex(std::complex<T>(*this) / std::complex<T>(other)); }

  constexpr explicit operator bool() const { return real_ != T(0) || imag_ != T(0); }
  constexpr operator std::complex<T>() const { return {real_, imag_}; }

  friend constexpr complex operator+(complex a, const complex& b) { return a += b; }
  friend constexpr complex operator-(complex a, const complex& b) { return a -= b; }
  friend constexpr complex operator*(complex a, const complex& b) { return a *= b; }
  friend complex operator/(complex a, const complex& b) { return a /= b; }
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
