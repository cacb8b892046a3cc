// c10::str: converts values to a string through a stream.
#pragma once

#include <c10/macros/Macros.h>

#include <sstream>
#include <string>

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

/// The arguments, written one after the other.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (void)(out << ... << args);
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
