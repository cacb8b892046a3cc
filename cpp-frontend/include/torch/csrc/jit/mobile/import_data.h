// torch::jit::_load_parameters: the named tensors of a file.
#pragma once

#include <ATen/Functions.h>
#include <rushlight/io.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Loads the named tensors of a file that _save_parameters or torch.save of a state dict wrote.
RLT_LAZY std::map<std::string, at::Tensor> _load_parameters(const std::string& filename, std::optional<at::Device> device = std::nullopt) {
  rlt_state_dict* loaded = nullptr;
  rlt::check(rlt_state_dict_load(filename.c_str(), RLT_FORMAT_AUTO, &loaded));
  std::unique_ptr<rlt_state_dict, void (*)(rlt_state_dict*)> dict(loaded, &rlt_state_dict_free);
  int64_t count = 0;
  rlt::check(rlt_state_dict_len(loaded, &count));
  std::map<std::string, at::Tensor> parameters;
  for (int64_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    rlt_tensor* tensor = nullptr;
    rlt::check(rlt_state_dict_name_at(loaded, i, &name));
    rlt::check(rlt_state_dict_tensor_at(loaded, i, &tensor));
    at::Tensor parameter(tensor);
    parameters[name] = device ? parameter.to(*device) : parameter;
  }
  return parameters;
}

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
