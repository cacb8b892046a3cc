// c10::hash: std::hash, and hashes of enums, complex numbers, pairs, tuples and lists.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/complex_type.h>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// The hash of an object and of all before it.
inline size_t hash_combine(size_t seed, size_t value) { return seed ^ (value + 0x9e3779b9 + (seed << 6u) + (seed >> 2u)); }

template <class T>
struct hash;

namespace detail {
template <class T, class = void>
struct has_static_hash : std::false_type {};
template <class T>
struct has_static_hash<T, std::void_t<decltype(T::hash(std::declval<const T&>()))>> : std::true_type {};

template <class T>
size_t hash_of(const T& value) {
  if constexpr (has_static_hash<T>::value) return T::hash(value);
  else return std::hash<T>()(value);
}
template <class Items>
size_t hash_of_list(const Items& items) {
  size_t seed = 0;
  for (const auto& item : items) seed = hash_combine(seed, hash<std::decay_t<decltype(item)>>()(item));
  return seed;
}
}  // namespace detail

/// A class can have its own: a static function `hash`, or std::hash.
template <class T>
struct hash {
  size_t operator()(const T& value) const { return detail::hash_of(value); }
};
template <class... Items>
struct hash<std::tuple<Items...>> {
  size_t operator()(const std::tuple<Items...>& items) const {
    size_t seed = 0;
    std::apply([&seed](const Items&... item) { ((seed = hash_combine(seed, hash<Items>()(item))), ...); }, items);
    return seed;
  }
};
template <class A, class B>
struct hash<std::pair<A, B>> {
  size_t operator()(const std::pair<A, B>& items) const { return hash_combine(hash<A>()(items.first), hash<B>()(items.second)); }
};
template <class T>
struct hash<ArrayRef<T>> {
  size_t operator()(ArrayRef<T> items) const { return detail::hash_of_list(items); }
};
template <class T>
struct hash<std::vector<T>> {
  size_t operator()(const std::vector<T>& items) const { return detail::hash_of_list(items); }
};
template <class T>
struct hash<complex<T>> {
  size_t operator()(const complex<T>& value) const { return hash_combine(hash<T>()(value.real()), hash<T>()(value.imag())); }
};

/// The hash of several values.
template <class... Items>
size_t get_hash(const Items&... items) {
  return hash<std::tuple<std::decay_t<Items>...>>()(std::tuple<std::decay_t<Items>...>(items...));
}

RLT_NAMESPACE_END
}  // namespace c10
