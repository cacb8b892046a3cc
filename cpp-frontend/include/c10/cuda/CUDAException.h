// Checks of calls of CUDA's runtime, for programs that use it: this library uses the driver alone.
#pragma once

#include <c10/util/Exception.h>

#if defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif
#endif

#define C10_CUDA_CHECK(EXPR)                                                                      \
  do {                                                                                            \
    const cudaError_t rlt_cuda_error = (EXPR);                                                    \
    TORCH_CHECK(rlt_cuda_error == cudaSuccess, "CUDA error: ", cudaGetErrorString(rlt_cuda_error)); \
  } while (0)
#define C10_CUDA_CHECK_WARN(EXPR)                                                                \
  do {                                                                                           \
    const cudaError_t rlt_cuda_error = (EXPR);                                                   \
    if (rlt_cuda_error != cudaSuccess) TORCH_WARN("CUDA warning: ", cudaGetErrorString(rlt_cuda_error)); \
  } while (0)
#define C10_CUDA_ERROR_HANDLED(EXPR) (EXPR)
#define C10_CUDA_IGNORE_ERROR(EXPR) (static_cast<void>(EXPR))
#define C10_CUDA_CLEAR_ERROR() (static_cast<void>(cudaGetLastError()))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
