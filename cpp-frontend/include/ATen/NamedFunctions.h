// Operators that have no C function: they are called by name.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/out_forms.h>

namespace rlt {
RLT_NAMESPACE_BEGIN

/// Calls the operator of this name with the types of the signature.
template <class Signature, class... Args>
auto call_named(const char* name, const char* overload, const Args&... args) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).template typed<Signature>().call(args...);
}

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
