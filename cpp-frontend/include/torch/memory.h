// torch::memory: statistics of the allocator of tensor memory, and the limit of its cache.
//
// libtorch has such functions only for CUDA; these are Rushlight's own:
//
//   torch::memory::set_cache_limit(64 << 20);               // keep at most 64 MiB of freed memory std::cout <<
// torch::memory::stats().reserved << "\n";   // bytes held of the system torch::memory::trim();
// // release unused memory
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/memory.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace memory {

/// In bytes: used by live tensors, the peak of that, and obtained from the system (live tensors and cache).
struct Stats {
  int64_t allocated;
  int64_t peak;
  int64_t reserved;
};

inline Stats stats() {
  rlt_memory_stats now = {};
  now.struct_size = sizeof now;
  rlt::check(rlt_memory_get_stats(&now));
  return {now.allocated, now.peak, now.reserved};
}
/// Resets the peak to the memory allocated now.
inline void reset_peak() { rlt::check(rlt_memory_reset_peak()); }
/// Returns cached memory to the system.
inline void trim() { rlt::check(rlt_memory_trim()); }
/// Limits the cache of freed memory, 0 for none. The default is an eighth of the machine's memory, at most 1 GiB, or
/// the value of the environment variable RUSHLIGHT_CACHE_LIMIT.
inline void set_cache_limit(int64_t bytes) { rlt::check(rlt_memory_set_cache_limit(bytes)); }

}  // namespace memory
RLT_NAMESPACE_END
}  // namespace torch
