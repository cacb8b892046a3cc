// The element types of quantized tensors. Each wraps an integer and defines no arithmetic.
#pragma once

#include <c10/macros/Macros.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

#define RLT_QUANTIZED_TYPE(Name, Integer)            \
  struct alignas(sizeof(Integer)) Name {             \
    using underlying = Integer;                      \
    Integer val_;                                    \
    Name() = default;                                \
    constexpr explicit Name(Integer value) : val_(value) {} \
  };
RLT_QUANTIZED_TYPE(qint8, int8_t)
RLT_QUANTIZED_TYPE(quint8, uint8_t)
RLT_QUANTIZED_TYPE(qint32, int32_t)
// A byte holds 2 or 4 elements.
RLT_QUANTIZED_TYPE(quint4x2, uint8_t)
RLT_QUANTIZED_TYPE(quint2x4, uint8_t)
#undef RLT_QUANTIZED_TYPE

RLT_NAMESPACE_END
}  // namespace c10
