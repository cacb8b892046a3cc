// Switches of libtorch's fuser for CUDA, which exists neither here nor in libtorch 2.7.1: it cannot be enabled.
#pragma once

#include <c10/util/Exception.h>

#include <atomic>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
namespace fuser {
namespace cuda {

namespace detail {
struct Switches {
  std::atomic<bool> guard{false}, single{false}, horizontal{false};
};
inline Switches& switches() {
  static Switches only;
  return only;
}
}  // namespace detail

inline std::atomic<bool>& getCudaFusionGuardMode() { return detail::switches().guard; }
inline bool getSingletonFusion() { return detail::switches().single; }
/// Returns the previous value, as the next one does.
inline bool setSingletonFusion(bool on) { return detail::switches().single.exchange(on); }
inline bool getHorizontalFusion() { return detail::switches().horizontal; }
inline bool setHorizontalFusion(bool on) { return detail::switches().horizontal.exchange(on); }

inline bool canBeEnabled() { return false; }
inline bool isEnabled() { return false; }
/// Returns the previous state. It warns, as libtorch does, and enables nothing.
inline bool setEnabled(bool) {
  TORCH_WARN_ONCE("torch::jit::fuser::cuda::setEnabled() is deprecated");
  return false;
}

}  // namespace cuda
}  // namespace fuser
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
