// The allocator for memory of the CPU that programs use themselves. Tensors get theirs from the library.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct DefaultCPUAllocator final : Allocator {
  DataPtr allocate(size_t bytes) override {
    void* data = alloc_cpu(bytes);
    return {data, data, &free_cpu, Device(DeviceType::CPU)};
  }
  DeleterFnPtr raw_deleter() const override { return &free_cpu; }
  void copy_data(void* target, const void* source, size_t bytes) const override { default_copy_data(target, source, bytes); }
};

/// Counts the memory that the allocator of a program reports. The library reports that of tensors to its profiler itself.
class ProfiledCPUMemoryReporter {
 public:
  void New(void* data, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    sizes_[data] = bytes;
    allocated_ += bytes;
  }
  void Delete(void* data) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = sizes_.find(data);
    if (found == sizes_.end()) return;
    allocated_ -= found->second;
    sizes_.erase(found);
  }
  void OutOfMemory(size_t) {}
  /// The bytes that were reported as allocated and not as freed.
  size_t allocated() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return allocated_;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<void*, size_t> sizes_;
  size_t allocated_ = 0;
};
inline ProfiledCPUMemoryReporter& profiledCPUMemoryReporter() {
  static ProfiledCPUMemoryReporter only;
  return only;
}

namespace detail {
struct CPUAllocatorChoice {
  std::mutex mutex;
  Allocator* allocator = nullptr;
  uint8_t priority = 0;
};
inline CPUAllocatorChoice& cpu_allocator_choice() {
  static CPUAllocatorChoice choice;
  return choice;
}
}  // namespace detail

inline Allocator* GetDefaultCPUAllocator() {
  static DefaultCPUAllocator allocator;
  return &allocator;
}
/// The allocator that a program set, or the default one.
inline Allocator* GetCPUAllocator() {
  detail::CPUAllocatorChoice& choice = detail::cpu_allocator_choice();
  std::lock_guard<std::mutex> lock(choice.mutex);
  return choice.allocator ? choice.allocator : GetDefaultCPUAllocator();
}
/// Has an effect unless an allocator of a higher priority is set.
inline void SetCPUAllocator(Allocator* allocator, uint8_t priority = 0) {
  detail::CPUAllocatorChoice& choice = detail::cpu_allocator_choice();
  std::lock_guard<std::mutex> lock(choice.mutex);
  if (priority < choice.priority) return;
  choice.allocator = allocator;
  choice.priority = priority;
}

RLT_NAMESPACE_END
}  // namespace c10
