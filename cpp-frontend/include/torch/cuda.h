// torch::cuda: how many CUDA devices there are, and waiting for their work.
#pragma once

#include <ATen/ATen.h>
#include <c10/cuda/impl/CUDAGuardImpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace cuda {

/// 0 without a driver or a GPU.
inline size_t device_count() { return static_cast<size_t>(c10::cuda::device_count()); }
inline bool is_available() { return device_count() > 0; }
/// False: kernels for cuDNN are not part of this library.
inline bool cudnn_is_available() { return false; }
inline void manual_seed(uint64_t seed) { at::manual_seed(seed); }
inline void manual_seed_all(uint64_t seed) { at::manual_seed(seed); }
/// Waits for all work of a device; index -1 is the current one. Errors of earlier kernels are reported here at the latest.
inline void synchronize(int64_t device_index = -1) {
  TORCH_CHECK(is_available(), "No CUDA GPUs are available");
  TORCH_CHECK(device_index < 0 || device_index < static_cast<int64_t>(device_count()), "Device index out of range: ", device_index);
  rlt::check(rlt_cuda_synchronize(static_cast<int32_t>(device_index < 0 ? -1 : device_index)));
}

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace torch
