// Options of the activations.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  /// Writes over the input.
  TORCH_ARG(bool, inplace);
};

struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  /// The dimension that sums to one.
  TORCH_ARG(int64_t, dim);
};

struct LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}
  /// The dimension whose exponentials sum to one.
  TORCH_ARG(int64_t, dim);
};

namespace functional {
using ReLUFuncOptions = ReLUOptions;

struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
  /// Converts the input first.
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};

struct LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TORCH_ARG(int64_t, dim);
  /// Converts the input first.
  TORCH_ARG(std::optional<torch::Dtype>, dtype) = std::nullopt;
};
}  // namespace functional

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
