// Guards of CUDA devices and streams: the current ones for a scope.
#pragma once

#include <c10/core/impl/InlineStreamGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace cuda {

/// A CUDA device is the current one; index -1 changes nothing.
struct CUDAGuard : c10::impl::InlineDeviceGuard<impl::CUDAGuardImpl> {
  explicit CUDAGuard(DeviceIndex index) : InlineDeviceGuard(index) {}
  explicit CUDAGuard(Device device) : InlineDeviceGuard(device) {}
};

struct OptionalCUDAGuard : c10::impl::InlineOptionalDeviceGuard<impl::CUDAGuardImpl> {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) : InlineOptionalDeviceGuard(device) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index)
      : InlineOptionalDeviceGuard(index ? std::optional<Device>(Device(DeviceType::CUDA, *index)) : std::nullopt) {}
};

/// A stream and its device are the current ones.
struct CUDAStreamGuard : private c10::impl::InlineStreamGuard<impl::CUDAGuardImpl> {
  using Base = c10::impl::InlineStreamGuard<impl::CUDAGuardImpl>;
  explicit CUDAStreamGuard(Stream stream) : Base(stream) {}
  using Base::current_device;
  using Base::original_device;
  using Base::reset_stream;
  CUDAStream original_stream() const { return CUDAStream(CUDAStream::UNCHECKED, Base::original_stream()); }
  CUDAStream current_stream() const { return CUDAStream(CUDAStream::UNCHECKED, Base::current_stream()); }
};

struct OptionalCUDAStreamGuard : private c10::impl::InlineOptionalStreamGuard<impl::CUDAGuardImpl> {
  using Base = c10::impl::InlineOptionalStreamGuard<impl::CUDAGuardImpl>;
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(std::optional<Stream> stream) : Base(stream) {}
  using Base::reset;
  using Base::reset_stream;
  std::optional<CUDAStream> original_stream() const { return wrap(Base::original_stream()); }
  std::optional<CUDAStream> current_stream() const { return wrap(Base::current_stream()); }

 private:
  static std::optional<CUDAStream> wrap(std::optional<Stream> stream) {
    return stream ? std::optional<CUDAStream>(CUDAStream(CUDAStream::UNCHECKED, *stream)) : std::nullopt;
  }
};

/// Streams of several devices are the current ones of their devices.
struct CUDAMultiStreamGuard : private c10::impl::InlineMultiStreamGuard<impl::CUDAGuardImpl> {
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams) : InlineMultiStreamGuard(unwrapped(streams)) {}

 private:
  static std::vector<Stream> unwrapped(ArrayRef<CUDAStream> streams) { return {streams.begin(), streams.end()}; }
};

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace c10
