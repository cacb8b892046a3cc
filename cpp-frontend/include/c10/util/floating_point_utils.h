// The bits of a float as an integer, and back.
#pragma once

#include <c10/util/Half.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

inline float fp32_from_bits(uint32_t bits) { return float_from_bits(bits); }
inline uint32_t fp32_to_bits(float value) { return float_bits(value); }

}  // namespace detail
RLT_NAMESPACE_END
}  // namespace c10
