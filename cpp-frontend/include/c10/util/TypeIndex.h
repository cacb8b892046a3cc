// c10::util::type_index: a number and a name for a type, both known at compile time.
#pragma once

#include <c10/util/ConstexprCrc.h>
#include <c10/util/string_view.h>

#include <ostream>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace util {

struct type_index final : IdWrapper<type_index, uint64_t> {
  constexpr explicit type_index(uint64_t checksum) : IdWrapper(checksum) {}
  friend constexpr bool operator<(type_index a, type_index b) noexcept { return a.underlyingId() < b.underlyingId(); }
  friend std::ostream& operator<<(std::ostream& out, type_index index) { return out << index.underlyingId(); }
};

namespace detail {
/// The compiler's text for this function has the name of T in it.
template <class T>
constexpr std::string_view text_with_type() {
#if defined(_MSC_VER) && !defined(__clang__)
  return __FUNCSIG__;
#else
  return __PRETTY_FUNCTION__;
#endif
}
/// The length of the text before the name, which is the same for all types.
constexpr size_t length_before_type = text_with_type<double>().find("double");
constexpr size_t length_after_type = text_with_type<double>().size() - length_before_type - std::string_view("double").size();
}  // namespace detail

/// The name with its namespaces.
template <class T>
constexpr std::string_view get_fully_qualified_type_name() noexcept {
  constexpr std::string_view text = detail::text_with_type<T>();
  return text.substr(detail::length_before_type, text.size() - detail::length_before_type - detail::length_after_type);
}

/// Equal for types that differ in references and qualifiers only, and for a function and a pointer to it.
template <class T>
constexpr type_index get_type_index() {
  return type_index(crc64(get_fully_qualified_type_name<std::decay_t<T>>()).checksum());
}

}  // namespace util
RLT_NAMESPACE_END
}  // namespace c10

C10_DEFINE_HASH_FOR_IDWRAPPER(c10::util::type_index)
