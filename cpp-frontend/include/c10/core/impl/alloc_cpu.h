// Aligned memory of the CPU.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <new>
#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Addresses are multiples of this.
constexpr size_t gAlignment = 64;

/// Memory for `bytes`, or an error. No bytes are a null pointer.
inline void* alloc_cpu(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = ::operator new(bytes, std::align_val_t(gAlignment), std::nothrow);
  if (!data) {
    rlt::raise<OutOfMemoryError>("DefaultCPUAllocator: can't allocate memory: you tried to allocate " + std::to_string(bytes) + " bytes.");
  }
  return data;
}
inline void free_cpu(void* data) {
  if (data) ::operator delete(data, std::align_val_t(gAlignment));
}

RLT_NAMESPACE_END
}  // namespace c10
