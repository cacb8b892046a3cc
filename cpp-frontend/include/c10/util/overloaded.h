// c10::overloaded: several functions as one, for std::visit.
#pragma once

#include <c10/macros/Macros.h>

#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class... Functions>
struct overloaded_t : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
overloaded_t<Functions...> overloaded(Functions... functions) {
  return {std::move(functions)...};
}

RLT_NAMESPACE_END
}  // namespace c10
