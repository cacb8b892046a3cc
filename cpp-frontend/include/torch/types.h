// The names of namespace torch for tensors, and torch::tensor.
#pragma once

#include <ATen/ATen.h>
#include <torch/detail/tensor_data.h>
#include <torch/enum.h>

namespace torch {
RLT_NAMESPACE_BEGIN

using at::Tensor;
using at::TensorList;
using Dtype = at::ScalarType;
using c10::nullopt;
using c10::optional;

RLT_NAMESPACE_END
}  // namespace torch
