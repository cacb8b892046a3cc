// torch::jit::tracer: the operators that a function calls, as a graph.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
namespace tracer {

namespace detail {

/// A trace of the calls of this thread. The tracing ends with the object, also when the traced function throws.
class Trace {
 public:
  Trace(const std::string& class_name, bool training) {
    rlt_trace* trace = nullptr;
    rlt::check(rlt_trace_begin(class_name.c_str(), training, &trace));
    trace_.reset(trace);
  }
  void add_module(const std::string& path, const std::string& class_name, bool training) const {
    rlt::check(rlt_trace_module(trace_.get(), path.c_str(), class_name.c_str(), training));
  }
  void add_parameter(const std::string& path, const at::Tensor& tensor) const { rlt::check(rlt_trace_parameter(trace_.get(), path.c_str(), tensor.handle())); }
  void add_buffer(const std::string& path, const at::Tensor& tensor) const { rlt::check(rlt_trace_buffer(trace_.get(), path.c_str(), tensor.handle())); }
  void add_input(const std::string& name, const c10::IValue& value) const {
    rlt::Lent<c10::IValue> lent(value);
    rlt::check(rlt_trace_input(trace_.get(), name.c_str(), &lent.value));
  }
  void set_output(const c10::IValue& value) const {
    rlt::Lent<c10::IValue> lent(value);
    rlt::check(rlt_trace_output(trace_.get(), &lent.value));
  }
  /// The traced module. A second trace, for examples of other sizes, shows which numbers are sizes.
  Module finish(const Trace* other, bool check_trace) const {
    rlt_module* module = nullptr;
    rlt::check(rlt_trace_finish(trace_.get(), other ? other->trace_.get() : nullptr, check_trace, &module));
    return Module(module);
  }

 private:
  struct Free {
    void operator()(rlt_trace* trace) const { rlt_trace_free(trace); }
  };
  std::unique_ptr<rlt_trace, Free> trace_;
};

/// Names for arguments that have none: `input`, or `input_0`, `input_1`, ...
inline std::string argument_name(const std::vector<std::string>& names, size_t index, size_t count) {
  if (index < names.size()) return names[index];
  return count == 1 ? "input" : "input_" + std::to_string(index);
}

}  // namespace detail

/// Whether the operators that this thread calls are traced.
inline bool isTracing() {
  int32_t active = 0;
  rlt::check(rlt_trace_is_active(&active));
  return active != 0;
}

/// What a trace has recorded. A trace begins with `trace`: values cannot be added to the graph.
struct TracingState {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>("");
  void setValue(const c10::IValue&, Value*) { refuse_to_build("torch::jit::tracer::TracingState::setValue"); }
  Value* getOutput(const c10::IValue&, size_t) { refuse_to_build("torch::jit::tracer::TracingState::getOutput"); }
  /// A module whose method `forward` is the traced function.
  Module module;
};

/// The state of the trace of this thread; null if there is none.
inline std::shared_ptr<TracingState> getTracingState() { return isTracing() ? std::make_shared<TracingState>() : nullptr; }
/// Only null, without a trace.
inline void setTracingState(const std::shared_ptr<TracingState>& state) {
  if (state || isTracing()) refuse_to_build("torch::jit::tracer::setTracingState");
}
/// Nothing: a trace ends with the function that it calls.
inline void abandon() {}

/// Calls a function with example inputs, and records the operators that it calls. The parameters and buffers of `self` are
/// attributes of the traced module. In-place operators stay as they are: `force_outplace` is not supported.
inline std::pair<std::shared_ptr<TracingState>, Stack> trace(Stack inputs, const std::function<Stack(Stack)>& traced_fn,
                                                             const std::function<std::string(const at::Tensor&)>& var_name_lookup_fn = nullptr,
                                                             bool strict = true, bool force_outplace = false, Module* self = nullptr,
                                                             const std::vector<std::string>& argument_names = {}) {
  (void)var_name_lookup_fn, (void)strict;
  if (force_outplace) rlt::raise<c10::Error>("torch::jit::tracer::trace: force_outplace is not supported");
  detail::Trace trace("Function", self && self->is_training());
  if (self) {
    for (const NameModule& child : self->named_modules()) {
      if (!child.name.empty()) trace.add_module(child.name, child.name, child.value.is_training());
    }
    for (const NameTensor& parameter : self->named_parameters()) trace.add_parameter(parameter.name, parameter.value);
    for (const NameTensor& buffer : self->named_buffers()) trace.add_buffer(buffer.name, buffer.value);
  }
  for (size_t i = 0; i < inputs.size(); ++i) trace.add_input(detail::argument_name(argument_names, i, inputs.size()), inputs[i]);
  Stack outputs = traced_fn(std::move(inputs));
  trace.set_output(outputs.size() == 1 ? outputs[0] : c10::IValue(c10::ivalue::Tuple::create(outputs)));
  auto state = std::make_shared<TracingState>();
  state->module = trace.finish(nullptr, false);
  Method forward = state->module.get_method("forward");
  const c10::FunctionSchema& schema = forward.schema();
  std::vector<c10::Argument> arguments(schema.arguments().begin() + 1, schema.arguments().end());
  auto signature = std::make_shared<c10::FunctionSchema>(schema.name(), "", std::move(arguments), schema.returns());
  state->graph = std::make_shared<Graph>(forward.graph()->toString(), [forward](Stack given) { return forward(std::move(given)); }, std::move(signature));
  return {std::move(state), std::move(outputs)};
}

}  // namespace tracer
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
