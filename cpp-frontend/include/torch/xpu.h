// torch::xpu: devices of this kind do not exist here.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace xpu {

inline size_t device_count() { return 0; }
inline bool is_available() { return false; }
/// Seeds no generator, as in libtorch without such a device.
inline void manual_seed(uint64_t) {}
inline void manual_seed_all(uint64_t) {}
inline void synchronize(int64_t) { TORCH_CHECK(is_available(), "No XPU are available"); }

}  // namespace xpu
RLT_NAMESPACE_END
}  // namespace torch
