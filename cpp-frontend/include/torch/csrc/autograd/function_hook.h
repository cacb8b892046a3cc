// Hooks of nodes and of leaves as classes, and the callbacks through which the library calls them.
#pragma once

#include <ATen/Functions.h>

#include <memory>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

using Variable = at::Tensor;
using variable_list = std::vector<Variable>;
/// The same list, under the name that libtorch functions use.
using tensor_list = std::vector<at::Tensor>;

/// Receives the incoming gradients of a node, and returns their replacements.
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual variable_list operator()(const variable_list& grads) = 0;
};

/// Receives the gradients that a node computed (`outputs`) and its incoming ones (`inputs`), and returns the
/// replacements of the former.
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual variable_list operator()(const variable_list& outputs, const variable_list& inputs) = 0;
};

/// Receives a leaf whose gradient was just accumulated.
struct PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook() = default;
  virtual void operator()(const Variable& tensor) = 0;
};

namespace detail {

/// Owning copies of borrowed tensors.
RLT_LAZY variable_list borrowed_list(const rlt_tensor* const* tensors, int64_t count) {
  variable_list list;
  list.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    rlt_tensor* held = nullptr;
    if (tensors[i]) rlt::check(rlt_tensor_retain(tensors[i], &held));
    list.emplace_back(held);
  }
  return list;
}

/// A hook that is an object, as a callable.
template <class Hook>
struct HookObject {
  explicit HookObject(std::unique_ptr<Hook>&& object) : hook(std::move(object)) {}
  template <class... Lists>
  variable_list operator()(const Lists&... lists) const {
    return (*hook)(lists...);
  }
  std::shared_ptr<Hook> hook;
};

/// Any callable on gradients, wrapped for rlt_node_hook.
template <class Call>
struct NodeHookCallback {
  Call call;
  static int32_t run(void* ctx, const rlt_tensor* const* grads, int64_t count, const rlt_tensor* const* others, int64_t n_others,
                     rlt_tensor** replacements) {
    return rlt::trampoline([&] {
      variable_list before = borrowed_list(grads, count);
      variable_list after = static_cast<NodeHookCallback*>(ctx)->call(before, borrowed_list(others, n_others));
      if (after.size() != before.size()) {
        rlt::raise<Error>("a hook of a node has returned an incorrect number of values (got " + std::to_string(after.size()) +
                          ", but expected " + std::to_string(before.size()) + ")");
      }
      for (size_t i = 0; i < after.size(); ++i) {
        if (after[i].defined() && !after[i].is_same(before[i])) replacements[i] = after[i].release();
      }
    });
  }
  static void free(void* ctx) { delete static_cast<NodeHookCallback*>(ctx); }
};

template <class Hook>
struct LeafHookCallback {
  Hook hook;
  static int32_t run(void* ctx, const rlt_tensor* leaf) {
    return rlt::trampoline([&] { static_cast<LeafHookCallback*>(ctx)->hook(borrowed_list(&leaf, 1)[0]); });
  }
  static void free(void* ctx) { delete static_cast<LeafHookCallback*>(ctx); }
};

/// Passes a hook to a registering function of the C interface; returns its id.
template <class Callback, class Register, class Handle, class Hook>
uint64_t register_with(Register function, Handle handle, Hook&& hook) {
  std::unique_ptr<Callback> callback(new Callback{std::forward<Hook>(hook)});
  uint64_t id = 0;
  rlt::check(function(handle, &Callback::run, callback.get(), &Callback::free, &id));
  callback.release();
  return id;
}

}  // namespace detail

/// Registers a hook that is called with the leaf whenever backward has changed its gradient; `leaf.remove_hook(id)`
/// removes it.
template <class Hook>
unsigned register_post_accumulate_grad_hook(const Variable& leaf, Hook&& hook) {
  using Callback = detail::LeafHookCallback<std::decay_t<Hook>>;
  return static_cast<unsigned>(
      detail::register_with<Callback>(&rlt_tensor_register_post_accumulate_grad_hook, leaf.handle(), std::forward<Hook>(hook)));
}

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
