// The name of the calling thread, as debuggers and profilers show it.
#pragma once

#include <c10/macros/Macros.h>

#include <string>

#if defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Linux keeps the first 15 characters.
inline void setThreadName(std::string name) {
#if defined(__linux__)
  name.resize(name.size() < 15 ? name.size() : 15);
  pthread_setname_np(pthread_self(), name.c_str());
#elif defined(__APPLE__)
  pthread_setname_np(name.c_str());
#else
  (void)name;
#endif
}
/// Empty where threads have no names.
inline std::string getThreadName() {
  char name[64] = {};
#if defined(__linux__) || defined(__APPLE__)
  pthread_getname_np(pthread_self(), name, sizeof name);
#endif
  return name;
}

RLT_NAMESPACE_END
}  // namespace c10
