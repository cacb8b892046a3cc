// The configuration of profilers under the names of torch::autograd::profiler.
#pragma once

#include <torch/csrc/profiler/orchestration/observer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd::profiler {
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::getProfilerConfig;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::profilerEnabled;
using torch::profiler::impl::ProfilerState;
}  // namespace autograd::profiler
RLT_NAMESPACE_END
}  // namespace torch
