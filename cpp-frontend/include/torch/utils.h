// Guards and switches under the names of namespace torch.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/version.h>

namespace torch {
RLT_NAMESPACE_BEGIN

using at::get_num_interop_threads;
using at::get_parallel_info;
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

/// The library and the compiler of the program, line by line.
RLT_LAZY std::string show_config() {
  return c10::str("PyTorch built with:\n  - Rushlight ", rlt_version(), ", C++ API of PyTorch " TORCH_VERSION "\n  - C++ Version: ", __cplusplus, "\n");
}

RLT_NAMESPACE_END
}  // namespace torch
