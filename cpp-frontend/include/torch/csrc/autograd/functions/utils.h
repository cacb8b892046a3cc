// Helpers of functions with a derivative.
#pragma once

#include <ATen/TensorOptions.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

namespace detail {
inline bool requires_gradient(const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); }
inline bool requires_gradient(const std::optional<at::Tensor>& tensor) { return tensor && requires_gradient(*tensor); }
inline bool requires_gradient(at::TensorList tensors) { return any_variable_requires_grad(tensors); }
}  // namespace detail

/// Whether gradients are recorded and one of the arguments, tensors or lists of tensors, needs one.
template <class... Args>
bool compute_requires_grad(const Args&... args) {
  return c10::GradMode::is_enabled() && (detail::requires_gradient(args) || ...);
}
/// Dtypes of numbers that have derivatives.
inline bool isDifferentiableType(at::ScalarType dtype) { return c10::isFloatingType(dtype) || c10::isComplexType(dtype); }

/// Makes a node of the program the node that computed these tensors, which have no history yet.
RLT_LAZY void set_history(const variable_list& variables, const std::shared_ptr<Node>& grad_fn) {
  if (!grad_fn) return;
  for (const Variable& variable : variables) {
    if (!variable.defined()) rlt::raise<Error>("set_history: a tensor is undefined");
  }
  grad_fn->join_graph(variables);
}
RLT_LAZY void set_history(const Variable& variable, const std::shared_ptr<Node>& grad_fn) { set_history(variable_list{variable}, grad_fn); }

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
