// c10::Synchronized: a value that is reachable with its lock only.
#pragma once

#include <c10/macros/Macros.h>

#include <mutex>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
class Synchronized final {
 public:
  Synchronized() = default;
  Synchronized(const T& value) : value_(value) {}
  Synchronized(T&& value) : value_(std::move(value)) {}
  Synchronized(const Synchronized&) = delete;
  Synchronized& operator=(const Synchronized&) = delete;

  /// Calls the function with the value while the lock is held, and returns its result.
  template <class Function>
  auto withLock(Function&& function) {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<Function>(function)(value_);
  }
  template <class Function>
  auto withLock(Function&& function) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<Function>(function)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

RLT_NAMESPACE_END
}  // namespace c10
