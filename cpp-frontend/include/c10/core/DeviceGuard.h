// DeviceGuard and OptionalDeviceGuard: a device of any kind is the current one for a scope.
#pragma once

#include <c10/core/impl/InlineDeviceGuard.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

class DeviceGuard : public impl::InlineDeviceGuard<impl::VirtualGuardImpl> {
 public:
  explicit DeviceGuard(Device device) : InlineDeviceGuard(device) {}
  explicit DeviceGuard(Device device, const impl::DeviceGuardImplInterface* impl) : InlineDeviceGuard(device, impl) {}
};

class OptionalDeviceGuard : public impl::InlineOptionalDeviceGuard<impl::VirtualGuardImpl> {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) : InlineOptionalDeviceGuard(std::optional<Device>(device)) {}
  explicit OptionalDeviceGuard(std::optional<Device> device) : InlineOptionalDeviceGuard(device) {}
};

RLT_NAMESPACE_END
}  // namespace c10
