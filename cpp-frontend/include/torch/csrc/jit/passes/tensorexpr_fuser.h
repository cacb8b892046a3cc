// Switches of libtorch's fuser. Programs are interpreted here: switches are kept, and change nothing.
#pragma once

#include <torch/csrc/jit/runtime/graph_executor.h>

#include <atomic>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

namespace detail {
struct FuserSwitches {
  std::atomic<bool> dynamic_shapes{false}, reductions{false};
};
inline FuserSwitches& fuser_switches() {
  static FuserSwitches only;
  return only;
}
}  // namespace detail

inline void setTensorExprDynamicShapeFusionEnabled(bool on) { detail::fuser_switches().dynamic_shapes = on; }
inline bool tensorExprDynamicShapeFusionEnabled() { return detail::fuser_switches().dynamic_shapes; }
/// Returns the previous value.
inline bool setTexprReductionsEnabled(bool on) { return detail::fuser_switches().reductions.exchange(on); }
inline bool texprReductionsEnabled() { return detail::fuser_switches().reductions; }

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
