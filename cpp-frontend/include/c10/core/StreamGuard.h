// StreamGuard, OptionalStreamGuard and MultiStreamGuard: streams of any kind of device are the current ones for a scope.
#pragma once

#include <c10/core/impl/InlineStreamGuard.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

using StreamGuard = impl::InlineStreamGuard<impl::VirtualGuardImpl>;
using OptionalStreamGuard = impl::InlineOptionalStreamGuard<impl::VirtualGuardImpl>;
using MultiStreamGuard = impl::InlineMultiStreamGuard<impl::VirtualGuardImpl>;

RLT_NAMESPACE_END
}  // namespace c10
