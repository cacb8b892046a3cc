// WeakIValue: a value that does not keep its object or tensor in use.
#pragma once

#include <ATen/core/ivalue_all.h>

namespace rlt {
RLT_NAMESPACE_BEGIN

/// A reference to a tensor that does not keep it alive.
class WeakTensor {
 public:
  WeakTensor() = default;
  explicit WeakTensor(const at::Tensor& tensor) {
    if (tensor.defined()) rlt::check(rlt_weak_tensor_new(tensor.handle(), &handle_));
  }
  WeakTensor(const WeakTensor& other) {
    if (other.handle_) rlt::check(rlt_weak_tensor_clone(other.handle_, &handle_));
  }
  WeakTensor(WeakTensor&& other) noexcept : handle_(rlt::exchange_value(other.handle_, nullptr)) {}
  WeakTensor& operator=(WeakTensor other) noexcept {
    rlt::swap_values(handle_, other.handle_);
    return *this;
  }
  ~WeakTensor() {
    if (handle_) rlt_weak_tensor_free(handle_);
  }

  bool defined() const noexcept { return handle_ != nullptr; }
  /// The tensor; an undefined one if it is gone.
  at::Tensor lock() const {
    rlt_tensor* tensor = nullptr;
    if (handle_) rlt::check(rlt_weak_tensor_lock(handle_, &tensor));
    return tensor ? at::Tensor(tensor) : at::Tensor();
  }
  /// The numbers of references that keep it alive, and of the others.
  std::pair<size_t, size_t> counts() const {
    int64_t strong = 0, weak = 0;
    if (handle_) rlt::check(rlt_weak_tensor_use_count(handle_, &strong, &weak));
    return {static_cast<size_t>(strong), static_cast<size_t>(weak)};
  }

 private:
  rlt_weak_tensor* handle_ = nullptr;
};

RLT_NAMESPACE_END
}  // namespace rlt

namespace c10 {
RLT_NAMESPACE_BEGIN

class WeakIValue {
 public:
  WeakIValue() = default;
  /// Values without an object, such as numbers, are copied.
  WeakIValue(const IValue& value) {
    if (value.isTensor()) {
      tensor_ = rlt::WeakTensor(value.toTensor());
      // An undefined tensor is a value without an object.
      if (!tensor_.defined()) kind_ = value;
    } else if (value.isPtrType()) {
      object_.emplace(intrusive_ptr<intrusive_ptr_target>::reclaim_copy(static_cast<intrusive_ptr_target*>(value.internalToPointer())));
      kind_ = value.without_object();
    } else {
      kind_ = value;
    }
  }
  /// The value; None if no owner of its object is left.
  IValue lock() const {
    if (tensor_.defined()) {
      at::Tensor tensor = tensor_.lock();
      return tensor.defined() ? IValue(std::move(tensor)) : IValue();
    }
    if (!object_) return kind_;
    intrusive_ptr<intrusive_ptr_target> object = object_->lock();
    return object ? kind_.with_object(std::move(object)) : IValue();
  }
  size_t use_count() const { return tensor_.defined() ? tensor_.counts().first : object_ ? object_->use_count() : 1; }
  size_t weak_use_count() const { return tensor_.defined() ? tensor_.counts().second : object_ ? object_->weak_use_count() : 1; }
  bool is(const WeakIValue& other) const { return lock().is(other.lock()); }

 private:
  IValue kind_;
  std::optional<weak_intrusive_ptr<intrusive_ptr_target>> object_;
  rlt::WeakTensor tensor_;
};

RLT_NAMESPACE_END
}  // namespace c10
