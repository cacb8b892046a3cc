// CUDA devices of this process: how many there are, which one is current, and waiting for their work.
#pragma once

#include <c10/core/Device.h>
#include <rushlight/cuda.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace cuda {

/// 0 without a driver or a GPU.
inline DeviceIndex device_count() noexcept {
  int32_t count = 0;
  return rlt_cuda_device_count(&count) == RLT_OK ? static_cast<DeviceIndex>(count) : DeviceIndex{0};
}
inline DeviceIndex device_count_ensure_non_zero() {
  int32_t index = 0;
  rlt::check(rlt_cuda_current_device(&index));
  return device_count();
}
inline DeviceIndex current_device() {
  int32_t index = 0;
  rlt::check(rlt_cuda_current_device(&index));
  return static_cast<DeviceIndex>(index);
}
inline void set_device(DeviceIndex device) { rlt::check(rlt_cuda_set_device(device)); }
/// Waits for all work of the current device.
inline void device_synchronize() { rlt::check(rlt_cuda_synchronize(-1)); }
/// Makes a device the current one and returns the previous one; a negative index changes nothing.
inline DeviceIndex ExchangeDevice(DeviceIndex device) {
  DeviceIndex previous = current_device();
  if (device >= 0) set_device(device);
  return previous;
}
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace c10
