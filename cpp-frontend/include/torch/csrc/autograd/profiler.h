// The profilers: RecordProfile writes a trace, enableProfiler and disableProfiler return events.
#pragma once

#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/autograd/profiler_legacy.h>
