// The profiler whose events are calls with a start and a duration.
#pragma once

#include <torch/csrc/profiler/api.h>

#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd::profiler {

/// A call. Times are in nanoseconds from the start of the profiler.
struct KinetoEvent {
  KinetoEvent(const torch::profiler::impl::detail::Recorded& recorded, int64_t index, bool with_shapes)
      : event_(recorded.event(index)), name_(event_.name), index_(index) {
    if (!with_shapes || event_.scope == RLT_SCOPE_USER) return;
    shapes_ = recorded.shapes(index, event_.n_inputs);
    dtypes_ = recorded.dtypes(index, event_.n_inputs);
  }

  uint64_t startThreadId() const { return event_.thread; }
  uint64_t endThreadId() const { return event_.thread; }
  uint64_t fwdThreadId() const { return event_.forward_thread; }
  bool hasShapes() const { return !shapes_.empty(); }
  c10::ArrayRef<std::vector<int64_t>> shapes() const { return shapes_; }
  bool hasTypes() const { return !dtypes_.empty(); }
  c10::ArrayRef<std::string> dtypes() const { return dtypes_; }
  int64_t sequenceNr() const { return event_.sequence; }
  uint8_t scope() const { return static_cast<uint8_t>(event_.scope); }
  const std::string& name() const { return name_; }
  c10::DeviceType deviceType() const { return c10::DeviceType::CPU; }
  int deviceIndex() const { return -1; }
  /// Bytes allocated less bytes freed, without inner calls.
  int64_t nBytes() const { return event_.self_bytes; }
  uint64_t startNs() const { return static_cast<uint64_t>(event_.start_ns); }
  uint64_t endNs() const { return startNs() + durationNs(); }
  uint64_t durationNs() const { return static_cast<uint64_t>(event_.duration_ns); }
  bool isAsync() const { return false; }
  uint64_t correlationId() const { return static_cast<uint64_t>(index_ + 1); }
  bool isPythonFunction() const { return false; }

 private:
  rlt_profile_event event_;
  std::string name_;
  int64_t index_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::string> dtypes_;
};

/// What the profiler recorded.
struct ProfilerResult {
  ProfilerResult(torch::profiler::impl::detail::Recorded recorded, bool with_shapes) : recorded_(std::move(recorded)) {
    for (int64_t i = 0; i < recorded_.size(); ++i) events_.emplace_back(recorded_, i, with_shapes);
  }

  uint64_t trace_start_ns() const { return 0; }
  const std::vector<KinetoEvent>& events() const { return events_; }
  /// Writes a trace for chrome://tracing and Perfetto.
  void save(const std::string& path) const { rlt::check(rlt_profile_chrome_trace(recorded_.get(), path.c_str())); }

 private:
  torch::profiler::impl::detail::Recorded recorded_;
  std::vector<KinetoEvent> events_;
};

/// Starts to record calls: those of this thread, or of all threads with `KINETO_ONDEMAND` or `profile_all_threads`. `scopes` are
/// the kinds of calls; an empty set stands for all of them.
inline void enableProfiler(const torch::profiler::impl::ProfilerConfig& config, const std::set<torch::profiler::impl::ActivityType>& activities,
                           const std::unordered_set<at::RecordScope>& scopes = {}) {
  using torch::profiler::impl::ProfilerState;
  TORCH_CHECK_NOT_IMPLEMENTED(config.state == ProfilerState::KINETO || config.state == ProfilerState::KINETO_ONDEMAND,
                              "enableProfiler: the state must be ProfilerState::KINETO or KINETO_ONDEMAND");
  for (torch::profiler::impl::ActivityType activity : activities) {
    TORCH_CHECK_NOT_IMPLEMENTED(activity == torch::profiler::impl::ActivityType::CPU, "enableProfiler: only ActivityType::CPU is recorded");
  }
  TORCH_CHECK(!activities.empty(), "No activities specified for Kineto profiler");
  uint32_t bits = 0;
  for (at::RecordScope scope : scopes) bits |= 1u << static_cast<uint32_t>(scope);
  torch::profiler::impl::detail::start(config, torch::profiler::impl::ActiveProfilerType::KINETO, bits);
}

/// Stops to record and returns the events. An error if `enableProfiler` was not called on this thread.
inline std::unique_ptr<ProfilerResult> disableProfiler() {
  TORCH_CHECK(torch::profiler::impl::profilerType() == torch::profiler::impl::ActiveProfilerType::KINETO, "Can't disable Kineto profiler when it's not running");
  bool with_shapes = torch::profiler::impl::getProfilerConfig().report_input_shapes;
  return std::make_unique<ProfilerResult>(torch::profiler::impl::detail::stop(), with_shapes);
}

/// Nothing has to be prepared.
inline void prepareProfiler(const torch::profiler::impl::ProfilerConfig&, const std::set<torch::profiler::impl::ActivityType>&) {}

}  // namespace autograd::profiler
RLT_NAMESPACE_END
}  // namespace torch
