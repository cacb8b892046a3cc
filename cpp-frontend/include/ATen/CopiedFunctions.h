// The out forms and functional forms that libtorch derives from another form of the operator: they call that form and copy.
//
// An out form takes the outputs and then the arguments of the operator: `zeros_like_out(out, self)`. It resizes the outputs,
// whose dtypes and devices must be those of the results.
#pragma once

#include <ATen/core/out_forms.h>
#include <ATen/generated/functions.h>

namespace at {
RLT_NAMESPACE_BEGIN
#include <ATen/generated/copied_functions.h>
RLT_NAMESPACE_END
}  // namespace at
