// Environment variables.
#pragma once

#include <c10/util/Exception.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace utils {

inline void set_env(const char* name, const char* value, bool overwrite = true) {
#ifdef _WIN32
  bool failed = (overwrite || !std::getenv(name)) && _putenv_s(name, value) != 0;
#else
  bool failed = setenv(name, value, overwrite) != 0;
#endif
  if (failed) rlt::raise<Error>("setenv failed for environment \"" + std::string(name) + "\"");
}

inline std::optional<std::string> get_env(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}
inline bool has_env(const char* name) noexcept { return std::getenv(name) != nullptr; }

/// "1" is true and "0" false; anything else is neither.
inline std::optional<bool> check_env(const char* name) {
  std::optional<std::string> value = get_env(name);
  if (!value) return std::nullopt;
  if (*value == "0") return false;
  if (*value == "1") return true;
  TORCH_WARN("Ignoring invalid value for boolean flag ", name, ": ", *value, "valid values are 0 or 1.");
  return std::nullopt;
}

}  // namespace utils
RLT_NAMESPACE_END
}  // namespace c10
