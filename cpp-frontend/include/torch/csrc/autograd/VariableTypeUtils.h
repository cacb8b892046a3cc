// Checks and version counters for functions that write to tensors outside of the library.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/utils/variadic.h>

#include <rushlight/tensor.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

enum class can_mutate_inplace_result { success, non_default_backward_view, view_of_leaf, is_leaf };

/// Whether autograd allows a write to a tensor.
inline can_mutate_inplace_result can_mutate_inplace(const at::Tensor& tensor, bool requires_grad) {
  if (!requires_grad || !c10::GradMode::is_enabled() || !tensor.requires_grad()) return can_mutate_inplace_result::success;
  if (tensor.is_view() && tensor._base().is_leaf()) return can_mutate_inplace_result::view_of_leaf;
  return tensor.is_leaf() ? can_mutate_inplace_result::is_leaf : can_mutate_inplace_result::success;
}
inline void check_inplace(const at::Tensor& tensor, bool requires_grad) {
  can_mutate_inplace_result result = can_mutate_inplace(tensor, requires_grad);
  TORCH_CHECK(result != can_mutate_inplace_result::view_of_leaf, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  TORCH_CHECK(result != can_mutate_inplace_result::is_leaf, "a leaf Variable that requires grad is being used in an in-place operation.");
}
inline void check_inplace(at::TensorList tensors, bool requires_grad) {
  for (const at::Tensor& tensor : tensors) check_inplace(tensor, requires_grad);
}

inline void throw_error_out_requires_grad(const char* name) {
  TORCH_CHECK(false, name, "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
}
inline void throw_error_for_complex_autograd(const at::Tensor& tensor, const char* name) {
  TORCH_CHECK(!tensor.requires_grad() || !tensor.is_complex(), name, " does not support automatic differentiation for outputs with complex dtype.");
}

/// Counts a write that the library has not seen, so that backward reports saved tensors that changed.
inline void increment_version(const at::Tensor& tensor) { rlt::check(rlt_tensor_bump_version(tensor.handle())); }
inline void increment_version(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) increment_version(tensor);
}

inline bool isFwGradDefined(const std::optional<at::Tensor>&) { return false; }

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
