// at::native: libtorch's names of kernels. They are the operators, and compositions of operators that tests compare with kernels.
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace native {

namespace detail {
/// Normalizes the last dimension: the result, the mean and the reciprocal of the standard deviation.
inline std::tuple<Tensor, Tensor, Tensor> normalize(const Tensor& input, double eps) {
  Tensor mean = input.mean(IntArrayRef(static_cast<int64_t>(-1)), true);
  Tensor centered = input - mean;
  Tensor rstd = ((centered * centered).mean(IntArrayRef(static_cast<int64_t>(-1)), true) + eps).rsqrt();
  return {centered * rstd, mean, rstd};
}
}  // namespace detail

/// Group normalization of N x C x HxW numbers: the result, and mean and reciprocal standard deviation of each group.
inline std::tuple<Tensor, Tensor, Tensor> math_group_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                                          int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  TORCH_CHECK(group > 0 && C % group == 0, "Expected number of channels in input to be divisible by num_groups, but got ", C, " channels and num_groups=",
              group);
  auto [normal, mean, rstd] = detail::normalize(input.contiguous().view({N, group, C / group * HxW}), eps);
  Tensor result = normal.view({N, C, HxW});
  if (weight && weight->defined()) result = result * weight->view({C, 1});
  if (bias && bias->defined()) result = result + bias->view({C, 1});
  return {result.view(input.sizes()), mean.view({N, group}), rstd.view({N, group})};
}
/// Normalization of the last dimensions, which have the sizes `normalized_shape`.
inline std::tuple<Tensor, Tensor, Tensor> math_native_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                                                                 const std::optional<Tensor>& bias, double eps) {
  int64_t outer = input.dim() - static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(outer >= 0 && input.sizes().slice(static_cast<size_t>(outer)) == normalized_shape, "Given normalized_shape=", normalized_shape,
              ", expected input with shape [*, ", c10::Join(", ", normalized_shape), "], but got input of size", input.sizes());
  std::vector<int64_t> kept = input.sizes().slice(0, static_cast<size_t>(outer)).vec();
  kept.push_back(-1);
  auto [normal, mean, rstd] = detail::normalize(input.contiguous().view(kept), eps);
  Tensor result = normal.view(input.sizes());
  if (weight && weight->defined()) result = result * *weight;
  if (bias && bias->defined()) result = result + *bias;
  kept.back() = 1;
  kept.insert(kept.end(), normalized_shape.size() - 1, 1);
  return {result, mean.view(kept), rstd.view(kept)};
}
/// beta self + alpha vec1 vec2^T. NaN and infinity of `self` have no effect if beta is 0.
inline Tensor math_addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  Tensor product = at::outer(vec1, vec2) * alpha;
  return beta.toDouble() == 0 ? product : self * beta + product;
}
inline Tensor math_silu_backward(const Tensor& grad_output, const Tensor& input) {
  Tensor sigmoid = input.sigmoid();
  return grad_output * sigmoid * (input * (1 - sigmoid) + 1);
}
inline Tensor math_mish_backward(const Tensor& grad_output, const Tensor& input) {
  Tensor tanh = at::softplus(input).tanh();
  return grad_output * (tanh + input * input.sigmoid() * (1 - tanh * tanh));
}

}  // namespace native
RLT_NAMESPACE_END
}  // namespace at
