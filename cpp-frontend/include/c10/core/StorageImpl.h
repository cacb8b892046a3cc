// StorageImpl: memory with its size and allocator, for programs that manage memory themselves. Its memory may be copy-on-write.
// The library's tensors have their own storages (c10/core/Storage.h).
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/SymInt.h>
#include <c10/util/intrusive_ptr.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct StorageImpl;
namespace impl {
namespace cow {
bool is_cow_data_ptr(const DataPtr& pointer);
void materialize_cow_storage(StorageImpl& storage);
}  // namespace cow
}  // namespace impl

struct StorageImpl : intrusive_ptr_target {
  struct use_byte_size_t {};

  StorageImpl(use_byte_size_t, SymInt bytes, DataPtr data, Allocator* allocator, bool resizable)
      : data_(std::move(data)), bytes_(static_cast<size_t>(bytes.expect_int())), allocator_(allocator), resizable_(resizable) {
    TORCH_CHECK(bytes >= 0, "StorageImpl: the size must not be negative, got ", bytes);
    TORCH_CHECK(!resizable || allocator, "For resizable storage, allocator must be provided");
  }
  StorageImpl(use_byte_size_t, SymInt bytes, Allocator* allocator, bool resizable)
      : StorageImpl(use_byte_size_t(), bytes, allocate(allocator, bytes), allocator, resizable) {}
  StorageImpl(const StorageImpl&) = delete;
  StorageImpl& operator=(const StorageImpl&) = delete;
  ~StorageImpl() override = default;

  size_t nbytes() const { return bytes_; }
  SymInt sym_nbytes() const { return static_cast<int64_t>(bytes_); }
  void set_nbytes(size_t bytes) { bytes_ = bytes; }
  bool resizable() const { return resizable_; }
  Allocator* allocator() { return allocator_; }
  const Allocator* allocator() const { return allocator_; }
  Device device() const { return data_.device(); }
  DeviceType device_type() const { return data_.device().type(); }

  const DataPtr& data_ptr() const { return data_; }
  const void* data() const { return data_.get(); }
  /// For writing: shared memory is copied first.
  DataPtr& mutable_data_ptr() {
    if (impl::cow::is_cow_data_ptr(data_)) impl::cow::materialize_cow_storage(*this);
    return data_;
  }
  void* mutable_data() { return mutable_data_ptr().mutable_get(); }
  /// Without the copy.
  DataPtr& _mutable_data_ptr_no_checks() { return data_; }
  /// Returns the previous memory.
  DataPtr set_data_ptr(DataPtr&& data) {
    mutable_data_ptr();
    return std::exchange(data_, std::move(data));
  }
  void set_data_ptr_noswap(DataPtr&& data) { data_ = std::move(data); }
  void reset() {
    data_.clear();
    bytes_ = 0;
  }

 private:
  static DataPtr allocate(Allocator* allocator, SymInt bytes) {
    TORCH_CHECK(allocator, "StorageImpl: memory without an allocator");
    TORCH_CHECK(bytes >= 0, "StorageImpl: the size must not be negative, got ", bytes);
    return allocator->allocate(static_cast<size_t>(bytes.expect_int()));
  }
  void release_resources() override { data_.clear(); }

  DataPtr data_;
  size_t bytes_;
  Allocator* allocator_;
  bool resizable_;
};

RLT_NAMESPACE_END
}  // namespace c10

#include <c10/core/impl/COW.h>
