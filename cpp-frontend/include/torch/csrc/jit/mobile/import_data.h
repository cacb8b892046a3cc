// torch::jit::_load_parameters: the named tensors of a file.
#pragma once

#include <torch/serialize.h>

#include <map>
#include <optional>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Loads the named tensors of a file that _save_parameters or torch.save of a state dict wrote.
RLT_LAZY std::map<std::string, at::Tensor> _load_parameters(const std::string& filename, std::optional<at::Device> device = std::nullopt) {
  OrderedDict<std::string, at::Tensor> loaded;
  torch::load(loaded, filename);
  std::map<std::string, at::Tensor> parameters;
  for (const auto& item : loaded) parameters[item.key()] = device ? item.value().to(*device) : item.value();
  return parameters;
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
