// Instance normalization.
#pragma once

#include <torch/nn/functional/instancenorm.h>
#include <torch/nn/modules/batchnorm.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Normalizes each channel of each sample; without a dimension for the batch, the input is one sample.
template <size_t D, class Derived>
class InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input) {
    this->_check_input_dim(input);
    if (input.dim() == static_cast<int64_t>(D) + 1) return apply(input.unsqueeze(0)).squeeze(0);
    return apply(input);
  }
  void pretty_print(std::ostream& stream) const override {
    this->print(stream, detail::Words("torch::nn::InstanceNorm").add(static_cast<int64_t>(D)).add("d("), rlt::text_of(this->options.momentum()));
  }

 private:
  Tensor apply(const Tensor& input) {
    return functional::instance_norm(input, functional::InstanceNormFuncOptions().running_mean(this->running_mean).running_var(this->running_var)
                                                .weight(this->weight).bias(this->bias)
                                                .use_input_stats(this->is_training() || !this->options.track_running_stats())
                                                .momentum(this->options.momentum()).eps(this->options.eps()));
  }
};

/// Instance normalization of sequences.
class InstanceNorm1dImpl : public InstanceNormImpl<1, InstanceNorm1dImpl> {
 public:
  using InstanceNormImpl<1, InstanceNorm1dImpl>::InstanceNormImpl;

 protected:
  void _check_input_dim(const Tensor& input) override { detail::check_dim(input, 2, 3); }
};
TORCH_MODULE(InstanceNorm1d);

/// Instance normalization of images.
class InstanceNorm2dImpl : public InstanceNormImpl<2, InstanceNorm2dImpl> {
 public:
  using InstanceNormImpl<2, InstanceNorm2dImpl>::InstanceNormImpl;

 protected:
  void _check_input_dim(const Tensor& input) override { detail::check_dim(input, 3, 4); }
};
TORCH_MODULE(InstanceNorm2d);

/// Instance normalization of volumes.
class InstanceNorm3dImpl : public InstanceNormImpl<3, InstanceNorm3dImpl> {
 public:
  using InstanceNormImpl<3, InstanceNorm3dImpl>::InstanceNormImpl;

 protected:
  void _check_input_dim(const Tensor& input) override { detail::check_dim(input, 4, 5); }
};
TORCH_MODULE(InstanceNorm3d);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
