// c10::guts::typelist: lists of types, and the usual functions of lists for them.
#pragma once

#include <c10/util/TypeTraits.h>

#include <tuple>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace guts {

/// Depends on a template's parameters and is always false, for static_assert.
template <class...>
struct false_t : std::false_type {};
template <template <class> class...>
struct false_higher_t : std::false_type {};

/// A type as a value: functions take it where they need the type only.
template <class T>
struct type_ final {
  using type = T;
};

namespace typelist {

template <class... Items>
struct typelist final {
  typelist() = delete;
};

template <class List>
struct size;
template <class... Items>
struct size<typelist<Items...>> : std::integral_constant<size_t, sizeof...(Items)> {};

template <class Tuple>
struct from_tuple;
template <class... Items>
struct from_tuple<std::tuple<Items...>> {
  using type = typelist<Items...>;
};
template <class Tuple>
using from_tuple_t = typename from_tuple<Tuple>::type;

template <class List>
struct to_tuple;
template <class... Items>
struct to_tuple<typelist<Items...>> {
  using type = std::tuple<Items...>;
};
template <class List>
using to_tuple_t = typename to_tuple<List>::type;

template <class... Lists>
struct concat;
template <>
struct concat<> {
  using type = typelist<>;
};
template <class... Items>
struct concat<typelist<Items...>> {
  using type = typelist<Items...>;
};
template <class... A, class... B, class... Rest>
struct concat<typelist<A...>, typelist<B...>, Rest...> : concat<typelist<A..., B...>, Rest...> {};
template <class... Lists>
using concat_t = typename concat<Lists...>::type;

/// The types that satisfy the condition.
template <template <class> class Condition, class List>
struct filter;
template <template <class> class Condition, class... Items>
struct filter<Condition, typelist<Items...>> {
  static_assert(is_type_condition<Condition>::value, "filter requires a condition with a boolean value");
  using type = concat_t<std::conditional_t<Condition<Items>::value, typelist<Items>, typelist<>>...>;
};
template <template <class> class Condition, class List>
using filter_t = typename filter<Condition, List>::type;

template <template <class> class Condition, class List>
struct count_if : size<filter_t<Condition, List>> {};

/// Every type satisfies the condition.
template <template <class> class Condition, class List>
struct all;
template <template <class> class Condition, class... Items>
struct all<Condition, typelist<Items...>> : std::bool_constant<(Condition<Items>::value && ...)> {};
template <template <class> class Condition, class List>
struct true_for_any_type;
template <template <class> class Condition, class... Items>
struct true_for_any_type<Condition, typelist<Items...>> : std::bool_constant<(Condition<Items>::value || ...)> {};

template <class List, class T>
struct contains;
template <class... Items, class T>
struct contains<typelist<Items...>, T> : std::bool_constant<(std::is_same_v<Items, T> || ...)> {};

/// Replaces every type by `Mapper<type>`.
template <template <class> class Mapper, class List>
struct map;
template <template <class> class Mapper, class... Items>
struct map<Mapper, typelist<Items...>> {
  using type = typelist<Mapper<Items>...>;
};
template <template <class> class Mapper, class List>
using map_t = typename map<Mapper, List>::type;

template <class List>
struct head {
  static_assert(false_t<List>::value, "head requires a list that is not empty");
};
template <class First, class... Rest>
struct head<typelist<First, Rest...>> {
  using type = First;
};
template <class List>
using head_t = typename head<List>::type;

template <class Default, class List>
struct head_with_default {
  using type = Default;
};
template <class Default, class First, class... Rest>
struct head_with_default<Default, typelist<First, Rest...>> {
  using type = First;
};
template <class Default, class List>
using head_with_default_t = typename head_with_default<Default, List>::type;

namespace detail {
template <class List, size_t Index>
struct at;
template <size_t Index, class... Items>
struct at<typelist<Items...>, Index> {
  static_assert(Index < sizeof...(Items), "the list has no type at this index");
  using type = std::tuple_element_t<Index, std::tuple<Items...>>;
};
/// The types from Offset on whose number is the length of the sequence.
template <class List, size_t Offset, class Sequence>
struct select;
template <class List, size_t Offset, size_t... I>
struct select<List, Offset, std::index_sequence<I...>> {
  using type = typelist<typename at<List, Offset + I>::type...>;
};
template <class List, size_t Last, class Sequence>
struct select_reversed;
template <class List, size_t Length, size_t... I>
struct select_reversed<List, Length, std::index_sequence<I...>> {
  using type = typelist<typename at<List, Length - 1 - I>::type...>;
};
}  // namespace detail

template <size_t Index, class List>
struct element : detail::at<List, Index> {};
template <size_t Index, class List>
using element_t = typename element<Index, List>::type;
template <class List>
struct last : element<size<List>::value - 1, List> {};
template <class List>
using last_t = typename last<List>::type;

template <class List>
struct reverse : detail::select_reversed<List, size<List>::value, std::make_index_sequence<size<List>::value>> {};
template <class List>
using reverse_t = typename reverse<List>::type;

template <class List, size_t Count>
struct take {
  static_assert(Count <= size<List>::value, "take requires a list with this many types");
  using type = typename detail::select<List, 0, std::make_index_sequence<Count>>::type;
};
template <class List, size_t Count>
using take_t = typename take<List, Count>::type;

template <class List, size_t Count>
struct drop {
  static_assert(Count <= size<List>::value, "drop requires a list with this many types");
  using type = typename detail::select<List, Count, std::make_index_sequence<size<List>::value - Count>>::type;
};
template <class List, size_t Count>
using drop_t = typename drop<List, Count>::type;

template <class List, size_t Count>
struct drop_if_nonempty : drop<List, (Count < size<List>::value ? Count : size<List>::value)> {};
template <class List, size_t Count>
using drop_if_nonempty_t = typename drop_if_nonempty<List, Count>::type;

/// The index of the first type that satisfies the condition. Having none is an error.
template <class List, template <class> class Condition>
struct find_if {
  static_assert(false_t<List>::value, "find_if found no type in the list");
};
namespace detail {
template <bool Found, template <class> class Condition, class... Rest>
struct find_from : std::integral_constant<size_t, 0> {};
template <template <class> class Condition, class First, class... Rest>
struct find_from<false, Condition, First, Rest...>
    : std::integral_constant<size_t, 1 + find_if<typelist<Rest...>, Condition>::value> {};
}  // namespace detail
template <template <class> class Condition, class First, class... Rest>
struct find_if<typelist<First, Rest...>, Condition> : detail::find_from<Condition<First>::value, Condition, First, Rest...> {};

namespace detail {
template <class List>
struct values_of;
template <class... Items>
struct values_of<typelist<Items...>> {
  template <class Function>
  static auto call([[maybe_unused]] Function& function) {
    return std::tuple<decltype(function(type_<Items>()))...>(function(type_<Items>())...);
  }
};
}  // namespace detail

/// The results of `function(type_<T>())` for each type T of the list.
template <class List, class Function>
auto map_types_to_values(Function&& function) {
  return detail::values_of<List>::call(function);
}

}  // namespace typelist
}  // namespace guts
RLT_NAMESPACE_END
}  // namespace c10
