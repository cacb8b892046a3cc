// Loops on several threads.
//
// The operators of the library have their own pool of threads. These functions are for the loops of programs: they start the
// threads that they need, and a loop inside a loop runs on its thread.
#pragma once

#include <ATen/Config.h>
#include <ATen/Functions.h>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

namespace detail {
struct LoopThread {
  int index = 0;
  bool in_loop = false;
};
inline LoopThread& loop_thread() {
  thread_local LoopThread thread;
  return thread;
}
/// The share of a loop that this thread runs, in this scope.
class LoopScope {
 public:
  explicit LoopScope(int index) : before_(loop_thread()) { loop_thread() = {index, true}; }
  ~LoopScope() { loop_thread() = before_; }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  LoopThread before_;
};
}  // namespace detail

namespace internal {
/// Loops over fewer elements run on the calling thread.
constexpr int64_t GRAIN_SIZE = 32768;
}  // namespace internal

inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }
/// The number of the thread in the innermost parallel loop; 0 outside of loops.
inline int get_thread_num() { return detail::loop_thread().index; }
inline bool in_parallel_region() { return detail::loop_thread().in_loop; }
inline void lazy_init_num_threads() {}

/// Calls `body(first, last)` for ranges of at least `grain_size` indices that cover [begin, end). The first exception is thrown
/// again in the caller.
template <class Body>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const Body& body) {
  TORCH_CHECK(grain_size >= 0, "parallel_for: grain_size must not be negative, got ", grain_size);
  if (begin >= end) return;
  int64_t count = end - begin, shares = 1;
  if (!in_parallel_region()) shares = std::min<int64_t>(get_num_threads(), grain_size > 0 ? divup(count, grain_size) : count);
  if (shares <= 1) {
    detail::LoopScope scope(0);
    body(begin, end);
    return;
  }
  int64_t share = divup(count, shares);
  std::exception_ptr failure;
  std::mutex failed;
  auto run = [&](int64_t index) {
    detail::LoopScope scope(static_cast<int>(index));
    int64_t first = begin + index * share;
    try {
      if (first < end) body(first, std::min(first + share, end));
    } catch (...) {
      std::lock_guard<std::mutex> lock(failed);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(shares - 1));
  int64_t started = 1;
  try {
    for (; started < shares; ++started) threads.emplace_back(run, started);
  } catch (const std::system_error&) {
    // No more threads: this one runs the shares that are left.
  }
  run(0);
  for (; started < shares; ++started) run(started);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

/// Combines the results of `body(first, last, identity)` for ranges of [begin, end), in the order of the ranges.
template <class T, class Body, class Combine>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, const T identity, const Body& body, const Combine& combine) {
  if (begin >= end) return identity;
  if (in_parallel_region() || get_num_threads() == 1 || end - begin <= grain_size) {
    detail::LoopScope scope(0);
    return body(begin, end, identity);
  }
  std::vector<T> results(static_cast<size_t>(get_num_threads()), identity);
  parallel_for(begin, end, grain_size, [&](int64_t first, int64_t last) {
    T& result = results[static_cast<size_t>(get_thread_num())];
    result = combine(result, body(first, last, identity));
  });
  T result = identity;
  for (const T& part : results) result = combine(result, part);
  return result;
}

/// Runs a function on another thread without waiting for it.
template <class Function>
void intraop_launch(Function function) {
  if (in_parallel_region() || get_num_threads() == 1) return function();
  std::thread(std::move(function)).detach();
}

RLT_NAMESPACE_END
}  // namespace at
