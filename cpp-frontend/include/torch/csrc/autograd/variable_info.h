// VariableInfo: what custom nodes keep of a tensor to create zeros like it.
#pragma once

#include <ATen/Functions.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/variable.h>

#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

struct VariableInfo {
  VariableInfo() = default;
  explicit VariableInfo(const Variable& variable)
      : layout(variable.layout()),
        device(variable.device()),
        scalar_type(variable.scalar_type()),
        size(variable.sym_sizes().vec()),
        requires_grad(variable.requires_grad()),
        is_empty(false) {}

  /// Zeros of the size, dtype and device; undefined if there was no tensor.
  RLT_LAZY Variable zeros(at::OptionalDeviceGuard& device_guard) const {
    if (is_empty) return Variable();
    device_guard.reset_device(device);
    return at::zeros(c10::asIntArrayRefUnchecked(size), at::TensorOptions(scalar_type).device(device).layout(layout));
  }

  at::Layout layout = at::kStrided;
  at::Device device = at::kCPU;
  at::ScalarType scalar_type = at::kFloat;
  std::vector<c10::SymInt> size;
  bool requires_grad = false;
  bool is_empty = true;
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
