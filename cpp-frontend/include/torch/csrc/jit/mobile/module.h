// torch::jit::mobile::Module: a module that runs its code for the lite interpreter.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
namespace mobile {

using Method = jit::Method;

/// A module with attributes and methods. Copies are the same module.
class Module {
 public:
  Module() = default;
  /// Takes ownership of a handle of the C interface.
  explicit Module(rlt_module* handle) : module_(handle) {}
  /// The handle. Borrowed: valid as long as the module.
  rlt_module* handle() const { return module_.handle(); }

  // ---- Methods ----

  c10::IValue forward(std::vector<c10::IValue> inputs) const { return module_.forward(std::move(inputs)); }
  template <class... Values>
  c10::IValue run_method(const std::string& name, Values&&... values) const {
    return module_.run_method(name, std::forward<Values>(values)...);
  }
  Method get_method(const std::string& name) const { return module_.get_method(name); }
  std::optional<Method> find_method(const std::string& name) const { return module_.find_method(name); }
  const std::vector<Method> get_methods() const { return module_.get_methods(); }

  // ---- Attributes ----

  c10::IValue attr(const std::string& name, c10::IValue otherwise) const { return module_.attr(name, std::move(otherwise)); }
  /// All tensors of this module and those inside of it: files for the lite interpreter do not tell parameters and buffers
  /// apart.
  const std::vector<at::Tensor> parameters() const {
    std::vector<at::Tensor> tensors = module_.parameters();
    for (at::Tensor& buffer : module_.buffers()) tensors.push_back(std::move(buffer));
    return tensors;
  }
  const std::map<std::string, at::Tensor> named_parameters() const {
    std::map<std::string, at::Tensor> tensors;
    for (NameTensor& each : module_.named_parameters()) tensors.emplace(std::move(each.name), std::move(each.value));
    for (NameTensor& each : module_.named_buffers()) tensors.emplace(std::move(each.name), std::move(each.value));
    return tensors;
  }

  void train(bool on = true) const { module_.train(on); }
  void eval() const { train(false); }
  bool is_training() const { return module_.is_training(); }

 private:
  jit::Module module_;
};

}  // namespace mobile
}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
