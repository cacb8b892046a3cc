// c10::array_of: a std::array of the given type from elements.
#pragma once

#include <c10/macros/Macros.h>

#include <array>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN
template <class V, class... T>
constexpr std::array<V, sizeof...(T)> array_of(T&&... items) {
  return {{std::forward<T>(items)...}};
}
RLT_NAMESPACE_END
}  // namespace c10
