// OperatorName: the name of an operator and of its overload.
#pragma once

#include <c10/macros/Macros.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// `aten::add` with the overload `Tensor`.
struct OperatorName {
  std::string name;
  std::string overload_name;

  OperatorName() = default;
  OperatorName(std::string operator_name, std::string overload) : name(std::move(operator_name)), overload_name(std::move(overload)) {}
  /// `aten`; the view is into `name`.
  std::optional<std::string_view> getNamespace() const {
    size_t end = name.find("::");
    if (end == std::string::npos) return std::nullopt;
    return std::string_view(name).substr(0, end);
  }
  /// False if the name has a namespace already.
  bool setNamespaceIfNotSet(const char* space) {
    if (getNamespace()) return false;
    name = std::string(space) + "::" + name;
    return true;
  }
};
inline bool operator==(const OperatorName& a, const OperatorName& b) { return a.name == b.name && a.overload_name == b.overload_name; }
inline bool operator!=(const OperatorName& a, const OperatorName& b) { return !(a == b); }
inline std::string toString(const OperatorName& op) { return op.name + (op.overload_name.empty() ? "" : ".") + op.overload_name; }
inline std::ostream& operator<<(std::ostream& stream, const OperatorName& op) { return stream << toString(op); }

RLT_NAMESPACE_END
}  // namespace c10
