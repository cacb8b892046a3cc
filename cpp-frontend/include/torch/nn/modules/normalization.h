// LayerNorm, GroupNorm, and normalization over neighbouring channels.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/normalization.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/_functions.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// Weight and bias, initialized to one and zero.
template <class Derived, class Options>
class AffineNorm : public WithOptions<Derived, Options> {
 public:
  using WithOptions<Derived, Options>::WithOptions;
  void reset_parameters() {
    if (!weight.defined()) return;
    init::ones_(weight);
    init::zeros_(bias);
  }

  Tensor weight;
  Tensor bias;

 protected:
  void register_affine(bool affine, IntArrayRef shape) {
    weight = this->register_parameter("weight", affine ? torch::empty(shape) : Tensor(), affine);
    bias = this->register_parameter("bias", affine ? torch::empty(shape) : Tensor(), affine);
    reset_parameters();
  }
};
}  // namespace detail

/// Normalizes the last dimensions together.
class LayerNormImpl : public detail::AffineNorm<LayerNormImpl, LayerNormOptions> {
 public:
  RLT_LAZY LayerNormImpl(std::vector<int64_t> normalized_shape) : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  RLT_LAZY explicit LayerNormImpl(LayerNormOptions options_) : AffineNorm(std::move(options_)) { LayerNormImpl::reset(); }
  void reset() override { register_affine(options.elementwise_affine(), options.normalized_shape()); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::LayerNorm(").add(IntArrayRef(options.normalized_shape())).named("eps", options.eps())
        .named("elementwise_affine", options.elementwise_affine()).close(stream);
  }
  Tensor forward(const Tensor& input) {
    return functional::layer_norm(input, functional::LayerNormFuncOptions(options.normalized_shape()).weight(weight).bias(bias).eps(options.eps()));
  }
};
TORCH_MODULE(LayerNorm);

/// Normalizes groups of channels.
class GroupNormImpl : public detail::AffineNorm<GroupNormImpl, GroupNormOptions> {
 public:
  RLT_LAZY GroupNormImpl(int64_t num_groups, int64_t num_channels) : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  RLT_LAZY explicit GroupNormImpl(const GroupNormOptions& options_) : AffineNorm(options_) { GroupNormImpl::reset(); }
  void reset() override { register_affine(options.affine(), options.num_channels()); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::GroupNorm(").add(options.num_groups()).add(", ").add(options.num_channels()).named("eps", options.eps())
        .named("affine", options.affine()).close(stream);
  }
  Tensor forward(const Tensor& input) {
    return functional::group_norm(input, functional::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
  }
};
TORCH_MODULE(GroupNorm);

/// Divides by a power of the mean square of neighbouring channels.
class LocalResponseNormImpl : public detail::WithOptions<LocalResponseNormImpl, LocalResponseNormOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY LocalResponseNormImpl(int64_t size) : WithOptions(LocalResponseNormOptions(size)) {}
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::LocalResponseNorm(").add(options.size()).named("alpha", options.alpha()).named("beta", options.beta())
        .named("k", options.k()).close(stream);
  }
  Tensor forward(const Tensor& input) { return functional::local_response_norm(input, options); }
};
TORCH_MODULE(LocalResponseNorm);

namespace detail {
/// forward in a template: programs that do not call it do not compile the function.
template <class Derived>
class CrossMapLRN2dBase : public WithOptions<Derived, CrossMapLRN2dOptions> {
 public:
  using WithOptions<Derived, CrossMapLRN2dOptions>::WithOptions;
  Tensor forward(const Tensor& input) { return functions::detail::CrossMapLRN2d<>::apply(input, this->options); }
};
}  // namespace detail

/// LocalResponseNorm of images over a window that is centred on each channel.
class CrossMapLRN2dImpl : public detail::CrossMapLRN2dBase<CrossMapLRN2dImpl> {
 public:
  using CrossMapLRN2dBase::CrossMapLRN2dBase;
  RLT_LAZY CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dBase(CrossMapLRN2dOptions(size)) {}
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::CrossMapLRN2d(").add(options.size()).named("alpha", options.alpha()).named("beta", options.beta())
        .named("k", options.k()).close(stream);
  }
};
TORCH_MODULE(CrossMapLRN2d);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
