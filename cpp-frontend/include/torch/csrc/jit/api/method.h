// Methods of modules and functions of compilation units: calls with values.
#pragma once

#include <ATen/core/boxing/values.h>
#include <rushlight/script.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

using Stack = std::vector<c10::IValue>;
using Kwargs = std::unordered_map<std::string, c10::IValue>;

namespace detail {

/// Arguments on their way to C.
class Arguments {
 public:
  Arguments(const Stack& stack, const Kwargs& kwargs) {
    for (const c10::IValue& value : stack) positional_.push_back(lend(value));
    for (const auto& [name, value] : kwargs) named_.push_back({name.c_str(), lend(value)});
  }
  Arguments(const Arguments&) = delete;
  /// The result of `function(args, n_args, kwargs, n_kwargs, out)`.
  template <class Function>
  c10::IValue call(Function function) const {
    rlt_value result = {};
    rlt::check(function(positional_.data(), static_cast<int64_t>(positional_.size()), named_.data(), static_cast<int64_t>(named_.size()), &result));
    rlt::OwnedValue owned(result);
    return rlt::Unbox<c10::IValue>(owned.get()).object;
  }

 private:
  rlt_value lend(const c10::IValue& value) { return lent_.emplace_back(value).value; }

  std::deque<rlt::Lent<c10::IValue>> lent_;
  std::vector<rlt_value> positional_;
  std::vector<rlt_named_value> named_;
};

/// An owned string of the C interface.
template <class Function>
std::string text(Function function) {
  rlt_value value = {};
  rlt::check(function(&value));
  return rlt::adopt_string(value);
}
template <class Function>
std::vector<std::string> texts(Function function) {
  rlt_value value = {};
  rlt::check(function(&value));
  rlt::OwnedValue owned(value);
  return rlt::Unbox<std::vector<std::string>>(owned.get()).object;
}

using ModuleHandle = std::shared_ptr<rlt_module>;
inline ModuleHandle adopt_module(rlt_module* module) { return ModuleHandle(module, rlt_module_free); }

}  // namespace detail

/// A method of a module.
struct Method {
  Method(detail::ModuleHandle owner, std::string name) : owner_(std::move(owner)), name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  c10::IValue operator()(Stack stack, const Kwargs& kwargs = Kwargs()) const {
    return detail::Arguments(stack, kwargs).call([&](auto... arguments) { return rlt_module_run(owner_.get(), name_.c_str(), arguments...); });
  }
  /// Replaces the arguments on the stack by the result.
  void run(Stack& stack) const {
    c10::IValue result = (*this)(std::move(stack));
    stack.clear();
    stack.push_back(std::move(result));
  }
  /// The signature as text.
  std::string schema() const {
    return detail::text([&](rlt_value* out) { return rlt_module_method_schema(owner_.get(), name_.c_str(), out); });
  }
  /// The graph as text.
  std::string graph() const {
    return detail::text([&](rlt_value* out) { return rlt_module_method_graph(owner_.get(), name_.c_str(), out); });
  }

 private:
  detail::ModuleHandle owner_;
  std::string name_;
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
