// Queue: passes values between threads, first in, first out.
#pragma once

#include <c10/util/Exception.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace detail {

template <class T>
class Queue {
 public:
  void push(T value) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      values_.push_back(std::move(value));
    }
    filled_.notify_one();
  }
  /// Takes the oldest value, waiting for one, but not longer than `timeout`.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto ready = [this] { return !values_.empty(); };
    if (!timeout) {
      filled_.wait(lock, ready);
    } else if (!filled_.wait_for(lock, *timeout, ready)) {
      TORCH_CHECK(false, "Timeout in DataLoader queue while waiting for next batch (timeout was ", timeout->count(), " ms)");
    }
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  /// Drops all values and returns how many there were.
  size_t clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t count = values_.size();
    values_.clear();
    return count;
  }

 private:
  std::deque<T> values_;
  std::mutex mutex_;
  std::condition_variable filled_;
};

}  // namespace detail
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
