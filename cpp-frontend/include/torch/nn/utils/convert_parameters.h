// Parameters as one vector, and back.
#pragma once

#include <torch/types.h>

#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace utils {

/// The device of `param` (-1 for the CPU), which must be that of the previous parameters.
RLT_LAZY std::optional<int64_t> _check_param_device(const Tensor& param, std::optional<int64_t> old_param_device) {
  int64_t device = param.is_cuda() ? param.get_device() : -1;
  TORCH_CHECK(!old_param_device || *old_param_device == device, "Found two parameters on different devices, this is currently not supported.");
  return device;
}

/// All elements of the parameters, one parameter after the other.
RLT_LAZY Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::optional<int64_t> device;
  std::vector<Tensor> parts;
  parts.reserve(parameters.size());
  for (const Tensor& parameter : parameters) {
    device = _check_param_device(parameter, device);
    parts.push_back(parameter.view(-1));
  }
  return torch::cat(parts);
}

/// Sets the values of the parameters to slices of `vec`.
RLT_LAZY void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  std::optional<int64_t> device;
  int64_t start = 0;
  for (const Tensor& parameter : parameters) {
    device = _check_param_device(parameter, device);
    int64_t end = start + parameter.numel();
    parameter.set_data(vec.slice(0, start, end).view_as(parameter).data());
    start = end;
  }
}

}  // namespace utils
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
