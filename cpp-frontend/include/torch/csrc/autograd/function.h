// Node: an operator in the graph of gradients.
#pragma once

#include <torch/csrc/autograd/function_hook.h>

#include <memory>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// From the first number to before the second.
using IndexRange = std::pair<size_t, size_t>;

struct Edge;

struct Node : std::enable_shared_from_this<Node> {
  /// Takes ownership of one reference.
  explicit Node(rlt_node* adopted) : handle_(adopted) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { rlt_node_free(handle_); }

  /// The operator's name, like `AddBackward0`.
  std::string name() const {
    const char* text = nullptr;
    rlt::check(rlt_node_name(handle_, &text));
    return text;
  }
  uint64_t sequence_nr() const {
    uint64_t number = 0;
    rlt::check(rlt_node_sequence_nr(handle_, &number));
    return number;
  }
  uint32_t num_inputs() const {
    int64_t count = 0;
    rlt::check(rlt_node_num_inputs(handle_, &count));
    return static_cast<uint32_t>(count);
  }
  uint32_t num_outputs() const {
    int64_t count = 0;
    rlt::check(rlt_node_next_count(handle_, &count));
    return static_cast<uint32_t>(count);
  }
  RLT_LAZY Edge next_edge(size_t index) const;
  RLT_LAZY std::vector<Edge> next_edges() const;
  rlt_node* handle() const { return handle_; }

  /// Registers a hook that is called before the node runs, after the hooks of its tensors. The result removes the hook
  /// (del_hook).
  RLT_LAZY uintptr_t add_pre_hook(std::unique_ptr<FunctionPreHook>&& hook) { return register_prehook(RLT_LATER(detail::HookObject<FunctionPreHook>)(static_cast<std::unique_ptr<FunctionPreHook>&&>(hook))); }
  /// Registers a hook that is called after the node ran.
  RLT_LAZY uintptr_t add_post_hook(std::unique_ptr<FunctionPostHook>&& hook) { return register_hook(RLT_LATER(detail::HookObject<FunctionPostHook>)(static_cast<std::unique_ptr<FunctionPostHook>&&>(hook))); }
  /// The same with functions: `list(const variable_list& grads)`, and `list(const variable_list& outputs, const
  /// variable_list& inputs)`.
  template <class Hook>
  uintptr_t register_prehook(Hook&& hook) {
    auto call = [hook = std::decay_t<Hook>(std::forward<Hook>(hook))](const variable_list& grads, const variable_list&) mutable {
      return hook(grads);
    };
    return add_hook(&rlt_node_register_prehook, std::move(call));
  }
  template <class Hook>
  uintptr_t register_hook(Hook&& hook) {
    return add_hook(&rlt_node_register_hook, std::decay_t<Hook>(std::forward<Hook>(hook)));
  }
  /// Removes a hook of any of these kinds.
  void del_hook(uintptr_t id) { rlt::check(rlt_node_remove_hook(handle_, id)); }
  bool del_post_hook(uintptr_t id) { return rlt_node_remove_hook(handle_, id) == RLT_OK; }

 private:
  template <class Register, class Call>
  uintptr_t add_hook(Register function, Call call) {
    return static_cast<uintptr_t>(detail::register_with<detail::NodeHookCallback<Call>>(function, handle_, std::move(call)));
  }

  rlt_node* handle_;
};

/// The destination of a gradient: an input of a node.
struct Edge {
  bool is_valid() const noexcept { return function != nullptr; }
  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
};
using edge_list = std::vector<Edge>;

template <class RltLazy>
Edge Node::next_edge(size_t index) const {
  rlt_node* next = nullptr;
  int64_t input_nr = 0;
  rlt::check(rlt_node_next_at(handle_, static_cast<int64_t>(index), &next, &input_nr));
  return {next ? std::make_shared<Node>(next) : nullptr, static_cast<uint32_t>(input_nr)};
}
template <class RltLazy>
std::vector<Edge> Node::next_edges() const {
  std::vector<Edge> edges;
  uint32_t count = num_outputs();
  for (uint32_t i = 0; i < count; ++i) edges.push_back(next_edge(i));
  return edges;
}

/// Undefined tensors need no gradients.
inline bool any_variable_requires_grad(at::TensorList variables) {
  for (const Variable& variable : variables) {
    if (variable.defined() && variable.requires_grad()) return true;
  }
  return false;
}

/// A leaf over the same elements.
RLT_LAZY Variable make_variable(const at::Tensor& data, bool requires_grad = false) {
  if (!data.defined()) return Variable();
  Variable leaf = data.detach();
  leaf.set_requires_grad(requires_grad);
  return leaf;
}

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch

namespace at {
RLT_NAMESPACE_BEGIN
inline std::shared_ptr<torch::autograd::Node> TensorBase::grad_fn() const {
  rlt_node* node = nullptr;
  rlt::check(rlt_tensor_grad_fn(handle_, &node));
  return std::shared_ptr<torch::autograd::Node>(node ? new torch::autograd::Node(node) : nullptr);
}
RLT_NAMESPACE_END
}  // namespace at
