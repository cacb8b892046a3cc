// torch::nested: nested tensors.
#pragma once

#include <ATen/InternalFunctions.h>
#include <ATen/NamedFunctions.h>
#include <torch/detail/tensor_data.h>

#include <optional>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nested {

/// A nested tensor whose components are copies of tensors.
inline at::Tensor nested_tensor(at::TensorList components, const at::TensorOptions& options = {}) {
  at::Tensor result = at::_nested_tensor_from_tensor_list(
      components, options.dtype_opt() ? std::optional<at::ScalarType>(c10::typeMetaToScalarType(options.dtype())) : std::nullopt,
      std::nullopt, options.device_opt(), options.pinned_memory_opt());
  if (options.requires_grad()) result.requires_grad_(true);
  return result;
}
/// A nested tensor of braced lists.
RLT_LAZY at::Tensor nested_tensor(at::ArrayRef<detail::TensorDataContainer> components, const at::TensorOptions& options = {}) {
  std::vector<at::Tensor> tensors;
  for (const detail::TensorDataContainer& component : components) {
    TORCH_CHECK(component.is_init_list(), "nested_tensor() not implemented for these parameters");
    tensors.push_back(component.convert_to_tensor(options.requires_grad(false)));
  }
  return nested_tensor(at::TensorList(tensors), options);
}
/// A nested tensor of tensors.
inline at::Tensor as_nested_tensor(
    at::TensorList components, std::optional<at::ScalarType> dtype = std::nullopt, std::optional<at::Device> device = std::nullopt) {
  return at::_nested_tensor_from_tensor_list(components, dtype, std::nullopt, device, std::nullopt);
}
/// The components, padded to the same size.
inline at::Tensor to_padded_tensor(const at::Tensor& self, double padding, at::OptionalIntArrayRef output_size = std::nullopt) {
  return at::nested_to_padded_tensor(self, padding, output_size);
}

}  // namespace nested
RLT_NAMESPACE_END
}  // namespace torch
