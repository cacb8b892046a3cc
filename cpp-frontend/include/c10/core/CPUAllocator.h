// The allocator for memory of the CPU that programs use themselves. Tensors get theirs from the library.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstdint>
#include <mutex>

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
