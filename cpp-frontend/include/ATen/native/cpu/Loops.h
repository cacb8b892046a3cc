// Element-wise kernels over a TensorIterator: a function of elements is called for each element.
//
// The parameters of the function have the dtypes of the inputs, its result that of the output.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/cpu/vec/vec.h>
#include <c10/util/Metaprogramming.h>

#include <tuple>

namespace at {
RLT_NAMESPACE_BEGIN
namespace native {

namespace detail {

template <class T>
struct is_tuple : std::false_type {};
template <class... Ts>
struct is_tuple<std::tuple<Ts...>> : std::true_type {};

/// The number of outputs of a function: none for void, the elements of a tuple, otherwise 1.
template <class Result>
constexpr size_t outputs_of() {
  if constexpr (std::is_void_v<Result>) return 0;
  else if constexpr (is_tuple<Result>::value) return std::tuple_size_v<Result>;
  else return 1;
}

template <class T>
T read_element(const char* address) {
  return c10::load<T>(address);
}
template <class T>
void write_element(char* address, const T& value) {
  *reinterpret_cast<T*>(address) = value;
}

template <class Function, class Result, class... Args, size_t... In>
void call_rows(Function& function, char** data, const int64_t* strides, int64_t count, c10::guts::typelist::typelist<Args...>*, Result*,
               std::index_sequence<In...>) {
  constexpr size_t outputs = outputs_of<Result>();
  for (int64_t i = 0; i < count; ++i) {
    auto call = [&]() -> decltype(auto) { return function(read_element<std::decay_t<Args>>(data[outputs + In] + i * strides[outputs + In])...); };
    if constexpr (std::is_void_v<Result>) {
      call();
    } else if constexpr (is_tuple<Result>::value) {
      std::apply(
          [&](const auto&... results) {
            size_t output = 0;
            ((write_element(data[output] + i * strides[output], results), ++output), ...);
          },
          call());
    } else {
      write_element<Result>(data[0] + i * strides[0], call());
    }
  }
  (void)data;
  (void)strides;
}

/// A loop over a row that calls the function for each element.
template <class Function>
auto row_loop(Function& function) {
  using traits = c10::guts::infer_function_traits_t<std::decay_t<Function>>;
  using Arguments = typename traits::parameter_types;
  return [&function](char** data, const int64_t* strides, int64_t count) {
    call_rows(function, data, strides, count, static_cast<Arguments*>(nullptr), static_cast<typename traits::return_type*>(nullptr),
              std::make_index_sequence<traits::number_of_parameters>());
  };
}

template <class Function>
void check_arity(const TensorIterator& iter) {
  using traits = c10::guts::infer_function_traits_t<std::decay_t<Function>>;
  TORCH_INTERNAL_ASSERT(iter.ninputs() == static_cast<int>(traits::number_of_parameters), "the kernel has ", traits::number_of_parameters,
                        " parameters, but the iterator has ", iter.ninputs(), " inputs");
  TORCH_INTERNAL_ASSERT(iter.noutputs() == static_cast<int>(outputs_of<typename traits::return_type>()), "the kernel has ",
                        outputs_of<typename traits::return_type>(), " results, but the iterator has ", iter.noutputs(), " outputs");
}

/// Elements of all tensors of a row are next to each other; an input with stride 0 has the same value in the whole row.
template <class T, class Vector, class Function, class VectorFunction, size_t... In>
void call_vectors(Function& function, VectorFunction& vector_function, char** data, const int64_t* strides, int64_t count,
                  std::index_sequence<In...>) {
  constexpr int64_t size = static_cast<int64_t>(sizeof(T)), width = Vector::size();
  bool dense = strides[0] == size && ((strides[1 + In] == size || strides[1 + In] == 0) && ...);
  int64_t i = 0;
  if (dense) {
    for (; i + width <= count; i += width) {
      Vector result = vector_function((strides[1 + In] == 0 ? Vector(read_element<T>(data[1 + In])) : Vector::loadu(data[1 + In] + i * size))...);
      result.store(data[0] + i * size);
    }
  }
  for (; i < count; ++i) write_element<T>(data[0] + i * strides[0], function(read_element<T>(data[1 + In] + i * strides[1 + In])...));
}

/// A loop over a row that calls `vector_function` where memory is contiguous, and `function` for the other elements.
template <class Function, class VectorFunction>
auto vector_loop(Function& function, VectorFunction& vector_function) {
  using traits = c10::guts::infer_function_traits_t<std::decay_t<Function>>;
  using T = typename traits::return_type;
  return [&](char** data, const int64_t* strides, int64_t count) {
    call_vectors<T, vec::Vectorized<T>>(function, vector_function, data, strides, count,
                                        std::make_index_sequence<traits::number_of_parameters>());
  };
}

}  // namespace detail

/// Calls the function for the elements of a range on the calling thread, in the order of the iterator.
template <class Function>
void cpu_serial_kernel(TensorIterator& iter, Function&& function, const Range& range) {
  detail::check_arity<Function>(iter);
  iter.serial_for_each(detail::row_loop(function), range);
  iter.cast_outputs();
}
template <class Function>
void cpu_serial_kernel(TensorIterator& iter, Function&& function) {
  cpu_serial_kernel(iter, function, {0, iter.numel()});
}

/// Calls the function for each element, on several threads if there are more than `grain_size`.
template <class Function>
void cpu_kernel(TensorIterator& iter, Function&& function, int64_t grain_size = internal::GRAIN_SIZE) {
  detail::check_arity<Function>(iter);
  iter.for_each(detail::row_loop(function), grain_size);
  iter.cast_outputs();
}
/// The function returns a tuple with an element for each output.
template <class Function>
void cpu_kernel_multiple_outputs(TensorIterator& iter, Function&& function, int64_t grain_size = internal::GRAIN_SIZE) {
  cpu_kernel(iter, function, grain_size);
}

/// `vector_function` computes the same of vectors; it is called where the memory of all tensors is contiguous.
template <class Function, class VectorFunction>
void cpu_kernel_vec(TensorIterator& iter, Function&& function, VectorFunction&& vector_function, int64_t grain_size = internal::GRAIN_SIZE) {
  detail::check_arity<Function>(iter);
  iter.for_each(detail::vector_loop(function, vector_function), grain_size);
  iter.cast_outputs();
}
template <class Function, class VectorFunction>
void cpu_serial_kernel_vec(TensorIterator& iter, Function&& function, VectorFunction&& vector_function) {
  detail::check_arity<Function>(iter);
  iter.serial_for_each(detail::vector_loop(function, vector_function), {0, iter.numel()});
  iter.cast_outputs();
}

}  // namespace native
RLT_NAMESPACE_END
}  // namespace at
