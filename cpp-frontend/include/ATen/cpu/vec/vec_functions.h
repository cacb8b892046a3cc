// The operators and free functions of Vectorized<T>.
#pragma once

#include <ATen/cpu/vec/vectorized.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

#define RLT_VECTORIZED_OPERATOR(op, function)                                                                            \
  template <class T>                                                                                                     \
  Vectorized<T> operator op(const Vectorized<T>& a, const Vectorized<T>& b) {                                            \
    return a.map2(b, [](const T& x, const T& y) { return detail::Element<T>::apply(function, x, y); });                  \
  }                                                                                                                      \
  template <class T>                                                                                                     \
  Vectorized<T>& operator op##=(Vectorized<T>& a, const Vectorized<T>& b) {                                              \
    return a = a op b;                                                                                                   \
  }
RLT_VECTORIZED_OPERATOR(+, std::plus<>())
RLT_VECTORIZED_OPERATOR(-, std::minus<>())
RLT_VECTORIZED_OPERATOR(*, std::multiplies<>())
#undef RLT_VECTORIZED_OPERATOR

template <class T>
Vectorized<T> operator/(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, &detail::Element<T>::divide);
}
template <class T>
Vectorized<T>& operator/=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a / b;
}
/// The remainder of the division that rounds towards 0.
template <class T>
Vectorized<T> operator%(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a - a / b * b;
}
template <class T>
Vectorized<T>& operator%=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a % b;
}
template <class T>
Vectorized<T> operator||(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, [](const T& x, const T& y) { return static_cast<T>(x != T(0) || y != T(0) ? 1 : 0); });
}
template <class T>
Vectorized<T> operator&&(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, [](const T& x, const T& y) { return static_cast<T>(x != T(0) && y != T(0) ? 1 : 0); });
}

namespace detail {
template <class T, class Operation>
Vectorized<T> on_bits(const Vectorized<T>& a, const Vectorized<T>& b, Operation operation) {
  constexpr int words = VECTOR_WIDTH / sizeof(uint64_t);
  __at_align__ uint64_t x[words], y[words];
  a.store(x);
  b.store(y);
  for (int i = 0; i < words; ++i) x[i] = operation(x[i], y[i]);
  return Vectorized<T>::loadu(x);
}
}  // namespace detail

// On the bits of any type.
template <class T>
Vectorized<T> operator&(const Vectorized<T>& a, const Vectorized<T>& b) {
  return detail::on_bits(a, b, std::bit_and<uint64_t>());
}
template <class T>
Vectorized<T> operator|(const Vectorized<T>& a, const Vectorized<T>& b) {
  return detail::on_bits(a, b, std::bit_or<uint64_t>());
}
template <class T>
Vectorized<T> operator^(const Vectorized<T>& a, const Vectorized<T>& b) {
  return detail::on_bits(a, b, std::bit_xor<uint64_t>());
}
template <class T>
Vectorized<T> operator~(const Vectorized<T>& a) {
  return detail::on_bits(a, a, [](uint64_t x, uint64_t) { return ~x; });
}

/// Shifts by a negative number, or by more bits than T has, result in 0.
template <class T>
Vectorized<T> operator<<(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, [](T x, T y) {
    if (y < T(0) || y >= T(sizeof(T) * CHAR_BIT)) return T(0);
    return static_cast<T>(static_cast<uint64_t>(x) << y);
  });
}
/// Such shifts result in the sign: -1 or 0.
template <class T>
Vectorized<T> operator>>(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, [](T x, T y) {
    if (y < T(0) || y >= T(sizeof(T) * CHAR_BIT)) return static_cast<T>(x < T(0) ? -1 : 0);
    return static_cast<T>(x >> y);
  });
}
template <class T>
Vectorized<T>& operator<<=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a << b;
}
template <class T>
Vectorized<T>& operator>>=(Vectorized<T>& a, const Vectorized<T>& b) {
  return a = a >> b;
}

/// NaN where one of the numbers is NaN. Complex numbers are ordered by magnitude.
template <class T>
Vectorized<T> maximum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, &native::max_impl<T>);
}
template <class T>
Vectorized<T> minimum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return a.map2(b, &native::min_impl<T>);
}
// A NaN among the numbers stays, one among the limits does not limit.
template <class T>
Vectorized<T> clamp_min(const Vectorized<T>& a, const Vectorized<T>& low) {
  return a.map2(low, [](const T& x, const T& limit) { return native::detail::number_is_less(x, limit) ? limit : x; });
}
template <class T>
Vectorized<T> clamp_max(const Vectorized<T>& a, const Vectorized<T>& high) {
  return a.map2(high, [](const T& x, const T& limit) { return native::detail::number_is_less(limit, x) ? limit : x; });
}
template <class T>
Vectorized<T> clamp(const Vectorized<T>& a, const Vectorized<T>& low, const Vectorized<T>& high) {
  return clamp_max(clamp_min(a, low), high);
}

template <class T>
Vectorized<T> fmadd(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b + c;
}
template <class T>
Vectorized<T> fmsub(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) {
  return a * b - c;
}

/// The same bits as elements of another type.
template <class To, class From>
Vectorized<To> cast(const Vectorized<From>& source) {
  return Vectorized<To>::loadu(source.as_bytes());
}

/// Converts each element to the integer of its size, rounding towards 0.
template <class T, class Integer = int_same_size_t<T>>
Vectorized<Integer> convert_to_int_of_same_size(const Vectorized<T>& source) {
  Vectorized<Integer> result;
  for (int i = 0; i < source.size(); ++i) result[i] = c10::convert<Integer>(source[i]);
  return result;
}
template <class T, class Integer = int_same_size_t<T>>
Vectorized<T> convert_to_fp_of_same_size(const Vectorized<Integer>& source) {
  Vectorized<T> result;
  for (int i = 0; i < source.size(); ++i) result[i] = c10::convert<T>(source[i]);
  return result;
}
template <class From, class To>
void convert(const From* source, To* target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = c10::convert<To>(c10::load(source + i));
}

/// Elements a0 b0 a1 b1 ... become a0 a1 ... and b0 b1 ...
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> deinterleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int half = Vectorized<T>::size() / 2;
  std::pair<Vectorized<T>, Vectorized<T>> result;
  for (int i = 0; i < half; ++i) {
    result.first[i] = a[2 * i];
    result.first[half + i] = b[2 * i];
    result.second[i] = a[2 * i + 1];
    result.second[half + i] = b[2 * i + 1];
  }
  return result;
}
/// Elements a0 a1 ... and b0 b1 ... become a0 b0 a1 b1 ...
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> interleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int half = Vectorized<T>::size() / 2;
  std::pair<Vectorized<T>, Vectorized<T>> result;
  for (int i = 0; i < half; ++i) {
    result.first[2 * i] = a[i];
    result.first[2 * i + 1] = b[i];
    result.second[2 * i] = a[half + i];
    result.second[2 * i + 1] = b[half + i];
  }
  return result;
}
/// In reverse order.
template <class T>
Vectorized<T> flip(const Vectorized<T>& source) {
  Vectorized<T> result;
  for (int i = 0; i < source.size(); ++i) result[i] = source[source.size() - 1 - i];
  return result;
}

/// The elements at base + index * Scale bytes.
template <int64_t Scale = 1, class T = void>
Vectorized<T> gather(const T* base, const Vectorized<int_same_size_t<T>>& indices) {
  static_assert(Scale == 1 || Scale == 2 || Scale == 4 || Scale == 8, "a scale is 1, 2, 4 or 8 bytes");
  Vectorized<T> result;
  for (int i = 0; i < result.size(); ++i) result[i] = base[indices[i] * Scale / static_cast<int64_t>(sizeof(T))];
  return result;
}
/// Gathers where the mask is set, keeps the elements of `source` elsewhere, and clears the mask.
template <int64_t Scale = 1, class T = void>
Vectorized<T> mask_gather(const Vectorized<T>& source, const T* base, const Vectorized<int_same_size_t<T>>& indices, Vectorized<T>& mask) {
  static_assert(Scale == 1 || Scale == 2 || Scale == 4 || Scale == 8, "a scale is 1, 2, 4 or 8 bytes");
  Vectorized<T> result;
  for (int i = 0; i < result.size(); ++i) {
    result[i] = detail::is_set(mask[i]) ? base[indices[i] * Scale / static_cast<int64_t>(sizeof(T))] : source[i];
  }
  mask = Vectorized<T>();
  return result;
}

/// Writes the transpose of an M x N matrix. The distances between rows are in elements.
template <class T>
void transpose_mxn(const T* source, int64_t source_row, T* target, int64_t target_row, int M, int N) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) target[j * target_row + i] = source[i * source_row + j];
  }
}
template <class T, int M, int N>
void transpose_mxn(const T* source, int64_t source_row, T* target, int64_t target_row) {
  transpose_mxn<T>(source, source_row, target, target_row, M, N);
}

template <class T>
std::ostream& operator<<(std::ostream& out, const Vectorized<T>& vector) {
  out << "vec[";
  for (int i = 0; i < vector.size(); ++i) {
    if (i > 0) out << ", ";
    // Bytes are numbers here, not characters.
    if constexpr (sizeof(T) == 1) out << static_cast<int>(vector[i]);
    else if constexpr (std::is_reduced_floating_point_v<T>) out << static_cast<float>(vector[i]);
    else out << vector[i];
  }
  return out << ']';
}

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
