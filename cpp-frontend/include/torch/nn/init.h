// Initialization of parameters, in place and outside of autograd.
#pragma once

#include <c10/core/GradMode.h>
#include <torch/types.h>

#include <cmath>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace init {

using NonlinearityType = enumtype::OneOf<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D, enumtype::kConvTranspose1D,
                                      enumtype::kConvTranspose2D, enumtype::kConvTranspose3D, enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU,
                                      enumtype::kLeakyReLU>;
using FanModeType = enumtype::OneOf<enumtype::kFanIn, enumtype::kFanOut>;

/// Fan-in and fan-out: columns and rows of a matrix, times the size of a convolution's window.
inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  IntArrayRef sizes = tensor.sizes();
  if (sizes.size() < 2) rlt::raise<Error>("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  int64_t window = 1;
  for (size_t i = 2; i < sizes.size(); ++i) window *= sizes[i];
  return {sizes[1] * window, sizes[0] * window};
}

/// The recommended factor on the deviation for a nonlinearity.
inline double calculate_gain(NonlinearityType nonlinearity, double param = 0.01) {
  if (nonlinearity.is<enumtype::kTanh>()) return 5.0 / 3.0;
  if (nonlinearity.is<enumtype::kReLU>()) return std::sqrt(2.0);
  if (nonlinearity.is<enumtype::kLeakyReLU>()) return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

inline Tensor constant_(Tensor tensor, Scalar value) {
  NoGradGuard guard;
  return tensor.fill_(value);
}
inline Tensor zeros_(Tensor tensor) {
  NoGradGuard guard;
  return tensor.zero_();
}
inline Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
inline Tensor uniform_(Tensor tensor, double low = 0, double high = 1) {
  NoGradGuard guard;
  return tensor.uniform_(low, high);
}
inline Tensor normal_(Tensor tensor, double mean = 0, double std = 1) {
  NoGradGuard guard;
  return tensor.normal_(mean, std);
}
/// The identity matrix.
inline Tensor eye_(Tensor matrix) {
  NoGradGuard guard;
  if (matrix.dim() != 2) rlt::raise<Error>("Only tensors with 2 dimensions are supported");
  matrix.zero_();
  int64_t count = matrix.size(0) < matrix.size(1) ? matrix.size(0) : matrix.size(1);
  matrix.as_strided({count}, {matrix.stride(0) + matrix.stride(1)}).fill_(1);
  return matrix;
}

/// A kernel that preserves channels: a 1 in the middle of the window from each channel to itself.
inline Tensor dirac_(Tensor tensor) {
  NoGradGuard guard;
  int64_t dims = tensor.dim();
  if (dims < 3 || dims > 5) rlt::raise<Error>("Only tensors with 3, 4, or 5 dimensions are supported");
  tensor.zero_();
  int64_t count = tensor.size(0) < tensor.size(1) ? tensor.size(0) : tensor.size(1);
  Tensor middle = tensor;
  for (int64_t i = 2; i < dims; ++i) middle = middle.select(2, tensor.size(i) / 2);
  middle.diagonal().narrow(0, 0, count).fill_(1);
  return tensor;
}
/// Normal numbers, with a fraction `sparsity` of zeros in each column.
inline Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01) {
  NoGradGuard guard;
  if (tensor.dim() != 2) rlt::raise<Error>("Only tensors with 2 dimensions are supported");
  int64_t rows = tensor.size(0);
  int64_t zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < tensor.size(1); ++column) {
    tensor.select(1, column).index_fill_(0, torch::randperm(rows, TensorOptions(kLong)).narrow(0, 0, zeros), 0);
  }
  return tensor;
}

/// A matrix with orthogonal rows or columns, times `gain`; dimensions after the first count as columns.
RLT_LAZY Tensor orthogonal_(Tensor tensor, double gain = 1.0) {
  NoGradGuard guard;
  if (tensor.dim() < 2) rlt::raise<Error>("Only tensors with 2 or more dimensions are supported");
  int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor matrix = torch::randn({rows, columns});
  if (rows < columns) matrix = matrix.t();
  auto [q, r] = linalg_qr(matrix);
  Tensor result = q * r.diagonal().sign();
  if (rows < columns) result = result.t();
  tensor.view_as(result).copy_(result);
  return tensor.mul_(gain);
}

namespace detail {
inline double kaiming_deviation(const Tensor& tensor, double a, const FanModeType& mode, const NonlinearityType& nonlinearity) {
  auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  int64_t fan = mode.is<enumtype::kFanIn>() ? fan_in : fan_out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}
inline double xavier_deviation(const Tensor& tensor, double gain) {
  auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}
}  // namespace detail

/// Uniform with a deviation that keeps the size of activations (He et al. 2015).
inline Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = torch::kFanIn, NonlinearityType nonlinearity = torch::kLeakyReLU) {
  double bound = std::sqrt(3.0) * detail::kaiming_deviation(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}
inline Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = torch::kFanIn, NonlinearityType nonlinearity = torch::kLeakyReLU) {
  double std = detail::kaiming_deviation(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}
/// Uniform with a deviation between those that keep activations and gradients (Glorot & Bengio 2010).
inline Tensor xavier_uniform_(Tensor tensor, double gain = 1.0) {
  double bound = std::sqrt(3.0) * detail::xavier_deviation(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}
inline Tensor xavier_normal_(Tensor tensor, double gain = 1.0) {
  double std = detail::xavier_deviation(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

}  // namespace init
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
