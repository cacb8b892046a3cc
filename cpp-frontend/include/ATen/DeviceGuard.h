// The device of tensors, and the guards of c10/core/DeviceGuard.h under the names of at::.
#pragma once

#include <ATen/core/TensorBody.h>
#include <c10/core/DeviceGuard.h>

#include <optional>

namespace at {
RLT_NAMESPACE_BEGIN

using c10::DeviceGuard;
using c10::OptionalDeviceGuard;

/// None for an undefined tensor, an empty list, or a list that begins with an undefined tensor.
inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::make_optional(tensor.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& tensor) { return tensor ? device_of(*tensor) : std::nullopt; }
inline std::optional<Device> device_of(TensorList tensors) { return tensors.empty() ? std::nullopt : device_of(tensors.front()); }

RLT_NAMESPACE_END
}  // namespace at
