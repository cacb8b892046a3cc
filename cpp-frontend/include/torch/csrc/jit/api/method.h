// Methods of modules and objects.
#pragma once

#include <torch/csrc/jit/api/compilation_unit.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace at {
RLT_NAMESPACE_BEGIN
/// Runs a task on a thread of its own.
inline void launch(std::function<void()> task) { std::thread(std::move(task)).detach(); }
RLT_NAMESPACE_END
}  // namespace at

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

namespace detail {
/// What the copies of a module share: references to schemas and classes stay valid as long as one of them lives.
struct MethodCache {
  std::mutex mutex;
  c10::ClassTypePtr type;
  std::map<std::string, std::shared_ptr<Function>> functions;
};
}  // namespace detail

/// A method with its object.
struct Method {
  Method(detail::ModuleHandle owner, std::string name, std::shared_ptr<detail::MethodCache> cache)
      : owner_(std::move(owner)), name_(std::move(name)), cache_(std::move(cache)) {}
  const std::string& name() const { return name_; }
  RLT_LAZY c10::IValue operator()(Stack stack, const Kwargs& kwargs = Kwargs()) const {
    return detail::ArgumentsOf<RltLazy>(stack, kwargs, program()).call([&](auto... arguments) { return rlt_module_run_v2(owner_.get(), name_.c_str(), arguments...); });
  }
  /// Replaces the arguments on the stack by the result.
  RLT_LAZY void run(Stack& stack) const {
    c10::IValue result = (*this)(std::move(stack));
    stack.clear();
    stack.push_back(std::move(result));
  }
  RLT_LAZY void run(Stack&& stack) const { (*this)(std::move(stack)); }
  /// Runs the method as a task of `launcher`, which may call it on another thread.
  RLT_LAZY c10::intrusive_ptr<c10::ivalue::Future> run_async(Stack stack, const Kwargs& kwargs = Kwargs(), const TaskLauncher& launcher = at::launch) const {
    auto future = c10::make_intrusive<c10::ivalue::Future>(nullptr);
    launcher([future, method = *this, stack = std::move(stack), kwargs] {
#if RLT_EXCEPTIONS
      try {
        future->markCompleted(method(stack, kwargs));
      } catch (...) {
        future->setErrorIfNeeded(std::current_exception());
      }
#else
      future->markCompleted(method(stack, kwargs));
#endif
    });
    return future;
  }
  RLT_LAZY const c10::FunctionSchema& schema() const { return function().getSchema(); }
  RLT_LAZY size_t num_inputs() const { return schema().arguments().size(); }
  RLT_LAZY std::shared_ptr<Graph> graph() const {
    return std::make_shared<Graph>(detail::text([&](rlt_value* out) { return rlt_module_method_graph(owner_.get(), name_.c_str(), out); }));
  }
  /// The graph with the nodes of the functions that it calls in place of the calls.
  RLT_LAZY std::shared_ptr<Graph> inlined_graph() const {
    return std::make_shared<Graph>(detail::text([&](rlt_value* out) { return rlt_module_method_inlined_graph(owner_.get(), name_.c_str(), out); }));
  }
  RLT_LAZY Function& function() const {
    std::lock_guard<std::mutex> lock(cache_->mutex);
    std::shared_ptr<Function>& place = cache_->functions[name_];
    if (!place) {
      std::string type = detail::text([&](rlt_value* out) { return rlt_module_class_name(owner_.get(), out); });
      place = std::make_shared<Function>(program(), type + "." + name_);
    }
    return *place;
  }

 private:
  RLT_LAZY detail::ScriptHandle program() const {
    rlt_script* script = nullptr;
    rlt::check(rlt_module_script(owner_.get(), &script));
    return detail::adopt_script(script);
  }

  detail::ModuleHandle owner_;
  std::string name_;
  std::shared_ptr<detail::MethodCache> cache_;
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
