// Sizes and lengths that are given as tensors.
#pragma once

#include <ATen/core/TensorBody.h>

#include <vector>

namespace rlt {
RLT_NAMESPACE_BEGIN

/// The elements of a tensor of integers.
RLT_LAZY std::vector<int64_t> integers(const at::Tensor& tensor) {
  at::Tensor all = tensor.to(at::kCPU, at::kLong).contiguous();
  return {all.const_data_ptr<int64_t>(), all.const_data_ptr<int64_t>() + all.numel()};
}

RLT_NAMESPACE_END
}  // namespace rlt
