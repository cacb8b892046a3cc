// Type traits of c10::guts: questions about a type that the standard library does not answer.
#pragma once

#include <c10/macros/Macros.h>

#include <functional>
#include <type_traits>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace guts {

/// Two values of T can be compared with ==.
template <class T, class = void>
struct is_equality_comparable : std::false_type {};
template <class T>
struct is_equality_comparable<T, std::void_t<decltype(std::declval<T&>() == std::declval<T&>())>> : std::true_type {};
template <class T>
using is_equality_comparable_t = typename is_equality_comparable<T>::type;

/// std::hash of T exists.
template <class T, class = void>
struct is_hashable : std::false_type {};
template <class T>
struct is_hashable<T, std::void_t<decltype(std::declval<std::hash<T>&>()(std::declval<T&>()))>> : std::true_type {};
template <class T>
using is_hashable_t = typename is_hashable<T>::type;

/// A plain function type, such as `int(float)`; not a pointer, a reference or a class.
template <class T>
struct is_function_type : std::false_type {};
template <class Result, class... Args>
struct is_function_type<Result(Args...)> : std::true_type {};
template <class T>
using is_function_type_t = typename is_function_type<T>::type;

/// T is `Template<...>`.
template <template <class...> class Template, class T>
struct is_instantiation_of : std::false_type {};
template <template <class...> class Template, class... Args>
struct is_instantiation_of<Template, Template<Args...>> : std::true_type {};
template <template <class...> class Template, class T>
using is_instantiation_of_t = typename is_instantiation_of<Template, T>::type;

/// The template has a boolean `value` for a type, so it can be a condition.
template <template <class> class Condition, class = void>
struct is_type_condition : std::false_type {};
template <template <class> class Condition>
struct is_type_condition<Condition, std::enable_if_t<std::is_same_v<bool, std::remove_cv_t<decltype(Condition<int>::value)>>>> : std::true_type {};
template <template <class> class Condition>
inline constexpr bool is_type_condition_v = is_type_condition<Condition>::value;

/// The plain function type of a call operator, without its class.
template <class Member>
struct strip_class {};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...)> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) const> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) noexcept> {
  using type = Result(Args...);
};
template <class Class, class Result, class... Args>
struct strip_class<Result (Class::*)(Args...) const noexcept> {
  using type = Result(Args...);
};
template <class Member>
using strip_class_t = typename strip_class<Member>::type;

/// A class with one call operator.
template <class T, class = void>
struct is_functor : std::false_type {};
template <class T>
struct is_functor<T, std::void_t<strip_class_t<decltype(&T::operator())>>> : std::true_type {};

namespace detail {
// A lambda without captures converts to a pointer to a function; other classes with a call operator do not.
template <class T, bool = is_functor<T>::value>
struct stateless_lambda : std::false_type {};
template <class T>
struct stateless_lambda<T, true> : std::is_convertible<T, strip_class_t<decltype(&T::operator())>*> {};
}  // namespace detail
template <class T>
using is_stateless_lambda = detail::stateless_lambda<std::decay_t<T>>;

}  // namespace guts
RLT_NAMESPACE_END
}  // namespace c10
