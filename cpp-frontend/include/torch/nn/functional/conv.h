// Functional forms of convolutions.
#pragma once

#include <torch/nn/options/conv.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

namespace detail {
/// The name of a padding mode, or nullptr if the padding is numeric.
template <class Padding>
const char* padding_word(const Padding& padding) {
  static constexpr const char* words[] = {nullptr, "valid", "same"};
  return words[padding.index()];
}
}  // namespace detail

inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {}) {
  if (const char* word = detail::padding_word(options.padding())) {
    return torch::conv1d(input, weight, options.bias(), options.stride(), std::string_view(word), options.dilation(), options.groups());
  }
  IntArrayRef padding = *options.padding().get_if<ExpandingArray<1>>();
  return torch::conv1d(input, weight, options.bias(), options.stride(), padding, options.dilation(), options.groups());
}

inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {}) {
  if (const char* word = detail::padding_word(options.padding())) {
    return torch::conv2d(input, weight, options.bias(), options.stride(), std::string_view(word), options.dilation(), options.groups());
  }
  IntArrayRef padding = *options.padding().get_if<ExpandingArray<2>>();
  return torch::conv2d(input, weight, options.bias(), options.stride(), padding, options.dilation(), options.groups());
}

inline Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {}) {
  if (const char* word = detail::padding_word(options.padding())) {
    return torch::conv3d(input, weight, options.bias(), options.stride(), std::string_view(word), options.dilation(), options.groups());
  }
  IntArrayRef padding = *options.padding().get_if<ExpandingArray<3>>();
  return torch::conv3d(input, weight, options.bias(), options.stride(), padding, options.dilation(), options.groups());
}

inline Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options = {}) {
  return torch::conv_transpose1d(input, weight, options.bias(), options.stride(), options.padding(), options.output_padding(), options.groups(),
                                 options.dilation());
}

inline Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options = {}) {
  return torch::conv_transpose2d(input, weight, options.bias(), options.stride(), options.padding(), options.output_padding(), options.groups(),
                                 options.dilation());
}

inline Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options = {}) {
  return torch::conv_transpose3d(input, weight, options.bias(), options.stride(), options.padding(), options.output_padding(), options.groups(),
                                 options.dilation());
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
