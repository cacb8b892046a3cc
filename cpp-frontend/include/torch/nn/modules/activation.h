// Activations: functions of each element, and softmax.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/multihead_attention.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// x, or alpha (exp(x) - 1) below zero
class ELUImpl : public detail::WithOptions<ELUImpl, ELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::ELU(").named("alpha", options.alpha()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::elu(std::move(input), options); }
};
TORCH_MODULE(ELU);

/// ELU that keeps mean and variance
class SELUImpl : public detail::WithOptions<SELUImpl, SELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::SELU(").flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::selu(std::move(input), options); }
};
TORCH_MODULE(SELU);

/// Zero between -lambda and lambda
class HardshrinkImpl : public detail::WithOptions<HardshrinkImpl, HardshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Hardshrink(").add(options.lambda()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::hardshrink(input, options); }
};
TORCH_MODULE(Hardshrink);

/// x, held between min_val and max_val
class HardtanhImpl : public detail::WithOptions<HardtanhImpl, HardtanhOptions> {
 public:
  RLT_LAZY explicit HardtanhImpl(const HardtanhOptions& options_ = {}) : WithOptions(options_) { HardtanhImpl::reset(); }
  void reset() override {
    if (!(options.max_val() > options.min_val())) rlt::raise<Error>("max_val must be greater than min_val");
  }
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Hardtanh(").named("min_val", options.min_val()).named("max_val", options.max_val()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::hardtanh(std::move(input), options); }
};
TORCH_MODULE(Hardtanh);

/// x, or a part of it below zero
class LeakyReLUImpl : public detail::WithOptions<LeakyReLUImpl, LeakyReLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::LeakyReLU(").named("negative_slope", options.negative_slope()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::leaky_relu(std::move(input), options); }
};
TORCH_MODULE(LeakyReLU);

/// The logarithm of the sigmoid
class LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::LogSigmoid(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::logsigmoid(input); }
};
TORCH_MODULE(LogSigmoid);

/// Exponentials, scaled to a sum of one
class SoftmaxImpl : public detail::WithOptions<SoftmaxImpl, SoftmaxOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY explicit SoftmaxImpl(int64_t dim) : WithOptions(SoftmaxOptions(dim)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softmax(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softmax(input, options.dim()); }
};
TORCH_MODULE(Softmax);

/// Softmax of -x
class SoftminImpl : public detail::WithOptions<SoftminImpl, SoftminOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY explicit SoftminImpl(int64_t dim) : WithOptions(SoftminOptions(dim)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softmin(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softmin(input, options.dim()); }
};
TORCH_MODULE(Softmin);

/// The logarithm of Softmax
class LogSoftmaxImpl : public detail::WithOptions<LogSoftmaxImpl, LogSoftmaxOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY explicit LogSoftmaxImpl(int64_t dim) : WithOptions(LogSoftmaxOptions(dim)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::LogSoftmax(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::log_softmax(input, options.dim()); }
};
TORCH_MODULE(LogSoftmax);

/// Softmax over the channels of images
class Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softmax2d(").close(stream); }
  Tensor forward(const Tensor& input) {
    if (input.dim() != 3 && input.dim() != 4) rlt::raise<Error>("Softmax2d requires a 3D or 4D tensor as input");
    return functional::softmax(input, -3);
  }
};
TORCH_MODULE(Softmax2d);

/// x, or a learned part of it below zero
class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  RLT_LAZY explicit PReLUImpl(const PReLUOptions& options_ = {}) : options(options_) { PReLUImpl::reset(); }
  void reset() override { weight = register_parameter("weight", torch::full({options.num_parameters()}, options.init())); }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::PReLU(").named("num_parameters", options.num_parameters()).close(stream);
  }
  Tensor forward(const Tensor& input) { return functional::prelu(input, weight); }

  PReLUOptions options;
  Tensor weight;
};
TORCH_MODULE(PReLU);

/// max(0, x)
class ReLUImpl : public detail::WithOptions<ReLUImpl, ReLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::ReLU(").flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::relu(std::move(input), options); }
};
TORCH_MODULE(ReLU);

/// x, held between 0 and 6
class ReLU6Impl : public detail::WithOptions<ReLU6Impl, ReLU6Options> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::ReLU6(").flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::relu6(std::move(input), options); }
};
TORCH_MODULE(ReLU6);

/// LeakyReLU with random slopes
class RReLUImpl : public detail::WithOptions<RReLUImpl, RReLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::RReLU(").named("lower", options.lower()).named("upper", options.upper()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::rrelu(std::move(input), functional::RReLUFuncOptions().lower(options.lower()).upper(options.upper()).training(is_training()).inplace(options.inplace())); }
};
TORCH_MODULE(RReLU);

/// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
class CELUImpl : public detail::WithOptions<CELUImpl, CELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::CELU(").named("alpha", options.alpha()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::celu(std::move(input), options); }
};
TORCH_MODULE(CELU);

/// The first half of a dimension times the sigmoid of the second
class GLUImpl : public detail::WithOptions<GLUImpl, GLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::GLU(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::glu(input, options); }
};
TORCH_MODULE(GLU);

/// x times the probability of a normal number below it
class GELUImpl : public detail::WithOptions<GELUImpl, GELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::GELU(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::gelu(input, options); }
};
TORCH_MODULE(GELU);

/// x sigmoid(x)
class SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::SiLU(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::silu(input); }
};
TORCH_MODULE(SiLU);

/// x tanh(softplus(x))
class MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Mish(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::mish(input); }
};
TORCH_MODULE(Mish);

/// 1 / (1 + exp(-x))
class SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Sigmoid(").close(stream); }
  Tensor forward(const Tensor& input) { return torch::sigmoid(input); }
};
TORCH_MODULE(Sigmoid);

/// log(1 + exp(beta x)) / beta
class SoftplusImpl : public detail::WithOptions<SoftplusImpl, SoftplusOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softplus(").named("beta", options.beta()).named("threshold", options.threshold()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softplus(input, options); }
};
TORCH_MODULE(Softplus);

/// x, moved towards zero by lambda
class SoftshrinkImpl : public detail::WithOptions<SoftshrinkImpl, SoftshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softshrink(").add(options.lambda()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softshrink(input, options); }
};
TORCH_MODULE(Softshrink);

/// x / (1 + |x|)
class SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softsign(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::softsign(input); }
};
TORCH_MODULE(Softsign);

/// tanh(x)
class TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Tanh(").close(stream); }
  Tensor forward(const Tensor& input) { return torch::tanh(input); }
};
TORCH_MODULE(Tanh);

/// x - tanh(x)
class TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Tanhshrink(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::tanhshrink(input); }
};
TORCH_MODULE(Tanhshrink);

/// x where it is above the threshold, else a value
class ThresholdImpl : public detail::WithOptions<ThresholdImpl, ThresholdOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY ThresholdImpl(double threshold, double value) : WithOptions(ThresholdOptions(threshold, value)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Threshold(").named("threshold", options.threshold()).named("value", options.value()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::threshold(std::move(input), options); }
};
TORCH_MODULE(Threshold);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
