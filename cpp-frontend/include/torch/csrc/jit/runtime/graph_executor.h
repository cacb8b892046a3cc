// The switches of libtorch's graph executor. They keep what programs set, and have no other effect: graphs are optimized
// when a method is called first, and there is no profiling run.
#pragma once

#include <torch/csrc/jit/api/function.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

enum class FusionBehavior { STATIC, DYNAMIC };
using FusionStrategy = std::vector<std::pair<FusionBehavior, size_t>>;

namespace detail {
struct Switches {
  std::atomic<bool> profiling{true}, executor{true}, texpr{true};
  std::atomic<size_t> runs{1}, depth{20};
  bool optimize = true;
};
inline Switches& switches() {
  static Switches only;
  return only;
}
}  // namespace detail

inline std::atomic<bool>& getProfilingMode() { return detail::switches().profiling; }
inline std::atomic<bool>& getExecutorMode() { return detail::switches().executor; }
inline std::atomic<size_t>& getNumProfiledRuns() { return detail::switches().runs; }
inline size_t getBailoutDepth() { return detail::switches().depth; }
inline void setGraphExecutorOptimize(bool on) { detail::switches().optimize = on; }
/// The graph that this thread ran last is not kept.
[[noreturn]] inline std::shared_ptr<Graph> lastExecutedOptimizedGraph() {
  rlt::raise<c10::NotImplementedError>("torch::jit::lastExecutedOptimizedGraph is not available: Function::optimized_graph returns the graph of a function");
}
inline bool getGraphExecutorOptimize() { return detail::switches().optimize; }
inline void setTensorExprFuserEnabled(bool on) { detail::switches().texpr = on; }
inline bool tensorExprFuserEnabled() { return detail::switches().texpr; }
inline FusionStrategy setFusionStrategy(FusionStrategy strategy) {
  static FusionStrategy current;
  return std::exchange(current, std::move(strategy));
}

/// Sets the optimizer switch for a scope.
class GraphOptimizerEnabledGuard {
 public:
  explicit GraphOptimizerEnabledGuard(bool on) : before_(getGraphExecutorOptimize()) { setGraphExecutorOptimize(on); }
  GraphOptimizerEnabledGuard(const GraphOptimizerEnabledGuard&) = delete;
  ~GraphOptimizerEnabledGuard() { setGraphExecutorOptimize(before_); }

 private:
  bool before_;
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
