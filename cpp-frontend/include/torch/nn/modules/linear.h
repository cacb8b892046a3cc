// Linear, Identity and Flatten.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional/linear.h>
#include <torch/nn/init.h>
#include <torch/nn/options/linear.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Returns its input.
class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Identity()"; }
  Tensor forward(const Tensor& input) { return input; }
};
TORCH_MODULE(Identity);

/// input weight^T + bias
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  RLT_LAZY LinearImpl(int64_t in_features, int64_t out_features) : LinearImpl(LinearOptions(in_features, out_features)) {}
  RLT_LAZY explicit LinearImpl(const LinearOptions& options_) : options(options_) { LinearImpl::reset(); }

  void reset() override {
    weight = register_parameter("weight", torch::empty({options.out_features(), options.in_features()}));
    bias = options.bias() ? register_parameter("bias", torch::empty({options.out_features()}))
                          : register_parameter("bias", {}, /*requires_grad=*/false);
    reset_parameters();
  }
  void reset_parameters() {
    init::kaiming_uniform_(weight, std::sqrt(5));
    if (bias.defined()) {
      double bound = 1 / std::sqrt(static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight))));
      init::uniform_(bias, -bound, bound);
    }
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Linear(in_features=" << options.in_features() << ", out_features=" << options.out_features()
           << ", bias=" << (options.bias() ? "true" : "false") << ")";
  }
  Tensor forward(const Tensor& input) { return functional::linear(input, weight, bias); }

  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Linear);

/// Joins dimensions into one.
class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  RLT_LAZY explicit FlattenImpl(const FlattenOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Flatten(start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ")";
  }
  Tensor forward(const Tensor& input) { return input.flatten(options.start_dim(), options.end_dim()); }

  FlattenOptions options;
};
TORCH_MODULE(Flatten);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
