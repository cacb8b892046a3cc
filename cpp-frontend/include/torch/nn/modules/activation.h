// ReLU, Softmax and LogSoftmax.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/pimpl.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// max(0, input)
class ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  RLT_LAZY explicit ReLUImpl(const ReLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::ReLU(" << (options.inplace() ? "inplace=true" : "") << ")"; }
  Tensor forward(Tensor input) { return functional::relu(std::move(input), options); }

  ReLUOptions options;
};
TORCH_MODULE(ReLU);

class SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  RLT_LAZY explicit SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  RLT_LAZY explicit SoftmaxImpl(const SoftmaxOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Softmax(dim=" << options.dim() << ")"; }
  Tensor forward(const Tensor& input) { return torch::softmax(input, options.dim()); }

  SoftmaxOptions options;
};
TORCH_MODULE(Softmax);

class LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  RLT_LAZY explicit LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
  RLT_LAZY explicit LogSoftmaxImpl(const LogSoftmaxOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::LogSoftmax(dim=" << options.dim() << ")"; }
  Tensor forward(const Tensor& input) { return torch::log_softmax(input, options.dim()); }

  LogSoftmaxOptions options;
};
TORCH_MODULE(LogSoftmax);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
