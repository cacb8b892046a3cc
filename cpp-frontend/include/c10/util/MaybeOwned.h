// c10::MaybeOwned: a value, or a reference to one that lives elsewhere, used in the same way.
#pragma once

#include <c10/macros/Macros.h>

#include <optional>
#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A borrowed value must outlive this object. A copy of an owner owns a copy; a copy of a borrower borrows the same value.
template <class T>
class MaybeOwned final {
 public:
  /// Owns a default value.
  MaybeOwned() : owned_(std::in_place) {}
  MaybeOwned(const MaybeOwned&) = default;
  MaybeOwned& operator=(const MaybeOwned&) = default;
  /// The moved-from object is only assigned to or destroyed.
  MaybeOwned(MaybeOwned&&) = default;
  MaybeOwned& operator=(MaybeOwned&&) = default;

  static MaybeOwned borrowed(const T& value) { return MaybeOwned(&value); }
  static MaybeOwned owned(T&& value) noexcept(std::is_nothrow_move_constructible_v<T>) { return MaybeOwned(std::in_place, std::move(value)); }
  template <class... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    return MaybeOwned(std::in_place, std::forward<Args>(args)...);
  }

  const T& operator*() const& { return borrowed_ ? *borrowed_ : *owned_; }
  const T* operator->() const { return &**this; }
  /// Moves an owned value out, and copies a borrowed one.
  T operator*() && {
    if (borrowed_) return *borrowed_;
    return std::move(*owned_);
  }
  bool unsafeIsBorrowed() const { return borrowed_ != nullptr; }

 private:
  explicit MaybeOwned(const T* value) : borrowed_(value) {}
  template <class... Args>
  explicit MaybeOwned(std::in_place_t, Args&&... args) : owned_(std::in_place, std::forward<Args>(args)...) {}

  const T* borrowed_ = nullptr;
  std::optional<T> owned_;
};

RLT_NAMESPACE_END
}  // namespace c10
