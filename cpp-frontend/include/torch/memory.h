// torch::memory: what the allocator of tensor memory holds, and how much of it stays for the next tensors.
//
// libtorch has such functions for CUDA alone; these are Rushlight's own:
//
//   torch::memory::set_cache_limit(64 << 20);               // keep at most 64 MiB of freed memory
//   std::cout << torch::memory::stats().reserved << "\n";   // bytes held of the system
//   torch::memory::trim();                                  // give back what no tensor uses
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/memory.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace memory {

/// In bytes: in live tensors, the most of that so far, and taken from the system (live tensors and what is kept).
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
/// Lets the peak start again from what is allocated now.
inline void reset_peak() { rlt::check(rlt_memory_reset_peak()); }
/// Gives memory that is kept for the next tensors back to the system.
inline void trim() { rlt::check(rlt_memory_trim()); }
/// Keeps at most this much freed memory for the next tensors, 0 for none. It starts with an eighth of the machine's memory, at
/// most 1 GiB, or what the environment variable RUSHLIGHT_CACHE_LIMIT says.
inline void set_cache_limit(int64_t bytes) { rlt::check(rlt_memory_set_cache_limit(bytes)); }

}  // namespace memory
RLT_NAMESPACE_END
}  // namespace torch
