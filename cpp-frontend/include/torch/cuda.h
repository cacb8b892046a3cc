// Queries about CUDA devices. There are none in this build.
#pragma once

#include <ATen/ATen.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace cuda {

inline size_t device_count() { return 0; }
inline bool is_available() { return device_count() > 0; }
inline bool cudnn_is_available() { return false; }
inline void manual_seed(uint64_t seed) { at::manual_seed(seed); }
inline void manual_seed_all(uint64_t seed) { at::manual_seed(seed); }
inline void synchronize(int64_t device_index = -1) { (void)device_index; }

}  // namespace cuda
RLT_NAMESPACE_END
}  // namespace torch
