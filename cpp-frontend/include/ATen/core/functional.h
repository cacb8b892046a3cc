// c10::fmap and c10::filter: a vector from the elements of another list.
#pragma once

#include <c10/util/ArrayRef.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// The results of a function for each element.
template <class F, class T>
auto fmap(const T& inputs, const F& function) -> std::vector<std::decay_t<decltype(function(*inputs.begin()))>> {
  std::vector<std::decay_t<decltype(function(*inputs.begin()))>> results;
  results.reserve(inputs.size());
  for (const auto& input : inputs) results.push_back(function(input));
  return results;
}
/// An R from each element.
template <class R, class T>
std::vector<R> fmap(const T& inputs) {
  std::vector<R> results;
  results.reserve(inputs.size());
  for (auto& input : inputs) results.push_back(R(input));
  return results;
}
/// The elements for which a function returns true.
template <class F, class T>
std::vector<T> filter(ArrayRef<T> inputs, const F& function) {
  std::vector<T> results;
  for (const T& input : inputs) {
    if (function(input)) results.push_back(input);
  }
  return results;
}
template <class F, class T>
std::vector<T> filter(const std::vector<T>& inputs, const F& function) {
  return filter<F, T>(ArrayRef<T>(inputs), function);
}

RLT_NAMESPACE_END
}  // namespace c10
