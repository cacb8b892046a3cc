// TORCH_FN: a function as a type, so that calls of it can be inlined.
#pragma once

#include <c10/macros/Macros.h>

#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Function, Function* pointer>
struct CompileTimeFunctionPointer;
template <class R, class... Args, R (*pointer)(Args...)>
struct CompileTimeFunctionPointer<R(Args...), pointer> {
  using FuncType = R(Args...);
  static constexpr FuncType* func_ptr() { return pointer; }
  R operator()(Args... args) const { return pointer(static_cast<Args&&>(args)...); }
};

template <class T>
struct is_compile_time_function_pointer : std::false_type {};
template <class Function, Function* pointer>
struct is_compile_time_function_pointer<CompileTimeFunctionPointer<Function, pointer>> : std::true_type {};

RLT_NAMESPACE_END
}  // namespace c10

#define TORCH_FN_TYPE(function) \
  ::c10::CompileTimeFunctionPointer<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>, function>
#define TORCH_FN(function) TORCH_FN_TYPE(function)()
