// Functions that create special nodes.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// Returns each tensor unchanged, without a gradient.
struct UndefinedGrad {
  RLT_LAZY variable_list apply(variable_list inputs) { return detail::CustomFunction<UndefinedGrad>::apply<variable_list>("UndefinedGradBackward", inputs); }
  RLT_LAZY variable_list operator()(variable_list inputs) { return apply<RltLazy>(std::move(inputs)); }

  static variable_list forward(AutogradContext* context, const variable_list& inputs) {
    context->set_materialize_grads(false);
    return inputs;
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return variable_list(gradients.size()); }
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
