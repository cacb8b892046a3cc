// torch::jit::trace: modules and functions of C++ as modules of TorchScript, which can be saved and handed to Python. libtorch
// has this function in Python only.
#pragma once

#include <torch/arg.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Options of `trace`.
struct TraceOptions {
  /// Runs the traced module on the examples, and throws if its results are not those of the function.
  TORCH_ARG(bool, check_trace) = true;
  /// The names of the arguments; those without are `input`, or `input_0`, `input_1`, ...
  TORCH_ARG(std::vector<std::string>, argument_names);
  /// The name of the class; by default that of the module.
  TORCH_ARG(std::string, class_name);
};

namespace tracer {
namespace detail {

inline std::tuple<at::Tensor> as_tuple(const at::Tensor& input) { return {input}; }
template <class... Inputs>
const std::tuple<Inputs...>& as_tuple(const std::tuple<Inputs...>& inputs) {
  return inputs;
}

template <class F, class... Inputs>
decltype(auto) call(F& function, const Inputs&... inputs) {
  if constexpr (std::is_base_of_v<nn::Module, F>) {
    return function.forward(inputs...);
  } else if constexpr (std::is_invocable_v<F&, const Inputs&...>) {
    return function(inputs...);
  } else {
    return function->forward(inputs...);
  }
}

/// Runs a function and records it.
template <class F, class... Inputs>
std::unique_ptr<Trace> run(F& function, const std::tuple<Inputs...>& inputs, const TraceOptions& options) {
  nn::Module* module = nullptr;
  if constexpr (std::is_base_of_v<nn::Module, F>) {
    module = &function;
  } else if constexpr (nn::detail::is_module_holder<F>) {
    module = function.get();
  } else if constexpr (!std::is_invocable_v<F&, const Inputs&...>) {
    module = function.get();
  }
  std::string class_name = options.class_name();
  if (class_name.empty()) class_name = module ? module->name() : "Function";
  auto trace = std::make_unique<Trace>(class_name, module && module->is_training());
  if (module) {
    for (const auto& child : module->named_modules({}, /*include_self=*/false)) {
      trace->add_module(child.key(), child.value()->name(), child.value()->is_training());
    }
    for (const auto& parameter : module->named_parameters()) trace->add_parameter(parameter.key(), parameter.value());
    for (const auto& buffer : module->named_buffers()) trace->add_buffer(buffer.key(), buffer.value());
  }
  size_t index = 0;
  auto add = [&](const auto& input) { trace->add_input(argument_name(options.argument_names(), index++, sizeof...(Inputs)), c10::IValue(input)); };
  std::apply([&](const auto&... each) { (add(each), ...); }, inputs);
  trace->set_output(c10::IValue(std::apply([&](const auto&... each) -> decltype(auto) { return call(function, each...); }, inputs)));
  return trace;
}

}  // namespace detail
}  // namespace tracer

/// Runs a module or function on example inputs, a tensor or a tuple of values, and returns what it did as a module. Control
/// flow and numbers of the program, sizes of tensors included, are constants in the trace.
template <class F, class Inputs>
Module trace(F&& function, const Inputs& inputs, const TraceOptions& options = {}) {
  return tracer::detail::run(function, tracer::detail::as_tuple(inputs), options)->finish(nullptr, options.check_trace());
}

/// The same with a second example whose sizes differ, such as another number of samples: numbers that differ between the two
/// runs become expressions of sizes, so that the trace holds for all sizes. Throws if such a number follows from no size.
template <class F, class Inputs>
Module trace(F&& function, const Inputs& inputs, const Inputs& other_inputs, const TraceOptions& options = {}) {
  auto first = tracer::detail::run(function, tracer::detail::as_tuple(inputs), options);
  auto second = tracer::detail::run(function, tracer::detail::as_tuple(other_inputs), options);
  return first->finish(second.get(), options.check_trace());
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
