// Functional form of dropout.
#pragma once

#include <torch/nn/options/dropout.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

inline Tensor dropout(Tensor input, const DropoutFuncOptions& options = {}) {
  if (!(options.p() >= 0 && options.p() <= 1)) {
    rlt::raise<Error>("dropout probability has to be between 0 and 1, but got " + rlt::text_of(options.p()));
  }
  return options.inplace() ? torch::dropout_(input, options.p(), options.training()) : torch::dropout(input, options.p(), options.training());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
