// RecordFunction, its callbacks, and the profilers of torch::autograd::profiler.
#include <gtest/gtest.h>
#include <ATen/core/function_schema.h>
#include <torch/torch.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <thread>

namespace {

using torch::autograd::profiler::ActivityType;
using torch::autograd::profiler::EventKind;
using torch::autograd::profiler::KinetoEvent;
using torch::autograd::profiler::ProfilerConfig;
using torch::autograd::profiler::ProfilerState;
using torch::autograd::profiler::RecordProfile;

std::vector<std::string> seen;

struct Started : at::ObserverContext {
  explicit Started(std::string text) : name(std::move(text)) {}
  std::string name;
};

std::unique_ptr<at::ObserverContext> note_start(const at::RecordFunction& fn) {
  seen.push_back("start " + std::string(fn.name()) + " " + std::to_string(fn.num_inputs()));
  return std::make_unique<Started>(fn.name());
}

void note_end(const at::RecordFunction& fn, at::ObserverContext* context) {
  EXPECT_EQ(dynamic_cast<Started*>(context)->name, fn.name());
  seen.push_back("end " + std::string(fn.name()));
}

TEST(RecordFunction, CallbacksSeeOperatorsAndRanges) {
  seen.clear();
  auto x = torch::ones({2});
  auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(note_start, note_end).needsIds(true));
  EXPECT_TRUE(at::hasThreadLocalCallbacks() && at::hasCallbacks() && !at::hasGlobalCallbacks());
  {
    RECORD_USER_SCOPE("outer");
    x.neg();
    std::vector<c10::IValue> inputs{x, 3};
    {
      RECORD_USER_SCOPE_WITH_INPUTS("inner", inputs);
    }
  }
  at::removeCallback(handle);
  x.neg();
  EXPECT_EQ(seen, (std::vector<std::string>{"start outer 0", "start aten::neg 1", "end aten::neg", "start inner 0", "end inner", "end outer"}));
  EXPECT_FALSE(at::hasCallbacks());
}

std::string schema_seen;
std::vector<int64_t> shape_seen, result_seen;

TEST(RecordFunction, InputsOutputsAndSchemaAreThoseOfTheCall) {
  auto x = torch::ones({2, 3}), y = torch::ones({3, 4});
  auto start = [](const at::RecordFunction& fn) -> std::unique_ptr<at::ObserverContext> {
    EXPECT_EQ(fn.scope(), at::RecordScope::FUNCTION);
    EXPECT_EQ(fn.threadId(), at::RecordFunction::currentThreadId());
    EXPECT_EQ(c10::toString(*fn.operator_name()), "aten::mm");
    schema_seen = c10::toString(*fn.operator_schema());
    shape_seen = fn.inputs()[1].toTensor().sizes().vec();
    return nullptr;
  };
  auto end = [](const at::RecordFunction& fn, at::ObserverContext*) { result_seen = fn.outputs()[0].toTensor().sizes().vec(); };
  auto callback = at::RecordFunctionCallback(start, end).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION});
  EXPECT_TRUE(callback.checkScope(at::RecordScope::FUNCTION) && !callback.checkScope(at::RecordScope::USER_SCOPE));
  auto handle = at::addGlobalCallback(callback);
  torch::mm(x, y);
  at::removeCallback(handle);
  EXPECT_EQ(schema_seen, "aten::mm(Tensor self, Tensor mat2) -> Tensor");
  EXPECT_EQ(shape_seen, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(result_seen, (std::vector<int64_t>{2, 4}));
}

TEST(RecordFunction, GuardsDisableCallbacks) {
  seen.clear();
  auto handle = at::addGlobalCallback(at::RecordFunctionCallback(note_start, note_end).scopes({at::RecordScope::USER_SCOPE}));
  {
    at::DisableRecordFunctionGuard silent;
    EXPECT_FALSE(at::isRecordFunctionEnabled());
    RECORD_USER_SCOPE("silent");
  }
  at::disableCallback(handle);
  { RECORD_USER_SCOPE("disabled"); }
  at::reenableCallback(handle);
  std::thread([] { RECORD_USER_SCOPE("thread"); }).join();
  at::clearCallbacks();
  { RECORD_USER_SCOPE("cleared"); }
  EXPECT_EQ(seen, (std::vector<std::string>{"start thread 0", "end thread"}));
  EXPECT_THROW(at::RecordFunctionCallback(note_start).samplingProb(2), c10::Error);
}

TEST(RecordFunction, AnExceptionOfACallbackDoesNotReachTheCall) {
  auto start = [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { throw std::runtime_error("no"); };
  auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(start));
  testing::internal::CaptureStderr();
  auto y = torch::ones({2}).neg();
  at::removeCallback(handle);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("Exception in RecordFunction callback: no , for the range aten::neg"), std::string::npos);
  EXPECT_EQ(y.sum().item<float>(), -2);
}

TEST(RecordFunction, RangesEndWhenAnExceptionLeavesThem) {
  seen.clear();
  auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(note_start, note_end));
  EXPECT_THROW(
      {
        RECORD_USER_SCOPE("fails");
        torch::mm(torch::Tensor(), torch::Tensor());
      },
      c10::Error);
  at::removeCallback(handle);
  EXPECT_EQ(seen, (std::vector<std::string>{"start fails 0", "end fails"}));
}

const KinetoEvent& find(const std::vector<KinetoEvent>& events, const std::string& name) {
  auto found = std::find_if(events.begin(), events.end(), [&](const KinetoEvent& event) { return event.name() == name; });
  if (found == events.end()) throw std::runtime_error("no event " + name);
  return *found;
}

TEST(Profiler, NodesAreConnectedWithTheCallsThatRecordedThem) {
  auto x = torch::ones({2, 3}).requires_grad_();
  torch::autograd::profiler::enableProfiler(ProfilerConfig(ProfilerState::KINETO, /*report_input_shapes=*/true, /*profile_memory=*/true), {ActivityType::CPU});
  EXPECT_TRUE(torch::autograd::profiler::profilerEnabled());
  EXPECT_TRUE(torch::autograd::profiler::getProfilerConfig().report_input_shapes);
  (x * x).sum().backward();
  auto result = torch::autograd::profiler::disableProfiler();
  EXPECT_FALSE(torch::autograd::profiler::profilerEnabled());
  const KinetoEvent& forward = find(result->events(), "aten::mul");
  const KinetoEvent& node = find(result->events(), "MulBackward0");
  EXPECT_EQ(node.sequenceNr(), forward.sequenceNr());
  EXPECT_EQ(node.fwdThreadId(), forward.startThreadId());
  EXPECT_EQ(node.scope(), static_cast<uint8_t>(at::RecordScope::BACKWARD_FUNCTION));
  EXPECT_EQ(forward.shapes()[1], (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(forward.dtypes()[0], "Float");
  EXPECT_EQ(forward.nBytes(), 24);
  EXPECT_GT(forward.durationNs(), 0u);
  EXPECT_GE(node.startNs(), forward.endNs());
  EXPECT_THROW(torch::autograd::profiler::disableProfiler(), c10::Error);
}

TEST(Profiler, OtherThreadsAreRecordedOnRequest) {
  auto calls = [](bool all) {
    ProfilerConfig config(ProfilerState::KINETO);
    config.experimental_config.profile_all_threads = all;
    torch::autograd::profiler::enableProfiler(config, {ActivityType::CPU}, {at::RecordScope::USER_SCOPE});
    std::thread([] { RECORD_USER_SCOPE("other"); }).join();
    torch::ones({1});
    return torch::autograd::profiler::disableProfiler()->events().size();
  };
  EXPECT_EQ(calls(false), 0u);
  EXPECT_EQ(calls(true), 1u);
}

TEST(Profiler, OptionsWithoutAnEffectAreErrors) {
  EXPECT_THROW(torch::autograd::profiler::enableProfiler(ProfilerConfig(ProfilerState::KINETO), {ActivityType::CUDA}), c10::NotImplementedError);
  EXPECT_THROW(torch::autograd::profiler::enableProfiler(ProfilerConfig(ProfilerState::NVTX), {ActivityType::CPU}), c10::NotImplementedError);
  EXPECT_THROW(torch::autograd::profiler::enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU, false, false, /*with_stack=*/true)), c10::NotImplementedError);
  EXPECT_FALSE(torch::autograd::profiler::profilerEnabled());
}

TEST(Profiler, LegacyEventsAreStartsAndEnds) {
  std::string kinds;
  double elapsed = -1;
  {
    torch::autograd::profiler::TLSLegacyProfilerGuard recorded(ProfilerConfig(ProfilerState::CPU, true, true), [&](const auto& lists) {
      for (const auto& event : lists.at(0)) kinds += event.kindStr() + " " + event.name() + "\n";
      elapsed = lists[0][1].cpuElapsedUs(lists[0][6]);
      EXPECT_EQ(lists[0][2].shapes(), (std::vector<std::vector<int64_t>>{{2}}));
      EXPECT_EQ(lists[0][3].kind(), EventKind::MemoryAlloc);
      EXPECT_EQ(lists[0][3].cpuMemoryUsage(), 8);
      EXPECT_EQ(lists[0][1].handle(), lists[0][6].handle());
    });
    auto x = torch::Tensor();
    {
      at::RecordFunctionGuard silent(false);
      x = torch::ones({2});
    }
    RECORD_USER_SCOPE("range");
    x = x.neg();
  }
  EXPECT_EQ(kinds,
            "mark __start_profile\npush range\npush aten::neg\nmemory_alloc aten::neg\npop aten::neg\nmemory_alloc range\npop range\nmark __stop_profile\n");
  EXPECT_GT(elapsed, 0);
}

TEST(Profiler, RecordProfileWritesATrace) {
  std::stringstream stream;
  {
    RecordProfile profile(stream);
    RECORD_USER_SCOPE("a \"quoted\" name");
    torch::ones({2}).neg();
  }
  EXPECT_NE(stream.str().find("\"traceEvents\":["), std::string::npos);
  EXPECT_NE(stream.str().find("\"name\":\"a \\\"quoted\\\" name\""), std::string::npos);
  EXPECT_NE(stream.str().find("\"name\":\"aten::neg\""), std::string::npos);
  std::string path = testing::TempDir() + "rushlight_trace.json";
  { RecordProfile profile(path); }
  std::ifstream file(path);
  EXPECT_TRUE(file.good());
  file.close();
  std::remove(path.c_str());
  EXPECT_THROW(RecordProfile("/no/such/folder/trace.json"), c10::Error);
}

}  // namespace
