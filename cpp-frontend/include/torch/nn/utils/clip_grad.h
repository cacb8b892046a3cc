// Gradient clipping, in place.
#pragma once

#include <torch/types.h>

#include <cmath>
#include <limits>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace utils {

/// Clips the norm of all gradients together to `max_norm`, by scaling them. Returns the norm before clipping.
RLT_LAZY double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false) {
  std::vector<Tensor> gradients, norms;
  for (const Tensor& parameter : parameters) {
    Tensor gradient = parameter.grad();
    if (gradient.defined()) gradients.push_back(gradient.data());
  }
  if (gradients.empty()) return 0.0;

  Tensor total;
  if (norm_type == 0) {
    total = torch::full({}, static_cast<double>(gradients.size()));
  } else {
    bool largest = norm_type == std::numeric_limits<double>::infinity();
    for (const Tensor& gradient : gradients) norms.push_back(largest ? gradient.abs().max() : gradient.norm(norm_type));
    total = norms.size() == 1 ? norms[0] : largest ? torch::stack(norms).max() : torch::stack(norms).norm(norm_type);
  }
  double norm = total.item().toDouble();
  TORCH_CHECK(!error_if_nonfinite || std::isfinite(norm), "The total norm of order ", norm_type,
              " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients with the "
              "non-finite norm anyway, set `error_if_nonfinite=false`");
  Tensor scale = torch::clamp(max_norm / (total + 1e-6), std::nullopt, 1.0);
  for (Tensor& gradient : gradients) gradient.mul_(scale);
  return norm;
}
RLT_LAZY double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}
RLT_LAZY double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0, bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>(1, std::move(parameter)), max_norm, norm_type, error_if_nonfinite);
}

/// Clamps each element of the gradients to [-clip_value, clip_value].
RLT_LAZY void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  for (const Tensor& parameter : parameters) {
    Tensor gradient = parameter.grad();
    if (gradient.defined()) gradient.data().clamp_(-clip_value, clip_value);
  }
}
RLT_LAZY void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
RLT_LAZY void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(1, std::move(parameter)), clip_value);
}

}  // namespace utils
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
