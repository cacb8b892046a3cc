// Transforms of the tensor of an example; its target is unchanged.
#pragma once

#include <torch/data/example.h>
#include <torch/data/transforms/base.h>

#include <functional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
namespace transforms {

template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  virtual Tensor operator()(Tensor input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// (input - mean) / stddev, by channel.
template <class Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> means, ArrayRef<double> stddevs) : mean(per_channel(means)), stddev(per_channel(stddevs)) {}
  Tensor operator()(Tensor input) override { return input.sub(mean).div(stddev); }

  Tensor mean, stddev;

 private:
  static Tensor per_channel(ArrayRef<double> values) { return torch::tensor(values, kFloat).unsqueeze(1).unsqueeze(2); }
};

}  // namespace transforms
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
