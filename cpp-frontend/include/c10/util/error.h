// c10::utils::str_error: the message of an error number of the system.
#pragma once

#include <c10/macros/Macros.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace utils {

/// Safe in every thread; errno is unchanged.
inline std::string str_error(int error_number) {
  int before = errno;
  std::string message = std::generic_category().message(error_number);
  errno = before;
  return message;
}

}  // namespace utils
RLT_NAMESPACE_END
}  // namespace c10
