// Options of the layers of a Transformer.
#pragma once

#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/types.h>

#include <functional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// Activation between the two linear layers: ReLU, GELU or a function.
class activation_t : public enumtype::VariantLike<activation_t> {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  using Variant = std::variant<enumtype::kReLU, enumtype::kGELU, Function>;

  activation_t(enumtype::kReLU) {}
  activation_t(enumtype::kGELU) : index_(1) {}
  template <class Callable, class = std::enable_if_t<!std::is_same_v<Callable, Variant>, std::invoke_result_t<const Callable&, const Tensor&>>>
  activation_t(Callable function) : function_(std::move(function)), index_(2) {}
  template <class Other, std::enable_if_t<std::is_same_v<Other, Variant>, bool> = true>
  activation_t(const Other& choice) : index_(choice.index()) {
    if (index_ == 2) function_ = std::get<2>(choice);
  }
  template <class Other, std::enable_if_t<std::is_same_v<Other, Variant>, bool> = true>
  operator Other() const {
    if (index_ == 0) return torch::kReLU;
    if (index_ == 1) return torch::kGELU;
    return function_;
  }

  size_t index() const noexcept { return index_; }
  /// The function or the enumerator, if that is selected, else nullptr.
  template <class Alternative>
  const Alternative* get_if() const noexcept {
    if constexpr (std::is_same_v<Alternative, Function>) {
      return index_ == 2 ? &function_ : nullptr;
    } else {
      constexpr size_t wanted = std::is_same_v<Alternative, enumtype::kGELU> ? 1 : 0;
      static_assert(wanted == 1 || std::is_same_v<Alternative, enumtype::kReLU>, "not an alternative of an activation");
      return index_ == wanted ? &enumtype::enumerator<Alternative> : nullptr;
    }
  }

 private:
  Function function_;
  size_t index_ = 0;
};

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  /// Features of input and output.
  TORCH_ARG(int64_t, d_model);
  /// Heads of the attention.
  TORCH_ARG(int64_t, nhead);
  /// Features between the two linear layers.
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(activation_t, activation) = torch::kReLU;
};

struct TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TORCH_ARG(int64_t, d_model);
  TORCH_ARG(int64_t, nhead);
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(activation_t, activation) = torch::kReLU;
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
