// Activations: element-wise functions, and softmax.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/multihead_attention.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// ELU: x, or alpha (exp(x) - 1) below zero
class ELUImpl : public detail::WithOptions<ELUImpl, ELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::ELU(").named("alpha", options.alpha()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::elu(std::move(input), options); }
};
TORCH_MODULE(ELU);

/// SELU: ELU scaled to preserve mean and variance
class SELUImpl : public detail::WithOptions<SELUImpl, SELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::SELU(").flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::selu(std::move(input), options); }
};
TORCH_MODULE(SELU);

/// Hard shrinkage: zero between -lambda and lambda
class HardshrinkImpl : public detail::WithOptions<HardshrinkImpl, HardshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Hardshrink(").add(options.lambda()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::hardshrink(input, options); }
};
TORCH_MODULE(Hardshrink);

/// Hard tanh: x, clamped to [min_val, max_val]
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

/// Leaky ReLU: x, or x times a slope below zero
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

/// Softmax: exponentials, scaled to a sum of one
class SoftmaxImpl : public detail::WithOptions<SoftmaxImpl, SoftmaxOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY explicit SoftmaxImpl(int64_t dim) : WithOptions(SoftmaxOptions(dim)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softmax(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softmax(input, options.dim()); }
};
TORCH_MODULE(Softmax);

/// Softmin: softmax of -x
class SoftminImpl : public detail::WithOptions<SoftminImpl, SoftminOptions> {
 public:
  using WithOptions::WithOptions;
  RLT_LAZY explicit SoftminImpl(int64_t dim) : WithOptions(SoftminOptions(dim)) {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softmin(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softmin(input, options.dim()); }
};
TORCH_MODULE(Softmin);

/// The logarithm of softmax
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

/// PReLU: x, or x times a learned slope below zero
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

/// ReLU: max(0, x)
class ReLUImpl : public detail::WithOptions<ReLUImpl, ReLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::ReLU(").flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::relu(std::move(input), options); }
};
TORCH_MODULE(ReLU);

/// ReLU6: x, clamped to [0, 6]
class ReLU6Impl : public detail::WithOptions<ReLU6Impl, ReLU6Options> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::ReLU6(").flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::relu6(std::move(input), options); }
};
TORCH_MODULE(ReLU6);

/// RReLU: leaky ReLU with random slopes
class RReLUImpl : public detail::WithOptions<RReLUImpl, RReLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::RReLU(").named("lower", options.lower()).named("upper", options.upper()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::rrelu(std::move(input), functional::RReLUFuncOptions().lower(options.lower()).upper(options.upper()).training(is_training()).inplace(options.inplace())); }
};
TORCH_MODULE(RReLU);

/// CELU: max(0, x) + min(0, alpha (exp(x / alpha) - 1))
class CELUImpl : public detail::WithOptions<CELUImpl, CELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::CELU(").named("alpha", options.alpha()).flag("inplace", options.inplace()).close(stream); }
  Tensor forward(Tensor input) { return functional::celu(std::move(input), options); }
};
TORCH_MODULE(CELU);

/// Gated linear unit: the first half of a dimension times the sigmoid of the second
class GLUImpl : public detail::WithOptions<GLUImpl, GLUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::GLU(").named("dim", options.dim()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::glu(input, options); }
};
TORCH_MODULE(GLU);

/// Gaussian Error Linear Unit: x times the CDF of the standard normal distribution at x
class GELUImpl : public detail::WithOptions<GELUImpl, GELUOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::GELU(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::gelu(input, options); }
};
TORCH_MODULE(GELU);

/// SiLU: x sigmoid(x)
class SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::SiLU(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::silu(input); }
};
TORCH_MODULE(SiLU);

/// Mish: x tanh(softplus(x))
class MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Mish(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::mish(input); }
};
TORCH_MODULE(Mish);

/// Sigmoid: 1 / (1 + exp(-x))
class SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Sigmoid(").close(stream); }
  Tensor forward(const Tensor& input) { return torch::sigmoid(input); }
};
TORCH_MODULE(Sigmoid);

/// Softplus: log(1 + exp(beta x)) / beta
class SoftplusImpl : public detail::WithOptions<SoftplusImpl, SoftplusOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softplus(").named("beta", options.beta()).named("threshold", options.threshold()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softplus(input, options); }
};
TORCH_MODULE(Softplus);

/// Soft shrinkage: x, moved towards zero by lambda
class SoftshrinkImpl : public detail::WithOptions<SoftshrinkImpl, SoftshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softshrink(").add(options.lambda()).close(stream); }
  Tensor forward(const Tensor& input) { return functional::softshrink(input, options); }
};
TORCH_MODULE(Softshrink);

/// Softsign: x / (1 + |x|)
class SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Softsign(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::softsign(input); }
};
TORCH_MODULE(Softsign);

/// Hyperbolic tangent
class TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Tanh(").close(stream); }
  Tensor forward(const Tensor& input) { return torch::tanh(input); }
};
TORCH_MODULE(Tanh);

/// Tanhshrink: x - tanh(x)
class TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Tanhshrink(").close(stream); }
  Tensor forward(const Tensor& input) { return functional::tanhshrink(input); }
};
TORCH_MODULE(Tanhshrink);

/// Threshold: x if it is above the threshold, else a value
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
