// Values that are computed when they are first used: OptimisticLazy and the LazyValue classes.
#pragma once

#include <c10/macros/Macros.h>

#include <atomic>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A value that `ensure` makes. Threads that call it at the same time may each make one; all see the first one that is finished.
template <class T>
class OptimisticLazy {
 public:
  OptimisticLazy() = default;
  OptimisticLazy(const OptimisticLazy& other) : value_(copy_of(other)) {}
  OptimisticLazy(OptimisticLazy&& other) noexcept : value_(other.value_.exchange(nullptr, std::memory_order_acq_rel)) {}
  OptimisticLazy& operator=(const OptimisticLazy& other) { return *this = OptimisticLazy(other); }
  OptimisticLazy& operator=(OptimisticLazy&& other) noexcept {
    if (this != &other) delete value_.exchange(other.value_.exchange(nullptr, std::memory_order_acq_rel), std::memory_order_acq_rel);
    return *this;
  }
  ~OptimisticLazy() { reset(); }

  template <class Factory>
  T& ensure(const Factory& factory) {
    if (T* value = value_.load(std::memory_order_acquire)) return *value;
    T* made = new T(factory());
    T* first = nullptr;
    if (value_.compare_exchange_strong(first, made, std::memory_order_acq_rel, std::memory_order_acquire)) return *made;
    delete made;
    return *first;
  }
  /// No other thread may use the value.
  void reset() { delete value_.exchange(nullptr, std::memory_order_acq_rel); }

 private:
  static T* copy_of(const OptimisticLazy& other) {
    T* value = other.value_.load(std::memory_order_acquire);
    return value ? new T(*value) : nullptr;
  }
  std::atomic<T*> value_{nullptr};
};

/// A value that `get` computes or has.
template <class T>
class LazyValue {
 public:
  virtual ~LazyValue() = default;
  virtual const T& get() const = 0;
};

/// Computed by `compute` when it is first used.
template <class T>
class OptimisticLazyValue : public LazyValue<T> {
 public:
  const T& get() const override {
    return value_.ensure([this] { return compute(); });
  }

 private:
  virtual T compute() const = 0;
  mutable OptimisticLazy<T> value_;
};

/// A value that is there already.
template <class T>
class PrecomputedLazyValue : public LazyValue<T> {
 public:
  PrecomputedLazyValue(T value) : value_(std::move(value)) {}
  const T& get() const override { return value_; }

 private:
  T value_;
};

RLT_NAMESPACE_END
}  // namespace c10
