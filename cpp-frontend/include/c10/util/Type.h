// Names of C++ types, readable.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>
#if RLT_RTTI && defined(__GNUC__)
#include <cxxabi.h>
#endif

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A type's name as it is written in a program, without the library's inline namespace.
inline std::string demangle(const char* mangled) {
  std::string name = mangled;
#if RLT_RTTI && defined(__GNUC__)
  int status = 0;
  if (char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status)) {
    name = text;
    std::free(text);
  }
#endif
  for (size_t at = name.find("rlt_1::"); at != std::string::npos; at = name.find("rlt_1::", at)) name.erase(at, 7);
  return name;
}

#if RLT_RTTI
template <class T>
const char* demangle_type() {
  static const std::string& name = *(new std::string(demangle(typeid(T).name())));
  return name.c_str();
}
#else
template <class T>
const char* demangle_type() {
  return "(unknown without RTTI)";
}
#endif

RLT_NAMESPACE_END
}  // namespace c10
