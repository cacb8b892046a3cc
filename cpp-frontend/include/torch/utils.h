// Guards and switches under the names of namespace torch.
#pragma once

#include <ATen/ATen.h>

namespace torch {
RLT_NAMESPACE_BEGIN

using at::get_num_threads;
using at::manual_seed;
using at::set_num_threads;
using c10::AutoGradMode;
using c10::GradMode;
using c10::NoGradGuard;

RLT_NAMESPACE_END
}  // namespace torch
