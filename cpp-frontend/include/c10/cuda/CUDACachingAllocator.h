// The caching allocator of CUDA devices: its statistics, its limit, and blocks that several streams use.
#pragma once

#include <c10/core/Storage.h>
#include <c10/cuda/CUDAStream.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace cuda {
namespace CUDACachingAllocator {

struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;
};

/// Numbers of all blocks; libtorch counts small and large ones apart as well.
using StatArray = std::array<Stat, 1>;

struct DeviceStats {
  StatArray allocation;
  StatArray segment;
  StatArray active_bytes;
  StatArray allocated_bytes;
  StatArray reserved_bytes;
  StatArray requested_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
};

inline DeviceStats getDeviceStats(DeviceIndex device) {
  rlt_cuda_memory_stats now{};
  now.struct_size = sizeof now;
  rlt::check(rlt_cuda_memory_get_stats(device, &now));
  auto stat = [](const rlt_cuda_counter& counter) { return StatArray{Stat{counter.current, counter.peak, counter.allocated, counter.freed}}; };
  DeviceStats stats;
  stats.allocation = stat(now.allocations);
  stats.segment = stat(now.segments);
  stats.active_bytes = stat(now.active_bytes);
  stats.allocated_bytes = stat(now.allocated_bytes);
  stats.reserved_bytes = stat(now.reserved_bytes);
  stats.requested_bytes = stat(now.requested_bytes);
  stats.num_alloc_retries = now.retries;
  stats.num_ooms = now.out_of_memory;
  return stats;
}
/// Sets the peaks of the statistics to the current numbers.
inline void resetPeakStats(DeviceIndex device) { rlt::check(rlt_cuda_memory_reset_peak(device)); }
/// Returns the cached memory of all devices to the driver.
inline void emptyCache() {
  for (DeviceIndex device = 0; device < device_count(); ++device) rlt::check(rlt_cuda_empty_cache(device));
}
/// Limits the memory of this process to a fraction of the device's, from 0 to 1.
inline void setMemoryFraction(double fraction, DeviceIndex device) { rlt::check(rlt_cuda_set_memory_fraction(device, fraction)); }

}  // namespace CUDACachingAllocator
}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace c10
