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

// Short names of dtypes.
constexpr Dtype kU8 = at::kByte;
constexpr Dtype kU16 = at::kUInt16;
constexpr Dtype kU32 = at::kUInt32;
constexpr Dtype kU64 = at::kUInt64;
constexpr Dtype kI8 = at::kChar;
constexpr Dtype kI16 = at::kShort;
constexpr Dtype kI32 = at::kInt;
constexpr Dtype kI64 = at::kLong;
constexpr Dtype kF16 = at::kHalf;
constexpr Dtype kF32 = at::kFloat;
constexpr Dtype kF64 = at::kDouble;

RLT_NAMESPACE_END
}  // namespace torch
