// OperatorName: the name of an operator and of its overload.
#pragma once

#include <c10/macros/Macros.h>

#include <ostream>
#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// `aten::add` with the overload `Tensor`.
struct OperatorName {
  std::string name;
  std::string overload_name;
};
inline bool operator==(const OperatorName& a, const OperatorName& b) { return a.name == b.name && a.overload_name == b.overload_name; }
inline bool operator!=(const OperatorName& a, const OperatorName& b) { return !(a == b); }
inline std::string toString(const OperatorName& op) { return op.name + (op.overload_name.empty() ? "" : ".") + op.overload_name; }
inline std::ostream& operator<<(std::ostream& stream, const OperatorName& op) { return stream << toString(op); }

RLT_NAMESPACE_END
}  // namespace c10
