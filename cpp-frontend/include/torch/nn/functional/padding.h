// Padding of tensors.
#pragma once

#include <torch/nn/options/padding.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

/// Two numbers per dimension, the last dimension first.
inline Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  static constexpr const char* modes[] = {"constant", "reflect", "replicate", "circular"};
  std::optional<double> value;
  if (options.value() != 0) value = options.value();
  return torch::pad(input, options.pad(), modes[options.mode().index()], value);
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
