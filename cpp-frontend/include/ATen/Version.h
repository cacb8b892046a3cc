// at::show_config: how the library and the program were built.
#pragma once

#include <ATen/Context.h>
#include <torch/utils.h>

namespace at {
RLT_NAMESPACE_BEGIN

using torch::show_config;

RLT_NAMESPACE_END
}  // namespace at
