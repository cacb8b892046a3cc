// c10::LeftRight: two copies of a value, so that readers never wait for a writer.
#pragma once

#include <c10/util/Synchronized.h>

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

namespace detail {
/// Counts a reader for as long as it reads.
struct IncrementRAII final {
  explicit IncrementRAII(std::atomic<int32_t>* counter) : counter_(counter) { ++*counter_; }
  ~IncrementRAII() { --*counter_; }
  IncrementRAII(const IncrementRAII&) = delete;
  IncrementRAII& operator=(const IncrementRAII&) = delete;

 private:
  std::atomic<int32_t>* counter_;
};
}  // namespace detail

/// Readers use one copy while a writer changes the other; then the writer changes places and repeats its change. The function of
/// `write` is therefore called twice, once per copy.
template <class T>
class LeftRight final {
 public:
  template <class... Args>
  explicit LeftRight(const Args&... args) : copies_{{T{args...}, T{args...}}} {}
  LeftRight(const LeftRight&) = delete;
  LeftRight(LeftRight&&) = delete;
  LeftRight& operator=(const LeftRight&) = delete;
  LeftRight& operator=(LeftRight&&) = delete;
  ~LeftRight() {
    // No writer starts from here on, and readers finish with the copies.
    std::lock_guard<std::mutex> lock(writers_);
    wait_for_readers(0);
    wait_for_readers(1);
  }

  template <class Function>
  decltype(auto) read(Function&& function) const {
    detail::IncrementRAII reading(&readers_[group_.load()]);
    return std::forward<Function>(function)(copies_[shown_.load()]);
  }

  /// If the function throws, both copies have the old value (in its first call) or the new one (in its second).
  template <class Function>
  decltype(auto) write(Function&& function) {
    std::lock_guard<std::mutex> lock(writers_);
    size_t shown = shown_.load();
    size_t hidden = 1 - shown;
    change(function, hidden, shown);
    shown_.store(hidden);
    // Readers that still see the old copy are in one of the groups: new ones enter the other group.
    size_t group = group_.load();
    wait_for_readers(1 - group);
    group_.store(1 - group);
    wait_for_readers(group);
    return change(function, shown, hidden);
  }

 private:
  /// Applies the function to a copy; after an exception the copy becomes equal to the other one.
  template <class Function>
  decltype(auto) change(Function& function, size_t target, size_t other) {
#if RLT_EXCEPTIONS
    try {
      return function(copies_[target]);
    } catch (...) {
      copies_[target] = copies_[other];
      throw;
    }
#else
    (void)other;
    return function(copies_[target]);
#endif
  }
  void wait_for_readers(size_t group) const {
    while (readers_[group].load() != 0) std::this_thread::yield();
  }

  mutable std::array<std::atomic<int32_t>, 2> readers_{};
  std::atomic<size_t> group_{0};
  std::atomic<size_t> shown_{0};
  std::array<T, 2> copies_;
  std::mutex writers_;
};

/// The same functions with a lock, for values that are written often.
template <class T>
class RWSafeLeftRightWrapper final {
 public:
  template <class... Args>
  explicit RWSafeLeftRightWrapper(const Args&... args) : data_{args...} {}

  template <class Function>
  auto read(Function&& function) const {
    return data_.withLock([&](const T& value) { return function(value); });
  }
  template <class Function>
  auto write(Function&& function) {
    return data_.withLock([&](T& value) { return function(value); });
  }

 private:
  Synchronized<T> data_;
};

RLT_NAMESPACE_END
}  // namespace c10
