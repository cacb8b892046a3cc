// torch::jit::Operator: the operators of the operator table and those that programs defined, and calls on a stack.
#pragma once

#include <ATen/core/Dimname.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/api/function.h>
#include <torch/detail/owned.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

using c10::Symbol;

/// Replaces its arguments on the stack by its results.
using Operation = std::function<void(Stack&)>;

class Operator {
 public:
  explicit Operator(std::string schema) : text_(std::move(schema)) {}
  /// Read from the text at the first call.
  RLT_LAZY const c10::FunctionSchema& schema() const {
    std::call_once(read_, [this] { schema_ = torch::detail::Owned<c10::FunctionSchema>(new c10::FunctionSchema(parseSchema(text_))); });
    return *schema_;
  }
  RLT_LAZY Operation getOperation() const {
    std::string name = schema().name(), overload = schema().overload_name();
    size_t arguments = schema().arguments().size(), results = schema().returns().size();
    std::vector<std::string> keywords;
    for (const c10::Argument& argument : schema().arguments()) {
      if (argument.kwarg_only()) keywords.push_back(argument.name());
    }
    return [=](Stack& stack) {
      if (stack.size() < arguments) rlt::raise<c10::Error>(name + ": expected " + std::to_string(arguments) + " arguments on the stack, but got " + std::to_string(stack.size()));
      auto first = stack.end() - static_cast<std::ptrdiff_t>(arguments), named = stack.end() - static_cast<std::ptrdiff_t>(keywords.size());
      Kwargs kwargs;
      for (size_t i = 0; i < keywords.size(); ++i) kwargs.emplace(keywords[i], named[static_cast<std::ptrdiff_t>(i)]);
      std::vector<rlt_value> out(results + 1);
      int64_t count = 0;
      rlt::check(detail::ArgumentsOf<RltLazy>(Stack(first, named), kwargs).pass([&](auto... given) {
        return rlt_op_call(name.c_str(), overload.c_str(), given..., out.data(), rlt::length(results), &count);
      }));
      stack.resize(stack.size() - arguments);
      for (int64_t i = 0; i < count; ++i) {
        rlt::OwnedValue owned(out[static_cast<size_t>(i)]);
        stack.push_back(rlt::Unbox<c10::IValue>(owned.get()).object);
      }
    };
  }

 private:
  std::string text_;
  mutable std::once_flag read_;
  mutable torch::detail::Owned<c10::FunctionSchema> schema_;
};

namespace detail {

/// The operators whose schemas begin with `prefix`, without those of types that TorchScript does not have (Storage).
RLT_LAZY RLT_LATER(std::vector<std::shared_ptr<Operator>>) operators_of(const std::string& prefix) {
  int64_t count = 0;
  rlt::check(rlt_op_count(&count));
  RLT_LATER(std::vector<std::shared_ptr<Operator>>) operators;
  for (int64_t i = 0; i < count; ++i) {
    std::string schema = text([&](rlt_value* out) { return rlt_op_at(i, out); });
    // The C interface leaves out the namespace of libtorch's operators.
    if (schema.find("::") > schema.find('(')) schema.insert(0, "aten::");
    bool has_type = schema.find("Storage ") == std::string::npos && schema.find("-> Storage") == std::string::npos;
    if (has_type && schema.compare(0, prefix.size(), prefix) == 0) operators.push_back(std::make_shared<Operator>(std::move(schema)));
  }
  return operators;
}

}  // namespace detail

/// Every operator. Const as in libtorch: `auto& operators = getAllOperators()` keeps it.
RLT_LAZY const RLT_LATER(std::vector<std::shared_ptr<Operator>>) getAllOperators() { return detail::operators_of<RltLazy>(""); }
/// The overloads of an operator. The list lives as long as the program; it changes when overloads are added.
RLT_LAZY const RLT_LATER(std::vector<std::shared_ptr<Operator>>)& getAllOperatorsFor(c10::Symbol name) {
  static std::mutex mutex;
  static std::map<std::string, RLT_LATER(std::vector<std::shared_ptr<Operator>>)> lists;
  std::string base = name.toQualString();
  auto operators = detail::operators_of<RltLazy>(base + "("), others = detail::operators_of<RltLazy>(base + ".");
  operators.insert(operators.end(), others.begin(), others.end());
  std::lock_guard<std::mutex> lock(mutex);
  auto& list = lists[base];
  if (list.size() != operators.size()) list = std::move(operators);
  return list;
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
