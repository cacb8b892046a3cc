// c10::Stream: a queue of work on a device, by its number.
#pragma once

#include <c10/core/Device.h>

#include <functional>

namespace c10 {
RLT_NAMESPACE_BEGIN

using StreamId = int64_t;

/// The number has a meaning to the device's own functions only.
class Stream final {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };

  explicit Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  /// The stream that a device has from the start.
  explicit Stream(Default, Device device) : device_(device), id_(0) {}

  Device device() const noexcept { return device_; }
  DeviceType device_type() const noexcept { return device_.type(); }
  DeviceIndex device_index() const noexcept { return device_.index(); }
  StreamId id() const noexcept { return id_; }

  friend bool operator==(const Stream& a, const Stream& b) noexcept { return a.device_ == b.device_ && a.id_ == b.id_; }
  friend bool operator!=(const Stream& a, const Stream& b) noexcept { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Stream& stream) { return out << "stream " << stream.id_ << " on device " << stream.device_; }

 private:
  Device device_;
  StreamId id_;
};

RLT_NAMESPACE_END
}  // namespace c10

template <>
struct std::hash<c10::Stream> {
  size_t operator()(const c10::Stream& stream) const noexcept {
    return std::hash<c10::Device>()(stream.device()) ^ (std::hash<c10::StreamId>()(stream.id()) * 31);
  }
};
