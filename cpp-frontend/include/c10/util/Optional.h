// std::optional under the names of c10.
#pragma once

#include <c10/macros/Macros.h>

#include <optional>

namespace c10 {
RLT_NAMESPACE_BEGIN
using std::bad_optional_access;
using std::in_place;
using std::in_place_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
RLT_NAMESPACE_END
}  // namespace c10
