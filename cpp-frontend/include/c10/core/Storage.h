// Storage: the memory below a tensor and its views. It keeps its tensor alive.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <rushlight/tensor.h>

#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

class Storage {
 public:
  Storage() = default;
  explicit Storage(const rlt_tensor* tensor) { rlt::check(rlt_tensor_retain(tensor, &owner_)); }
  Storage(const Storage& other) {
    if (other.owner_) rlt::check(rlt_tensor_retain(other.owner_, &owner_));
  }
  Storage(Storage&& other) noexcept : owner_(rlt::exchange_value(other.owner_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    rlt::swap_values(owner_, other.owner_);
    return *this;
  }
  ~Storage() {
    if (owner_) rlt_tensor_free(owner_);
  }

  /// The identity of the storage: the same for all tensors that share it.
  const void* unsafeGetStorageImpl() const { return owner_ ? data() : nullptr; }
  /// A tensor over this memory; T is at::Tensor.
  template <class T>
  T tensor() const {
    rlt_tensor* tensor = nullptr;
    rlt::check(rlt_tensor_retain(owner_, &tensor));
    return T(tensor);
  }
  const void* data() const { return span().first; }
  void* mutable_data() const { return span().first; }
  /// `const` values, so that `auto& pointer = storage.data_ptr()` compiles.
  const DataPtr data_ptr() const { return DataPtr(mutable_data(), device()); }
  const DataPtr mutable_data_ptr() const { return data_ptr(); }
  size_t nbytes() const { return span().second; }
  /// A storage keeps its size: another one is an error. `Tensor::resize_` gives a tensor a larger storage.
  void set_nbytes(size_t nbytes) const {
    if (nbytes != this->nbytes()) {
      rlt::raise<NotImplementedError>("set_nbytes: a storage of " + std::to_string(this->nbytes()) + " bytes cannot have " + std::to_string(nbytes) + " bytes; use Tensor::resize_");
    }
  }
  Device device() const {
    rlt_device device{};
    rlt::check(rlt_tensor_device(owner_, &device));
    return Device(device);
  }
  DeviceType device_type() const { return device().type(); }
  bool is_alias_of(const Storage& other) const { return data() == other.data(); }
  explicit operator bool() const { return owner_ != nullptr; }

 private:
  std::pair<void*, size_t> span() const {
    void* data = nullptr;
    int64_t nbytes = 0;
    rlt::check(rlt_tensor_storage(owner_, &data, &nbytes));
    return {data, static_cast<size_t>(nbytes)};
  }
  rlt_tensor* owner_ = nullptr;
};

RLT_NAMESPACE_END
}  // namespace c10
