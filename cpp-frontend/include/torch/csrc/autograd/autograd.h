// autograd::backward and autograd::grad.
#pragma once

#include <torch/csrc/autograd/function.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

namespace detail {
RLT_LAZY const rlt_tensor* const* gradients_for(const variable_list& outputs, const variable_list& gradients) {
  if (gradients.empty()) return nullptr;
  if (gradients.size() != outputs.size()) {
    rlt::raise<Error>("got " + std::to_string(outputs.size()) + " tensors and " + std::to_string(gradients.size()) + " gradients");
  }
  return rlt::handles(gradients);
}
}  // namespace detail

/// Computes the gradients of `tensors` and accumulates them in the leaves (or in `inputs` only).
RLT_LAZY void backward(const variable_list& tensors, const variable_list& grad_tensors = {}, std::optional<bool> retain_graph = std::nullopt,
                     bool create_graph = false, const variable_list& inputs = {}) {
  if (C10_UNLIKELY(create_graph)) rlt::warn_of_create_graph();
  rlt::check(rlt_backward(rlt::handles(tensors), static_cast<int64_t>(tensors.size()), detail::gradients_for(tensors, grad_tensors),
                          retain_graph.value_or(create_graph), create_graph, inputs.empty() ? nullptr : rlt::handles(inputs),
                          static_cast<int64_t>(inputs.size())));
}

/// The gradients of `outputs` with respect to `inputs`; `.grad` is unchanged.
RLT_LAZY variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs = {},
                          std::optional<bool> retain_graph = std::nullopt, bool create_graph = false, bool allow_unused = false) {
  variable_list results(inputs.size());
  std::vector<rlt_tensor*> handles(inputs.size(), nullptr);
  rlt::check(rlt_grad(rlt::handles(outputs), static_cast<int64_t>(outputs.size()), rlt::handles(inputs), static_cast<int64_t>(inputs.size()),
                      detail::gradients_for(outputs, grad_outputs), retain_graph.value_or(create_graph), create_graph, allow_unused,
                      handles.data()));
  for (size_t i = 0; i < handles.size(); ++i) results[i] = Variable(handles[i]);
  return results;
}

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
