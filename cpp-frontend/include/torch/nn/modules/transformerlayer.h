// The layers of a Transformer's encoder and decoder (Vaswani et al. 2017).
#pragma once

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/multihead_attention.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/options/transformerlayer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
RLT_LAZY Tensor activate(const activation_t& activation, const Tensor& input) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) return torch::relu(input);
  if (std::holds_alternative<enumtype::kGELU>(activation)) return torch::gelu(input);
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(input);
}
}  // namespace detail

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class TransformerEncoderLayerBase : public Cloneable<Derived> {
 public:
  explicit TransformerEncoderLayerBase(TransformerEncoderLayerOptions options_) : options(std::move(options_)) { TransformerEncoderLayerBase::reset(); }

  void reset() override { make(); }
  void reset_parameters() {
    self_attn->_reset_parameters();
    linear1->reset_parameters();
    linear2->reset_parameters();
    norm1->reset_parameters();
    norm2->reset_parameters();
  }
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}) {
    Tensor attended = std::get<0>(self_attn->forward(src, src, src, src_key_padding_mask, /*need_weights=*/true, src_mask));
    Tensor middle = norm1->forward(src + dropout1->forward(attended));
    Tensor result = linear2->forward(dropout->forward(activate(options.activation(), linear1->forward(middle))));
    return norm2->forward(middle + dropout2->forward(result));
  }

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr;
  LayerNorm norm2 = nullptr;
  Dropout dropout1 = nullptr;
  Dropout dropout2 = nullptr;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})

 private:
  void make() {
    int64_t model = options.d_model();
    self_attn = this->register_module("self_attn", MultiheadAttention(MultiheadAttentionOptions(model, options.nhead()).dropout(options.dropout())));
    linear1 = this->register_module("linear1", Linear(model, options.dim_feedforward()));
    dropout = this->register_module("dropout", Dropout(options.dropout()));
    linear2 = this->register_module("linear2", Linear(options.dim_feedforward(), model));
    norm1 = this->register_module("norm1", LayerNorm(LayerNormOptions({model})));
    norm2 = this->register_module("norm2", LayerNorm(LayerNormOptions({model})));
    dropout1 = this->register_module("dropout1", Dropout(options.dropout()));
    dropout2 = this->register_module("dropout2", Dropout(options.dropout()));
  }
};
}  // namespace detail

/// Attention of the source to itself, then two linear layers; each adds to its input, and a LayerNorm follows.
class TransformerEncoderLayerImpl : public detail::TransformerEncoderLayerBase<TransformerEncoderLayerImpl> {
 public:
  RLT_LAZY TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead) : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  RLT_LAZY explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_) : TransformerEncoderLayerBase(std::move(options_)) {}
};
TORCH_MODULE(TransformerEncoderLayer);

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class TransformerDecoderLayerBase : public Cloneable<Derived> {
 public:
  explicit TransformerDecoderLayerBase(TransformerDecoderLayerOptions options_) : options(std::move(options_)) { TransformerDecoderLayerBase::reset(); }

  void reset() override { make(); }
  void reset_parameters() {
    self_attn->_reset_parameters();
    multihead_attn->_reset_parameters();
    linear1->reset_parameters();
    linear2->reset_parameters();
    norm1->reset_parameters();
    norm2->reset_parameters();
    norm3->reset_parameters();
  }
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    Tensor attended = std::get<0>(self_attn->forward(tgt, tgt, tgt, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
    tgt = norm1->forward(tgt + dropout1->forward(attended));
    attended = std::get<0>(multihead_attn->forward(tgt, memory, memory, memory_key_padding_mask, /*need_weights=*/false, memory_mask));
    tgt = norm2->forward(tgt + dropout2->forward(attended));
    Tensor result = linear2->forward(dropout->forward(activation(linear1->forward(tgt))));
    return norm3->forward(tgt + dropout3->forward(result));
  }

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Dropout dropout1{nullptr};
  LayerNorm norm1{nullptr};
  MultiheadAttention multihead_attn{nullptr};
  Dropout dropout2{nullptr};
  LayerNorm norm2{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  Dropout dropout3{nullptr};
  LayerNorm norm3{nullptr};

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
  Tensor activation(const Tensor& input) { return activate(options.activation(), input); }

 private:
  void make() {
    int64_t model = options.d_model();
    auto attention = MultiheadAttentionOptions(model, options.nhead()).dropout(options.dropout());
    self_attn = this->register_module("self_attn", MultiheadAttention(attention));
    multihead_attn = this->register_module("multihead_attn", MultiheadAttention(attention));
    linear1 = this->register_module("linear1", Linear(model, options.dim_feedforward()));
    dropout = this->register_module("dropout", Dropout(options.dropout()));
    linear2 = this->register_module("linear2", Linear(options.dim_feedforward(), model));
    norm1 = this->register_module("norm1", LayerNorm(LayerNormOptions({model})));
    norm2 = this->register_module("norm2", LayerNorm(LayerNormOptions({model})));
    norm3 = this->register_module("norm3", LayerNorm(LayerNormOptions({model})));
    dropout1 = this->register_module("dropout1", Dropout(options.dropout()));
    dropout2 = this->register_module("dropout2", Dropout(options.dropout()));
    dropout3 = this->register_module("dropout3", Dropout(options.dropout()));
  }
};
}  // namespace detail

/// Attention of the target to itself, attention to the memory, then two linear layers; each adds to its input, and a LayerNorm follows.
class TransformerDecoderLayerImpl : public detail::TransformerDecoderLayerBase<TransformerDecoderLayerImpl> {
 public:
  RLT_LAZY TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead) : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
  RLT_LAZY explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_) : TransformerDecoderLayerBase(std::move(options_)) {}
};
TORCH_MODULE(TransformerDecoderLayer);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
