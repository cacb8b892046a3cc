// VirtualGuardImpl: the implementation of a guard for a kind of device that is known at run time.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

class VirtualGuardImpl final : public DeviceGuardImplInterface {
 public:
  VirtualGuardImpl(DeviceType type) : impl_(getDeviceGuardImpl(type)) {}
  /// For tests: an implementation that nothing registered.
  VirtualGuardImpl(const DeviceGuardImplInterface* impl) : impl_(impl) {}

  DeviceType type() const override { return impl_->type(); }
  Device exchangeDevice(Device device) const override { return impl_->exchangeDevice(device); }
  Device getDevice() const override { return impl_->getDevice(); }
  void setDevice(Device device) const override { impl_->setDevice(device); }
  void uncheckedSetDevice(Device device) const noexcept override { impl_->uncheckedSetDevice(device); }
  Stream getStream(Device device) const override { return impl_->getStream(device); }
  Stream getDefaultStream(Device device) const override { return impl_->getDefaultStream(device); }
  Stream exchangeStream(Stream stream) const override { return impl_->exchangeStream(stream); }
  DeviceIndex deviceCount() const noexcept override { return impl_->deviceCount(); }

 private:
  const DeviceGuardImplInterface* impl_;
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
