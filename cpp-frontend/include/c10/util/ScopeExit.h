// c10::make_scope_exit: calls a function at the end of a scope.
#pragma once

#include <c10/macros/Macros.h>

#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Function>
class scope_exit {
 public:
  template <class F>
  explicit scope_exit(F&& function) : function_(std::forward<F>(function)) {}
  scope_exit(scope_exit&& other) : function_(std::move(other.function_)), engaged_(std::exchange(other.engaged_, false)) {}
  scope_exit(const scope_exit&) = delete;
  scope_exit& operator=(const scope_exit&) = delete;
  ~scope_exit() {
    if (engaged_) function_();
  }
  /// The function is not called.
  void release() { engaged_ = false; }

 private:
  Function function_;
  bool engaged_ = true;
};

template <class Function>
[[nodiscard]] scope_exit<std::decay_t<Function>> make_scope_exit(Function&& function) {
  return scope_exit<std::decay_t<Function>>(std::forward<Function>(function));
}

RLT_NAMESPACE_END
}  // namespace c10
