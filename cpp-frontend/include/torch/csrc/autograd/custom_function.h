// Function<T>: an operator with its own forward and backward, written in C++.
//
// forward runs with recording off; rlt_custom_function_record then attaches a node whose callback calls backward.
#pragma once

#include <ATen/core/ivalue_all.h>
#include <c10/core/GradMode.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable_info.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

struct AutogradContext;
namespace detail {
template <class T>
struct CustomFunction;
}

/// Passes values from forward to backward.
struct AutogradContext {
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;
  ~AutogradContext() = default;

  /// Values other than inputs and outputs.
  std::unordered_map<std::string, at::IValue> saved_data;

  /// Keeps inputs and outputs for backward.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  /// The saved tensors; an error if one was modified in between.
  RLT_LAZY variable_list get_saved_variables() const {
    if (freed_) rlt::raise<Error>(ERR_BACKWARD_TWICE);
    if (saved_.empty()) return to_save_;
    variable_list result;
    for (const SavedVariable& saved : saved_) result.push_back(saved.unpack());
    return result;
  }
  /// Marks inputs that forward modified in place.
  RLT_LAZY void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  /// Marks outputs that have no gradient.
  RLT_LAZY void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  /// Whether backward gets zeros (the default) or undefined tensors for outputs without gradient.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the gradient of the tensor argument with this index is needed. In backward this depends on the gradients
  /// requested by its caller.
  RLT_LAZY bool needs_input_grad(size_t index) const {
    if (running() != this) return index < needs_input_grad_.size() && needs_input_grad_[index];
    int32_t needed = 0;
    rlt::check(rlt_custom_function_needs_input_grad(static_cast<int64_t>(index), &needed));
    return needed != 0;
  }
  /// Whether a gradient is needed for any argument in these ranges.
  RLT_LAZY bool needs_input_grad(std::initializer_list<IndexRange> ranges) const {
    for (const IndexRange& range : ranges) {
      for (size_t i = range.first; i < range.second; ++i) {
        if (needs_input_grad(i)) return true;
      }
    }
    return false;
  }

 private:
  template <class T>
  friend struct detail::CustomFunction;

  static bool contains(const variable_list& list, const Variable& tensor) {
    for (const Variable& item : list) {
      if (item.is_same(tensor)) return true;
    }
    return false;
  }
  // The context whose backward this thread runs.
  static const AutogradContext*& running() {
    static thread_local const AutogradContext* context = nullptr;
    return context;
  }
  struct Running {
    explicit Running(const AutogradContext* context) : before(rlt::exchange_value(running(), context)) {}
    ~Running() { running() = before; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    const AutogradContext* before;
  };
  // A tensor marked dirty must be an input that is also an output; its version shows the write.
  RLT_LAZY void check_dirty(const variable_list& inputs, const variable_list& outputs) const {
    for (const Variable& tensor : dirty_) {
      if (!contains(inputs, tensor)) {
        TORCH_WARN(
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to pass it to mark_dirty().");
      } else if (!contains(outputs, tensor)) {
        rlt::raise<Error>(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must "
            "all be outputs of the Function.");
      }
      rlt::check(rlt_tensor_bump_version(tensor.handle()));
    }
  }
  RLT_LAZY void save(const variable_list& outputs) {
    for (const Variable& tensor : to_save_) saved_.emplace_back(tensor, contains(outputs, tensor));
    to_save_.clear();
    dirty_.clear();
    non_differentiable_.clear();
  }
  variable_list to_save_;
  variable_list dirty_;
  variable_list non_differentiable_;
  std::vector<SavedVariable> saved_;
  std::vector<int32_t> needs_input_grad_;
  bool materialize_grads_ = true;
  bool freed_ = false;
};

namespace detail {

// The tensors among forward's arguments, in order. (A template, so that only programs with custom functions compile
// it.)
template <class RltLazy = void>
struct ArgumentTensors {
  variable_list tensors;
  std::vector<int32_t> is_tensor;

  void add(const at::Tensor& tensor) {
    tensors.push_back(tensor);
    is_tensor.push_back(true);
  }
  void add(const std::optional<at::Tensor>& tensor) {
    if (tensor) return add(*tensor);
    is_tensor.push_back(false);
  }
  void add(const variable_list& list) {
    for (const Variable& tensor : list) add(tensor);
  }
  void add(at::TensorList list) {
    for (const Variable& tensor : list) add(tensor);
  }
  template <class T>
  void add(const T&) {
    is_tensor.push_back(false);
  }
};

RLT_LAZY variable_list to_list(at::Tensor output) {
  variable_list list;
  list.push_back(std::move(output));
  return list;
}
RLT_LAZY variable_list to_list(variable_list outputs) { return outputs; }
template <class Out>
Out from_list(variable_list outputs) {
  if constexpr (std::is_same_v<Out, at::Tensor>) {
    return outputs[0];
  } else {
    return outputs;
  }
}

template <class T>
struct CustomFunction {
  AutogradContext context;
  std::vector<int32_t> is_tensor;
  const char* name = nullptr;

  static int32_t backward(void* ctx, const rlt_tensor* const* grad_outputs, int64_t n_outputs, rlt_tensor** grad_inputs, int64_t n_inputs) {
    return rlt::trampoline([&] {
      CustomFunction& self = **static_cast<std::shared_ptr<CustomFunction>*>(ctx);
      AutogradContext::Running running(&self.context);
      variable_list results = T::backward(&self.context, borrowed_list(grad_outputs, n_outputs));
      self.give(results, grad_inputs, static_cast<size_t>(n_inputs));
    });
  }
  // The graph was freed. The program may still hold the context; the saved tensors are released now.
  static void destroy(void* ctx) {
    auto* holder = static_cast<std::shared_ptr<CustomFunction>*>(ctx);
    (*holder)->context.saved_.clear();
    (*holder)->context.freed_ = true;
    delete holder;
  }

  // One gradient per argument of forward; those of arguments that are no tensors must be undefined.
  void give(variable_list& results, rlt_tensor** grad_inputs, size_t n_inputs) const {
    size_t expected = is_tensor.size();
    for (size_t extra = results.size(); extra > expected && !results[extra - 1].defined(); --extra) results.pop_back();
    if (results.size() != expected) {
      rlt::raise<Error>(std::string("function ") + name + " returned an incorrect number of gradients (expected " + std::to_string(expected) + ", got " +
                        std::to_string(results.size()) + ")");
    }
    size_t next = 0;
    for (size_t i = 0; i < expected; ++i) {
      if (is_tensor[i]) {
        if (next < n_inputs) grad_inputs[next++] = results[i].release();
      } else if (results[i].defined()) {
        rlt::raise<Error>(std::string("function ") + name + " returned a gradient different from None at position " + std::to_string(i + 1) +
                          ", but the corresponding forward input was not a Variable");
      }
    }
  }

  template <class Out, class... Args>
  static Out apply(const char* name, Args&&... args) {
    ArgumentTensors<> inputs;
    (inputs.add(args), ...);
    auto function = std::make_shared<CustomFunction>();
    AutogradContext& context = function->context;
    function->is_tensor = inputs.is_tensor;
    function->name = name;
    bool recording = GradMode::is_enabled();
    for (const Variable& tensor : inputs.tensors) {
      context.needs_input_grad_.push_back(recording && tensor.defined() && tensor.requires_grad());
    }
    variable_list outputs;
    {
      AutoGradMode off(false);
      outputs = to_list(T::forward(&context, std::forward<Args>(args)...));
      context.check_dirty(inputs.tensors, outputs);
      // An output that is an unmodified input is returned as a view, so that it can have its own history.
      for (Variable& output : outputs) {
        if (output.defined() && AutogradContext::contains(inputs.tensors, output) && !AutogradContext::contains(context.dirty_, output)) {
          Variable view = output.alias();
          for (Variable& saved : context.to_save_) {
            if (saved.is_same(output)) saved = view;
          }
          output = view;
        }
      }
    }
    record(name, function, inputs.tensors, outputs);
    return from_list<Out>(std::move(outputs));
  }

  static void record(const char* name, const std::shared_ptr<CustomFunction>& function, const variable_list& inputs, const variable_list& outputs) {
    AutogradContext& context = function->context;
    std::vector<int32_t> differentiable;
    for (const Variable& output : outputs) {
      bool can = output.defined() && (output.is_floating_point() || output.is_complex());
      differentiable.push_back(can && !AutogradContext::contains(context.non_differentiable_, output));
    }
    rlt_custom_function entry = {};
    entry.struct_size = sizeof entry;
    entry.name = name;
    auto holder = std::make_unique<std::shared_ptr<CustomFunction>>(function);
    entry.ctx = holder.get();
    entry.backward = &CustomFunction::backward;
    entry.deleter = &CustomFunction::destroy;
    entry.materialize_grads = context.materialize_grads_;
    int32_t recorded = 0;
    rlt::check(rlt_custom_function_record(&entry, rlt::handles(inputs), static_cast<int64_t>(inputs.size()), rlt::handles(outputs),
                                          static_cast<int64_t>(outputs.size()), differentiable.data(), &recorded));
    if (!recorded) return;
    holder.release();
    context.save(outputs);
  }
};

/// Name of the operator in the graph.
template <class T>
const char* function_name() {
  static const std::string name = std::string("torch::autograd::CppNode<") + c10::demangle_type<T>() + ">";
  return name.c_str();
}

}  // namespace detail

using optional_variable_list = std::vector<std::optional<Variable>>;
using _jvp_fn_t = std::function<variable_list(variable_list, variable_list)>;
using _view_as_self_fn_t = std::function<at::Tensor(at::Tensor)>;

RLT_LAZY optional_variable_list to_optional(Variable& output) { return {output}; }
RLT_LAZY optional_variable_list to_optional(variable_list& output) { return {output.begin(), output.end()}; }

/// Makes `cdata`, a node of the program, the node of the outputs of a custom forward; without a node, they have no history.
/// An output that is an unmodified input is replaced by `view_as_self_fn` of it. Forward-mode derivatives do not exist here:
/// `jvp_user_function` is never called, and `to_save_if_setup_context` and `pure_view`, which concern only them, have no effect.
RLT_LAZY optional_variable_list _wrap_outputs(const variable_list& input_vars, const std::unordered_set<at::TensorImpl*>& non_differentiable,
                                              const std::unordered_set<at::TensorImpl*>& dirty_inputs,
                                              at::ArrayRef<std::optional<Variable>> raw_output_vars, const std::shared_ptr<Node>& cdata,
                                              const _jvp_fn_t& /*jvp_user_function*/,
                                              const std::unordered_set<at::TensorImpl*>& /*to_save_if_setup_context*/,
                                              const _view_as_self_fn_t& view_as_self_fn, bool /*pure_view*/) {
  std::unordered_set<at::TensorImpl*> inputs;
  for (const Variable& input : input_vars) inputs.insert(input.unsafeGetTensorImpl());
  optional_variable_list results(raw_output_vars.begin(), raw_output_vars.end());
  variable_list outputs;
  std::vector<int32_t> differentiable, written;
  for (std::optional<Variable>& output : results) {
    if (!output || !output->defined()) continue;
    at::TensorImpl* identity = output->unsafeGetTensorImpl();
    const bool is_dirty = dirty_inputs.count(identity) != 0;
    differentiable.push_back(non_differentiable.count(identity) == 0);
    written.push_back(is_dirty);
    if (inputs.count(identity) != 0 && !is_dirty) {
      c10::AutoGradMode off(false);
      output = view_as_self_fn(*output);
    }
    outputs.push_back(*output);
  }
  if (cdata) cdata->join_graph(outputs, differentiable, written);
  return results;
}

/// Base of a custom operator: `struct Square : Function<Square>` with static forward(AutogradContext*, ...) and
/// backward(AutogradContext*, variable_list); call it with Square::apply(...).
template <class T>
struct Function {
  template <class X = T, class... Args>
  static auto apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, decltype(X::forward(nullptr, std::forward<Args>(args)...))> {
    using Out = decltype(X::forward(nullptr, std::forward<Args>(args)...));
    return detail::CustomFunction<X>::template apply<Out>(detail::function_name<X>(), std::forward<Args>(args)...);
  }
};

using c10::AutoGradMode;
using c10::GradMode;
using c10::InferenceMode;
using c10::NoGradGuard;

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
