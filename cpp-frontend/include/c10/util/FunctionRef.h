// c10::function_ref: a reference to anything that can be called, for parameters. It owns nothing and allocates nothing.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Function>
class function_ref;

/// The callable must outlive the reference.
template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}
  template <class Callable,
            std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, function_ref> && std::is_invocable_r_v<R, Callable&, Args...>, bool> = true>
  function_ref(Callable&& callable) : call_(&call<std::remove_reference_t<Callable>>) {
    if constexpr (std::is_function_v<std::remove_pointer_t<std::decay_t<Callable>>>) target_.function = reinterpret_cast<void (*)()>(+callable);
    else target_.object = const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
  }

  R operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  union Target {
    void* object = nullptr;
    void (*function)();
  };
  template <class Callable>
  static R call(Target target, Args... args) {
    using Pointer = std::decay_t<Callable>;
    if constexpr (std::is_function_v<std::remove_pointer_t<Pointer>>) return reinterpret_cast<Pointer>(target.function)(std::forward<Args>(args)...);
    else return (*static_cast<Callable*>(target.object))(std::forward<Args>(args)...);
  }

  R (*call_)(Target, Args...) = nullptr;
  Target target_;
};

RLT_NAMESPACE_END
}  // namespace c10
