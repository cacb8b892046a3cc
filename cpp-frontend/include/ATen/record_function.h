// RecordFunction: ranges of the program, and callbacks that are notified of calls of operators, nodes of backward and ranges.
#pragma once

#include <ATen/core/boxing/values.h>
#include <ATen/core/operator_name.h>
#include <c10/util/Logging.h>
#include <c10/util/SmallVector.h>
#include <rushlight/profiler.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN
struct FunctionSchema;
RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

/// The kind of a call.
enum class RecordScope : uint8_t {
  /// operators, nodes
  FUNCTION = RLT_SCOPE_FUNCTION,
  /// nodes of a backward pass
  BACKWARD_FUNCTION = RLT_SCOPE_BACKWARD_FUNCTION,
  TORCHSCRIPT_FUNCTION = RLT_SCOPE_TORCHSCRIPT_FUNCTION,
  KERNEL_FUNCTION_DTYPE,
  CUSTOM_CLASS,
  BUILD_FEATURE,
  LITE_INTERPRETER,
  /// ranges of the program
  USER_SCOPE = RLT_SCOPE_USER,
  STATIC_RUNTIME_OP,
  STATIC_RUNTIME_MODEL,
  NUM_SCOPES,
};

RLT_NAMESPACE_END
}  // namespace at

template <>
struct std::hash<at::RecordScope> {
  size_t operator()(at::RecordScope scope) const { return static_cast<size_t>(scope); }
};

namespace at {
RLT_NAMESPACE_BEGIN

/// A C string that may own its characters.
struct StringView {
  StringView() = default;
  explicit StringView(const char* text) : text_(text) {}
  explicit StringView(std::string text) : owned_(std::make_shared<std::string>(std::move(text))), text_(owned_->c_str()) {}
  const char* str() const { return text_; }
  friend std::ostream& operator<<(std::ostream& stream, const StringView& text) { return stream << text.str(); }
  friend bool operator==(const StringView& a, const StringView& b) { return std::strcmp(a.str(), b.str()) == 0; }
  friend bool operator!=(const StringView& a, const StringView& b) { return !(a == b); }

 private:
  std::shared_ptr<std::string> owned_;
  const char* text_ = nullptr;
};

constexpr std::size_t kSoftLimitCallbacks = 4;

/// What a start callback hands to the end callback of the same call.
struct ObserverContext {
  virtual ~ObserverContext() = default;

 protected:
  ObserverContext() = default;
};

using CallbackHandles = c10::SmallVector<uint64_t, kSoftLimitCallbacks>;
using ObserverContextList = c10::SmallVector<std::unique_ptr<ObserverContext>, kSoftLimitCallbacks>;
using RecordFunctionHandle = uint64_t;
using CallbackHandle = uint64_t;
constexpr CallbackHandle INVALID_CALLBACK_HANDLE{0};
struct RecordFunction;

/// A pair of functions that are called at the start and at the end of calls.
class RecordFunctionCallback {
 public:
  using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
  using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

  explicit RecordFunctionCallback(StartCallback on_start, EndCallback on_end = nullptr) : start_(on_start), end_(on_end) {
    options_.struct_size = sizeof options_;
    options_.sampling_probability = 1;
  }

  RecordFunctionCallback& needsInputs(bool needs) { return set(&rlt_callback_options::needs_inputs, needs); }
  RecordFunctionCallback& needsOutputs(bool needs) { return set(&rlt_callback_options::needs_outputs, needs); }
  /// Every call has an id, needed or not.
  RecordFunctionCallback& needsIds(bool needs) {
    needs_ids_ = needs;
    return *this;
  }
  /// The callbacks are called for a call with this probability, both or neither.
  RecordFunctionCallback& samplingProb(double probability) {
    TORCH_CHECK(probability >= 0.0 && probability <= 1.0, "Invalid sampling probability");
    options_.is_sampled = 1;
    options_.sampling_probability = probability;
    return *this;
  }
  /// The kinds of calls; an empty set stands for all of them.
  RecordFunctionCallback& scopes(const std::unordered_set<RecordScope, std::hash<RecordScope>>& scopes) {
    options_.scopes = 0;
    for (RecordScope scope : scopes) options_.scopes |= 1u << static_cast<uint32_t>(scope);
    return *this;
  }

  bool needsInputs() const { return options_.needs_inputs != 0; }
  bool needsOutputs() const { return options_.needs_outputs != 0; }
  bool needsIds() const { return needs_ids_; }
  double samplingProb() const { return options_.sampling_probability; }
  bool checkScope(RecordScope scope) const { return options_.scopes == 0 || (options_.scopes >> static_cast<uint32_t>(scope) & 1) != 0; }
  StartCallback start() const { return start_; }
  EndCallback end() const { return end_; }
  const rlt_callback_options& options() const { return options_; }

 private:
  RecordFunctionCallback& set(int32_t rlt_callback_options::*option, bool on) {
    options_.*option = on;
    return *this;
  }

  StartCallback start_;
  EndCallback end_;
  rlt_callback_options options_ = {};
  bool needs_ids_ = false;
};

/// What observes calls of a kind on this thread.
struct StepCallbacks {
  StepCallbacks() = default;
  StepCallbacks(uint64_t thread_id, RecordScope scope) : thread_id_(thread_id), scope_(scope) {}
  bool empty() const { return !is_observed_; }

  uint64_t thread_id_{0};
  RecordScope scope_{RecordScope::FUNCTION};
  bool is_observed_{false};
  bool needs_inputs_{false};
  bool needs_outputs_{false};
};

inline StepCallbacks getStepCallbacks(RecordScope scope) {
  StepCallbacks callbacks(rlt_current_thread(), scope);
  int32_t observed = 0, inputs = 0, outputs = 0;
  rlt::check(rlt_record_function_is_observed(static_cast<int32_t>(scope), &observed, &inputs, &outputs));
  callbacks.is_observed_ = observed != 0;
  callbacks.needs_inputs_ = inputs != 0;
  callbacks.needs_outputs_ = outputs != 0;
  return callbacks;
}
inline std::optional<StepCallbacks> getStepCallbacksUnlessEmpty(RecordScope scope) {
  StepCallbacks callbacks = getStepCallbacks(scope);
  return callbacks.empty() ? std::nullopt : std::make_optional(callbacks);
}

/// A range of the program that ends with its scope, or a call as callbacks see it.
struct RecordFunction {
  explicit RecordFunction(RecordScope scope = RecordScope::FUNCTION) : RecordFunction(getStepCallbacks(scope)) {}
  explicit RecordFunction(StepCallbacks&& callbacks) : callbacks_(callbacks) {}
  /// The call that a callback is notified of; it is valid during the callback.
  explicit RecordFunction(const rlt_call& call)
      : callbacks_(call.thread, static_cast<RecordScope>(call.scope)),
        name_(call.name),
        is_operator_(call.overload != nullptr),
        overload_(is_operator_ ? call.overload : ""),
        sequence_(call.sequence),
        forward_thread_(call.forward_thread),
        handle_(call.id),
        debug_handle_(call.debug_handle),
        owned_inputs_(values(call.inputs, call.n_inputs)),
        inputs_(owned_inputs_.data(), owned_inputs_.size()),
        n_inputs_(static_cast<size_t>(call.n_inputs)),
        outputs_(values(call.outputs, call.n_outputs)),
        n_outputs_(static_cast<size_t>(call.n_outputs)) {}
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  virtual ~RecordFunction() { end(); }

  /// Begins the range, unless nothing observes it.
  void before(const char* name, int64_t sequence_nr = -1) { begin(name, sequence_nr); }
  void before(std::string name, int64_t sequence_nr = -1) { begin(name.c_str(), sequence_nr); }
  template <class Name>
  void before(Name name, c10::ArrayRef<const c10::IValue> args, int64_t sequence_nr = -1) {
    if (!isActive()) return;
    inputs_ = args;
    n_inputs_ = args.size();
    before(std::move(name), sequence_nr);
    inputs_ = {};
  }
  template <class Name>
  void before(Name name, const std::vector<c10::IValue>* args, int64_t sequence_nr = -1) {
    before(std::move(name), c10::ArrayRef<const c10::IValue>(args->data(), args->size()), sequence_nr);
  }

  /// Ends the range: calls end callbacks.
  void end() {
    if (!range_) return;
    if (!outputs_.empty()) {
      std::deque<rlt::Lent<c10::IValue>> lent;
      std::vector<rlt_value> outputs = lend(c10::ArrayRef<const c10::IValue>(outputs_.data(), outputs_.size()), lent);
      rlt_record_function_set_outputs(range_, outputs.data(), rlt::length(outputs.size()));
    }
    rlt_record_function_end(std::exchange(range_, nullptr));
  }

  bool isActive() const { return !callbacks_.empty(); }
  bool needsInputs() const { return callbacks_.needs_inputs_; }
  bool needsOutputs() const { return callbacks_.needs_outputs_; }
  const char* name() const { return name_.c_str(); }
  const char* overload_name() const { return overload_.c_str(); }
  int64_t seqNr() const { return sequence_; }
  RecordScope scope() const { return callbacks_.scope_; }
  uint64_t threadId() const { return callbacks_.thread_id_; }
  uint64_t forwardThreadId() const { return forward_thread_; }
  void setForwardThreadId(uint64_t thread_id) { forward_thread_ = thread_id; }
  RecordFunctionHandle handle() const { return handle_; }
  int64_t debugHandle() const { return debug_handle_; }
  void setDebugHandle(int64_t debug_handle) { debug_handle_ = debug_handle; }
  /// The arguments, if a callback needs them.
  c10::ArrayRef<const c10::IValue> inputs() const { return inputs_; }
  size_t num_inputs() const { return n_inputs_; }
  /// The results, if a callback needs them, at the end of a call.
  const std::vector<c10::IValue>& outputs() const { return outputs_; }
  size_t num_outputs() const { return n_outputs_; }
  void setOutputs(std::vector<c10::IValue>&& outputs) {
    outputs_ = std::move(outputs);
    n_outputs_ = outputs_.size();
  }
  void setOutputs(c10::ArrayRef<c10::IValue> outputs) { setOutputs(outputs.vec()); }
  /// The name of the operator; nullopt for other calls.
  std::optional<c10::OperatorName> operator_name() const {
    return is_operator_ ? std::make_optional(c10::OperatorName(name_, overload_)) : std::nullopt;
  }
  /// The schema of the operator; nullopt for other calls. Include ATen/core/function_schema.h for it.
  template <class Schema = c10::FunctionSchema>
  std::optional<Schema> operator_schema() const {
    if (!is_operator_) return std::nullopt;
    rlt_value text = {};
    rlt::check(rlt_op_schema(name_.c_str(), overload_.c_str(), &text));
    std::string schema = rlt::adopt_string(text);
    return parsed<Schema>(schema);
  }
  /// The number of the calling thread, from 1 on.
  static uint64_t currentThreadId() { return rlt_current_thread(); }

 private:
  template <class Schema>
  static Schema parsed(const std::string& schema) {
    rlt_value description = {};
    rlt::check(rlt_schema_parse(schema.c_str(), &description));
    rlt::OwnedValue owned(description);
    return Schema::of(rlt::Box<c10::IValue>(owned.get()).object);
  }
  RLT_COLD static std::vector<c10::IValue> values(const rlt_value* first, int64_t count) {
    std::vector<c10::IValue> values;
    if (!first) return values;
    values.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) values.push_back(rlt::Box<c10::IValue>(first[i]).object);
    return values;
  }
  RLT_COLD static std::vector<rlt_value> lend(c10::ArrayRef<const c10::IValue> values, std::deque<rlt::Lent<c10::IValue>>& lent) {
    std::vector<rlt_value> lent_values;
    lent_values.reserve(values.size());
    for (const c10::IValue& value : values) lent_values.push_back(lent.emplace_back(value).value);
    return lent_values;
  }
  void begin(const char* name, int64_t sequence_nr) {
    if (!isActive() || range_) return;
    begin_observed(name, sequence_nr);
  }
  RLT_COLD void begin_observed(const char* name, int64_t sequence_nr) {
    name_ = name;
    sequence_ = sequence_nr;
    rlt_record_function_options options = {};
    options.struct_size = sizeof options;
    options.sequence = sequence_nr;
    options.forward_thread = forward_thread_;
    options.debug_handle = debug_handle_;
    std::deque<rlt::Lent<c10::IValue>> lent;
    std::vector<rlt_value> inputs = lend(inputs_, lent);
    rlt::check(rlt_record_function_begin(static_cast<int32_t>(scope()), name, inputs.data(), rlt::length(inputs.size()), &options, &range_));
  }

  StepCallbacks callbacks_;
  std::string name_;
  bool is_operator_ = false;
  std::string overload_;
  int64_t sequence_ = -1;
  uint64_t forward_thread_ = 0;
  RecordFunctionHandle handle_ = 0;
  int64_t debug_handle_ = -1;
  std::vector<c10::IValue> owned_inputs_;
  c10::ArrayRef<const c10::IValue> inputs_;
  size_t n_inputs_ = 0;
  std::vector<c10::IValue> outputs_;
  size_t n_outputs_ = 0;
  rlt_record_function* range_ = nullptr;
};

namespace detail {

/// An exception of a callback does not affect the call: it is a line of the log, as in libtorch.
template <class Body>
int32_t call_callback(const rlt_call* call, const Body& body) {
#if RLT_EXCEPTIONS
  try {
    body();
  } catch (const std::exception& error) {
    LOG(WARNING) << "Exception in RecordFunction callback: " << error.what() << " , for the range " << call->name;
  } catch (...) {
    LOG(WARNING) << "Exception in RecordFunction callback: unknown , for the range " << call->name;
  }
#else
  (void)call;
  body();
#endif
  return RLT_OK;
}
RLT_COLD inline int32_t start_callback(void* ctx, const rlt_call* call, void** state) {
  const auto* callback = static_cast<const RecordFunctionCallback*>(ctx);
  return call_callback(call, [&] { *state = callback->start()(RecordFunction(*call)).release(); });
}
RLT_COLD inline int32_t end_callback(void* ctx, const rlt_call* call, void* state) {
  const auto* callback = static_cast<const RecordFunctionCallback*>(ctx);
  std::unique_ptr<ObserverContext> context(static_cast<ObserverContext*>(state));
  return call_callback(call, [&] {
    if (callback->end()) callback->end()(RecordFunction(*call), context.get());
  });
}
inline void drop_callback(void* ctx) { delete static_cast<RecordFunctionCallback*>(ctx); }

inline CallbackHandle add_callback(RecordFunctionCallback callback, bool this_thread) {
  rlt_callback_options options = callback.options();
  options.this_thread = this_thread;
  auto kept = std::make_unique<RecordFunctionCallback>(std::move(callback));
  uint64_t id = 0;
  rlt::check(rlt_add_callback(kept->start() ? start_callback : nullptr, end_callback, kept.get(), drop_callback, &options, &id));
  kept.release();
  return id;
}
inline bool has_callbacks(bool this_thread) {
  int32_t any = 0;
  rlt::check(rlt_has_callbacks(this_thread, &any));
  return any != 0;
}

/// Begins a range whose inputs are copied only if a callback needs them.
template <class Inputs, class Name, class... Args>
void record_function_with_scope(RecordFunction& guard, Name name, const Inputs& inputs, Args&&... args) {
  if (guard.needsInputs()) guard.before(name, c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()), std::forward<Args>(args)...);
  else guard.before(name, std::forward<Args>(args)...);
}
template <class Name, class... Args>
void record_function_with_scope(RecordFunction& guard, Name name, c10::ArrayRef<const c10::IValue> inputs, Args&&... args) {
  record_function_with_scope<c10::ArrayRef<const c10::IValue>, Name, Args...>(guard, std::move(name), inputs, std::forward<Args>(args)...);
}
template <class Inputs, class Name, class... Args>
void record_function_with_scope_and_debug_handle(RecordFunction& guard, Name name, int64_t debug_handle, const Inputs& inputs, Args&&... args) {
  guard.setDebugHandle(debug_handle);
  record_function_with_scope(guard, std::move(name), c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()), std::forward<Args>(args)...);
}

}  // namespace detail

/// Adds callbacks for calls of this thread.
inline CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback) { return detail::add_callback(std::move(callback), true); }
/// Adds callbacks for calls of all threads. They are called before those of a thread.
inline CallbackHandle addGlobalCallback(RecordFunctionCallback callback) { return detail::add_callback(std::move(callback), false); }
/// Removes callbacks of all threads or of this thread. As in libtorch, a handle without callbacks is a warning.
inline void removeCallback(CallbackHandle handle) {
  if (rlt_remove_callback(handle) != RLT_OK) LOG(WARNING) << "Requested callback is not found";
}
/// Disables callbacks until `reenableCallback`; a handle without callbacks has no effect.
inline void disableCallback(CallbackHandle handle) { (void)rlt_set_callback_enabled(handle, 0); }
inline void reenableCallback(CallbackHandle handle) { (void)rlt_set_callback_enabled(handle, 1); }
inline bool hasThreadLocalCallbacks() { return detail::has_callbacks(true); }
inline bool hasGlobalCallbacks() { return detail::has_callbacks(false); }
inline bool hasCallbacks() { return hasGlobalCallbacks() || hasThreadLocalCallbacks(); }
inline void clearThreadLocalCallbacks() { rlt::check(rlt_clear_callbacks(1)); }
inline void clearGlobalCallbacks() { rlt::check(rlt_clear_callbacks(0)); }
inline void clearCallbacks() {
  clearGlobalCallbacks();
  clearThreadLocalCallbacks();
}

/// Sets whether callbacks and the profiler see calls of this thread.
inline void enableRecordFunction(bool enable = true) { rlt::check(rlt_record_function_set_enabled(enable)); }
inline bool isRecordFunctionEnabled() {
  int32_t on = 0;
  rlt::check(rlt_record_function_is_enabled(&on));
  return on != 0;
}

/// `enableRecordFunction` in this scope.
class RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(bool is_enabled = true) : before_(isRecordFunctionEnabled()) { enableRecordFunction(is_enabled); }
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;
  virtual ~RecordFunctionGuard() { (void)rlt_record_function_set_enabled(before_); }

 private:
  bool before_;
};
class DisableRecordFunctionGuard : public RecordFunctionGuard {
 public:
  DisableRecordFunctionGuard() : RecordFunctionGuard(false) {}
  ~DisableRecordFunctionGuard() override = default;
};

RLT_NAMESPACE_END
}  // namespace at

// Each declares `guard`, a range until the end of the scope. A sequence number may follow.
#define RECORD_FUNCTION_WITH_SCOPE(scope, name, inputs, ...) \
  ::at::RecordFunction guard(scope);                         \
  if (guard.isActive()) {                                    \
    ::at::detail::record_function_with_scope(guard, name, inputs, ##__VA_ARGS__); \
  }
#define RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(scope, name, inputs, outputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE(scope, name, inputs, ##__VA_ARGS__)                     \
  if (guard.needsOutputs()) {                                                        \
    guard.setOutputs(outputs);                                                       \
  }
#define RECORD_FUNCTION(name, inputs, ...) RECORD_FUNCTION_WITH_SCOPE(::at::RecordScope::FUNCTION, name, inputs, ##__VA_ARGS__)
#define RECORD_TORCHSCRIPT_FUNCTION(name, inputs) RECORD_FUNCTION_WITH_SCOPE(::at::RecordScope::TORCHSCRIPT_FUNCTION, name, inputs)
#define RECORD_FUNCTION_WITH_INPUTS_OUTPUTS(name, inputs, outputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(::at::RecordScope::FUNCTION, name, inputs, outputs, ##__VA_ARGS__)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION_WITH_SCOPE(::at::RecordScope::USER_SCOPE, name, ::c10::ArrayRef<const ::c10::IValue>{})
#define RECORD_USER_SCOPE_WITH_INPUTS(name, inputs) RECORD_FUNCTION_WITH_SCOPE(::at::RecordScope::USER_SCOPE, name, inputs)
#define RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(scope, name, debug_handle, inputs, ...)                              \
  ::at::RecordFunction guard(scope);                                                                                   \
  if (guard.isActive()) {                                                                                              \
    ::at::detail::record_function_with_scope_and_debug_handle(guard, name, debug_handle, inputs, ##__VA_ARGS__);       \
  }
#define RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS(name, debug_handle, inputs) \
  RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(::at::RecordScope::LITE_INTERPRETER, name, debug_handle, inputs)
#define RECORD_OUTPUTS(outputs)                                                       \
  if (guard.needsOutputs()) {                                                         \
    guard.setOutputs(std::vector<::c10::IValue>(outputs.begin(), outputs.end()));     \
  }

namespace torch {
RLT_NAMESPACE_BEGIN
using at::addGlobalCallback;
using at::addThreadLocalCallback;
using at::CallbackHandle;
using at::clearCallbacks;
using at::clearGlobalCallbacks;
using at::clearThreadLocalCallbacks;
using at::DisableRecordFunctionGuard;
using at::enableRecordFunction;
using at::hasCallbacks;
using at::hasGlobalCallbacks;
using at::hasThreadLocalCallbacks;
using at::isRecordFunctionEnabled;
using at::RecordFunction;
using at::RecordFunctionCallback;
using at::RecordFunctionGuard;
using at::removeCallback;
RLT_NAMESPACE_END
}  // namespace torch
