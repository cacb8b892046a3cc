// The functions of CUDA devices that guards call.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/cuda/CUDAFunctions.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace cuda {
namespace impl {

/// The stream as the C functions take it.
inline rlt_stream to_c(Stream stream) { return {{static_cast<int32_t>(stream.device_type()), stream.device_index()}, stream.id()}; }
inline Stream from_c(rlt_stream stream) {
  return Stream(Stream::UNSAFE, Device(DeviceType::CUDA, static_cast<DeviceIndex>(stream.device.index)), stream.id);
}

struct CUDAGuardImpl final : c10::impl::DeviceGuardImplInterface {
  static constexpr DeviceType static_type = DeviceType::CUDA;

  CUDAGuardImpl() = default;
  explicit CUDAGuardImpl(DeviceType) {}

  DeviceType type() const override { return DeviceType::CUDA; }
  Device exchangeDevice(Device device) const override { return {DeviceType::CUDA, ExchangeDevice(device.index())}; }
  Device getDevice() const override { return {DeviceType::CUDA, current_device()}; }
  void setDevice(Device device) const override { set_device(device.index()); }
  void uncheckedSetDevice(Device device) const noexcept override { (void)rlt_cuda_set_device(device.index()); }
  Stream getStream(Device device) const override {
    rlt_stream stream{};
    rlt::check(rlt_cuda_stream_current(device.index(), &stream));
    return from_c(stream);
  }
  Stream exchangeStream(Stream stream) const override {
    Stream previous = getStream(stream.device());
    rlt::check(rlt_cuda_stream_set_current(to_c(stream)));
    return previous;
  }
  DeviceIndex deviceCount() const noexcept override { return device_count(); }
};

/// Registered where this header is included, unless the program has registered its own.
inline const bool guard_is_registered = [] {
  static const CUDAGuardImpl impl;
  const c10::impl::DeviceGuardImplInterface* none = nullptr;
  return c10::impl::device_guard_impl_slot(DeviceType::CUDA).compare_exchange_strong(none, &impl);
}();

}  // namespace impl
}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace c10
