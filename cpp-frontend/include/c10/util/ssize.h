// c10::ssize: the size of a container as a signed number.
#pragma once

#include <c10/util/Exception.h>

#include <limits>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Container>
constexpr auto ssize(const Container& items) -> std::common_type_t<std::ptrdiff_t, std::make_signed_t<decltype(items.size())>> {
  using Signed = std::common_type_t<std::ptrdiff_t, std::make_signed_t<decltype(items.size())>>;
  auto size = items.size();
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(static_cast<uintmax_t>(size) <= static_cast<uintmax_t>(std::numeric_limits<Signed>::max()),
                                   "ssize: the size ", size, " exceeds the largest signed number");
  return static_cast<Signed>(size);
}

RLT_NAMESPACE_END
}  // namespace c10
