// The functions of a kind of device that guards call: the current device and the current stream of each device.
#pragma once

#include <c10/core/Stream.h>

#include <array>
#include <atomic>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

struct DeviceGuardImplInterface {
  DeviceGuardImplInterface() = default;
  DeviceGuardImplInterface(const DeviceGuardImplInterface&) = default;
  DeviceGuardImplInterface& operator=(const DeviceGuardImplInterface&) = default;
  virtual ~DeviceGuardImplInterface() = default;

  virtual DeviceType type() const = 0;
  /// Makes a device the current one and returns the previous one.
  virtual Device exchangeDevice(Device device) const = 0;
  virtual Device getDevice() const = 0;
  virtual void setDevice(Device device) const = 0;
  /// Like setDevice, for destructors: it reports no error.
  virtual void uncheckedSetDevice(Device device) const noexcept = 0;
  virtual Stream getStream(Device device) const = 0;
  virtual Stream getDefaultStream(Device device) const { return Stream(Stream::DEFAULT, device); }
  /// Makes a stream the current one of its device and returns the previous one. The current device stays.
  virtual Stream exchangeStream(Stream stream) const = 0;
  virtual DeviceIndex deviceCount() const noexcept = 0;
};

/// The implementation for a kind of device; nullptr if a program registered none.
inline std::atomic<const DeviceGuardImplInterface*>& device_guard_impl_slot(DeviceType type) {
  static std::array<std::atomic<const DeviceGuardImplInterface*>, static_cast<size_t>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES)> slots{};
  return slots[static_cast<size_t>(type)];
}

/// The CPU: one device with one stream.
template <DeviceType Type>
struct NoOpDeviceGuardImpl final : DeviceGuardImplInterface {
  DeviceType type() const override { return Type; }
  Device exchangeDevice(Device) const override { return Device(Type, -1); }
  Device getDevice() const override { return Device(Type, -1); }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}
  Stream getStream(Device) const noexcept override { return Stream(Stream::DEFAULT, Device(Type, -1)); }
  Stream exchangeStream(Stream) const noexcept override { return Stream(Stream::DEFAULT, Device(Type, -1)); }
  DeviceIndex deviceCount() const noexcept override { return 1; }
};

inline bool hasDeviceGuardImpl(DeviceType type) { return device_guard_impl_slot(type).load() != nullptr; }
inline const DeviceGuardImplInterface* getDeviceGuardImpl(DeviceType type) {
  const DeviceGuardImplInterface* registered = device_guard_impl_slot(type).load();
  if (!registered && (type == DeviceType::CPU || type == DeviceType::Meta)) {
    static const NoOpDeviceGuardImpl<DeviceType::CPU> cpu;
    static const NoOpDeviceGuardImpl<DeviceType::Meta> meta;
    return type == DeviceType::CPU ? static_cast<const DeviceGuardImplInterface*>(&cpu) : &meta;
  }
  TORCH_CHECK(registered, "PyTorch is not linked with support for ", type, " devices");
  return registered;
}

/// Registers an implementation, which lives as long as the program.
struct DeviceGuardImplRegistrar {
  DeviceGuardImplRegistrar(DeviceType type, const DeviceGuardImplInterface* impl) { device_guard_impl_slot(type).store(impl); }
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10

#define C10_REGISTER_GUARD_IMPL(type, Impl) \
  static ::c10::impl::DeviceGuardImplRegistrar C10_ANONYMOUS_VARIABLE(g_##type)(::c10::DeviceType::type, new Impl())
