// Batch normalization.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/batchnorm.h>
#include <torch/nn/init.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Weight, bias and running statistics of a normalization by channels.
template <size_t D, class Derived, class DerivedOptions>
class NormImplBase : public Cloneable<Derived> {
 public:
  NormImplBase(const DerivedOptions& options_) : options(options_) { NormImplBase::reset(); }

  void reset() override {
    int64_t count = options.num_features();
    bool affine = options.affine(), track = options.track_running_stats();
    weight = this->register_parameter("weight", affine ? torch::empty({count}) : Tensor(), affine);
    bias = this->register_parameter("bias", affine ? torch::empty({count}) : Tensor(), affine);
    running_mean = this->register_buffer("running_mean", track ? torch::zeros({count}) : Tensor());
    running_var = this->register_buffer("running_var", track ? torch::ones({count}) : Tensor());
    num_batches_tracked = this->register_buffer("num_batches_tracked", track ? torch::zeros({}, TensorOptions(kLong)) : Tensor());
    reset_parameters();
  }
  void reset_running_stats() {
    if (!options.track_running_stats()) return;
    running_mean.zero_();
    running_var.fill_(1);
    num_batches_tracked.zero_();
  }
  void reset_parameters() {
    reset_running_stats();
    if (!options.affine()) return;
    init::ones_(weight);
    init::zeros_(bias);
  }

  DerivedOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;

 protected:
  virtual void _check_input_dim(const Tensor& input) = 0;
  void print(std::ostream& stream, detail::Words& words, const std::string& momentum) const {
    words.add(options.num_features()).named("eps", options.eps()).named("momentum", momentum).named("affine", options.affine())
        .named("track_running_stats", options.track_running_stats()).close(stream);
  }
};

namespace detail {
/// Checks that an input has the number of dimensions that the layer accepts.
inline void check_dim(const Tensor& input, int64_t least, int64_t most) {
  if (input.dim() >= least && input.dim() <= most) return;
  Words words("expected ");
  words.add(least);
  if (most != least) words.add("D or ").add(most);
  words.add("D input (got ").add(input.dim()).add("D input)").raise();
}
}  // namespace detail

template <size_t D, class Derived>
class BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input) {
    this->_check_input_dim(input);
    bool update = this->is_training() && this->options.track_running_stats();
    if (update && this->num_batches_tracked.defined()) this->num_batches_tracked += 1;
    double momentum = 0;
    if (this->options.momentum()) {
      momentum = *this->options.momentum();
    } else if (update) {
      momentum = 1.0 / this->num_batches_tracked.template item<double>();
    }
    return functional::batch_norm(input, this->running_mean, this->running_var,
                                  functional::BatchNormFuncOptions().weight(this->weight).bias(this->bias)
                                      .training(this->is_training() || !this->options.track_running_stats()).momentum(momentum).eps(this->options.eps()));
  }
  void pretty_print(std::ostream& stream) const override {
    const std::optional<double>& momentum = this->options.momentum();
    this->print(stream, detail::Words("torch::nn::BatchNorm").add(static_cast<int64_t>(D)).add("d("), momentum ? rlt::text_of(*momentum) : "None");
  }
};

/// Batch normalization of vectors or sequences.
class BatchNorm1dImpl : public BatchNormImplBase<1, BatchNorm1dImpl> {
 public:
  using BatchNormImplBase<1, BatchNorm1dImpl>::BatchNormImplBase;

 protected:
  void _check_input_dim(const Tensor& input) override { detail::check_dim(input, 2, 3); }
};
TORCH_MODULE(BatchNorm1d);

/// Batch normalization of images.
class BatchNorm2dImpl : public BatchNormImplBase<2, BatchNorm2dImpl> {
 public:
  using BatchNormImplBase<2, BatchNorm2dImpl>::BatchNormImplBase;

 protected:
  void _check_input_dim(const Tensor& input) override { detail::check_dim(input, 4, 4); }
};
TORCH_MODULE(BatchNorm2d);

/// Batch normalization of volumes.
class BatchNorm3dImpl : public BatchNormImplBase<3, BatchNorm3dImpl> {
 public:
  using BatchNormImplBase<3, BatchNorm3dImpl>::BatchNormImplBase;

 protected:
  void _check_input_dim(const Tensor& input) override { detail::check_dim(input, 5, 5); }
};
TORCH_MODULE(BatchNorm3d);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
