// Linear, Bilinear, Identity, Flatten and Unflatten.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/linear.h>
#include <torch/nn/init.h>
#include <torch/nn/options/linear.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Returns its input.
class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::Identity(").close(stream); }
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
    detail::Words("torch::nn::Linear(").named("in_features", options.in_features()).named("out_features", options.out_features())
        .named("bias", options.bias()).close(stream);
  }
  Tensor forward(const Tensor& input) { return functional::linear(input, weight, bias); }

  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Linear);

/// input1^T weight[k] input2 + bias[k], for each k
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  RLT_LAZY BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  RLT_LAZY explicit BilinearImpl(const BilinearOptions& options_) : options(options_) { BilinearImpl::reset(); }

  void reset() override {
    weight = register_parameter("weight", torch::empty({options.out_features(), options.in1_features(), options.in2_features()}));
    bias = register_parameter("bias", options.bias() ? torch::empty({options.out_features()}) : Tensor(), options.bias());
    reset_parameters();
  }
  void reset_parameters() {
    double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
    init::uniform_(weight, -bound, bound);
    if (bias.defined()) init::uniform_(bias, -bound, bound);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::Bilinear(").named("in1_features", options.in1_features()).named("in2_features", options.in2_features())
        .named("out_features", options.out_features()).named("bias", options.bias()).close(stream);
  }
  Tensor forward(const Tensor& input1, const Tensor& input2) { return functional::bilinear(input1, input2, weight, bias); }

  BilinearOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Bilinear);

/// Flattens dimensions into one.
class FlattenImpl : public detail::WithOptions<FlattenImpl, FlattenOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override {
    detail::Words("torch::nn::Flatten(").named("start_dim", options.start_dim()).named("end_dim", options.end_dim()).close(stream);
  }
  Tensor forward(const Tensor& input) { return input.flatten(options.start_dim(), options.end_dim()); }
};
TORCH_MODULE(Flatten);

namespace detail {
/// The computation of Unflatten, compiled where it is used.
template <class Derived>
class UnflattenBase : public WithOptions<Derived, UnflattenOptions> {
 public:
  using WithOptions<Derived, UnflattenOptions>::WithOptions;
  Tensor forward(const Tensor& input) {
    return this->options.namedshape().empty() ? input.unflatten(this->options.dim(), this->options.sizes()) : forward_by_name(input);
  }

 private:
  Tensor forward_by_name(const Tensor& input) {
    auto dimname = [](const std::string& name) { return at::Dimname::fromSymbol(at::Symbol::dimname(name)); };
    std::vector<int64_t> sizes;
    std::vector<at::Dimname> names;
    for (const auto& [name, size] : this->options.namedshape()) {
      names.push_back(dimname(name));
      sizes.push_back(size);
    }
    return input.unflatten(dimname(this->options.dimname()), sizes, names);
  }
};
}  // namespace detail

/// Splits a dimension into several.
class UnflattenImpl : public detail::UnflattenBase<UnflattenImpl> {
 public:
  using UnflattenBase::UnflattenBase;
  RLT_LAZY UnflattenImpl(int64_t dim, std::vector<int64_t> sizes) : UnflattenBase(UnflattenOptions(dim, std::move(sizes))) {}
  RLT_LAZY UnflattenImpl(std::string dimname, UnflattenOptions::namedshape_t namedshape)
      : UnflattenBase(UnflattenOptions(std::move(dimname), std::move(namedshape))) {}

  void pretty_print(std::ostream& stream) const override {
    detail::Words words("torch::nn::Unflatten(dim=");
    const auto& named = options.namedshape();
    if (named.empty()) {
      words.add(options.dim()).add(", unflattened_size={");
      for (size_t i = 0; i < options.sizes().size(); ++i) words.add(i ? ", " : "").add(options.sizes()[i]);
    } else {
      words.add("\"").add(options.dimname()).add("\", unflattened_size={");
      for (size_t i = 0; i < named.size(); ++i) words.add(i ? ", {\"" : "{\"").add(named[i].first).add("\", ").add(named[i].second).add("}");
    }
    words.add("}").close(stream);
  }
};
TORCH_MODULE(Unflatten);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
