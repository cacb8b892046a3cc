// Stack: the tensors of a batch in one tensor, along a new first dimension.
#pragma once

#include <torch/data/transforms/collate.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace transforms {

template <class T = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override {
    std::vector<Tensor> data, targets;
    data.reserve(examples.size());
    targets.reserve(examples.size());
    for (Example<>& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(std::move(example.target));
    }
    return {torch::stack(data), torch::stack(targets)};
  }
};

template <>
struct Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override {
    std::vector<Tensor> data;
    data.reserve(examples.size());
    for (TensorExample& example : examples) data.push_back(std::move(example.data));
    return torch::stack(data);
  }
};

}  // namespace transforms
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
