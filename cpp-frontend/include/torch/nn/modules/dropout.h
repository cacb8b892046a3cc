// Dropout.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/dropout.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
template <class Derived>
class _DropoutNd : public Cloneable<Derived> {
 public:
  _DropoutNd(double p) : _DropoutNd(DropoutOptions(p)) {}
  explicit _DropoutNd(const DropoutOptions& options_ = {}) : options(options_) { _DropoutNd::reset(); }
  void reset() override { functional::detail::check_probability(options.p()); }

  DropoutOptions options;

 protected:
  template <class FuncOptions>
  FuncOptions with() const {
    return FuncOptions().p(options.p()).training(this->is_training()).inplace(options.inplace());
  }
  void print(std::ostream& stream, const char* name) const { Words(name).named("p", options.p()).named("inplace", options.inplace()).close(stream); }
};
}  // namespace detail

/// Sets elements to zero with probability p while training, and scales the others by 1 / (1 - p).
class DropoutImpl : public detail::_DropoutNd<DropoutImpl> {
 public:
  using detail::_DropoutNd<DropoutImpl>::_DropoutNd;
  void pretty_print(std::ostream& stream) const override { print(stream, "torch::nn::Dropout("); }
  Tensor forward(Tensor input) { return functional::dropout(std::move(input), with<functional::DropoutFuncOptions>()); }
};
TORCH_MODULE(Dropout);

/// Dropout of whole channels of images.
class Dropout2dImpl : public detail::_DropoutNd<Dropout2dImpl> {
 public:
  using detail::_DropoutNd<Dropout2dImpl>::_DropoutNd;
  void pretty_print(std::ostream& stream) const override { print(stream, "torch::nn::Dropout2d("); }
  Tensor forward(Tensor input) { return functional::dropout2d(std::move(input), with<functional::Dropout2dFuncOptions>()); }
};
TORCH_MODULE(Dropout2d);

/// Dropout of whole channels of volumes.
class Dropout3dImpl : public detail::_DropoutNd<Dropout3dImpl> {
 public:
  using detail::_DropoutNd<Dropout3dImpl>::_DropoutNd;
  void pretty_print(std::ostream& stream) const override { print(stream, "torch::nn::Dropout3d("); }
  Tensor forward(Tensor input) { return functional::dropout3d(std::move(input), with<functional::Dropout3dFuncOptions>()); }
};
TORCH_MODULE(Dropout3d);

/// Alpha dropout: preserves the mean and variance of SELU's output.
class AlphaDropoutImpl : public detail::_DropoutNd<AlphaDropoutImpl> {
 public:
  using detail::_DropoutNd<AlphaDropoutImpl>::_DropoutNd;
  void pretty_print(std::ostream& stream) const override { print(stream, "torch::nn::AlphaDropout("); }
  Tensor forward(const Tensor& input) { return functional::alpha_dropout(input, with<functional::AlphaDropoutFuncOptions>()); }
};
TORCH_MODULE(AlphaDropout);

/// AlphaDropout of whole channels.
class FeatureAlphaDropoutImpl : public detail::_DropoutNd<FeatureAlphaDropoutImpl> {
 public:
  using detail::_DropoutNd<FeatureAlphaDropoutImpl>::_DropoutNd;
  void pretty_print(std::ostream& stream) const override { print(stream, "torch::nn::FeatureAlphaDropout("); }
  Tensor forward(const Tensor& input) { return functional::feature_alpha_dropout(input, with<functional::FeatureAlphaDropoutFuncOptions>()); }
};
TORCH_MODULE(FeatureAlphaDropout);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
