// torch::nn::parallel: modules on the devices that hold the parts of a batch.
#pragma once

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/cuda.h>
#include <torch/nn/module.h>

#include <optional>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace parallel {

/// The results of `modules[i]->forward(inputs[i])`, on `devices[i]` or the device of the input.
template <class ModuleType>
std::vector<Tensor> parallel_apply(std::vector<ModuleType>& modules, const std::vector<Tensor>& inputs,
                                   const std::optional<std::vector<Device>>& devices = std::nullopt) {
  TORCH_CHECK(modules.size() == inputs.size(), "Must have as many inputs as modules, got ", inputs.size(), " and ", modules.size());
  TORCH_CHECK(!devices || modules.size() == devices->size(), "Must have as many devices as modules, got ", devices ? devices->size() : 0, " and ", modules.size());
  std::vector<Tensor> outputs(modules.size());
  const bool grad = c10::GradMode::is_enabled();
  at::parallel_for(0, static_cast<int64_t>(modules.size()), 1, [&](int64_t begin, int64_t end) {
    c10::AutoGradMode mode(grad);
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i);
      outputs[at] = modules[at]->forward(inputs[at]).to(devices ? (*devices)[at] : inputs[at].device());
    }
  });
  return outputs;
}

/// `module->forward(input)` on one device: the first of `devices`, of which the default is all CUDA devices. The module is moved
/// there, and the result to `output_device`. More devices are an error.
template <class ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  if (!devices) {
    TORCH_CHECK(torch::cuda::is_available(), "no CUDA devices available");
    devices.emplace();
    for (size_t i = 0; i < torch::cuda::device_count(); ++i) devices->emplace_back(kCUDA, static_cast<c10::DeviceIndex>(i));
  }
  TORCH_CHECK(!devices->empty(), "data_parallel needs a device");
  TORCH_CHECK_NOT_IMPLEMENTED(devices->size() == 1, "data_parallel over ", devices->size(), " devices, with a batch split along dimension ", dim, ", is not implemented");
  const Device device = devices->front();
  module->to(device);
  return module->forward(input.to(device)).to(output_device.value_or(device));
}

}  // namespace parallel
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
