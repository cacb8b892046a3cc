// Batch normalization, dropout and convolution: functional forms of what updates statistics, and the names of backends.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/out_forms.h>

namespace at {
RLT_NAMESPACE_BEGIN

RLT_LAZY std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit_no_training(const Tensor& input, const std::optional<Tensor>& weight,
                                                                                 const std::optional<Tensor>& bias, const Tensor& running_mean,
                                                                                 const Tensor& running_var, double momentum, double eps) {
  return at::_native_batch_norm_legit(input, weight, bias, running_mean, running_var, false, momentum, eps);
}
/// Also returns the updated statistics.
RLT_LAZY std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _native_batch_norm_legit_functional(const Tensor& input, const std::optional<Tensor>& weight,
                                                                                                const std::optional<Tensor>& bias, const Tensor& running_mean,
                                                                                                const Tensor& running_var, bool training, double momentum,
                                                                                                double eps) {
  Tensor mean = running_mean.clone(), var = running_var.clone();
  return std::tuple_cat(at::_native_batch_norm_legit(input, weight, bias, mean, var, training, momentum, eps), std::make_tuple(mean, var));
}
/// The last result is memory for the gradient, which needs none here.
RLT_LAZY std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_no_update(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                                                          const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                                                                          double momentum, double eps) {
  return std::tuple_cat(at::native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps),
                        std::make_tuple(at::empty({0}, input.options().dtype(kByte))));
}
RLT_LAZY std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update_functional(const Tensor& input, const std::optional<Tensor>& weight,
                                                                                                       const std::optional<Tensor>& bias,
                                                                                                       const Tensor& running_mean, const Tensor& running_var,
                                                                                                       double momentum, double eps) {
  Tensor mean = running_mean.clone(), var = running_var.clone();
  return std::tuple_cat(at::_batch_norm_with_update(input, weight, bias, mean, var, momentum, eps), std::make_tuple(mean, var));
}
/// The means and variances of the channels; updates the running ones.
RLT_LAZY std::tuple<Tensor, Tensor> batch_norm_update_stats(const Tensor& input, const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                                                            double momentum) {
  Tensor channels = input.transpose(0, 1).flatten(1);
  auto [var, mean] = at::var_mean(channels, IntArrayRef{1}, false, false);
  int64_t count = channels.size(1);
  if (running_mean && running_mean->defined()) running_mean->mul_(1 - momentum).add_(mean, momentum);
  if (running_var && running_var->defined()) {
    running_var->mul_(1 - momentum).add_(var * (static_cast<double>(count) / static_cast<double>(std::max<int64_t>(count - 1, 1))), momentum);
  }
  return {mean, var};
}
/// Dropout where `p` is the probability to keep an element, and the mask.
RLT_LAZY std::tuple<Tensor, Tensor> _fused_dropout(const Tensor& self, double p, std::optional<Generator> generator = {}) {
  Tensor mask = at::bernoulli(at::full_like(self, p), generator);
  return {self * mask / p, mask.to(kByte)};
}
RLT_LAZY Tensor _masked_scale(const Tensor& self, const Tensor& mask, double scale) { return self * mask.to(self.scalar_type()) * scale; }
RLT_LAZY Tensor _conv_depthwise2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size, const std::optional<Tensor>& bias, IntArrayRef stride,
                                  IntArrayRef padding, IntArrayRef dilation) {
  TORCH_CHECK(weight.dim() == 4 && weight.sizes().slice(2) == kernel_size, "_conv_depthwise2d: expected a weight of kernel size ", kernel_size, ", but got shape ",
              weight.sizes());
  return at::conv2d(self, weight, bias, stride, padding, dilation, self.size(1));
}
RLT_LAZY bool _nnpack_available() { return false; }
RLT_LAZY Tensor _nnpack_spatial_convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef padding, IntArrayRef stride = 1) {
  return at::conv2d(input, weight, bias, stride, padding);
}
RLT_LAZY std::tuple<Tensor, Tensor, Tensor> _slow_conv2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, IntArrayRef, IntArrayRef stride,
                                                                  IntArrayRef padding, std::array<bool, 3> output_mask) {
  return at::convolution_backward(grad_output, self, weight, IntArrayRef{weight.size(0)}, stride, padding, {1, 1}, false, {0, 0}, 1, output_mask);
}
RLT_LAZY std::tuple<Tensor&, Tensor&, Tensor&> _slow_conv2d_backward_out(Tensor& grad_input, Tensor& grad_weight, Tensor& grad_bias, const Tensor& grad_output,
                                                                          const Tensor& self, const Tensor& weight, IntArrayRef kernel_size, IntArrayRef stride,
                                                                          IntArrayRef padding) {
  return rlt::copy_out("_slow_conv2d_backward", std::tie(grad_input, grad_weight, grad_bias),
                       at::_slow_conv2d_backward(grad_output, self, weight, kernel_size, stride, padding, {true, true, true}));
}
/// Padding by the number of its mode: reflect, replicate, circular, constant.
RLT_LAZY Tensor _pad_enum(const Tensor& self, IntArrayRef pad, int64_t mode, std::optional<double> value = {}) {
  static constexpr const char* names[] = {"reflect", "replicate", "circular", "constant"};
  TORCH_CHECK(mode >= 0 && mode < 4, "_pad_enum: expected a mode from 0 to 3, but got ", mode);
  return at::pad(self, pad, names[mode], value);
}

RLT_OUT_1(_conv_depthwise2d)
RLT_OUT_1(_masked_scale)
RLT_OUT_1(_nnpack_spatial_convolution)
RLT_OUT_2(_fused_dropout)
RLT_OUT_2(batch_norm_update_stats)
RLT_OUT_3(_native_batch_norm_legit_no_training)
RLT_OUT_4(_batch_norm_no_update)

RLT_NAMESPACE_END
}  // namespace at
