// Properties and streams of CUDA devices, as at::cuda names them.
#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>

#include <string>

namespace at {
RLT_NAMESPACE_BEGIN
namespace cuda {

inline int64_t getNumGPUs() { return c10::cuda::device_count(); }
inline bool is_available() { return c10::cuda::device_count() > 0; }

/// Properties of a device, by the names of CUDA's struct.
struct DeviceProperties {
  std::string name;
  size_t totalGlobalMem = 0;
  int major = 0;
  int minor = 0;
  int multiProcessorCount = 0;
  int maxThreadsPerMultiProcessor = 0;
  int warpSize = 0;
  int l2CacheSize = 0;
  size_t sharedMemPerBlock = 0;
  size_t sharedMemPerBlockOptin = 0;
  int regsPerMultiprocessor = 0;
};

inline DeviceProperties getDeviceProperties(c10::DeviceIndex device) {
  rlt_cuda_properties found{};
  found.struct_size = sizeof found;
  rlt::check(rlt_cuda_device_properties(device, &found));
  DeviceProperties properties;
  properties.name = found.name;
  properties.totalGlobalMem = static_cast<size_t>(found.total_memory);
  properties.major = found.major;
  properties.minor = found.minor;
  properties.multiProcessorCount = found.multiprocessors;
  properties.maxThreadsPerMultiProcessor = found.threads_per_multiprocessor;
  properties.warpSize = found.warp_size;
  properties.l2CacheSize = found.l2_cache_size;
  properties.sharedMemPerBlock = static_cast<size_t>(found.shared_memory_per_block);
  properties.sharedMemPerBlockOptin = static_cast<size_t>(found.shared_memory_per_block_optin);
  properties.regsPerMultiprocessor = found.registers_per_multiprocessor;
  return properties;
}
inline DeviceProperties getCurrentDeviceProperties() { return getDeviceProperties(-1); }
inline int warp_size() { return getCurrentDeviceProperties().warpSize; }

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace at
