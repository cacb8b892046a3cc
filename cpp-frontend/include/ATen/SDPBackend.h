// The implementations of attention among which a program chooses.
#pragma once

#include <c10/macros/Macros.h>

namespace at {
RLT_NAMESPACE_BEGIN

constexpr int num_sdp_backends = 5;
enum class SDPBackend { error = -1, math, flash_attention, efficient_attention, cudnn_attention, overrideable };

RLT_NAMESPACE_END
}  // namespace at
