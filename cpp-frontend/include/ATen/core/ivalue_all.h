// IValue: one value of any kind, as programs of TorchScript, AutogradContext::saved_data and archives keep it. Its
// containers are in ATen/core/List.h and ATen/core/dict_class.h, tuples, objects, futures and enums in
// ATen/core/ivalue_objects.h, all of which this header includes. Types are in ATen/core/jit_type.h.
#pragma once

#include <ATen/core/ivalue_base.h>
#include <ATen/core/List.h>
#include <ATen/core/dict_class.h>
#include <ATen/core/functional.h>
#include <ATen/core/ivalue_objects.h>
#include <ATen/core/ivalue_to.h>

namespace torch {
RLT_NAMESPACE_BEGIN
using c10::Dict;
using c10::IValue;
using c10::List;
namespace jit {
using c10::IValue;
}
RLT_NAMESPACE_END
}  // namespace torch
namespace at {
RLT_NAMESPACE_BEGIN
using c10::IValue;
RLT_NAMESPACE_END
}  // namespace at
