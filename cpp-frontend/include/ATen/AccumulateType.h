// acc_type: the type in which kernels add up numbers of another type.
#pragma once

#include <ATen/Config.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <type_traits>

namespace at {
RLT_NAMESPACE_BEGIN

namespace detail {
/// Real floating-point numbers; only the CPU adds up float in double, and Metal has no double.
template <class T, c10::DeviceType D>
using AccumulateReal = std::conditional_t<D == c10::DeviceType::MPS, float,
                                          std::conditional_t<std::is_same_v<T, double> || (D == c10::DeviceType::CPU && std::is_same_v<T, float>), double, float>>;

template <class T, c10::DeviceType D>
struct AccumulateOf {
  using type = std::conditional_t<std::is_same_v<T, bool>, bool, std::conditional_t<std::is_integral_v<T>, int64_t, AccumulateReal<T, D>>>;
};
template <class T, c10::DeviceType D>
struct AccumulateOf<c10::complex<T>, D> {
  using type = c10::complex<AccumulateReal<T, D>>;
};
}  // namespace detail

template <class T, c10::DeviceType D>
struct AccumulateTypeDevice : detail::AccumulateOf<T, D> {};
template <class T, bool is_cuda>
struct AccumulateType : AccumulateTypeDevice<T, is_cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU> {};

template <class T, c10::DeviceType device>
using acc_type_device = typename AccumulateTypeDevice<T, device>::type;
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

/// The same for dtypes.
inline c10::ScalarType toAccumulateType(c10::ScalarType type, c10::DeviceType device) {
  bool cpu = device == c10::DeviceType::CPU, metal = device == c10::DeviceType::MPS;
  if (type == c10::ScalarType::Bool) return type;
  if (c10::isIntegralType(type, false)) return c10::ScalarType::Long;
  if (c10::isReducedFloatingType(type)) return c10::ScalarType::Float;
  switch (type) {
    case c10::ScalarType::Float:
    case c10::ScalarType::Double:
      return !metal && (cpu || type == c10::ScalarType::Double) ? c10::ScalarType::Double : c10::ScalarType::Float;
    case c10::ScalarType::ComplexFloat:
    case c10::ScalarType::ComplexDouble:
      return !metal && (cpu || type == c10::ScalarType::ComplexDouble) ? c10::ScalarType::ComplexDouble : c10::ScalarType::ComplexFloat;
    default:
      TORCH_CHECK(false, "toAccumulateType: numbers of type ", type, " cannot be accumulated on ", c10::DeviceTypeName(device));
  }
}
inline c10::ScalarType toAccumulateType(c10::ScalarType type, bool is_cuda) {
  return toAccumulateType(type, is_cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU);
}

RLT_NAMESPACE_END
}  // namespace at
