// Types of complex numbers: whether a type is one, and the type of its parts.
#pragma once

#include <c10/util/complex_type.h>

#include <complex>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};
template <class T>
struct is_complex<c10::complex<T>> : std::true_type {};

/// A real type is its own value type.
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};
template <class T>
struct scalar_value_type<c10::complex<T>> {
  using type = T;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN
using c10::scalar_value_type;
RLT_NAMESPACE_END
}  // namespace at
