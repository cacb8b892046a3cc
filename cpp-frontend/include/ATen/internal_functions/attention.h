// Attention: the functions behind scaled_dot_product_attention.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/out_forms.h>

#include <cmath>

namespace at {
RLT_NAMESPACE_BEGIN
namespace rlt_attention {

/// The scaled products of queries and keys, -inf where the mask excludes a pair.
RLT_LAZY Tensor scores(const Tensor& query, const Tensor& key, const std::optional<Tensor>& mask, bool is_causal, std::optional<double> scale) {
  Tensor products = at::matmul(query, key.transpose(-2, -1)) * scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  if (is_causal) {
    Tensor below = at::ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool)).tril();
    products = products.masked_fill(below.logical_not(), -INFINITY);
  }
  if (!mask || !mask->defined()) return products;
  return mask->scalar_type() == kBool ? products.masked_fill(mask->logical_not(), -INFINITY) : products + *mask;
}
/// Keys or values repeated for groups of queries.
RLT_LAZY Tensor for_each_query(const Tensor& tensor, const Tensor& query) { return tensor.repeat_interleave(query.size(-3) / tensor.size(-3), -3); }

}  // namespace rlt_attention

/// The backend of scaled_dot_product_attention: 0, the only one.
RLT_LAZY int64_t _fused_sdp_choice(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>& = {}, double = 0.0, bool = false,
                                   std::optional<double> = {}, bool = false) {
  return 0;
}
/// Attention and its weights after dropout.
RLT_LAZY std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key, const Tensor& value,
                                                                       const std::optional<Tensor>& attn_mask = {}, double dropout_p = 0.0, bool is_causal = false,
                                                                       const std::optional<Tensor>& dropout_mask = {}, std::optional<double> scale = {},
                                                                       bool enable_gqa = false) {
  TORCH_CHECK(!is_causal || !attn_mask || !attn_mask->defined(), "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  Tensor keys = enable_gqa ? rlt_attention::for_each_query(key, query) : key, values = enable_gqa ? rlt_attention::for_each_query(value, query) : value;
  Tensor weights = at::softmax(rlt_attention::scores(query, keys, attn_mask, is_causal, scale), -1);
  if (dropout_mask && dropout_mask->defined()) weights = weights.masked_fill(dropout_mask->logical_not(), 0.0) / (1 - dropout_p);
  else if (dropout_p > 0) weights = at::dropout(weights, dropout_p, true);
  return {at::matmul(weights, values), weights};
}
/// Attention, and the logarithm of the sum of the exponentials of the scores of each query.
RLT_LAZY std::tuple<Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu(const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p = 0.0,
                                                                                bool is_causal = false, const std::optional<Tensor>& attn_mask = {},
                                                                                std::optional<double> scale = {}) {
  TORCH_CHECK(dropout_p == 0.0, "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0");
  return {at::scaled_dot_product_attention(query, key, value, attn_mask, 0.0, is_causal, scale),
          at::logsumexp(rlt_attention::scores(query, key, attn_mask, is_causal, scale), {-1})};
}
/// The gradients with respect to query, key and value.
RLT_LAZY std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& out, const Tensor& logsumexp, double, bool is_causal,
    const std::optional<Tensor>& attn_mask = {}, std::optional<double> scale = {}) {
  double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor weights = (rlt_attention::scores(query, key, attn_mask, is_causal, scale) - logsumexp.unsqueeze(-1)).exp();
  Tensor of_weights = at::matmul(grad_out, value.transpose(-2, -1));
  Tensor of_scores = weights * (of_weights - (grad_out * out).sum(-1, true)) * factor;
  return {at::matmul(of_scores, key), at::matmul(of_scores.transpose(-2, -1), query), at::matmul(weights.transpose(-2, -1), grad_out)};
}

RLT_NAMESPACE_END
}  // namespace at
