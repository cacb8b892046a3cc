// UniqueVoidPtr: an address, and the context that owns its memory, with the function that deletes the context.
#pragma once

#include <c10/macros/Macros.h>

#include <memory>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

using DeleterFnPtr = void (*)(void*);

namespace detail {

/// Deletes nothing.
inline void deleteNothing(void*) {}

class UniqueVoidPtr {
 public:
  UniqueVoidPtr() : UniqueVoidPtr(nullptr) {}
  explicit UniqueVoidPtr(void* data) : UniqueVoidPtr(data, nullptr, nullptr) {}
  UniqueVoidPtr(void* data, void* context, DeleterFnPtr deleter) : data_(data), context_(context, deleter ? deleter : &deleteNothing) {}

  void* get() const { return data_; }
  void* operator->() const { return data_; }
  void* get_context() const { return context_.get(); }
  DeleterFnPtr get_deleter() const { return context_.get_deleter(); }
  void* release_context() { return context_.release(); }
  std::unique_ptr<void, DeleterFnPtr>&& move_context() { return std::move(context_); }
  void clear() {
    context_ = nullptr;
    data_ = nullptr;
  }
  /// The context as a T if `expected` deletes it, otherwise nullptr.
  template <class T>
  T* cast_context(DeleterFnPtr expected) const {
    return get_deleter() == expected ? static_cast<T*>(get_context()) : nullptr;
  }
  bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr deleter) {
    if (get_deleter() != expected) return false;
    context_ = std::unique_ptr<void, DeleterFnPtr>(context_.release(), deleter);
    return true;
  }
  explicit operator bool() const { return data_ || context_; }

 private:
  void* data_;
  std::unique_ptr<void, DeleterFnPtr> context_;
};

}  // namespace detail
RLT_NAMESPACE_END
}  // namespace c10
