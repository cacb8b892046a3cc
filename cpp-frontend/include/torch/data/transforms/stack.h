// Stack: the tensors of a batch in one tensor, along a new first dimension.
#pragma once

#include <torch/data/transforms/collate.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace transforms {

template <class T = Example<>>
struct Stack;

// Partial specializations, so that only programs that stack compile them.
template <class Data, class Target>
struct Stack<Example<Data, Target>> : public Collation<Example<Data, Target>> {
  Example<Data, Target> apply_batch(std::vector<Example<Data, Target>> examples) override {
    std::vector<Data> data;
    std::vector<Target> targets;
    data.reserve(examples.size());
    targets.reserve(examples.size());
    for (Example<Data, Target>& example : examples) {
      data.push_back(std::move(example.data));
      targets.push_back(std::move(example.target));
    }
    return {torch::stack(data), torch::stack(targets)};
  }
};

template <class Data>
struct Stack<Example<Data, void>> : public Collation<Example<Data, void>> {
  Example<Data, void> apply_batch(std::vector<Example<Data, void>> examples) override {
    std::vector<Data> data;
    data.reserve(examples.size());
    for (Example<Data, void>& example : examples) data.push_back(std::move(example.data));
    return torch::stack(data);
  }
};

}  // namespace transforms
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
