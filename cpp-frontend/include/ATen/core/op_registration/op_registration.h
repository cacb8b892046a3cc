// c10::RegisterOperators: registers operators by an object, as programs did before TORCH_LIBRARY (torch/library.h).
//
//   static auto registry = torch::RegisterOperators()
//       .op("my::scaled", &scaled)
//       .op("my::shifted(Tensor self) -> Tensor", torch::RegisterOperators::options().kernel(c10::DispatchKey::CPU, &shifted));
#pragma once

#include <ATen/core/boxing/OperatorKernel.h>
#include <ATen/core/function_schema.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Its destructor removes its operators and kernels.
class RegisterOperators final {
 public:
  /// The schema and the kernels of an operator.
  class Options final {
   public:
    Options(const Options&) = delete;
    Options(Options&&) noexcept = default;
    Options& operator=(const Options&) = delete;
    Options& operator=(Options&&) noexcept = default;

    Options&& schema(const std::string& schema_or_name) && {
      TORCH_CHECK(!schema_, "Tried to register operator ", schema_or_name, " but specified schema multiple times. You can only specify the schema once per operator registration.");
      schema_ = schema_or_name;
      return std::move(*this);
    }
    /// A kernel of a key: an object of a class, a function that the compiler knows, or a function or lambda.
    template <class KernelFunctor, class... Args, std::enable_if_t<std::is_base_of_v<OperatorKernel, KernelFunctor>, bool> = true>
    Options&& kernel(DispatchKey key, Args&&... args) && {
      return std::move(*this).add(key, functor<KernelFunctor>(std::forward<Args>(args)...));
    }
    template <class FuncType, FuncType* function>
    Options&& kernel(DispatchKey key) && {
      return std::move(*this).add(key, torch::CppFunction(function));
    }
    template <class Function, std::enable_if_t<!std::is_base_of_v<OperatorKernel, std::decay_t<Function>>, bool> = true>
    Options&& kernel(DispatchKey key, Function&& function) && {
      return std::move(*this).add(key, torch::CppFunction(std::forward<Function>(function)));
    }
    /// A kernel for every device.
    template <class KernelFunctor, class... Args, std::enable_if_t<std::is_base_of_v<OperatorKernel, KernelFunctor>, bool> = true>
    Options&& catchAllKernel(Args&&... args) && {
      return std::move(*this).add(std::nullopt, functor<KernelFunctor>(std::forward<Args>(args)...));
    }
    template <class FuncType, FuncType* function>
    Options&& catchAllKernel() && {
      return std::move(*this).add(std::nullopt, torch::CppFunction(function));
    }
    template <class Function, std::enable_if_t<!std::is_base_of_v<OperatorKernel, std::decay_t<Function>>, bool> = true>
    Options&& catchAllKernel(Function&& function) && {
      return std::move(*this).add(std::nullopt, torch::CppFunction(std::forward<Function>(function)));
    }
    /// A hint for optimizers of graphs, which the library does not need.
    Options&& aliasAnalysis(AliasAnalysisKind) && { return std::move(*this); }

   private:
    Options() = default;
    friend class RegisterOperators;

    template <class KernelFunctor, class... Args>
    static torch::CppFunction functor(Args&&... args) {
      // The functor cannot be copied, a function can.
      auto object = std::make_shared<KernelFunctor>(std::forward<Args>(args)...);
      return bound(object, &KernelFunctor::operator());
    }
    template <class KernelFunctor, class Class, class R, class... Args>
    static torch::CppFunction bound(std::shared_ptr<KernelFunctor> object, R (Class::*)(Args...)) {
      return torch::CppFunction([object](Args... args) -> R { return (*object)(std::forward<Args>(args)...); });
    }
    template <class KernelFunctor, class Class, class R, class... Args>
    static torch::CppFunction bound(std::shared_ptr<KernelFunctor> object, R (Class::*)(Args...) const) {
      return torch::CppFunction([object](Args... args) -> R { return (*object)(std::forward<Args>(args)...); });
    }
    Options&& add(std::optional<DispatchKey> key, torch::CppFunction function) && {
      kernels_.emplace_back(key.value_or(DispatchKey::CompositeImplicitAutograd), std::move(function));
      return std::move(*this);
    }

    std::optional<std::string> schema_;
    std::vector<std::pair<DispatchKey, torch::CppFunction>> kernels_;
  };

  RegisterOperators() = default;
  RegisterOperators(const RegisterOperators&) = delete;
  RegisterOperators(RegisterOperators&&) noexcept = default;
  RegisterOperators& operator=(const RegisterOperators&) = delete;
  RegisterOperators& operator=(RegisterOperators&&) = delete;
  explicit RegisterOperators(const std::string& schema_or_name, Options&& options = RegisterOperators::options()) {
    add(std::move(options).schema(schema_or_name));
  }
  template <class Function, std::enable_if_t<!std::is_same_v<std::decay_t<Function>, Options>, bool> = true>
  explicit RegisterOperators(const std::string& schema_or_name, Function&& function, Options&& options = RegisterOperators::options()) {
    add(std::move(options).schema(schema_or_name).catchAllKernel(std::forward<Function>(function)));
  }

  static Options options() { return Options(); }

  RegisterOperators&& op(Options&& options) && {
    add(std::move(options));
    return std::move(*this);
  }
  RegisterOperators& op(Options&& options) & {
    add(std::move(options));
    return *this;
  }
  RegisterOperators&& op(const std::string& schema_or_name, Options&& options = RegisterOperators::options()) && {
    return std::move(*this).op(std::move(options).schema(schema_or_name));
  }
  RegisterOperators& op(const std::string& schema_or_name, Options&& options = RegisterOperators::options()) & {
    return op(std::move(options).schema(schema_or_name));
  }
  /// A function for every device. Without a schema, the schema is inferred from the function.
  template <class Function, std::enable_if_t<!std::is_same_v<std::decay_t<Function>, Options>, bool> = true>
  RegisterOperators&& op(const std::string& schema_or_name, Function&& function, Options&& options = RegisterOperators::options()) && {
    return std::move(*this).op(std::move(options).schema(schema_or_name).catchAllKernel(std::forward<Function>(function)));
  }
  template <class Function, std::enable_if_t<!std::is_same_v<std::decay_t<Function>, Options>, bool> = true>
  RegisterOperators& op(const std::string& schema_or_name, Function&& function, Options&& options = RegisterOperators::options()) & {
    return op(std::move(options).schema(schema_or_name).catchAllKernel(std::forward<Function>(function)));
  }

 private:
  void add(Options&& options) {
    TORCH_CHECK(options.schema_, "In operator registration: Tried to register an operator without specifying a schema or operator name.");
    std::string schema = *options.schema_;
    size_t end = schema.find('(');
    std::string name = schema.substr(0, end);
    size_t ns = name.find("::");
    TORCH_CHECK(ns != std::string::npos, "In operator registration: the operator ", name, " has no namespace");
    TORCH_CHECK(end != std::string::npos || !options.kernels_.empty(), "Cannot infer operator schema in registration of operator ", name,
                " because there is no kernel specified.");
    if (end == std::string::npos) schema += options.kernels_.front().second.schema();
    torch::Library library(torch::Library::FRAGMENT, name.substr(0, ns), std::nullopt, __FILE__, __LINE__);
    size_t dot = name.find('.');
    rlt_op* known = nullptr;
    rlt::check(rlt_op_find(name.substr(0, dot).c_str(), dot == std::string::npos ? "" : name.substr(dot + 1).c_str(), &known));
    if (known) rlt_op_free(known);  // another object may add kernels to it
    else library.def(schema);
    for (auto& [key, function] : options.kernels_) library.impl(name.c_str(), key, std::move(function));
    libraries_.push_back(std::move(library));
  }

  std::vector<torch::Library> libraries_;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace torch {
RLT_NAMESPACE_BEGIN
using c10::RegisterOperators;
RLT_NAMESPACE_END
}  // namespace torch
