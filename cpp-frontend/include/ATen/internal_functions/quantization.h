// Quantization: fake quantization with learnable parameters, observers, and products of scaled matrices.
#pragma once

#include <ATen/NamedFunctions.h>
#include <ATen/TensorOperators.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace rlt_fake_quantize {

/// A vector of parameters with the dimensions of `self`, its elements along `axis`; for a tensor as a whole the axis is -1.
RLT_LAZY Tensor along(const Tensor& parameter, const Tensor& self, int64_t axis) {
  if (axis < 0) return parameter.reshape({1});
  std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
  sizes[static_cast<size_t>(axis)] = parameter.numel();
  return parameter.reshape(sizes);
}
RLT_LAZY Tensor rounded_zero_point(const Tensor& zero_point, int64_t quant_min, int64_t quant_max) {
  return zero_point.round().clamp(quant_min, quant_max);
}
/// The gradients with respect to the input, the scale and the zero point.
RLT_LAZY std::tuple<Tensor, Tensor, Tensor> backward(const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis,
                                                     int64_t quant_min, int64_t quant_max, double grad_factor) {
  Tensor scales = along(scale, self, axis), zeros = along(rounded_zero_point(zero_point, quant_min, quant_max), self, axis);
  Tensor quantized = (self / scales + zeros).round();
  Tensor low = quantized < quant_min, high = quantized > quant_max, inside = low.logical_or(high).logical_not();
  Tensor of_scale = at::where(low, quant_min - zeros, at::where(high, quant_max - zeros, quantized - zeros - self / scales)) * grad * grad_factor;
  Tensor of_zero_point = at::where(inside, at::zeros_like(grad), -scales * grad) * grad_factor;
  auto summed = [&](const Tensor& each) {
    if (axis < 0) return each.sum().reshape(scale.sizes());
    std::vector<int64_t> others;
    for (int64_t dim = 0; dim < self.dim(); ++dim) {
      if (dim != axis) others.push_back(dim);
    }
    return others.empty() ? each : each.sum(others);
  };
  return {grad * inside, summed(of_scale), summed(of_zero_point)};
}

}  // namespace rlt_fake_quantize

RLT_LAZY Tensor _fake_quantize_learnable_per_tensor_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                                           double = 1.0) {
  // The number is rounded like this here, and to even in the gradient.
  Tensor zero = (zero_point + 0.5).clamp(quant_min, quant_max).trunc();
  return at::fake_quantize_per_tensor_affine(self, scale.item().toDouble(), zero.item().toLong(), quant_min, quant_max);
}
RLT_LAZY std::tuple<Tensor, Tensor, Tensor> _fake_quantize_learnable_per_tensor_affine_backward(const Tensor& grad, const Tensor& self, const Tensor& scale,
                                                                                                const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                                                                                double grad_factor = 1.0) {
  return rlt_fake_quantize::backward(grad, self, scale, zero_point, -1, quant_min, quant_max, grad_factor);
}
RLT_LAZY Tensor _fake_quantize_learnable_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min,
                                                            int64_t quant_max, double = 1.0) {
  Tensor zeros = rlt_fake_quantize::rounded_zero_point(zero_point, quant_min, quant_max).to(kInt);
  return at::fake_quantize_per_channel_affine(self, scale, zeros, axis, quant_min, quant_max);
}
RLT_LAZY std::tuple<Tensor, Tensor, Tensor> _fake_quantize_learnable_per_channel_affine_backward(const Tensor& grad, const Tensor& self, const Tensor& scale,
                                                                                                 const Tensor& zero_point, int64_t axis, int64_t quant_min,
                                                                                                 int64_t quant_max, double grad_factor = 1.0) {
  return rlt_fake_quantize::backward(grad, self, scale, zero_point, axis, quant_min, quant_max, grad_factor);
}
/// fused_moving_avg_obs_fake_quant, and where the numbers were in range.
RLT_LAZY std::tuple<Tensor, Tensor> _fused_moving_avg_obs_fq_helper(const Tensor& self, const Tensor& observer_on, const Tensor& fake_quant_on,
                                                                    const Tensor& running_min, const Tensor& running_max, const Tensor& scale,
                                                                    const Tensor& zero_point, double averaging_const, int64_t quant_min, int64_t quant_max, int64_t ch_axis, bool per_row_fake_quant = false,
                                                                    bool symmetric_quant = false) {
  Tensor result = at::fused_moving_avg_obs_fake_quant(self, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min,
                                                      quant_max, ch_axis, per_row_fake_quant, symmetric_quant);
  if (!fake_quant_on.is_nonzero()) return {result, at::ones_like(self, TensorOptions(kBool))};
  if (per_row_fake_quant) return {result, std::get<1>(at::fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, ch_axis, quant_min, quant_max))};
  return {result, std::get<1>(at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, fake_quant_on, quant_min, quant_max))};
}
RLT_LAZY std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _fused_moving_avg_obs_fq_helper_functional(
    const Tensor& self, const Tensor& observer_on, const Tensor& fake_quant_on, const Tensor& running_min, const Tensor& running_max, const Tensor& scale,
    const Tensor& zero_point, double averaging_const, int64_t quant_min, int64_t quant_max, int64_t ch_axis, bool per_row_fake_quant = false,
    bool symmetric_quant = false) {
  Tensor low = running_min.clone(), high = running_max.clone(), scales = scale.clone(), zeros = zero_point.clone();
  return std::tuple_cat(at::_fused_moving_avg_obs_fq_helper(self, observer_on, fake_quant_on, low, high, scales, zeros, averaging_const, quant_min, quant_max, ch_axis,
                                                            per_row_fake_quant, symmetric_quant),
                        std::make_tuple(low, high, scales, zeros));
}
RLT_LAZY Tensor quantized_max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                     bool ceil_mode = false) {
  return at::max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
RLT_LAZY Tensor quantized_max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                     bool ceil_mode = false) {
  return at::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
RLT_LAZY Tensor quantized_max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                     bool ceil_mode = false) {
  return at::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode);
}
RLT_LAZY Tensor quantized_batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, const Tensor& mean,
                                     const Tensor& var, double eps, double output_scale, int64_t output_zero_point) {
  using Signature = Tensor(const Tensor&, const std::optional<Tensor>&, const std::optional<Tensor>&, const Tensor&, const Tensor&, double, double, int64_t);
  return rlt::Named<Signature>::call("quantized::batch_norm", "", input, weight, bias, mean, var, eps, output_scale, output_zero_point);
}
/// The product with rows of int8, each with its scale.
RLT_LAZY Tensor _weight_int8pack_mm(const Tensor& self, const Tensor& mat2, const Tensor& scales) {
  TORCH_CHECK(mat2.scalar_type() == kChar, "_weight_int8pack_mm : expect B to be int8 tensor, but got ", mat2.scalar_type());
  return (at::matmul(self.to(kFloat), mat2.to(kFloat).t()) * scales.to(kFloat)).to(self.scalar_type());
}
/// The product of two matrices after each was multiplied by its scale.
RLT_LAZY Tensor _scaled_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a, const Tensor& scale_b, const std::optional<Tensor>& bias = {},
                           const std::optional<Tensor>& scale_result = {}, std::optional<ScalarType> out_dtype = {}, bool = false) {
  Tensor product = at::mm(self.to(kFloat) * scale_a, mat2.to(kFloat) * scale_b);
  if (bias && bias->defined()) product = product + bias->to(kFloat);
  ScalarType dtype = out_dtype.value_or(self.scalar_type());
  bool narrow = dtype == kFloat8_e4m3fn || dtype == kFloat8_e5m2;
  if (narrow && scale_result && scale_result->defined()) product = product * *scale_result;
  return product.to(dtype);
}

RLT_OUT_1(_fake_quantize_learnable_per_channel_affine)
RLT_OUT_1(_fake_quantize_learnable_per_tensor_affine)
RLT_OUT_1(_scaled_mm)
RLT_OUT_1(quantized_batch_norm)
RLT_OUT_1(quantized_max_pool1d)
RLT_OUT_1(quantized_max_pool2d)
RLT_OUT_1(quantized_max_pool3d)
RLT_OUT_2(_fused_moving_avg_obs_fq_helper)

RLT_NAMESPACE_END
}  // namespace at
