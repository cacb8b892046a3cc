// at::OpMathType: the type in which kernels compute, float for half precision.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/complex.h>
#include <c10/util/float8_types.h>

#include <type_traits>

namespace at {
RLT_NAMESPACE_BEGIN

/// A type computes in itself unless it has fewer than 32 bits of floating point.
template <class T>
struct OpMathType {
  using type = T;
};
#define RLT_OPMATH(narrow, wide) \
  template <>                    \
  struct OpMathType<narrow> {    \
    using type = wide;           \
  };
RLT_OPMATH(Half, float)
RLT_OPMATH(BFloat16, float)
RLT_OPMATH(c10::Float8_e5m2, float)
RLT_OPMATH(c10::Float8_e4m3fn, float)
RLT_OPMATH(c10::Float8_e5m2fnuz, float)
RLT_OPMATH(c10::Float8_e4m3fnuz, float)
RLT_OPMATH(c10::complex<Half>, c10::complex<float>)
#undef RLT_OPMATH
template <class T>
using opmath_type = typename OpMathType<T>::type;

/// The same for a dtype that is known at run time.
inline ScalarType toOpMathType(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float8_e5m2:
    case ScalarType::Float8_e4m3fn:
    case ScalarType::Float8_e5m2fnuz:
    case ScalarType::Float8_e4m3fnuz: return ScalarType::Float;
    case ScalarType::ComplexHalf: return ScalarType::ComplexFloat;
    default: return dtype;
  }
}

RLT_NAMESPACE_END
}  // namespace at
