// TORCH_FN: a function as a type, so that calls of it can be inlined.
#pragma once

#include <c10/util/TypeTraits.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Function, Function* pointer>
struct CompileTimeFunctionPointer final {
  static_assert(guts::is_function_type<Function>::value, "TORCH_FN requires a function");
  using FuncType = Function;
  static constexpr FuncType* func_ptr() { return pointer; }
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
