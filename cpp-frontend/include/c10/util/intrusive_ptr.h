// intrusive_ptr: a shared pointer to objects that count their owners themselves.
#pragma once

#include <c10/util/Exception.h>

#include <atomic>
#include <memory>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Base of classes managed by an intrusive_ptr.
class intrusive_ptr_target {
 public:
  virtual ~intrusive_ptr_target() = default;

 protected:
  intrusive_ptr_target() = default;
  // A copy has a separate reference count.
  intrusive_ptr_target(const intrusive_ptr_target&) noexcept {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) noexcept { return *this; }

 private:
  template <class T>
  friend struct IntrusiveCount;
  mutable std::atomic<size_t> owners_{0};
};

/// Reference counting of a T. A new object has no owner.
template <class T>
struct IntrusiveCount {
  static void retain(T* object) { owners(object).fetch_add(1, std::memory_order_relaxed); }
  static void release(T* object) {
    if (owners(object).fetch_sub(1, std::memory_order_acq_rel) == 1) delete object;
  }
  static size_t count(T* object) { return owners(object).load(std::memory_order_acquire); }

 private:
  static std::atomic<size_t>& owners(T* object) { return static_cast<const intrusive_ptr_target*>(object)->owners_; }
};

template <class T>
class intrusive_ptr final {
 public:
  using element_type = T;

  intrusive_ptr() noexcept = default;
  intrusive_ptr(std::nullptr_t) noexcept {}
  explicit intrusive_ptr(std::unique_ptr<T> object) : intrusive_ptr(object.release(), true) {}
  intrusive_ptr(const intrusive_ptr& other) : intrusive_ptr(other.object_, true) {}
  intrusive_ptr(intrusive_ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class From, std::enable_if_t<std::is_convertible_v<From*, T*>, bool> = true>
  intrusive_ptr(const intrusive_ptr<From>& other) : intrusive_ptr(other.get(), true) {}
  template <class From, std::enable_if_t<std::is_convertible_v<From*, T*>, bool> = true>
  intrusive_ptr(intrusive_ptr<From>&& other) noexcept : object_(other.release()) {}
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    swap(other);
    return *this;
  }
  ~intrusive_ptr() {
    if (object_) IntrusiveCount<T>::release(object_);
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  bool defined() const noexcept { return object_ != nullptr; }
  size_t use_count() const noexcept { return object_ ? IntrusiveCount<T>::count(object_) : 0; }
  bool unique() const noexcept { return use_count() == 1; }
  void reset() noexcept { intrusive_ptr().swap(*this); }
  void swap(intrusive_ptr& other) noexcept { std::swap(object_, other.object_); }
  /// Releases the reference; `reclaim` takes it back.
  T* release() noexcept { return std::exchange(object_, nullptr); }
  static intrusive_ptr reclaim(T* owned) noexcept { return intrusive_ptr(owned, false); }
  static intrusive_ptr reclaim_copy(T* borrowed) { return intrusive_ptr(borrowed, true); }
  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return intrusive_ptr(new T(std::forward<Args>(args)...), true);
  }

 private:
  intrusive_ptr(T* object, bool retain) : object_(object) {
    if (object && retain) IntrusiveCount<T>::retain(object);
  }

  T* object_ = nullptr;
};

template <class T, class U>
bool operator==(const intrusive_ptr<T>& a, const intrusive_ptr<U>& b) noexcept {
  return a.get() == b.get();
}
template <class T, class U>
bool operator!=(const intrusive_ptr<T>& a, const intrusive_ptr<U>& b) noexcept {
  return a.get() != b.get();
}
template <class T>
bool operator==(const intrusive_ptr<T>& a, std::nullptr_t) noexcept {
  return !a;
}
template <class T>
bool operator!=(const intrusive_ptr<T>& a, std::nullptr_t) noexcept {
  return static_cast<bool>(a);
}
template <class T>
bool operator<(const intrusive_ptr<T>& a, const intrusive_ptr<T>& b) noexcept {
  return a.get() < b.get();
}

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::make(std::forward<Args>(args)...);
}

RLT_NAMESPACE_END
}  // namespace c10

template <class T>
struct std::hash<c10::intrusive_ptr<T>> {
  size_t operator()(const c10::intrusive_ptr<T>& pointer) const { return std::hash<T*>()(pointer.get()); }
};
