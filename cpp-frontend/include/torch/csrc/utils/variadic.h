// Packs of arguments: a function applied to each, indices of them.
#pragma once

#include <torch/types.h>

#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN

template <size_t... Is>
struct Indices {};
namespace detail {
template <size_t... Is>
Indices<Is...> indices_of(std::index_sequence<Is...>);
}
/// MakeIndices<3>::indices is Indices<0, 1, 2>.
template <size_t N>
struct MakeIndices {
  using indices = decltype(detail::indices_of(std::make_index_sequence<N>()));
};

/// Calls `function` with each argument, from left to right.
template <class Function, class... Ts>
void apply(Function function, Ts&&... arguments) {
  ((void)function(std::forward<Ts>(arguments)), ...);
}

RLT_NAMESPACE_END
}  // namespace torch
