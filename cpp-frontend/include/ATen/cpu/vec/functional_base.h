// at::vec::map and reduce: operations on vectors, applied to arrays of any length.
//
// Half precision is converted to float, so that the operation is called with Vectorized<float>, and rounded at the end.
#pragma once

#include <ATen/cpu/vec/vec.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

namespace detail {
/// The type in which elements are computed.
template <class T>
using Computed = std::conditional_t<is_reduced_floating_point_v<T>, float, T>;

/// `count` elements as a vector of the computed type.
template <class T>
Vectorized<Computed<T>> load_computed(const T* source, int64_t count) {
  using C = Computed<T>;
  if constexpr (std::is_same_v<C, T>) {
    return count >= Vectorized<C>::size() ? Vectorized<C>::loadu(source) : Vectorized<C>::loadu(source, count);
  } else {
    Vectorized<C> result;
    for (int i = 0; i < Vectorized<C>::size() && i < count; ++i) result[i] = static_cast<C>(source[i]);
    return result;
  }
}
template <class T>
void store_computed(T* target, const Vectorized<Computed<T>>& vector, int64_t count) {
  if constexpr (std::is_same_v<Computed<T>, T>) {
    vector.store(target, static_cast<int>(count < vector.size() ? count : vector.size()));
  } else {
    for (int i = 0; i < vector.size() && i < count; ++i) target[i] = static_cast<T>(vector[i]);
  }
}

template <class T, class Operation, class... Sources>
void map_arrays(const Operation& operation, T* target, int64_t count, const Sources*... sources) {
  for (int64_t i = 0; i < count; i += Vectorized<Computed<T>>::size()) {
    store_computed<T>(target + i, operation(load_computed(sources + i, count - i)...), count - i);
  }
}

/// Combines the first `count` elements of a vector into one.
template <class T, class Operation>
T combine(const Operation& operation, Vectorized<T> vector, int64_t count) {
  // If the count is a power of 2, the upper half is reduced onto the lower one; otherwise the elements in order.
  if ((count & (count - 1)) == 0) {
    for (int half = static_cast<int>(count) / 2; half > 0; half /= 2) {
      Vectorized<T> upper = vector;
      for (int i = 0; i < half; ++i) upper[i] = vector[half + i];
      vector = operation(vector, upper);
    }
    return vector[0];
  }
  Vectorized<T> result(vector[0]);
  for (int i = 1; i < count; ++i) {
    Vectorized<T> next(vector[i]);
    result = operation(result, next);
  }
  return result[0];
}

/// Combines vectors that `load` returns for each offset; the result is one element.
template <class T, class Operation, class Load>
T reduce_vectors(const Operation& operation, int64_t count, const Load& load) {
  constexpr int part = Vectorized<T>::size();
  Vectorized<T> result = load(0);
  if (count < part) return combine(operation, result, count);
  int64_t i = part;
  for (; i + part <= count; i += part) {
    Vectorized<T> next = load(i);
    result = operation(result, next);
  }
  if (i < count) {
    Vectorized<T> next = load(i), combined = operation(result, next);
    result = Vectorized<T>::set(result, combined, count - i);
  }
  return combine(operation, result, part);
}
}  // namespace detail

/// Combines all elements of a vector.
template <class T, class Operation>
T vec_reduce_all(const Operation& operation, const Vectorized<T>& vector, int64_t count = Vectorized<T>::size()) {
  return detail::combine(operation, vector, count);
}
template <class T, int N, class Operation>
T vec_reduce_all(const Operation& operation, const VectorizedN<T, N>& vectors) {
  Vectorized<T> result = vectors[0];
  for (int i = 1; i < N; ++i) {
    Vectorized<T> next = vectors[i];
    result = operation(result, next);
  }
  return detail::combine(operation, result, Vectorized<T>::size());
}

// The arrays of a reduction have at least one element. The result of half precision is a float.
template <class T, class Operation>
detail::Computed<T> reduce_all(const Operation& operation, const T* data, int64_t count) {
  return detail::reduce_vectors<detail::Computed<T>>(operation, count, [&](int64_t i) { return detail::load_computed(data + i, count - i); });
}
/// Two reductions of the same array.
template <class T, class First, class Second>
std::pair<detail::Computed<T>, detail::Computed<T>> reduce2_all(const First& first, const Second& second, const T* data, int64_t count) {
  return {vec::reduce_all<T>(first, data, count), vec::reduce_all<T>(second, data, count)};
}
template <class T, class Map, class Reduce>
detail::Computed<T> map_reduce_all(const Map& map, const Reduce& reduce, const T* data, int64_t count) {
  return detail::reduce_vectors<detail::Computed<T>>(reduce, count, [&](int64_t i) { return map(detail::load_computed(data + i, count - i)); });
}
template <class T, class Map, class Reduce>
detail::Computed<T> map2_reduce_all(const Map& map, const Reduce& reduce, const T* a, const T* b, int64_t count) {
  return detail::reduce_vectors<detail::Computed<T>>(
      reduce, count, [&](int64_t i) { return map(detail::load_computed(a + i, count - i), detail::load_computed(b + i, count - i)); });
}
template <class T, class Map, class Reduce>
detail::Computed<T> map3_reduce_all(const Map& map, const Reduce& reduce, const T* a, const T* b, const T* c, int64_t count) {
  return detail::reduce_vectors<detail::Computed<T>>(reduce, count, [&](int64_t i) {
    return map(detail::load_computed(a + i, count - i), detail::load_computed(b + i, count - i), detail::load_computed(c + i, count - i));
  });
}

/// target[i] = operation(source[i]). The source of a half precision target may have floats.
template <class T, class Operation, class S>
void map(const Operation& operation, T* target, const S* source, int64_t count) {
  detail::map_arrays<T>(operation, target, count, source);
}
template <class T, class Operation>
void map2(const Operation& operation, T* target, const T* a, const T* b, int64_t count) {
  detail::map_arrays<T>(operation, target, count, a, b);
}
template <class T, class Operation>
void map3(const Operation& operation, T* target, const T* a, const T* b, const T* c, int64_t count) {
  detail::map_arrays<T>(operation, target, count, a, b, c);
}
template <class T, class Operation>
void map4(const Operation& operation, T* target, const T* a, const T* b, const T* c, const T* d, int64_t count) {
  detail::map_arrays<T>(operation, target, count, a, b, c, d);
}

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
