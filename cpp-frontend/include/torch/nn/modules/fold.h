// Sliding windows of images as columns, and the reverse.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/fold.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Sums columns into the windows from which they were extracted.
class FoldImpl : public detail::WithOptions<FoldImpl, FoldOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size) : WithOptions(FoldOptions(output_size, kernel_size)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Fold(").sizes("output_size", options.output_size()).sizes("kernel_size", options.kernel_size()).sizes("dilation", options.dilation())
        .sizes("padding", options.padding()).sizes("stride", options.stride()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::fold(input, options); }
};
TORCH_MODULE(Fold);

/// Extracts the sliding windows of images as columns.
class UnfoldImpl : public detail::WithOptions<UnfoldImpl, UnfoldOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY UnfoldImpl(ExpandingArray<2> kernel_size) : WithOptions(UnfoldOptions(kernel_size)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Unfold(").sizes("kernel_size", options.kernel_size()).sizes("dilation", options.dilation()).sizes("padding", options.padding())
        .sizes("stride", options.stride()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::unfold(input, options); }
};
TORCH_MODULE(Unfold);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
