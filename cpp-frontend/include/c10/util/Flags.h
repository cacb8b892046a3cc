// Flags of a program: C10_DEFINE_*, and ParseCommandLineFlags, which reads `--name=value`.
#pragma once

#include <c10/util/Exception.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

inline bool parse_flag(const std::string& text, std::string& value) {
  value = text;
  return true;
}
inline bool parse_flag(const std::string& text, bool& value) {
  bool yes = text == "true" || text == "True" || text == "TRUE" || text == "1";
  bool no = text == "false" || text == "False" || text == "FALSE" || text == "0";
  if (yes || no) value = yes;
  return yes || no;
}
inline bool parse_flag(const std::string& text, double& value) {
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end) return false;
  value = number;
  return true;
}
inline bool parse_flag(const std::string& text, int64_t& value) {
  char* end = nullptr;
  errno = 0;
  long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno == ERANGE) return false;
  value = number;
  return true;
}
inline bool parse_flag(const std::string& text, int32_t& value) {
  int64_t number = 0;
  if (!parse_flag(text, number) || number != static_cast<int32_t>(number)) return false;
  value = static_cast<int32_t>(number);
  return true;
}

struct Flag {
  std::string help;
  bool is_bool;
  bool (*parse)(const std::string& text, void* value);
  void* value;
};
/// All flags of the program by their names.
inline std::map<std::string, Flag>& all_flags() {
  static std::map<std::string, Flag> flags;
  return flags;
}
template <class T>
bool add_flag(const char* name, const char* help, T* value) {
  auto parse = [](const std::string& text, void* target) { return parse_flag(text, *static_cast<T*>(target)); };
  return all_flags().emplace(name, Flag{help, std::is_same_v<T, bool>, parse, value}).second;
}

struct CommandLine {
  std::string usage;
  bool parsed = false;
};
inline CommandLine& command_line() {
  static CommandLine line;
  return line;
}

}  // namespace detail

inline void SetUsageMessage(const std::string& text) { detail::command_line().usage = text; }
/// The message of SetUsageMessage, and the flags with their explanations.
inline const char* UsageMessage() {
  static thread_local std::string message;
  message = detail::command_line().usage;
  for (const auto& [name, flag] : detail::all_flags()) message += "\n    --" + name + " (" + flag.help + ")";
  return message.c_str();
}

/// Sets the flags and takes them out of the arguments. Returns false if a flag has no value of its type; flags that do not exist stay.
inline bool ParseCommandLineFlags(int* argc, char*** argv) {
  if (*argc == 0) return true;
  bool valid = true;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    std::string argument = (*argv)[i];
    size_t dashes = argument.rfind("--", 0) == 0 ? 2 : argument.rfind("-", 0) == 0 ? 1 : 0;
    size_t equals = argument.find('=');
    std::string name = argument.substr(dashes, equals == std::string::npos ? std::string::npos : equals - dashes);
    auto found = detail::all_flags().find(name);
    if (dashes == 0 || found == detail::all_flags().end()) {
      (*argv)[kept++] = (*argv)[i];
      continue;
    }
    std::string value;
    if (equals != std::string::npos) value = argument.substr(equals + 1);
    else if (found->second.is_bool) value = "true";
    else if (i + 1 < *argc) value = (*argv)[++i];
    valid = found->second.parse(value, found->second.value) && valid;
  }
  *argc = kept;
  detail::command_line().parsed = true;
  return valid;
}
inline bool CommandLineFlagsHasBeenParsed() { return detail::command_line().parsed; }

RLT_NAMESPACE_END
}  // namespace c10

#define RLT_DEFINE_FLAG(Type, name, default_value, help)                                  \
  Type FLAGS_##name = default_value;                                                      \
  namespace {                                                                             \
  [[maybe_unused]] const bool rlt_flag_##name = ::c10::detail::add_flag(#name, help, &FLAGS_##name); \
  }
#define C10_DEFINE_int32(name, default_value, help) RLT_DEFINE_FLAG(int32_t, name, default_value, help)
#define C10_DEFINE_int(name, default_value, help) C10_DEFINE_int32(name, default_value, help)
#define C10_DEFINE_int64(name, default_value, help) RLT_DEFINE_FLAG(int64_t, name, default_value, help)
#define C10_DEFINE_double(name, default_value, help) RLT_DEFINE_FLAG(double, name, default_value, help)
#define C10_DEFINE_bool(name, default_value, help) RLT_DEFINE_FLAG(bool, name, default_value, help)
#define C10_DEFINE_string(name, default_value, help) RLT_DEFINE_FLAG(std::string, name, default_value, help)

#define C10_DECLARE_int32(name) extern int32_t FLAGS_##name
#define C10_DECLARE_int(name) C10_DECLARE_int32(name)
#define C10_DECLARE_int64(name) extern int64_t FLAGS_##name
#define C10_DECLARE_double(name) extern double FLAGS_##name
#define C10_DECLARE_bool(name) extern bool FLAGS_##name
#define C10_DECLARE_string(name) extern std::string FLAGS_##name
