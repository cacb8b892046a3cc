// DataPtr: memory on a device with its owner. Allocator: what creates one.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/UniqueVoidPtr.h>

#include <cstring>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A view if it has no context: another object owns the memory.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, Device device) : pointer_(data), device_(device) {}
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device) : pointer_(data, context, deleter), device_(device) {}

  void* get() const { return pointer_.get(); }
  void* mutable_get() const { return pointer_.get(); }
  void* operator->() const { return pointer_.get(); }
  /// The argument of the deleter.
  void* get_context() const { return pointer_.get_context(); }
  void* release_context() { return pointer_.release_context(); }
  std::unique_ptr<void, DeleterFnPtr>&& move_context() { return pointer_.move_context(); }
  DeleterFnPtr get_deleter() const { return pointer_.get_deleter(); }
  template <class T>
  T* cast_context(DeleterFnPtr expected) const {
    return pointer_.cast_context<T>(expected);
  }
  bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr deleter) { return pointer_.compare_exchange_deleter(expected, deleter); }
  void clear() { pointer_.clear(); }
  Device device() const { return device_; }
  void unsafe_set_device(Device device) { device_ = device; }
  explicit operator bool() const { return static_cast<bool>(pointer_); }

  friend bool operator==(const DataPtr& pointer, std::nullptr_t) noexcept { return !pointer; }
  friend bool operator==(std::nullptr_t, const DataPtr& pointer) noexcept { return !pointer; }
  friend bool operator!=(const DataPtr& pointer, std::nullptr_t) noexcept { return static_cast<bool>(pointer); }
  friend bool operator!=(std::nullptr_t, const DataPtr& pointer) noexcept { return static_cast<bool>(pointer); }

 private:
  detail::UniqueVoidPtr pointer_;
  Device device_ = Device(DeviceType::CPU);
};

struct Allocator {
  virtual ~Allocator() = default;

  virtual DataPtr allocate(size_t bytes) = 0;
  virtual void copy_data(void* target, const void* source, size_t bytes) const = 0;
  /// If the context of every DataPtr is its data: the function that frees it. Otherwise nullptr.
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
  /// The memory has no other owner than its DataPtr.
  virtual bool is_simple_data_ptr(const DataPtr& pointer) const { return pointer.get() == pointer.get_context(); }

  /// New memory with a copy of the data.
  DataPtr clone(const void* data, size_t bytes) {
    DataPtr copy = allocate(bytes);
    copy_data(copy.mutable_get(), data, bytes);
    return copy;
  }
  /// Memory without an owner; raw_deallocate frees it.
  void* raw_allocate(size_t bytes) {
    DataPtr pointer = allocate(bytes);
    TORCH_INTERNAL_ASSERT(pointer.get() == pointer.get_context(), "raw_allocate requires an allocator whose context is the data");
    return pointer.release_context();
  }
  void raw_deallocate(void* data) {
    DeleterFnPtr deleter = raw_deleter();
    TORCH_INTERNAL_ASSERT(deleter, "raw_deallocate requires an allocator with a raw deleter");
    deleter(data);
  }

 protected:
  void default_copy_data(void* target, const void* source, size_t bytes) const {
    if (bytes) std::memcpy(target, source, bytes);
  }
};

RLT_NAMESPACE_END
}  // namespace c10
