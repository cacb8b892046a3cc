// What a profiler records: ProfilerConfig and its enumerations.
#pragma once

#include <ATen/record_function.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace profiler::impl {

enum class ActivityType { CPU = 0, XPU, CUDA, HPU, MTIA, PrivateUse1, NUM_KINETO_ACTIVITIES };

enum class ProfilerState {
  Disabled = 0,
  CPU,
  CUDA,
  NVTX,
  ITT,
  PRIVATEUSE1,
  KINETO,
  KINETO_GPU_FALLBACK,
  KINETO_PRIVATEUSE1_FALLBACK,
  KINETO_ONDEMAND,
  NUM_PROFILER_STATES,
};

enum class ActiveProfilerType { NONE = 0, LEGACY, KINETO, NVTX, ITT, PRIVATEUSE1 };

/// Of libtorch's experimental options, the one that has an effect here.
struct ExperimentalConfig {
  /// Record the calls of all threads, not only those of the thread that enables the profiler.
  bool profile_all_threads = false;

  explicit operator bool() const { return profile_all_threads; }
};

/// What a profiler records. Stacks, floating-point operations and modules are not recorded: these options are errors.
struct ProfilerConfig {
  explicit ProfilerConfig(ProfilerState profiler_state, bool input_shapes = false, bool memory = false, bool stack = false, bool flops = false,
                          bool modules = false, ExperimentalConfig experimental = ExperimentalConfig(), std::string id = "")
      : state(profiler_state),
        experimental_config(experimental),
        report_input_shapes(input_shapes),
        profile_memory(memory),
        with_stack(stack),
        with_flops(flops),
        with_modules(modules),
        trace_id(std::move(id)) {}

  bool disabled() const { return state == ProfilerState::Disabled; }
  /// Whether the calls of all threads are recorded.
  bool global() const { return state == ProfilerState::KINETO_ONDEMAND || experimental_config.profile_all_threads; }
  bool pushGlobalCallbacks() const { return global(); }

  ProfilerState state;
  ExperimentalConfig experimental_config;
  bool report_input_shapes;
  bool profile_memory;
  bool with_stack;
  bool with_flops;
  bool with_modules;
  std::string trace_id;
};

namespace detail {

/// The profiler that a thread has enabled.
struct Active {
  ActiveProfilerType type = ActiveProfilerType::NONE;
  ProfilerConfig config = ProfilerConfig(ProfilerState::Disabled);
};
inline Active& active() {
  static thread_local Active active;
  return active;
}

/// Starts to record.
inline void start(const ProfilerConfig& config, ActiveProfilerType type, uint32_t scopes) {
  TORCH_CHECK_NOT_IMPLEMENTED(!config.with_stack && !config.with_flops && !config.with_modules,
                              "the profiler records neither stacks nor floating-point operations nor modules");
  rlt_profiler_options options = {};
  options.struct_size = sizeof options;
  options.record_shapes = config.report_input_shapes;
  options.profile_memory = config.profile_memory;
  options.this_thread = !config.global();
  options.scopes = scopes;
  rlt::check(rlt_profiler_start(&options));
  active() = Active{type, config};
}

/// What a profiler recorded.
class Recorded {
 public:
  explicit Recorded(rlt_profile* profile) : profile_(profile, rlt_profile_free) {}
  int64_t size() const {
    int64_t events = 0;
    rlt::check(rlt_profile_len(get(), &events));
    return events;
  }
  rlt_profile_event event(int64_t index) const {
    rlt_profile_event event = {};
    event.struct_size = sizeof event;
    rlt::check(rlt_profile_event_at(get(), index, &event));
    return event;
  }
  /// Calls `each(argument, dtype, sizes)` for the inputs of an event.
  template <class Each>
  void inputs(int64_t index, int64_t count, const Each& each) const {
    for (int64_t input = 0; input < count; ++input) {
      int64_t argument = 0, ndim = 0;
      int32_t dtype = 0;
      const int64_t* sizes = nullptr;
      rlt::check(rlt_profile_event_input(get(), index, input, &argument, &dtype, &sizes, &ndim));
      each(static_cast<size_t>(argument), dtype, std::vector<int64_t>(sizes, sizes + ndim));
    }
  }
  /// As in libtorch, an argument that is a list has no shape.
  std::vector<std::vector<int64_t>> shapes(int64_t index, int64_t count) const {
    std::vector<std::vector<int64_t>> shapes;
    inputs(index, count, [&](size_t argument, int32_t, std::vector<int64_t> sizes) {
      if (argument < shapes.size()) shapes[argument].clear();
      else shapes.push_back(std::move(sizes));
    });
    return shapes;
  }
  std::vector<std::string> dtypes(int64_t index, int64_t count) const {
    std::vector<std::string> names;
    inputs(index, count, [&](size_t argument, int32_t dtype, const std::vector<int64_t>&) {
      if (argument == names.size()) names.push_back(dtype < 0 ? "" : c10::toString(static_cast<c10::ScalarType>(dtype)));
    });
    return names;
  }
  std::string trace() const {
    rlt_value text = {};
    rlt::check(rlt_profile_chrome_trace_string(get(), &text));
    return rlt::adopt_string(text);
  }
  const rlt_profile* get() const { return profile_.get(); }

 private:
  std::shared_ptr<rlt_profile> profile_;
};

/// Stops to record.
inline Recorded stop() {
  rlt_profile* profile = nullptr;
  int32_t status = rlt_profiler_stop(&profile);
  active() = Active();
  rlt::check(status);
  return Recorded(profile);
}

}  // namespace detail

/// Whether a profiler records calls of this thread.
inline bool profilerEnabled() {
  int32_t on = 0;
  rlt::check(rlt_profiler_is_enabled(&on));
  return on != 0;
}
/// The type of the profiler that this thread has enabled.
inline ActiveProfilerType profilerType() { return detail::active().type; }
/// The configuration of the profiler that this thread has enabled.
inline ProfilerConfig getProfilerConfig() {
  TORCH_CHECK(profilerType() != ActiveProfilerType::NONE, "Tried to access profiler config, but profiler is not enabled!");
  return detail::active().config;
}

}  // namespace profiler::impl
RLT_NAMESPACE_END
}  // namespace torch
