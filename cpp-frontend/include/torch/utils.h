// Guards and switches under the names of namespace torch.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/variable.h>

namespace torch {
RLT_NAMESPACE_BEGIN

using at::get_num_interop_threads;
using at::get_num_threads;
using at::init_num_threads;
using at::manual_seed;
using at::set_num_interop_threads;
using at::set_num_threads;
using c10::AutoGradMode;
using c10::GradMode;
using c10::NoGradGuard;
using c10::WarningHandler;
namespace WarningUtils = c10::WarningUtils;

RLT_NAMESPACE_END
}  // namespace torch
