// c10::bit_cast: a value of another type with the same bytes.
#pragma once

#include <c10/macros/Macros.h>

#include <cstring>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class To, class From>
std::enable_if_t<sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>, To> bit_cast(
    const From& from) noexcept {
  static_assert(std::is_default_constructible_v<To>, "bit_cast requires a type with a default constructor");
  To to;
  std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  return to;
}

RLT_NAMESPACE_END
}  // namespace c10
