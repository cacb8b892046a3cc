// torch::mps: devices of this kind do not exist here.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace mps {

inline bool is_available() { return false; }
/// Seeds no generator, as in libtorch without such a device.
inline void manual_seed(uint64_t) {}
inline void synchronize() { TORCH_CHECK(is_available(), "MPS is not available"); }
inline void commit() { TORCH_CHECK(is_available(), "MPS is not available"); }

}  // namespace mps
RLT_NAMESPACE_END
}  // namespace torch
