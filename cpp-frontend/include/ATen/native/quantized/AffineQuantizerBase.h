// Affine quantization of single numbers: integer = round(value / scale) + zero_point, limited to the numbers of the quantized type.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/quantized_types.h>

#include <cmath>
#include <limits>

namespace at {
RLT_NAMESPACE_BEGIN
namespace native {

namespace detail {
/// The nearest integer of the type, as T. NaN becomes the smallest.
template <class T>
T saturated(double value) {
  using Integer = typename T::underlying;
  constexpr double low = std::numeric_limits<Integer>::min(), high = std::numeric_limits<Integer>::max();
  return T(static_cast<Integer>(value > low ? (value < high ? value : high) : low));
}
}  // namespace detail

/// Ties round to the even number. The result of the division is a float.
template <class T>
T quantize_val(double scale, int64_t zero_point, float value) {
  TORCH_CHECK(scale > 0, "quantize_val: scale must be positive, got ", scale);
  float inverse = 1.0f / static_cast<float>(scale);
  return detail::saturated<T>(static_cast<double>(std::nearbyint(value * inverse)) + static_cast<double>(zero_point));
}
template <class T>
float dequantize_val(double scale, int64_t zero_point, T value) {
  return (static_cast<float>(value.val_) - static_cast<float>(zero_point)) * static_cast<float>(scale);
}
/// Quantizes `count` numbers.
template <class T>
void quantize_vec(double scale, int64_t zero_point, const float* source, T* target, size_t count = 8) {
  for (size_t i = 0; i < count; ++i) target[i] = quantize_val<T>(scale, zero_point, source[i]);
}
/// From one scale and zero point to another.
template <class From, class To>
To requantize_val(double source_scale, int64_t source_zero_point, double target_scale, int64_t target_zero_point, From value) {
  return quantize_val<To>(target_scale, target_zero_point, dequantize_val<From>(source_scale, source_zero_point, value));
}
/// round(value * multiplier) + zero_point
template <class T>
T requantize_from_int(double multiplier, int64_t zero_point, int64_t value) {
  return detail::saturated<T>(static_cast<double>(std::nearbyint(static_cast<float>(value) * static_cast<float>(multiplier))) +
                              static_cast<double>(zero_point));
}
/// With a zero point that is not an integer.
template <class T>
T quantize_val_float_qparams(float scale, float zero_point, float value) {
  return detail::saturated<T>(std::nearbyint(value / scale + zero_point));
}

}  // namespace native
RLT_NAMESPACE_END
}  // namespace at
