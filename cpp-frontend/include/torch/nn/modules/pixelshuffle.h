// Rearranges channels to pixels, and the reverse.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/pixelshuffle.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

class PixelShuffleImpl : public detail::WithOptions<PixelShuffleImpl, PixelShuffleOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::PixelShuffle(").named("upscale_factor", options.upscale_factor()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::pixel_shuffle(input, options); }
};
TORCH_MODULE(PixelShuffle);

class PixelUnshuffleImpl : public detail::WithOptions<PixelUnshuffleImpl, PixelUnshuffleOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::PixelUnshuffle(").named("downscale_factor", options.downscale_factor()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::pixel_unshuffle(input, options); }
};
TORCH_MODULE(PixelUnshuffle);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
