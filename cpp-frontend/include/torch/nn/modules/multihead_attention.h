// MultiheadAttention; torch/nn/modules/activation.h includes it.
#pragma once

#include <torch/nn/functional/multihead_attention.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/linear.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class MultiheadAttentionBase : public Cloneable<Derived> {
 public:
  explicit MultiheadAttentionBase(const MultiheadAttentionOptions& options_) : options(options_) { MultiheadAttentionBase::reset(); }

  void reset() override { make(); }
  void _reset_parameters() {
    for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
      if (weight.defined()) init::xavier_uniform_(weight);
    }
    if (in_proj_bias.defined()) {
      init::constant_(in_proj_bias, 0.0);
      init::constant_(out_proj->bias, 0.0);
    }
    if (bias_k.defined()) init::xavier_normal_(bias_k);
    if (bias_v.defined()) init::xavier_normal_(bias_v);
  }

  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::MultiheadAttention"; }

  /// Inputs are (step, batch, feature). Returns the result, and the weights if they are needed.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask = {},
                                     bool need_weights = true, const Tensor& attn_mask = {}, bool average_attn_weights = true) {
    functional::MultiheadAttentionForwardFuncOptions given(options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
                                                           options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias);
    given.training(this->is_training()).key_padding_mask(key_padding_mask).need_weights(need_weights).attn_mask(attn_mask);
    given.average_attn_weights(average_attn_weights).use_separate_proj_weight(!_qkv_same_embed_dim);
    given.q_proj_weight(q_proj_weight).k_proj_weight(k_proj_weight).v_proj_weight(v_proj_weight);
    return functional::multi_head_attention_forward(query, key, value, given);
  }

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = false;
  Tensor in_proj_weight;
  Tensor in_proj_bias;
  Tensor bias_k;
  Tensor bias_v;
  Linear out_proj = nullptr;
  Tensor q_proj_weight;
  Tensor k_proj_weight;
  Tensor v_proj_weight;
  int64_t head_dim = 0;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)})

 private:
  void make() {
    int64_t embed = options.embed_dim();
    _qkv_same_embed_dim = options.kdim() == embed && options.vdim() == embed;
    head_dim = embed / options.num_heads();
    TORCH_CHECK(head_dim * options.num_heads() == embed, "embed_dim must be divisible by num_heads");
    auto parameter = [this](const char* name, bool wanted, IntArrayRef sizes) {
      return this->register_parameter(name, wanted ? torch::empty(sizes) : Tensor(), /*requires_grad=*/wanted);
    };
    bool separate = !_qkv_same_embed_dim, bias_kv = options.add_bias_kv();
    in_proj_weight = parameter("in_proj_weight", !separate, {3 * embed, embed});
    q_proj_weight = parameter("q_proj_weight", separate, {embed, embed});
    k_proj_weight = parameter("k_proj_weight", separate, {embed, options.kdim()});
    v_proj_weight = parameter("v_proj_weight", separate, {embed, options.vdim()});
    in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * embed});
    out_proj = this->register_module("out_proj", Linear(LinearOptions(embed, embed).bias(options.bias())));
    bias_k = parameter("bias_k", bias_kv, {1, 1, embed});
    bias_v = parameter("bias_v", bias_kv, {1, 1, embed});
    _reset_parameters();
  }
};
}  // namespace detail

/// Multi-head attention: each head attends with its share of the queries, softmax(q k^T / sqrt(head size)) v.
class MultiheadAttentionImpl : public detail::MultiheadAttentionBase<MultiheadAttentionImpl> {
 public:
  RLT_LAZY MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads) : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  RLT_LAZY explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_) : MultiheadAttentionBase(options_) {}
};
TORCH_MODULE(MultiheadAttention);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
