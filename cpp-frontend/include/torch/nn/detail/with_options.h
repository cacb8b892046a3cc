// The base of modules that hold options and no tensors.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/detail/words.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace detail {

template <class Derived, class Options>
class WithOptions : public Cloneable<Derived> {
 public:
  explicit WithOptions(Options options_ = {}) : options(std::move(options_)) {}
  void reset() override {}

  Options options;
};

}  // namespace detail
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
