// c10::call_once: std::call_once that may be tried again after an exception.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

class once_flag {
 public:
  once_flag() = default;
  once_flag(const once_flag&) = delete;
  once_flag& operator=(const once_flag&) = delete;
  bool test_once() const { return called_.load(std::memory_order_acquire); }

 private:
  template <class Flag, class Function, class... Args>
  friend void call_once(Flag& flag, Function&& function, Args&&... args);

  std::mutex mutex_;
  std::atomic<bool> called_{false};
};

/// Calls the function unless a call with this flag has returned. Other threads wait for a call in progress.
template <class Flag, class Function, class... Args>
void call_once(Flag& flag, Function&& function, Args&&... args) {
  if (flag.test_once()) return;
  std::lock_guard<std::mutex> lock(flag.mutex_);
  if (flag.test_once()) return;
  std::invoke(std::forward<Function>(function), std::forward<Args>(args)...);
  flag.called_.store(true, std::memory_order_release);
}

RLT_NAMESPACE_END
}  // namespace c10
