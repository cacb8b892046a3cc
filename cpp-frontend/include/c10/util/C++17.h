// Helpers from before C++17: is_pod and apply.
#pragma once

#include <c10/macros/Macros.h>

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
using is_pod = std::conjunction<std::is_standard_layout<T>, std::is_trivial<T>>;
template <class T>
constexpr bool is_pod_v = is_pod<T>::value;

namespace guts {
template <class F, class Tuple>
constexpr decltype(auto) apply(F&& function, Tuple&& arguments) {
  return std::apply(std::forward<F>(function), std::forward<Tuple>(arguments));
}
}  // namespace guts

RLT_NAMESPACE_END
}  // namespace c10
