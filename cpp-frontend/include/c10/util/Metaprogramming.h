// c10::guts: the parts of a function's type, and functions of tuples.
#pragma once

#include <c10/util/TypeList.h>

#include <array>
#include <functional>
#include <string>
#include <tuple>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace guts {

/// The result and the parameters of a plain function type.
template <class Function>
struct function_traits {
  static_assert(false_t<Function>::value, "function_traits requires a plain function type, such as int(float)");
};
template <class Result, class... Args>
struct function_traits<Result(Args...)> {
  using func_type = Result(Args...);
  using return_type = Result;
  using parameter_types = typelist::typelist<Args...>;
  static constexpr size_t number_of_parameters = sizeof...(Args);
};

/// The same of anything that can be called: a function, a pointer to one, or a class with a call operator.
template <class Callable>
struct infer_function_traits {
  using type = function_traits<strip_class_t<decltype(&Callable::operator())>>;
};
template <class Result, class... Args>
struct infer_function_traits<Result(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class... Args>
struct infer_function_traits<Result (*)(Args...)> {
  using type = function_traits<Result(Args...)>;
};
template <class Callable>
using infer_function_traits_t = typename infer_function_traits<Callable>::type;

/// The traits of the function with this result and these parameters.
template <class Result, class Parameters>
struct make_function_traits;
template <class Result, class... Args>
struct make_function_traits<Result, typelist::typelist<Args...>> {
  using type = function_traits<Result(Args...)>;
};
template <class Result, class Parameters>
using make_function_traits_t = typename make_function_traits<Result, Parameters>::type;

/// Begin, Begin + 1, ..., End - 1.
template <size_t Begin, class Sequence>
struct offset_sequence;
template <size_t Begin, size_t... I>
struct offset_sequence<Begin, std::index_sequence<I...>> {
  using type = std::index_sequence<Begin + I...>;
};
template <size_t Begin, size_t End>
using make_offset_index_sequence = typename offset_sequence<Begin, std::make_index_sequence<End - Begin>>::type;

/// The elements with these indices.
template <class Tuple, size_t... I>
constexpr auto tuple_elements(Tuple items, std::index_sequence<I...>) {
  return std::tuple<std::tuple_element_t<I, Tuple>...>(std::get<I>(items)...);
}

/// `Count` elements from `Start` on.
template <class Tuple, size_t Start, size_t Count>
constexpr auto tuple_slice(Tuple items) {
  static_assert(Start + Count <= std::tuple_size_v<Tuple>, "the slice ends after the tuple");
  return tuple_elements(std::move(items), make_offset_index_sequence<Start, Start + Count>());
}

/// The first `Count` elements; the last `-Count` if it is negative.
template <class Tuple, int Count>
constexpr auto tuple_take(Tuple items) {
  constexpr size_t length = std::tuple_size_v<Tuple>;
  constexpr size_t wanted = static_cast<size_t>(Count < 0 ? -Count : Count);
  constexpr size_t count = wanted < length ? wanted : length;
  return tuple_slice<Tuple, (Count < 0 ? length - count : 0), count>(std::move(items));
}

namespace detail {
template <class Mapper, class... Items, size_t... I>
auto tuple_map(std::tuple<Items...>&& items, const Mapper& mapper, std::index_sequence<I...>) {
  return std::tuple<decltype(mapper(std::forward<Items>(std::get<I>(items))))...>(mapper(std::forward<Items>(std::get<I>(items)))...);
}
}  // namespace detail

/// The results of `mapper` for each element.
template <class Mapper, class... Items>
auto tuple_map(std::tuple<Items...>&& items, const Mapper& mapper) {
  return detail::tuple_map(std::move(items), mapper, std::index_sequence_for<Items...>());
}

/// The elements of two tuples, one after the other.
template <class... Tuples>
auto tuple_concat(Tuples&&... tuples) {
  return std::tuple_cat(std::forward<Tuples>(tuples)...);
}

}  // namespace guts
RLT_NAMESPACE_END
}  // namespace c10
