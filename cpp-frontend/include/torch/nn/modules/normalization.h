// LayerNorm.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>
#include <torch/nn/options/normalization.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// (input - mean) / sqrt(variance + eps) * weight + bias, over the last dimensions
class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape) : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { LayerNormImpl::reset(); }

  void reset() override {
    bool affine = options.elementwise_affine();
    weight = register_parameter("weight", affine ? torch::empty(options.normalized_shape()) : Tensor(), affine);
    bias = register_parameter("bias", affine ? torch::empty(options.normalized_shape()) : Tensor(), affine);
    reset_parameters();
  }
  void reset_parameters() {
    if (!options.elementwise_affine()) return;
    init::ones_(weight);
    init::zeros_(bias);
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape()) << ", eps=" << options.eps()
           << ", elementwise_affine=" << (options.elementwise_affine() ? "true" : "false") << ")";
  }
  Tensor forward(const Tensor& input) { return torch::layer_norm(input, options.normalized_shape(), weight, bias, options.eps()); }

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(LayerNorm);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
