// c10::string_view, which is std::string_view.
#pragma once

#include <c10/util/Exception.h>

#include <string_view>

namespace c10 {
RLT_NAMESPACE_BEGIN

using string_view = std::string_view;

RLT_NAMESPACE_END
} // namespace c10
