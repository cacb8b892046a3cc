// torch::optim::serialize<State, Options>: saves and loads custom optimizers.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

template <class State, class Options>
void serialize(torch::serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.Optimizer::save(archive);
}
template <class State, class Options>
void serialize(torch::serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load_new(archive, [] { return std::unique_ptr<OptimizerParamState>(new State); });
}

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
