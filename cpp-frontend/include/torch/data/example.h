// Example: an item of a dataset and its target.
#pragma once

#include <torch/types.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {

template <class Data = at::Tensor, class Target = at::Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data what, Target wanted) : data(std::move(what)), target(std::move(wanted)) {}

  Data data;
  Target target;
};

namespace example {
using NoTarget = void;
}

/// An item without target: the item itself.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data what) : data(std::move(what)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

using TensorExample = Example<at::Tensor, example::NoTarget>;

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
