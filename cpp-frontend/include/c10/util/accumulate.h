// Sums and products of integers in int64_t, and the numbers of elements between dimensions.
#pragma once

#include <c10/util/Exception.h>

#include <iterator>
#include <numeric>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Iterator, std::enable_if_t<std::is_integral_v<typename std::iterator_traits<Iterator>::value_type>, bool> = true>
int64_t sum_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t{0});
}
template <class Container, std::enable_if_t<std::is_integral_v<typename Container::value_type>, bool> = true>
int64_t sum_integers(const Container& items) {
  return sum_integers(items.begin(), items.end());
}

template <class Iterator, std::enable_if_t<std::is_integral_v<typename std::iterator_traits<Iterator>::value_type>, bool> = true>
int64_t multiply_integers(Iterator begin, Iterator end) {
  int64_t product = 1;
  for (; begin != end; ++begin) product *= static_cast<int64_t>(*begin);
  return product;
}
template <class Container, std::enable_if_t<std::is_integral_v<typename Container::value_type>, bool> = true>
int64_t multiply_integers(const Container& items) {
  return multiply_integers(items.begin(), items.end());
}

/// The product of the sizes from dimension k on; 1 if there are none.
template <class Container>
int64_t numelements_from_dim(int k, const Container& sizes) {
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(k >= 0);
  if (k < 0 || static_cast<size_t>(k) > sizes.size()) return 1;
  return multiply_integers(std::next(sizes.begin(), k), sizes.end());
}

/// The product of the sizes before dimension k.
template <class Container>
int64_t numelements_to_dim(int k, const Container& sizes) {
  TORCH_INTERNAL_ASSERT(k >= 0 && static_cast<size_t>(k) <= sizes.size(), "numelements_to_dim: dimension ", k, " of ", sizes.size());
  return multiply_integers(sizes.begin(), std::next(sizes.begin(), k));
}

/// The product of the sizes from the smaller dimension up to the larger one.
template <class Container>
int64_t numelements_between_dim(int k, int l, const Container& sizes) {
  int first = k < l ? k : l;
  int last = k < l ? l : k;
  TORCH_INTERNAL_ASSERT(first >= 0 && static_cast<size_t>(last) <= sizes.size(), "numelements_between_dim: dimensions ", k, " and ", l, " of ",
                        sizes.size());
  return multiply_integers(std::next(sizes.begin(), first), std::next(sizes.begin(), last));
}

RLT_NAMESPACE_END
}  // namespace c10
