// RecordProfile, and the profiler whose events are the starts and ends of calls.
#pragma once

#include <torch/csrc/profiler/api.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd::profiler {

enum class EventKind : uint16_t { Mark, PushRange, PopRange, MemoryAlloc };

/// The start or the end of a call, or the memory that it allocated.
struct LegacyEvent {
  LegacyEvent(EventKind kind, at::StringView name, uint64_t thread, int64_t cpu_ns) : kind_(kind), name_(std::move(name)), thread_(thread), cpu_ns_(cpu_ns) {}

  EventKind kind() const { return kind_; }
  std::string kindStr() const {
    switch (kind_) {
      case EventKind::Mark: return "mark";
      case EventKind::PushRange: return "push";
      case EventKind::PopRange: return "pop";
      default: return "memory_alloc";
    }
  }
  const char* name() const { return name_.str(); }
  uint64_t threadId() const { return thread_; }
  std::vector<std::vector<int64_t>> shapes() const { return shapes_; }
  /// Microseconds from this event to `other`.
  double cpuElapsedUs(const LegacyEvent& other) const { return static_cast<double>(other.cpu_ns_ - cpu_ns_) / 1e3; }
  /// Microseconds from the start of the profiler.
  double cpuUs() const { return static_cast<double>(cpu_ns_) / 1e3; }
  /// The number of the call: the start and the end have the same one.
  at::RecordFunctionHandle handle() const { return handle_; }
  bool hasCuda() const { return false; }
  /// Bytes allocated less bytes freed by the call, without inner calls. Of `MemoryAlloc` events.
  int64_t cpuMemoryUsage() const { return cpu_memory_usage_; }
  int64_t sequenceNr() const { return sequence_; }
  uint64_t fwdThreadId() const { return forward_thread_; }
  uint8_t scope() const { return scope_; }

 private:
  friend struct LegacyEvents;
  EventKind kind_;
  at::StringView name_;
  uint64_t thread_;
  int64_t cpu_ns_;
  std::vector<std::vector<int64_t>> shapes_;
  at::RecordFunctionHandle handle_ = 0;
  int64_t cpu_memory_usage_ = 0;
  int64_t sequence_ = -1;
  uint64_t forward_thread_ = 0;
  uint8_t scope_ = 0;
};

using thread_event_lists = std::vector<std::vector<LegacyEvent>>;

/// The lists of events of a profile.
struct LegacyEvents {
  /// The events of each thread in the order of time, between two marks.
  RLT_COLD static thread_event_lists of(const torch::profiler::impl::detail::Recorded& recorded, const torch::profiler::impl::ProfilerConfig& config) {
    std::map<uint64_t, std::vector<LegacyEvent>> threads;
    std::map<uint64_t, std::vector<std::pair<int64_t, rlt_profile_event>>> open;
    int64_t last = 0;
    for (int64_t i = 0; i < recorded.size(); ++i) {
      rlt_profile_event event = recorded.event(i);
      std::vector<LegacyEvent>& list = threads[event.thread];
      auto& running = open[event.thread];
      while (!running.empty() && running.back().first != event.parent) close(running, list, config);
      LegacyEvent start = described(EventKind::PushRange, event, i, event.start_ns);
      if (config.report_input_shapes) start.shapes_ = recorded.shapes(i, event.n_inputs);
      list.push_back(std::move(start));
      running.emplace_back(i, event);
      last = std::max(last, event.start_ns + event.duration_ns);
    }
    for (auto& [thread, running] : open) {
      while (!running.empty()) close(running, threads[thread], config);
    }
    uint64_t here = at::RecordFunction::currentThreadId();
    std::vector<LegacyEvent>& own = threads[here];
    own.insert(own.begin(), LegacyEvent(EventKind::Mark, at::StringView("__start_profile"), here, 0));
    own.emplace_back(EventKind::Mark, at::StringView("__stop_profile"), here, last);
    thread_event_lists lists;
    for (auto& [thread, list] : threads) lists.push_back(std::move(list));
    return lists;
  }

 private:
  static LegacyEvent described(EventKind kind, const rlt_profile_event& event, int64_t index, int64_t cpu_ns) {
    LegacyEvent described(kind, at::StringView(std::string(event.name)), event.thread, cpu_ns);
    described.handle_ = static_cast<at::RecordFunctionHandle>(index + 1);
    described.sequence_ = event.sequence;
    described.forward_thread_ = event.forward_thread;
    described.scope_ = static_cast<uint8_t>(event.scope);
    return described;
  }
  static void close(std::vector<std::pair<int64_t, rlt_profile_event>>& running, std::vector<LegacyEvent>& list, const torch::profiler::impl::ProfilerConfig& config) {
    auto [index, event] = running.back();
    running.pop_back();
    int64_t end = event.start_ns + event.duration_ns;
    if (config.profile_memory) {
      LegacyEvent memory = described(EventKind::MemoryAlloc, event, index, end);
      memory.cpu_memory_usage_ = event.self_bytes;
      list.push_back(std::move(memory));
    }
    list.push_back(described(EventKind::PopRange, event, index, end));
  }
};

/// Starts to record the calls of this thread.
inline void enableProfilerLegacy(const torch::profiler::impl::ProfilerConfig& config) {
  using torch::profiler::impl::ProfilerState;
  TORCH_CHECK_NOT_IMPLEMENTED(config.state == ProfilerState::CPU, "enableProfilerLegacy: the profiler records the CPU only (ProfilerState::CPU)");
  torch::profiler::impl::detail::start(config, torch::profiler::impl::ActiveProfilerType::LEGACY, 0);
}

/// Stops to record and returns the events of each thread. An error if `enableProfilerLegacy` was not called on this thread.
inline thread_event_lists disableProfilerLegacy() {
  TORCH_CHECK(torch::profiler::impl::profilerType() == torch::profiler::impl::ActiveProfilerType::LEGACY, "Can't disable profiler when it's not running");
  torch::profiler::impl::ProfilerConfig config = torch::profiler::impl::getProfilerConfig();
  return LegacyEvents::of(torch::profiler::impl::detail::stop(), config);
}

/// Records the calls of this thread in a scope and passes the events to a function at its end.
struct TLSLegacyProfilerGuard {
  explicit TLSLegacyProfilerGuard(const torch::profiler::impl::ProfilerConfig& config,
                                  std::optional<std::function<void(const thread_event_lists&)>> callback = std::nullopt)
      : callback_(std::move(callback)) {
    enableProfilerLegacy(config);
  }
  TLSLegacyProfilerGuard(const TLSLegacyProfilerGuard&) = delete;
  TLSLegacyProfilerGuard& operator=(const TLSLegacyProfilerGuard&) = delete;
  ~TLSLegacyProfilerGuard() {
#if RLT_EXCEPTIONS
    try {
      finish();
    } catch (const std::exception& error) {
      LOG(ERROR) << "Got error processing profiler events: " << error.what();
    }
#else
    finish();
#endif
  }

 private:
  void finish() {
    thread_event_lists events = disableProfilerLegacy();
    if (callback_) (*callback_)(events);
  }
  std::optional<std::function<void(const thread_event_lists&)>> callback_;
};

/// Records the calls of this thread in a scope, and writes them at its end as a trace for chrome://tracing and Perfetto.
struct RecordProfile {
  explicit RecordProfile(std::ostream& out) : out_(out) { start(); }
  explicit RecordProfile(const std::string& filename) : file_(std::make_unique<std::ofstream>(filename)), out_(*file_) {
    TORCH_CHECK(file_->good(), filename, ": the file cannot be written");
    start();
  }
  RecordProfile(const RecordProfile&) = delete;
  RecordProfile& operator=(const RecordProfile&) = delete;
  ~RecordProfile() {
#if RLT_EXCEPTIONS
    try {
      finish();
    } catch (const std::exception& error) {
      LOG(ERROR) << error.what();
    } catch (...) {
      LOG(ERROR) << "Unknown error";
    }
#else
    finish();
#endif
  }

 private:
  void start() { enableProfilerLegacy(torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::CPU)); }
  void finish() {
    out_ << torch::profiler::impl::detail::stop().trace();
    if (file_) file_->close();
  }
  std::unique_ptr<std::ofstream> file_;
  std::ostream& out_;
};

}  // namespace autograd::profiler
RLT_NAMESPACE_END
}  // namespace torch
