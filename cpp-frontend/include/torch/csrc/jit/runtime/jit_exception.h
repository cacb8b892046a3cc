// torch::jit::JITException: an error with the name of the Python class of a `raise` statement. The interpreter itself throws
// c10::Error and the classes derived from it; programs may throw and catch JITException.
#pragma once

#include <c10/util/Exception.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

struct JITException : std::runtime_error {
  explicit JITException(
      const std::string& message,
      std::optional<std::string> python_class_name = std::nullopt,
      std::optional<std::string> original_message = std::nullopt)
      : std::runtime_error(message), python_class_name_(std::move(python_class_name)), original_message_(std::move(original_message)) {}

  std::optional<std::string> getPythonClassName() const { return python_class_name_; }
  /// The message without the prefix of the interpreter.
  std::optional<std::string> getOriginalMsg() const { return original_message_; }

  /// The thread's record of the last caught exception.
  static const std::string& getCaughtOriginalMsg() { return caught().first; }
  static const std::string& getCaughtPythonClassName() { return caught().second; }
  static void setCaughtOriginalMsg(const std::string& message) { caught().first = message; }
  static void setCaughtPythonClassName(const std::string& name) { caught().second = name; }

 private:
  static std::pair<std::string, std::string>& caught() {
    static thread_local std::pair<std::string, std::string> message_and_class;
    return message_and_class;
  }

  std::optional<std::string> python_class_name_;
  std::optional<std::string> original_message_;
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
