// InlineStreamGuard: makes a stream and its device the current ones for a scope.
#pragma once

#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/util/ArrayRef.h>

#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {

template <class Impl>
class InlineStreamGuard : private InlineDeviceGuard<Impl> {
  using Devices = InlineDeviceGuard<Impl>;

 public:
  explicit InlineStreamGuard() = delete;
  explicit InlineStreamGuard(Stream stream)
      : Devices(stream.device()), impl_(stream.device_type()), device_stream_(impl_.getStream(Devices::original_device())),
        replaced_(impl_.exchangeStream(stream)), current_(stream) {}
  InlineStreamGuard(const InlineStreamGuard&) = delete;
  InlineStreamGuard& operator=(const InlineStreamGuard&) = delete;
  ~InlineStreamGuard() { impl_.exchangeStream(replaced_); }

  /// Restores the stream of the guard's device, and makes another stream and its device the current ones.
  void reset_stream(Stream stream) {
    impl_.exchangeStream(replaced_);
    Devices::reset_device(stream.device());
    impl_ = Impl(stream.device_type());
    replaced_ = impl_.exchangeStream(stream);
    current_ = stream;
  }
  /// The stream that was the current one of the device that was the current one.
  Stream original_stream() const { return device_stream_; }
  Stream current_stream() const { return current_; }
  Device original_device() const { return Devices::original_device(); }
  Device current_device() const { return Devices::current_device(); }

 private:
  Impl impl_;
  Stream device_stream_;
  /// The stream that the guard replaced on its own device.
  Stream replaced_;
  Stream current_;
};

template <class Impl>
class InlineOptionalStreamGuard {
 public:
  InlineOptionalStreamGuard() = default;
  explicit InlineOptionalStreamGuard(std::optional<Stream> stream) {
    if (stream) guard_.emplace(*stream);
  }
  InlineOptionalStreamGuard(const InlineOptionalStreamGuard&) = delete;
  InlineOptionalStreamGuard& operator=(const InlineOptionalStreamGuard&) = delete;
  ~InlineOptionalStreamGuard() = default;

  void reset_stream(Stream stream) {
    if (guard_) guard_->reset_stream(stream);
    else guard_.emplace(stream);
  }
  void reset() { guard_.reset(); }
  std::optional<Stream> original_stream() const { return guard_ ? std::optional<Stream>(guard_->original_stream()) : std::nullopt; }
  std::optional<Stream> current_stream() const { return guard_ ? std::optional<Stream>(guard_->current_stream()) : std::nullopt; }

 private:
  std::optional<InlineStreamGuard<Impl>> guard_;
};

/// Makes one stream on each of several devices the current one. The current device stays.
template <class Impl>
class InlineMultiStreamGuard {
 public:
  explicit InlineMultiStreamGuard(ArrayRef<Stream> streams) {
    if (streams.empty()) return;
    DeviceType type = streams[0].device_type();
    for (const Stream& stream : streams) {
      TORCH_CHECK(stream.device_type() == type, "Streams have a mix of device types: stream 0 is on ", type, " while another is on ", stream.device_type());
    }
    impl_.emplace(type);
    replaced_.reserve(streams.size());
    for (const Stream& stream : streams) replaced_.push_back(impl_->exchangeStream(stream));
  }
  InlineMultiStreamGuard(const InlineMultiStreamGuard&) = delete;
  InlineMultiStreamGuard& operator=(const InlineMultiStreamGuard&) = delete;
  ~InlineMultiStreamGuard() {
    while (!replaced_.empty()) {
      impl_->exchangeStream(replaced_.back());
      replaced_.pop_back();
    }
  }

 private:
  std::optional<Impl> impl_;
  std::vector<Stream> replaced_;
};

}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
