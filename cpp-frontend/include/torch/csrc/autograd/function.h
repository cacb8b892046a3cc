// Node: an operator in the graph of gradients.
#pragma once

#include <ATen/ATen.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/detail/owned.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// From the first number to before the second.
using IndexRange = std::pair<size_t, size_t>;

struct Node;

namespace detail {
/// Owns a reference to a node of the library.
struct NodeHandle {
  rlt_node* node;
  ~NodeHandle() {
    if (node) rlt_node_free(node);
  }
  rlt_node* release() {
    rlt_node* released = node;
    node = nullptr;
    return released;
  }
};
}  // namespace detail

/// The destination of a gradient: an input of a node.
struct Edge {
  bool is_valid() const noexcept { return function != nullptr; }
  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
  /// The library's node behind a node of the program, of an edge that came from a tensor.
  std::shared_ptr<const rlt_node> target = nullptr;
};
using edge_list = std::vector<Edge>;

/// A node of the library, which can be inspected; or, as a base class, a node of the program, whose `apply` computes
/// gradients. The latter joins the graph when `set_history` makes it the node of tensors.
struct Node : std::enable_shared_from_this<Node> {
  explicit Node(edge_list&& next_edges = edge_list()) : own_(new Own) { own_->next_edges = std::move(next_edges); }
  /// Takes ownership of one reference.
  explicit Node(rlt_node* adopted) : handle_(adopted) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() {
    if (handle_) rlt_node_free(handle_);
  }

  /// Calls a node of the program.
  variable_list operator()(variable_list&& inputs) { return apply(std::move(inputs)); }
  /// The node as a pointer of its class.
  std::shared_ptr<Node> getptr() { return shared_from_this(); }

  /// The operator's name, like `AddBackward0`; of a node of the program the name of its class.
  virtual std::string name() const {
    if (own_) {
#if RLT_RTTI
      return c10::demangle(typeid(*this).name());
#else
      return "Node";
#endif
    }
    const char* text = nullptr;
    rlt::check(rlt_node_name(handle_, &text));
    return text;
  }
  /// Frees saved tensors: called after a backward that does not retain the graph.
  virtual void release_variables() {}
  virtual bool is_traceable() { return false; }

  uint64_t sequence_nr() const {
    if (own_) return own_->sequence_nr;
    uint64_t number = 0;
    rlt::check(rlt_node_sequence_nr(handle_, &number));
    return number;
  }
  uint32_t num_inputs() const {
    if (own_) return own_->num_inputs;
    int64_t count = 0;
    rlt::check(rlt_node_num_inputs(handle_, &count));
    return static_cast<uint32_t>(count);
  }
  uint32_t num_outputs() const {
    if (own_) return static_cast<uint32_t>(own_->next_edges.size());
    int64_t count = 0;
    rlt::check(rlt_node_next_count(handle_, &count));
    return static_cast<uint32_t>(count);
  }
  RLT_LAZY Edge next_edge(size_t index) const;
  RLT_LAZY edge_list next_edges() const;
  /// The node in the library; null for a node of the program.
  rlt_node* handle() const { return handle_; }

  // The destinations of the gradients that a node of the program computes, before it joins the graph.
  void set_next_edge(size_t index, Edge edge) { changeable().next_edges.at(index) = std::move(edge); }
  void add_next_edge(Edge edge) { changeable().next_edges.push_back(std::move(edge)); }
  void set_next_edges(edge_list&& next_edges) { changeable().next_edges = std::move(next_edges); }
  /// `set_history` counts the inputs of a node.
  void clear_input_metadata() { changeable().num_inputs = 0; }
  /// Whether a gradient has a destination.
  RLT_LAZY bool should_compute_output(size_t index) const { return next_edge(index).is_valid(); }
  /// Within `apply`: whether the gradient is needed in this pass.
  RLT_LAZY bool task_should_compute_output(size_t index) const {
    if (!should_compute_output(index)) return false;
    int32_t needed = 0;
    rlt::check(rlt_custom_function_needs_input_grad(static_cast<int64_t>(index), &needed));
    return needed != 0;
  }

  /// Registers a hook that is called before the node runs, after the hooks of its tensors. The result removes the hook
  /// (del_hook).
  RLT_LAZY uintptr_t add_pre_hook(std::unique_ptr<FunctionPreHook>&& hook) { return register_prehook(RLT_LATER(detail::HookObject<FunctionPreHook>)(static_cast<RLT_LATER(std::unique_ptr<FunctionPreHook>)&&>(hook))); }
  /// Registers a hook that is called after the node ran.
  RLT_LAZY uintptr_t add_post_hook(std::unique_ptr<FunctionPostHook>&& hook) { return register_hook(RLT_LATER(detail::HookObject<FunctionPostHook>)(static_cast<RLT_LATER(std::unique_ptr<FunctionPostHook>)&&>(hook))); }
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
  RLT_LAZY void del_hook(uintptr_t id) {
    if (!del_post_hook(id)) rlt::raise<Error>("del_hook: " + name() + " has no hook " + std::to_string(id));
  }
  RLT_LAZY bool del_post_hook(uintptr_t id) {
    if (!own_) return rlt_node_remove_hook(handle_, id) == RLT_OK;
    auto& hooks = own_->hooks;
    size_t before = hooks.size();
    hooks.erase(std::remove_if(hooks.begin(), hooks.end(), [&](const OwnHook& hook) { return hook.id == id; }), hooks.end());
    return hooks.size() != before;
  }

  /// Makes a node of the program the node of `outputs`. `differentiable` says which have a gradient (all of a floating or
  /// complex dtype, if empty), `written` which are inputs that were modified in place (none, if empty).
  RLT_LAZY void join_graph(const variable_list& outputs, const std::vector<int32_t>& differentiable = {}, const std::vector<int32_t>& written = {});
  /// The pointer to a node that the library returned.
  RLT_LAZY static Edge wrap(rlt_node* adopted, int64_t input_nr);

 protected:
  /// The gradients of the inputs of the recorded call, one for each of `next_edges`, from those of its outputs.
  virtual variable_list apply(variable_list&& inputs) {
    static_cast<void>(inputs);
    rlt::raise<c10::NotImplementedError>("apply: " + name() + " is a node of the library, which only backward runs");
  }

 private:
  struct OwnHook {
    uintptr_t id;
    bool before;
    std::function<variable_list(const variable_list&, const variable_list&)> call;
  };
  // What a node of the program has. The library's node owns it, so that it does not refer to that one.
  struct Own {
    edge_list next_edges;
    std::vector<OwnHook> hooks;
    uint32_t num_inputs = 0;
    uint64_t sequence_nr = 0;
    uintptr_t last_hook = 0;
    bool joined = false;
  };
  Own& changeable() {
    if (!own_ || own_->joined) rlt::raise<Error>(name() + " is part of a graph: its edges cannot be changed");
    return *own_;
  }
  template <class Register, class Call>
  uintptr_t add_hook(Register function, Call call) {
    if (own_) {
      own_->hooks.push_back({++own_->last_hook, function == &rlt_node_register_prehook, std::move(call)});
      return own_->last_hook;
    }
    return static_cast<uintptr_t>(detail::register_with<detail::NodeHookCallback<Call>>(function, handle_, std::move(call)));
  }
  RLT_LAZY void run(variable_list grads, rlt_tensor** results, size_t count);
  template <class RltLazy>
  struct Callbacks;

  rlt_node* handle_ = nullptr;
  torch::detail::Owned<Own> own_;
};

// The callbacks of a node of the program.
template <class RltLazy>
struct Node::Callbacks {
  static std::shared_ptr<Node>& node(void* ctx) { return *static_cast<std::shared_ptr<Node>*>(ctx); }
  static int32_t backward(void* ctx, const rlt_tensor* const* grad_outputs, int64_t n_outputs, rlt_tensor** grad_inputs, int64_t n_inputs) {
    return rlt::trampoline([&] { node(ctx)->run(detail::borrowed_list(grad_outputs, n_outputs), grad_inputs, static_cast<size_t>(n_inputs)); });
  }
  // Nobody receives an error of it.
  static void release(void* ctx) {
    static_cast<void>(rlt::trampoline([&] { node(ctx)->release_variables(); }));
  }
  static void destroy(void* ctx) { delete static_cast<std::shared_ptr<Node>*>(ctx); }
};

template <class RltLazy>
void Node::run(variable_list grads, rlt_tensor** results, size_t count) {
  for (const OwnHook& hook : own_->hooks) {
    if (hook.before) grads = hook.call(grads, {});
  }
  variable_list given = grads;
  variable_list computed = apply(std::move(given));
  for (const OwnHook& hook : own_->hooks) {
    if (!hook.before) computed = hook.call(computed, grads);
  }
  while (computed.size() > count && !computed.back().defined()) computed.pop_back();
  if (computed.size() != count) {
    rlt::raise<Error>("Function " + name() + " returned an invalid number of gradients - expected " + std::to_string(count) + ", but got " +
                      std::to_string(computed.size()));
  }
  for (size_t i = 0; i < count; ++i) results[i] = computed[i].release();
}

namespace detail {

/// Edges as the C interface takes them, for the function `caller`.
template <class RltLazy>
struct EdgesOf {
  EdgesOf(const edge_list& edges, const std::string& caller) {
    for (const Edge& edge : edges) {
      const rlt_node* node = edge.target ? edge.target.get() : edge.function ? edge.function->handle() : nullptr;
      if (edge.function && !node) {
        rlt::raise<c10::NotImplementedError>(caller + ": an edge to " + edge.function->name() + " must come from a tensor of its graph (collect_next_edges, gradient_edge)");
      }
      nodes.push_back(node);
      input_nrs.push_back(edge.input_nr);
    }
  }
  std::vector<const rlt_node*> nodes;
  std::vector<int64_t> input_nrs;
};

}  // namespace detail

template <class RltLazy>
void Node::join_graph(const variable_list& outputs, const std::vector<int32_t>& differentiable, const std::vector<int32_t>& written) {
  Own& own = changeable();
  detail::EdgesOf<RltLazy> next(own.next_edges, name());
  std::string text = name();
  torch::detail::Owned<std::shared_ptr<Node>> holder(new std::shared_ptr<Node>(shared_from_this()));
  rlt_custom_function entry = {};
  entry.struct_size = sizeof entry;
  entry.name = text.c_str();
  entry.ctx = holder.get();
  entry.backward = &Callbacks<RltLazy>::backward;
  entry.release = &Callbacks<RltLazy>::release;
  entry.deleter = &Callbacks<RltLazy>::destroy;
  rlt_node* made = nullptr;
  rlt::check(rlt_custom_function_attach(&entry, next.nodes.data(), next.input_nrs.data(), rlt::length(next.nodes.size()), rlt::handles(outputs), rlt::length(outputs.size()),
                                        differentiable.empty() ? nullptr : differentiable.data(), written.empty() ? nullptr : written.data(), &made));
  holder.release();
  own.joined = true;
  own.num_inputs = static_cast<uint32_t>(outputs.size());
  int32_t status = rlt_node_sequence_nr(made, &own.sequence_nr);
  rlt_node_free(made);
  rlt::check(status);
}

template <class RltLazy>
Edge Node::wrap(rlt_node* adopted, int64_t input_nr) {
  if (!adopted) return {};
  detail::NodeHandle owner{adopted};
  uint32_t input = static_cast<uint32_t>(input_nr);
  void* ctx = nullptr;
  rlt::check(rlt_node_custom_ctx(adopted, &Callbacks<RltLazy>::backward, &ctx));
  if (ctx) return {Callbacks<RltLazy>::node(ctx), input, std::shared_ptr<const rlt_node>(owner.release(), &rlt_node_free)};
  Edge edge{std::make_shared<Node>(adopted), input};
  owner.release();
  return edge;
}

template <class RltLazy>
Edge Node::next_edge(size_t index) const {
  if (own_) return own_->next_edges.at(index);
  rlt_node* next = nullptr;
  int64_t input_nr = 0;
  rlt::check(rlt_node_next_at(handle_, static_cast<int64_t>(index), &next, &input_nr));
  return wrap(next, input_nr);
}
template <class RltLazy>
edge_list Node::next_edges() const {
  edge_list edges;
  uint32_t count = num_outputs();
  for (uint32_t i = 0; i < count; ++i) edges.push_back(next_edge(i));
  return edges;
}

/// The deleter of nodes.
inline void deleteNode(Node* node) { delete node; }

namespace impl {
/// The destination of a variable's gradient; invalid if it does not require one.
RLT_LAZY Edge gradient_edge(const Variable& variable) {
  rlt_node* node = nullptr;
  int64_t input_nr = 0;
  rlt::check(rlt_tensor_gradient_edge(variable.handle(), &node, &input_nr));
  return Node::wrap(node, input_nr);
}
}  // namespace impl

namespace detail {
RLT_LAZY void add_edges(edge_list& edges, const Variable& variable) { edges.push_back(variable.defined() ? impl::gradient_edge(variable) : Edge()); }
RLT_LAZY void add_edges(edge_list& edges, const std::optional<Variable>& variable) { add_edges(edges, variable ? *variable : Variable()); }
RLT_LAZY void add_edges(edge_list& edges, at::TensorList variables) {
  for (const Variable& variable : variables) add_edges(edges, variable);
}
RLT_LAZY void add_edges(edge_list& edges, const variable_list& variables) { add_edges(edges, at::TensorList(variables)); }
}  // namespace detail

/// The destinations of the gradients of variables and lists of variables, an invalid one where none is required.
template <class... Variables>
edge_list collect_next_edges(Variables&&... variables) {
  edge_list edges;
  (detail::add_edges(edges, variables), ...);
  return edges;
}

/// Makes a node of the program the node that computed the variable, which has no history yet.
RLT_LAZY void create_gradient_edge(Variable& variable, const std::shared_ptr<Node>& function) { function->join_graph({variable}); }

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
  return torch::autograd::Node::wrap(node, 0).function;
}
RLT_NAMESPACE_END
}  // namespace at
