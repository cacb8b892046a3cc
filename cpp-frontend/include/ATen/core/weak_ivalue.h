// WeakIValue: a value that does not keep its object in use. Tensors have no weak references.
#pragma once

#include <ATen/core/ivalue_all.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

class WeakIValue {
 public:
  WeakIValue() = default;
  /// Values without an object, such as numbers, are copied.
  WeakIValue(const IValue& value) {
    if (value.isTensor()) rlt::raise<NotImplementedError>("WeakIValue: tensors have no weak references");
    if (value.isPtrType()) {
      object_.emplace(intrusive_ptr<intrusive_ptr_target>::reclaim_copy(static_cast<intrusive_ptr_target*>(value.internalToPointer())));
      kind_ = value.without_object();
    } else {
      kind_ = value;
    }
  }
  /// The value; None if no owner of its object is left.
  IValue lock() const {
    if (!object_) return kind_;
    intrusive_ptr<intrusive_ptr_target> object = object_->lock();
    return object ? kind_.with_object(std::move(object)) : IValue();
  }
  size_t use_count() const { return object_ ? object_->use_count() : 1; }
  size_t weak_use_count() const { return object_ ? object_->weak_use_count() : 1; }
  bool is(const WeakIValue& other) const { return lock().is(other.lock()); }

 private:
  IValue kind_;
  std::optional<weak_intrusive_ptr<intrusive_ptr_target>> object_;
};

RLT_NAMESPACE_END
}  // namespace c10
