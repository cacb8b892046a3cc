// at::vec::convert: conversion of vectors to another element type. The number of elements stays the same as far as both hold them.
#pragma once

#include <ATen/cpu/vec/vec_n.h>

#include <tuple>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

/// Elements that the target has more than the source are 0.
template <class To, int ToN, class From, int FromN>
VectorizedN<To, ToN> convert_vectors(const VectorizedN<From, FromN>& source) {
  constexpr int to = Vectorized<To>::size(), from = Vectorized<From>::size();
  constexpr int count = to * ToN < from * FromN ? to * ToN : from * FromN;
  VectorizedN<To, ToN> result;
  for (int i = 0; i < count; ++i) result[i / to][i % to] = c10::convert<To>(source[i / from][i % from]);
  return result;
}

template <class To, class From>
Vectorized<To> convert(const Vectorized<From>& source) {
  if constexpr (std::is_same_v<To, From>) return source;
  else return convert_vectors<To, 1, From, 1>(VectorizedN<From, 1>(source));
}
/// One vector unless `Keep` asks for a VectorizedN.
template <class To, int ToN, class From, int FromN, bool Keep = false>
std::conditional_t<ToN == 1 && !Keep, Vectorized<To>, VectorizedN<To, ToN>> convert(const VectorizedN<From, FromN>& source) {
  return convert_vectors<To, ToN, From, FromN>(source);
}

// Half precision to two vectors of floats and back.
template <class T>
std::tuple<Vectorized<float>, Vectorized<float>> convert_to_float(const Vectorized<T>& source) {
  auto both = convert_vectors<float, 2, T, 1>(VectorizedN<T, 1>(source));
  return {both[0], both[1]};
}
template <class T>
Vectorized<T> convert_from_float(const Vectorized<float>& first, const Vectorized<float>& second) {
  return convert_vectors<T, 1, float, 2>(VectorizedN<float, 2>(first, second));
}
inline std::tuple<Vectorized<float>, Vectorized<float>> convert_bfloat16_float(const Vectorized<BFloat16>& source) { return convert_to_float(source); }
inline Vectorized<BFloat16> convert_float_bfloat16(const Vectorized<float>& first, const Vectorized<float>& second) {
  return convert_from_float<BFloat16>(first, second);
}
inline std::tuple<Vectorized<float>, Vectorized<float>> convert_half_float(const Vectorized<Half>& source) { return convert_to_float(source); }
inline Vectorized<Half> convert_float_half(const Vectorized<float>& first, const Vectorized<float>& second) {
  return convert_from_float<Half>(first, second);
}

// Reads half precision from memory as floats.
template <class T>
void load_to_float(const T* source, Vectorized<float>& result) {
  for (int i = 0; i < result.size(); ++i) result[i] = static_cast<float>(source[i]);
}
template <class T>
void load_to_float(const T* source, Vectorized<float>& first, Vectorized<float>& second) {
  load_to_float(source, first);
  load_to_float(source + Vectorized<float>::size(), second);
}
inline void load_fp32_from_bf16(const BFloat16* source, Vectorized<float>& result) { load_to_float(source, result); }
inline void load_fp32_from_bf16(const BFloat16* source, Vectorized<float>& first, Vectorized<float>& second) { load_to_float(source, first, second); }
inline void load_fp32_from_fp16(const Half* source, Vectorized<float>& result) { load_to_float(source, result); }
inline void load_fp32_from_fp16(const Half* source, Vectorized<float>& first, Vectorized<float>& second) { load_to_float(source, first, second); }

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
