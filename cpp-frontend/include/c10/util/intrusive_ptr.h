// intrusive_ptr and weak_intrusive_ptr: shared pointers to objects that count their owners themselves.
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
  intrusive_ptr_target() = default;
  virtual ~intrusive_ptr_target() = default;
  // A copy has a separate reference count.
  intrusive_ptr_target(const intrusive_ptr_target&) noexcept {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) noexcept { return *this; }

 private:
  template <class T>
  friend struct IntrusiveCount;

  /// Frees what the object holds when its last owner is gone and weak pointers keep the object itself.
  virtual void release_resources() {}

  mutable std::atomic<size_t> owners_{0};
  // All owners together count as one.
  mutable std::atomic<size_t> weak_{0};
};

/// Reference counting of a T. A new object has no owner.
template <class T>
struct IntrusiveCount {
  static void retain(T* object) {
    const intrusive_ptr_target* target = object;
    if (target->owners_.fetch_add(1, std::memory_order_relaxed) == 0) target->weak_.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(T* object) {
    const intrusive_ptr_target* target = object;
    if (target->owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (target->weak_.load(std::memory_order_acquire) == 1) {
      // No weak pointer exists, and nothing is left that could make one.
      delete target;
      return;
    }
    const_cast<intrusive_ptr_target*>(target)->release_resources();
    release_weak(object);
  }
  static size_t count(T* object) { return static_cast<const intrusive_ptr_target*>(object)->owners_.load(std::memory_order_acquire); }

  static void retain_weak(T* object) {
    static_cast<const intrusive_ptr_target*>(object)->weak_.fetch_add(1, std::memory_order_relaxed);
  }
  static void release_weak(T* object) {
    const intrusive_ptr_target* target = object;
    if (target->weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete target;
  }
  static size_t count_weak(T* object) { return static_cast<const intrusive_ptr_target*>(object)->weak_.load(std::memory_order_acquire); }
  /// Retains an object that has an owner.
  static bool lock(T* object) {
    std::atomic<size_t>& owners = static_cast<const intrusive_ptr_target*>(object)->owners_;
    size_t seen = owners.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (owners.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return true;
    }
    return false;
  }
};

namespace detail {
/// The pointer that stands for "no object": nullptr, or the singleton that a program chooses.
template <class T>
struct intrusive_target_default_null_type final {
  static constexpr T* singleton() noexcept { return nullptr; }
};
}  // namespace detail

template <class T, class NullType>
class weak_intrusive_ptr;

template <class T, class NullType = detail::intrusive_target_default_null_type<T>>
class intrusive_ptr final {
 public:
  using element_type = T;

  intrusive_ptr() noexcept = default;
  intrusive_ptr(std::nullptr_t) noexcept {}
  // A template, so that other calls do not instantiate std::unique_ptr<T>.
  template <class Unique, std::enable_if_t<std::is_same_v<Unique, std::unique_ptr<T>>, bool> = true>
  explicit intrusive_ptr(Unique object) : intrusive_ptr(object.release(), true) {}
  intrusive_ptr(const intrusive_ptr& other) : intrusive_ptr(other.object_, true) {}
  intrusive_ptr(intrusive_ptr&& other) noexcept : object_(other.release()) {}
  template <class From, class FromNull, std::enable_if_t<std::is_convertible_v<From*, T*>, bool> = true>
  intrusive_ptr(const intrusive_ptr<From, FromNull>& other) : intrusive_ptr(other.defined() ? other.get() : NullType::singleton(), true) {}
  template <class From, class FromNull, std::enable_if_t<std::is_convertible_v<From*, T*>, bool> = true>
  intrusive_ptr(intrusive_ptr<From, FromNull>&& other) noexcept : object_(other.defined() ? other.release() : NullType::singleton()) {}
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    swap(other);
    return *this;
  }
  ~intrusive_ptr() {
    if (defined()) IntrusiveCount<T>::release(object_);
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return defined(); }
  bool defined() const noexcept { return object_ != NullType::singleton(); }
  size_t use_count() const noexcept { return defined() ? IntrusiveCount<T>::count(object_) : 0; }
  size_t weak_use_count() const noexcept { return defined() ? IntrusiveCount<T>::count_weak(object_) : 0; }
  bool unique() const noexcept { return use_count() == 1; }
  void reset() noexcept { intrusive_ptr().swap(*this); }
  void swap(intrusive_ptr& other) noexcept { rlt::swap_values(object_, other.object_); }
  /// Releases the reference; `reclaim` takes it back.
  T* release() noexcept { return rlt::exchange_value(object_, NullType::singleton()); }
  static intrusive_ptr reclaim(T* owned) { return intrusive_ptr(owned, false); }
  static intrusive_ptr reclaim_copy(T* borrowed) { return intrusive_ptr(borrowed, true); }
  /// The first owner of an object made with new.
  static intrusive_ptr unsafe_steal_from_new(T* created) { return intrusive_ptr(created, true); }
  /// A further owner of an object that has at least one.
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* borrowed) {
    TORCH_INTERNAL_ASSERT_DEBUG_ONLY(borrowed == NullType::singleton() || IntrusiveCount<T>::count(borrowed) > 0,
                                     "intrusive_ptr: only an object that an intrusive_ptr owns can be reclaimed");
    return intrusive_ptr(borrowed, true);
  }
  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return intrusive_ptr(new T(std::forward<Args>(args)...), true);
  }

 private:
  template <class, class>
  friend class weak_intrusive_ptr;

  intrusive_ptr(T* object, bool retain) : object_(object) {
    if (defined() && retain) IntrusiveCount<T>::retain(object);
  }

  T* object_ = NullType::singleton();
};

/// A pointer that does not keep the object in use: `lock` returns an owner as long as there is another.
template <class T, class NullType = detail::intrusive_target_default_null_type<T>>
class weak_intrusive_ptr final {
 public:
  using element_type = T;

  explicit weak_intrusive_ptr(const intrusive_ptr<T, NullType>& owner) : weak_intrusive_ptr(owner.get(), true) {}
  weak_intrusive_ptr(const weak_intrusive_ptr& other) : weak_intrusive_ptr(other.object_, true) {}
  weak_intrusive_ptr(weak_intrusive_ptr&& other) noexcept : object_(other.release()) {}
  template <class From, class FromNull, std::enable_if_t<std::is_convertible_v<From*, T*>, bool> = true>
  weak_intrusive_ptr(const weak_intrusive_ptr<From, FromNull>& other)
      : weak_intrusive_ptr(other.is_null() ? NullType::singleton() : other._unsafe_get_target(), true) {}
  template <class From, class FromNull, std::enable_if_t<std::is_convertible_v<From*, T*>, bool> = true>
  weak_intrusive_ptr(weak_intrusive_ptr<From, FromNull>&& other) noexcept
      : object_(other.is_null() ? NullType::singleton() : other.release()) {}
  weak_intrusive_ptr& operator=(weak_intrusive_ptr other) noexcept {
    swap(other);
    return *this;
  }
  weak_intrusive_ptr& operator=(const intrusive_ptr<T, NullType>& owner) { return *this = weak_intrusive_ptr(owner); }
  ~weak_intrusive_ptr() {
    if (!is_null()) IntrusiveCount<T>::release_weak(object_);
  }

  /// The owner, or an undefined pointer when the last owner is gone.
  intrusive_ptr<T, NullType> lock() const {
    if (is_null() || !IntrusiveCount<T>::lock(object_)) return {};
    return intrusive_ptr<T, NullType>(object_, false);
  }
  bool expired() const noexcept { return use_count() == 0; }
  size_t use_count() const noexcept { return is_null() ? 0 : IntrusiveCount<T>::count(object_); }
  size_t weak_use_count() const noexcept { return is_null() ? 0 : IntrusiveCount<T>::count_weak(object_); }
  void reset() noexcept {
    weak_intrusive_ptr none(NullType::singleton(), false);
    swap(none);
  }
  void swap(weak_intrusive_ptr& other) noexcept { rlt::swap_values(object_, other.object_); }
  /// The address, also of an object without an owner.
  T* _unsafe_get_target() const noexcept { return object_; }
  bool is_null() const noexcept { return object_ == NullType::singleton(); }
  T* release() noexcept { return rlt::exchange_value(object_, NullType::singleton()); }
  static weak_intrusive_ptr reclaim(T* owned) {
    TORCH_INTERNAL_ASSERT_DEBUG_ONLY(owned == NullType::singleton() || IntrusiveCount<T>::count_weak(owned) > 0,
                                     "weak_intrusive_ptr: only a pointer that was released can be reclaimed");
    return weak_intrusive_ptr(owned, false);
  }
  static weak_intrusive_ptr reclaim_copy(T* borrowed) { return weak_intrusive_ptr(borrowed, true); }

 private:
  weak_intrusive_ptr(T* object, bool retain) : object_(object) {
    if (!is_null() && retain) IntrusiveCount<T>::retain_weak(object);
  }

  T* object_;
};

template <class T, class N, class U, class M>
bool operator==(const intrusive_ptr<T, N>& a, const intrusive_ptr<U, M>& b) noexcept {
  return a.get() == b.get();
}
template <class T, class N, class U, class M>
bool operator!=(const intrusive_ptr<T, N>& a, const intrusive_ptr<U, M>& b) noexcept {
  return a.get() != b.get();
}
template <class T, class N>
bool operator==(const intrusive_ptr<T, N>& a, std::nullptr_t) noexcept {
  return a.get() == nullptr;
}
template <class T, class N>
bool operator!=(const intrusive_ptr<T, N>& a, std::nullptr_t) noexcept {
  return a.get() != nullptr;
}
template <class T, class N>
bool operator==(std::nullptr_t, const intrusive_ptr<T, N>& a) noexcept {
  return a.get() == nullptr;
}
template <class T, class N>
bool operator!=(std::nullptr_t, const intrusive_ptr<T, N>& a) noexcept {
  return a.get() != nullptr;
}
template <class T, class N>
bool operator<(const intrusive_ptr<T, N>& a, const intrusive_ptr<T, N>& b) noexcept {
  return a.get() < b.get();
}
template <class T, class N>
void swap(intrusive_ptr<T, N>& a, intrusive_ptr<T, N>& b) noexcept {
  a.swap(b);
}

template <class T, class N, class U, class M>
bool operator==(const weak_intrusive_ptr<T, N>& a, const weak_intrusive_ptr<U, M>& b) noexcept {
  return a._unsafe_get_target() == b._unsafe_get_target();
}
template <class T, class N, class U, class M>
bool operator!=(const weak_intrusive_ptr<T, N>& a, const weak_intrusive_ptr<U, M>& b) noexcept {
  return !(a == b);
}
template <class T, class N>
bool operator<(const weak_intrusive_ptr<T, N>& a, const weak_intrusive_ptr<T, N>& b) noexcept {
  return a._unsafe_get_target() < b._unsafe_get_target();
}
template <class T, class N>
void swap(weak_intrusive_ptr<T, N>& a, weak_intrusive_ptr<T, N>& b) noexcept {
  a.swap(b);
}

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::make(std::forward<Args>(args)...);
}

RLT_NAMESPACE_END
}  // namespace c10

template <class T, class N>
struct std::hash<c10::intrusive_ptr<T, N>> {
  size_t operator()(const c10::intrusive_ptr<T, N>& pointer) const { return std::hash<T*>()(pointer.get()); }
};
template <class T, class N>
struct std::hash<c10::weak_intrusive_ptr<T, N>> {
  size_t operator()(const c10::weak_intrusive_ptr<T, N>& pointer) const { return std::hash<T*>()(pointer._unsafe_get_target()); }
};
