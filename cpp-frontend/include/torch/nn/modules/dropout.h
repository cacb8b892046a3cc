// Dropout.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional/dropout.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Sets elements to zero with probability p while training, and scales the others by 1 / (1 - p).
class DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  RLT_LAZY explicit DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
  RLT_LAZY explicit DropoutImpl(const DropoutOptions& options_ = {}) : options(options_) { DropoutImpl::reset(); }
  void reset() override {
    if (!(options.p() >= 0 && options.p() <= 1)) {
      rlt::raise<Error>("dropout probability has to be between 0 and 1, but got " + rlt::text_of(options.p()));
    }
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Dropout(p=" << options.p() << ", inplace=" << (options.inplace() ? "true" : "false") << ")";
  }
  Tensor forward(Tensor input) {
    return functional::dropout(std::move(input), functional::DropoutFuncOptions().p(options.p()).training(is_training()).inplace(options.inplace()));
  }

  DropoutOptions options;
};
TORCH_MODULE(Dropout);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
