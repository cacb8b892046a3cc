// Reductions of a loss: the numbers that operators take.
#pragma once

#include <c10/macros/Macros.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}
RLT_NAMESPACE_END
}  // namespace at
