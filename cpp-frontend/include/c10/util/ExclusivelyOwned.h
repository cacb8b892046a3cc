// c10::ExclusivelyOwned: a value that only this object owns. It can be moved but not copied.
#pragma once

#include <c10/macros/Macros.h>

#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
class ExclusivelyOwned {
 public:
  ExclusivelyOwned() = default;
  explicit ExclusivelyOwned(T&& value) : value_(std::move(value)) {}
  template <class... Args>
  explicit ExclusivelyOwned(std::in_place_t, Args&&... args) : value_(std::forward<Args>(args)...) {}
  ExclusivelyOwned(const ExclusivelyOwned&) = delete;
  ExclusivelyOwned(ExclusivelyOwned&& other) noexcept : value_(std::move(other.value_)) {}
  ExclusivelyOwned& operator=(const ExclusivelyOwned&) = delete;
  ExclusivelyOwned& operator=(ExclusivelyOwned&& other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ExclusivelyOwned& operator=(T&& value) noexcept {
    value_ = std::move(value);
    return *this;
  }

  /// Moves the value out.
  T take() && { return std::move(value_); }
  const T& operator*() const& { return value_; }
  T& operator*() & { return value_; }
  const T* operator->() const { return &value_; }
  T* operator->() { return &value_; }
  T* get() { return &value_; }
  const T* get() const { return &value_; }
  explicit operator bool() const {
    if constexpr (std::is_constructible_v<bool, const T&>) return static_cast<bool>(value_);
    else return value_.defined();
  }

 private:
  T value_;
};

RLT_NAMESPACE_END
}  // namespace c10
