// The tensor library without custom functions of autograd, nn and optim.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch.h>
#include <ATen/Formatting.h>
#include <ATen/Functions.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Generator.h>
#include <ATen/core/NamedTensor.h>
#include <ATen/core/Reduction.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <c10/core/GradMode.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <c10/util/irange.h>
#include <c10/util/logging_is_not_google_glog.h>

// libtorch's headers include these, and programs rely on that.
#include <algorithm>
#include <bitset>
#include <cassert>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <set>
#include <shared_mutex>
#include <stack>
#include <thread>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <variant>

// Defines Tensor::grad_fn, with which programs can be linked that include no header of autograd.
#include <torch/csrc/autograd/function.h>
