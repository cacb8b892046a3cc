// Options of the activations.
#pragma once

#include <torch/arg.h>
#include <torch/nn/options/multihead_attention.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct ELUOptions {
  /// The factor of exp(x) - 1.
  TORCH_ARG(double, alpha) = 1.0;
  /// Computes in place.
  TORCH_ARG(bool, inplace) = false;
};

struct SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};

struct GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  /// The dimension to split in half.
  TORCH_ARG(int64_t, dim);
};

struct GELUOptions {
  /// "none", or "tanh" for the approximation by tanh.
  TORCH_ARG(std::string, approximate) = "none";
};

struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  /// Elements between -lambda and lambda become zero.
  TORCH_ARG(double, lambda);
};

struct HardtanhOptions {
  TORCH_ARG(double, min_val) = -1.0;
  TORCH_ARG(double, max_val) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};

struct LeakyReLUOptions {
  /// The factor of negative elements.
  TORCH_ARG(double, negative_slope) = 1e-2;
  TORCH_ARG(bool, inplace) = false;
};

struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  /// The dimension that sums to one.
  TORCH_ARG(int64_t, dim);
};

struct SoftminOptions {
  SoftminOptions(int64_t dim) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
};

struct LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}
  /// The dimension whose exponentials sum to one.
  TORCH_ARG(int64_t, dim);
};

struct PReLUOptions {
  /// One slope for all, or one per channel.
  TORCH_ARG(int64_t, num_parameters) = 1;
  /// Initial value of the slopes.
  TORCH_ARG(double, init) = 0.25;
};

struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};

struct ReLU6Options {
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}
  TORCH_ARG(bool, inplace);
};

struct RReLUOptions {
  /// The bounds of the random slope.
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  TORCH_ARG(bool, inplace) = false;
};

struct CELUOptions {
  TORCH_ARG(double, alpha) = 1.0;
  TORCH_ARG(bool, inplace) = false;
};

struct SoftplusOptions {
  TORCH_ARG(double, beta) = 1.0;
  /// The threshold of beta x above which the result is x.
  TORCH_ARG(double, threshold) = 20.0;
};

struct SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TORCH_ARG(double, lambda);
};

struct ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  TORCH_ARG(double, threshold);
  /// Replacement for elements up to the threshold.
  TORCH_ARG(double, value);
  TORCH_ARG(bool, inplace) = false;
};

namespace functional {
using CELUFuncOptions = CELUOptions;
using ELUFuncOptions = ELUOptions;
using GELUFuncOptions = GELUOptions;
using GLUFuncOptions = GLUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using ReLUFuncOptions = ReLUOptions;
using SELUFuncOptions = SELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;

struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
  /// The dtype to which the input is converted first.
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct RReLUFuncOptions {
  TORCH_ARG(double, lower) = 1.0 / 8.0;
  TORCH_ARG(double, upper) = 1.0 / 3.0;
  /// Whether to sample the slopes; otherwise their mean is used.
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};

struct GumbelSoftmaxFuncOptions {
  /// The temperature.
  TORCH_ARG(double, tau) = 1.0;
  /// Returns one-hot samples with the gradient of soft ones.
  TORCH_ARG(bool, hard) = false;
  TORCH_ARG(int, dim) = -1;
};
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
