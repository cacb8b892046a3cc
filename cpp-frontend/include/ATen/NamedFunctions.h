// Operators that have no C function: they are called by name.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/out_forms.h>

namespace rlt {
RLT_NAMESPACE_BEGIN

/// An operator that is called by name, as a function of these types.
template <class Signature>
struct Named;
template <class Result, class... Types>
struct Named<Result(Types...)> {
  static Result call(const char* name, const char* overload, Types... arguments) {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).template typed<Result(Types...)>().call(arguments...);
  }
};

RLT_NAMESPACE_END
}  // namespace rlt

namespace at {
RLT_NAMESPACE_BEGIN
#include <ATen/generated/named_functions.h>
template <class RltLazy>
Tensor Tensor::to_padded_tensor(double padding, OptionalIntArrayRef output_size) const {
  return at::to_padded_tensor(*this, padding, output_size);
}
RLT_NAMESPACE_END
}  // namespace at
