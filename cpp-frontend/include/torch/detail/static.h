// Type traits: whether a type is a module, and the return type of its forward.
#pragma once

#include <torch/csrc/utils/variadic.h>

#include <type_traits>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
class Module;
}

namespace detail {

template <class T, class = void>
struct has_forward : std::false_type {};
template <class T>
struct has_forward<T, std::void_t<decltype(&T::forward)>> : std::true_type {};

/// Whether no argument is a mutable reference.
template <class... Ts>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Ts> || std::is_const_v<std::remove_reference_t<Ts>>) && ...);
}

/// The return type of `C::forward` for these arguments; void if there is no such method.
template <class C, class Arguments, class = void>
struct forward_result {
  using type = void;
};
template <class C, class... Args>
struct forward_result<C, void(Args...), std::void_t<decltype(std::declval<C&>().forward(std::declval<Args>()...))>> {
  using type = decltype(std::declval<C&>().forward(std::declval<Args>()...));
};
template <class C, class... Args>
struct return_type_of_forward : forward_result<C, void(Args...)> {};
template <class C, class... Args>
using return_type_of_forward_t = typename return_type_of_forward<C, Args...>::type;

template <class M>
using is_module = std::is_base_of<nn::Module, std::decay_t<M>>;
template <class M, class T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

}  // namespace detail
RLT_NAMESPACE_END
}  // namespace torch
