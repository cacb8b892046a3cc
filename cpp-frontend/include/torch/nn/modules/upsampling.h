// Upsample.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/upsampling.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Resizes to a size or by a factor.
class UpsampleImpl : public detail::WithOptions<UpsampleImpl, UpsampleOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override {
    detail::Words words("torch::nn::Upsample(");
    if (options.scale_factor()) {
      words.named("scale_factor", c10::ArrayRef<double>(*options.scale_factor()));
    } else if (options.size()) {
      words.named("size", IntArrayRef(*options.size()));
    }
    words.named("mode", enumtype::get_enum_name(options.mode())).close(stream);
  }
  Tensor forward(const Tensor& input) {
    functional::InterpolateFuncOptions with;
    with.size(options.size()).scale_factor(options.scale_factor()).align_corners(options.align_corners());
    switch (options.mode().index()) {
      case 1: with.mode(torch::kLinear); break;
      case 2: with.mode(torch::kBilinear); break;
      case 3: with.mode(torch::kBicubic); break;
      case 4: with.mode(torch::kTrilinear); break;
      default: break;
    }
    return functional::interpolate(input, with);
  }
};
TORCH_MODULE(Upsample);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
