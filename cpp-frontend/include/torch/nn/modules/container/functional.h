// Functional: a function as a module.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include <functional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  RLT_LAZY explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  /// A function with its further arguments bound: `Functional(torch::leaky_relu, 0.1)`.
  template <class F, class... Args, class = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(F function, Args&&... args)
      : function_([function, rest = std::make_tuple(std::forward<Args>(args)...)](Tensor input) -> Tensor {
          return std::apply([&](const auto&... more) -> Tensor { return function(std::move(input), more...); }, rest);
        }) {}

  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Functional()"; }
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return function_(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
TORCH_MODULE(Functional);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
