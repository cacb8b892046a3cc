// at::accelerator: the devices besides the CPU. There is one kind, CUDA.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/Stream.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

namespace at {
RLT_NAMESPACE_BEGIN
namespace accelerator {

/// CUDA if there is a GPU. Otherwise nothing, or an error with `checked`.
inline std::optional<c10::DeviceType> getAccelerator(bool checked = false) {
  if (c10::cuda::device_count() > 0) return c10::DeviceType::CUDA;
  TORCH_CHECK(!checked, "Cannot access accelerator device when none is available.");
  return std::nullopt;
}
inline bool isAccelerator(c10::DeviceType type) { return type == c10::DeviceType::CUDA; }
/// Whether it is an accelerator and none of the others.
template <class... Types>
bool isAcceleratorExcluded(c10::DeviceType type, Types... excluded) {
  return isAccelerator(type) && ((type != excluded) && ...);
}

inline c10::DeviceIndex deviceCount() { return c10::cuda::device_count(); }
inline void setDeviceIndex(c10::DeviceIndex index) {
  getAccelerator(true);
  c10::cuda::set_device(index);
}
inline c10::DeviceIndex getDeviceIndex() {
  getAccelerator(true);
  return c10::cuda::current_device();
}
inline void setCurrentStream(c10::Stream stream) {
  getAccelerator(true);
  c10::cuda::setCurrentCUDAStream(c10::cuda::CUDAStream(stream));
}
inline c10::Stream getCurrentStream(c10::DeviceIndex index) {
  getAccelerator(true);
  return c10::cuda::getCurrentCUDAStream(index).unwrap();
}
/// Waits for all work of a device.
inline void synchronizeDevice(c10::DeviceIndex index) {
  getAccelerator(true);
  rlt::check(rlt_cuda_synchronize(index));
}

}  // namespace accelerator

using accelerator::getAccelerator;
using accelerator::isAccelerator;

RLT_NAMESPACE_END
}  // namespace at
