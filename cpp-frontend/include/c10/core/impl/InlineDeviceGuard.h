// InlineDeviceGuard: makes a device the current one for a scope. The implementation is a parameter, so that calls can be inlined.
#pragma once

#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

template <class Impl>
class InlineDeviceGuard {
  static constexpr bool is_virtual = std::is_same_v<Impl, VirtualGuardImpl>;

 public:
  explicit InlineDeviceGuard() = delete;
  /// Index -1 is the current device.
  template <class I = Impl, std::enable_if_t<!std::is_same_v<I, VirtualGuardImpl>, bool> = true>
  explicit InlineDeviceGuard(DeviceIndex index) : InlineDeviceGuard(Device(Impl::static_type, index)) {}
  explicit InlineDeviceGuard(Device device) : InlineDeviceGuard(Impl(device.type()), device) {}
  template <class I = Impl, std::enable_if_t<std::is_same_v<I, VirtualGuardImpl>, bool> = true>
  explicit InlineDeviceGuard(Device device, const DeviceGuardImplInterface* impl) : InlineDeviceGuard(VirtualGuardImpl(impl ? impl : getDeviceGuardImpl(device.type())), device) {}
  InlineDeviceGuard(const InlineDeviceGuard&) = delete;
  InlineDeviceGuard& operator=(const InlineDeviceGuard&) = delete;
  ~InlineDeviceGuard() { impl_.uncheckedSetDevice(original_); }

  /// Another device of the same kind.
  void set_device(Device device) {
    check_type(impl_, device);
    Device wanted = resolved(impl_, device);
    impl_.setDevice(wanted);
    current_ = wanted;
  }
  /// As if the guard had been constructed with this device: one of another kind is allowed where the kind is known at run time.
  void reset_device(Device device) {
    if constexpr (is_virtual) reset_device(device, nullptr);
    else set_device(device);
  }
  template <class I = Impl, std::enable_if_t<std::is_same_v<I, VirtualGuardImpl>, bool> = true>
  void reset_device(Device device, const DeviceGuardImplInterface* impl) {
    if (device.type() == original_.type()) return set_device(device);
    VirtualGuardImpl other(impl ? impl : getDeviceGuardImpl(device.type()));
    Device other_original = other.getDevice();
    Device wanted = resolved(other, device);
    impl_.setDevice(original_);
    impl_ = other;
    original_ = other_original;
    impl_.setDevice(wanted);
    current_ = wanted;
  }
  void set_index(DeviceIndex index) { set_device(Device(original_.type(), index)); }
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  InlineDeviceGuard(Impl impl, Device device) : impl_(impl), original_(impl_.getDevice()), current_(resolved(impl_, device)) {
    check_type(impl_, device);
    impl_.setDevice(current_);
  }
  static void check_type(const Impl& impl, Device device) {
    TORCH_CHECK(device.type() == impl.type(), "a guard of ", impl.type(), " devices cannot set the device ", device);
  }
  template <class Any>
  static Device resolved(const Any& impl, Device device) {
    return device.index() == -1 ? impl.getDevice() : device;
  }

  Impl impl_;
  Device original_;
  Device current_;
};

/// A guard that has no device at first, or none at all.
template <class Impl>
class InlineOptionalDeviceGuard {
 public:
  InlineOptionalDeviceGuard() = default;
  explicit InlineOptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  template <class I = Impl, std::enable_if_t<!std::is_same_v<I, VirtualGuardImpl>, bool> = true>
  explicit InlineOptionalDeviceGuard(std::optional<DeviceIndex> index) {
    if (index) guard_.emplace(*index);
  }
  template <class... Args, std::enable_if_t<std::is_constructible_v<InlineDeviceGuard<Impl>, Args...> && (sizeof...(Args) > 0), bool> = true>
  explicit InlineOptionalDeviceGuard(Args&&... args) : guard_(std::in_place, std::forward<Args>(args)...) {}
  InlineOptionalDeviceGuard(const InlineOptionalDeviceGuard&) = delete;
  InlineOptionalDeviceGuard& operator=(const InlineOptionalDeviceGuard&) = delete;
  ~InlineOptionalDeviceGuard() = default;

  void set_device(Device device) {
    if (guard_) guard_->set_device(device);
    else guard_.emplace(device);
  }
  template <class... Args>
  void reset_device(Device device, Args... impl) {
    if (guard_) guard_->reset_device(device, impl...);
    else guard_.emplace(device, impl...);
  }
  void set_index(DeviceIndex index) {
    if (guard_) guard_->set_index(index);
    else guard_.emplace(index);
  }
  /// Restores the device that was the current one.
  void reset() { guard_.reset(); }
  std::optional<Device> original_device() const { return guard_ ? std::optional<Device>(guard_->original_device()) : std::nullopt; }
  std::optional<Device> current_device() const { return guard_ ? std::optional<Device>(guard_->current_device()) : std::nullopt; }

 private:
  std::optional<InlineDeviceGuard<Impl>> guard_;
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
