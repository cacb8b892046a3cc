// Functions that modules call and that are no operators.
#pragma once

#include <torch/nn/functional/normalization.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functions {

/// input / (k + alpha / size * sum)^beta, with the sum of squares over a window that is centred on each channel.
struct CrossMapLRN2d {
  static Tensor apply(const Tensor& input, const CrossMapLRN2dOptions& options) {
    if (input.dim() != 4) nn::detail::Words("CrossMapLRN2d: Expected input to be 4D, got ").add(input.dim()).add("D instead.").raise();
    int64_t before = (options.size() - 1) / 2, window = 2 * before + 1;
    Tensor mean = functional::detail::mean_square_of_channels(input, window, before);
    double factor = options.alpha() * static_cast<double>(window) / static_cast<double>(options.size());
    return input * mean.mul(factor).add(options.k()).pow(-options.beta());
  }
};

}  // namespace functions
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
