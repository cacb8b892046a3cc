// c10::str: converts values to a string through a stream.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/string_utils.h>

#include <sstream>
#include <string>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};

inline std::ostream& operator<<(std::ostream& out, const SourceLocation& where) {
  return out << where.function << " at " << where.file << ":" << where.line;
}

namespace detail {
/// A wide string in UTF-8. A code that is no character becomes U+FFFD.
inline std::string utf8(const wchar_t* text, size_t length) {
  std::string result;
  for (size_t i = 0; i < length; ++i) {
    uint32_t code = static_cast<uint32_t>(text[i]);
    if constexpr (sizeof(wchar_t) == 2) {
      code &= 0xffff;
      if (code >= 0xd800 && code < 0xdc00 && i + 1 < length && (static_cast<uint32_t>(text[i + 1]) & 0xfc00) == 0xdc00) {
        code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<uint32_t>(text[++i]) & 0x3ff);
      }
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    // The first byte tells the number of bytes; each of the others has 6 bits.
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr uint32_t marks[] = {0, 0xc0, 0xe0, 0xf0};
    result += static_cast<char>(marks[more] | code >> (6 * more));
    while (more-- > 0) result += static_cast<char>(0x80 | (code >> (6 * more) & 0x3f));
  }
  return result;
}

template <class T>
void write_to(std::ostream& out, const T& value) {
  out << value;
}
inline void write_to(std::ostream& out, const std::wstring& text) { out << utf8(text.data(), text.size()); }
inline void write_to(std::ostream& out, const wchar_t* text) { write_to(out, std::wstring(text)); }
inline void write_to(std::ostream& out, wchar_t letter) { out << utf8(&letter, 1); }
// The type of an argument: arrays and pointers of any length.
template <class T>
constexpr bool is_wide = false;
template <>
inline constexpr bool is_wide<wchar_t> = true;
template <>
inline constexpr bool is_wide<std::wstring> = true;
template <>
inline constexpr bool is_wide<const wchar_t*> = true;
template <>
inline constexpr bool is_wide<wchar_t*> = true;
template <size_t N>
constexpr bool is_wide<wchar_t[N]> = true;
}  // namespace detail

/// The arguments, written one after the other; wide strings in UTF-8.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  if constexpr ((detail::is_wide<Args> || ...)) (detail::write_to(out, static_cast<const std::decay_t<const Args>&>(args)), ...);
  else (void)(out << ... << args);
  return out.str();
}
inline std::string str() { return {}; }
inline std::string str(const std::string& text) { return text; }
inline std::string str(const char* text) { return text; }

/// The elements of a container with `delimiter` between them.
template <class Container>
std::string Join(const std::string& delimiter, const Container& items) {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out << delimiter;
    out << item;
    first = false;
  }
  return out.str();
}

RLT_NAMESPACE_END
}  // namespace c10
