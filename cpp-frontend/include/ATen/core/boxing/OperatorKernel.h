// c10::OperatorKernel: the base of kernels that are classes (ATen/core/op_registration/op_registration.h).
#pragma once

#include <c10/util/intrusive_ptr.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct OperatorKernel : intrusive_ptr_target {};

RLT_NAMESPACE_END
}  // namespace c10
