// Owned: an owning pointer.
#pragma once

#include <c10/macros/Macros.h>

#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace detail {
/// A unique owner: std::unique_ptr at a fraction of its compile time.
template <class T>
class Owned {
 public:
  explicit Owned(T* object = nullptr) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { delete object_; }
  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};
}  // namespace detail

RLT_NAMESPACE_END
}  // namespace torch
