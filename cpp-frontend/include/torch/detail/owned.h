// Owned: an owning pointer.
#pragma once

#include <c10/macros/Macros.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace detail {
/// A unique owner: std::unique_ptr at a fraction of its compile time.
template <class T>
class Owned {
 public:
  explicit Owned(T* object = nullptr) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    T* object = object_;
    object_ = other.object_;
    other.object_ = object;
    return *this;
  }
  ~Owned() { delete object_; }
  T* get() const { return object_; }
  T* release() {
    T* object = object_;
    object_ = nullptr;
    return object;
  }
  explicit operator bool() const { return object_ != nullptr; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};
}  // namespace detail

RLT_NAMESPACE_END
}  // namespace torch
