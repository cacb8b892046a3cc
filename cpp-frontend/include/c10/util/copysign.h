// c10::copysign: std::copysign, for Half and BFloat16 as well.
#pragma once

#include <c10/util/BFloat16.h>

#include <cmath>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T, class U>
auto copysign(const T& magnitude, const U& sign) {
  return std::copysign(magnitude, sign);
}
inline Half copysign(Half magnitude, Half sign) {
  return Half(static_cast<uint16_t>((magnitude.x & 0x7fffu) | (sign.x & 0x8000u)), Half::from_bits());
}
inline BFloat16 copysign(BFloat16 magnitude, BFloat16 sign) {
  return BFloat16(static_cast<uint16_t>((magnitude.x & 0x7fffu) | (sign.x & 0x8000u)), BFloat16::from_bits());
}

RLT_NAMESPACE_END
}  // namespace c10
