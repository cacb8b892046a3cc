// std::to_string and similar under the names of c10::guts.
#pragma once

#include <c10/macros/Macros.h>

#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN
using std::stod;
using std::stoi;
using std::stoll;
using std::stoull;
using std::to_string;
RLT_NAMESPACE_END
}  // namespace c10
