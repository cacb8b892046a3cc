// c10::convert: conversion between element types as tensors convert them, and c10::load of an element.
#pragma once

#include <c10/util/BFloat16-math.h>
#include <c10/util/complex_utils.h>

#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Complex numbers lose their imaginary part; half precision numbers convert through float.
template <class To, class From>
To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (is_complex<To>::value) {
    using Part = typename To::value_type;
    if constexpr (is_complex<From>::value) return To(convert<Part>(from.real()), convert<Part>(from.imag()));
    else return To(convert<Part>(from), Part(0.0f));
  } else if constexpr (is_complex<From>::value) {
    if constexpr (std::is_same_v<To, bool>) return static_cast<bool>(from);
    else return convert<To>(from.real());
  } else if constexpr (std::is_reduced_floating_point_v<From>) {
    return static_cast<To>(static_cast<float>(from));
  } else if constexpr (std::is_reduced_floating_point_v<To>) {
    return To(static_cast<float>(from));
  } else {
    return static_cast<To>(from);
  }
}

/// Reads an element. Any byte other than 0 is true.
template <class T>
T load(const T* source) {
  if constexpr (std::is_same_v<T, bool>) return *reinterpret_cast<const unsigned char*>(source) != 0;
  else return *source;
}
template <class T>
T load(const void* source) {
  return load(static_cast<const T*>(source));
}

RLT_NAMESPACE_END
}  // namespace c10
