// Guards and switches under the names of namespace torch.
#pragma once

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/csrc/autograd/variable.h>

namespace torch {
RLT_NAMESPACE_BEGIN

using at::addGlobalCallback;
using at::addThreadLocalCallback;
using at::CallbackHandle;
using at::clearCallbacks;
using at::clearGlobalCallbacks;
using at::clearThreadLocalCallbacks;
using at::DisableRecordFunctionGuard;
using at::enableRecordFunction;
using at::get_num_interop_threads;
using at::get_num_threads;
using at::hasCallbacks;
using at::hasGlobalCallbacks;
using at::hasThreadLocalCallbacks;
using at::init_num_threads;
using at::isRecordFunctionEnabled;
using at::manual_seed;
using at::RecordFunction;
using at::RecordFunctionCallback;
using at::RecordFunctionGuard;
using at::removeCallback;
using at::set_num_interop_threads;
using at::set_num_threads;
using c10::AutoGradMode;
using c10::GradMode;
using c10::NoGradGuard;
using c10::WarningHandler;
namespace WarningUtils = c10::WarningUtils;

RLT_NAMESPACE_END
}  // namespace torch
