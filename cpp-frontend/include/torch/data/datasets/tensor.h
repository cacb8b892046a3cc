// TensorDataset: the slices of a tensor along its first dimension.
#pragma once

#include <torch/data/datasets/base.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace datasets {

struct TensorDataset : public Dataset<TensorDataset, TensorExample> {
  RLT_LAZY explicit TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(torch::stack(tensors)) {}
  RLT_LAZY explicit TensorDataset(Tensor all) : tensor(std::move(all)) {}
  TensorExample get(size_t index) override { return tensor[static_cast<int64_t>(index)]; }
  std::optional<size_t> size() const override { return static_cast<size_t>(tensor.size(0)); }

  Tensor tensor;
};

}  // namespace datasets
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
