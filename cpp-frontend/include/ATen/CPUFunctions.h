// at::cpu: the operators for tensors on the CPU. They are the functions of at::, which choose the device themselves.
#pragma once

#include <ATen/NativeFunctions.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace cpu {
using namespace at;
}
RLT_NAMESPACE_END
}  // namespace at
