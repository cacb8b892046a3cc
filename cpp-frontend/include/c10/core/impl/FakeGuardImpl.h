// FakeGuardImpl: devices that only remember which of them is the current one, for tests of guards.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

constexpr size_t kFakeGuardImplMaxDevices = 8;

/// Each thread has its own current device and streams.
template <DeviceType Type>
struct FakeGuardImpl final : DeviceGuardImplInterface {
  static constexpr DeviceType static_type = Type;

  FakeGuardImpl() = default;
  FakeGuardImpl(DeviceType) {}
  DeviceType type() const override { return Type; }
  Device exchangeDevice(Device device) const override {
    Device before = getDevice();
    setDevice(device);
    return before;
  }
  Device getDevice() const override { return Device(Type, current()); }
  void setDevice(Device device) const override {
    TORCH_INTERNAL_ASSERT(device.type() == Type);
    setDeviceIndex(device.index());
  }
  void uncheckedSetDevice(Device device) const noexcept override { current() = device.index(); }
  Stream getStream(Device device) const override { return Stream(Stream::UNSAFE, device, stream_of(device.index())); }
  Stream exchangeStream(Stream stream) const override {
    StreamId before = rlt::exchange_value(stream_of(stream.device_index()), stream.id());
    return Stream(Stream::UNSAFE, stream.device(), before);
  }
  DeviceIndex deviceCount() const noexcept override { return static_cast<DeviceIndex>(kFakeGuardImplMaxDevices); }

  static DeviceIndex getDeviceIndex() { return current(); }
  static void setDeviceIndex(DeviceIndex index) {
    check(index);
    current() = index;
  }
  static StreamId getCurrentStreamIdFor(DeviceIndex index) { return stream_of(index); }
  static void resetStreams() { streams().fill(0); }

 private:
  static void check(DeviceIndex index) {
    TORCH_INTERNAL_ASSERT(index >= 0 && static_cast<size_t>(index) < kFakeGuardImplMaxDevices, "FakeGuardImpl has no device ", int{index});
  }
  static DeviceIndex& current() {
    static thread_local DeviceIndex index = 0;
    return index;
  }
  static std::array<StreamId, kFakeGuardImplMaxDevices>& streams() {
    static thread_local std::array<StreamId, kFakeGuardImplMaxDevices> ids{};
    return ids;
  }
  static StreamId& stream_of(DeviceIndex index) {
    check(index);
    return streams()[static_cast<size_t>(index)];
  }
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
