// Functions that modules call and that are not operators.
#pragma once

#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/detail/words.h>
#include <torch/nn/options/normalization.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functions {

namespace detail {
/// input scale^-beta, with scale = k + alpha / size * the sum of the squares of neighbouring channels.
template <class = void>
class CrossMapLRN2d : public torch::autograd::Function<CrossMapLRN2d<>> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& input, const CrossMapLRN2dOptions& options) {
    if (input.dim() != 4) nn::detail::Words("CrossMapLRN2d: Expected input to be 4D, got ").add(input.dim()).add("D instead.").raise();
    int64_t channels = input.size(1), ahead = (options.size() - 1) / 2 + 1;
    Tensor squares = input * input;
    Tensor sum = squares.narrow(1, 0, ahead < channels ? ahead : channels).sum(1, /*keepdim=*/true);
    std::vector<Tensor> sums{sum};
    for (int64_t c = 1; c < channels; ++c) {
      if (c + ahead - 1 < channels) sum = sum + squares.narrow(1, c + ahead - 1, 1);
      // Like PyTorch, this keeps the first channel in every sum.
      if (c > ahead) sum = sum - squares.narrow(1, c - ahead, 1);
      sums.push_back(sum);
    }
    Tensor scale = torch::cat(sums, 1).mul(options.alpha() / static_cast<double>(options.size())).add(options.k());
    Tensor output = input * scale.pow(-options.beta());
    context->saved_data["size"] = options.size();
    context->saved_data["alpha"] = options.alpha();
    context->saved_data["beta"] = options.beta();
    context->save_for_backward({input, output, scale});
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list gradients) {
    torch::autograd::variable_list saved = context->get_saved_variables();
    const Tensor &input = saved[0], &output = saved[1], &scale = saved[2];
    int64_t size = context->saved_data["size"].toInt(), before = size - (size - 1) / 2;
    double alpha = context->saved_data["alpha"].toDouble(), beta = context->saved_data["beta"].toDouble();
    Tensor ratio = torch::constant_pad_nd(gradients[0] * output / scale, {0, 0, 0, 0, before, size - 1 - before});
    Tensor sum = ratio.unfold(1, size, 1).sum(-1);
    return {scale.pow(-beta) * gradients[0] - 2 * alpha * beta / static_cast<double>(size) * input * sum, Tensor()};
  }
};
}  // namespace detail

using CrossMapLRN2d = detail::CrossMapLRN2d<>;

}  // namespace functions
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
