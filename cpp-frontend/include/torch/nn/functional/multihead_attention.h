// Functional form of multi-head attention; torch/nn/functional/activation.h includes it.
#pragma once

#include <torch/nn/options/multihead_attention.h>

#include <cmath>
#include <limits>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {
namespace detail {

RLT_LAZY bool same_tensor(const Tensor& a, const Tensor& b) { return a.is_same(b) || torch::equal(a, b); }

/// `tensor` with one more position of zeros at the end of `dim`.
RLT_LAZY Tensor with_zeros(const Tensor& tensor, int64_t dim) {
  if (!tensor.defined()) return tensor;
  std::vector<int64_t> sizes = tensor.sizes().vec();
  sizes[static_cast<size_t>(dim)] = 1;
  return torch::cat({tensor, torch::zeros(sizes, tensor.options())}, dim);
}

/// (step, batch, feature) as (batch and head, step, feature of the head).
RLT_LAZY Tensor split_heads(const Tensor& tensor, int64_t batch_and_heads, int64_t head_dim) {
  return tensor.contiguous().view({-1, batch_and_heads, head_dim}).transpose(0, 1);
}

/// Queries, keys and values, projected.
RLT_LAZY std::tuple<Tensor, Tensor, Tensor> in_projection(const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const MultiheadAttentionForwardFuncOptions& options) {
  int64_t embed = query.size(2);
  auto part = [&](const Tensor& whole, int64_t start, int64_t end) { return whole.defined() ? whole.slice(0, start * embed, end * embed) : whole; };
  auto project = [&](const Tensor& input, const Tensor& weight, int64_t start, int64_t end) {
    return torch::linear(input, weight, part(options.in_proj_bias(), start, end));
  };
  if (options.use_separate_proj_weight()) {
    const Tensor &q = options.q_proj_weight(), &k = options.k_proj_weight(), &v = options.v_proj_weight();
    TORCH_CHECK(q.size(0) == embed && q.size(1) == embed, "q_proj_weight should have sizes [", embed, ", ", embed, "], but got ", q.sizes());
    TORCH_CHECK(k.size(0) == embed && k.size(1) == key.size(-1), "k_proj_weight should have sizes [", embed, ", ", key.size(-1), "], but got ", k.sizes());
    TORCH_CHECK(v.size(0) == embed && v.size(1) == value.size(-1), "v_proj_weight should have sizes [", embed, ", ", value.size(-1), "], but got ", v.sizes());
    return {project(query, q, 0, 1), project(key, k, 1, 2), project(value, v, 2, 3)};
  }
  const Tensor& weight = options.in_proj_weight();
  if (!same_tensor(key, value)) return {project(query, part(weight, 0, 1), 0, 1), project(key, part(weight, 1, 2), 1, 2), project(value, part(weight, 2, 3), 2, 3)};
  if (same_tensor(query, key)) {
    std::vector<Tensor> all = torch::linear(query, weight, options.in_proj_bias()).chunk(3, -1);
    return {all[0], all[1], all[2]};
  }
  std::vector<Tensor> both = project(key, part(weight, 1, 3), 1, 3).chunk(2, -1);
  return {project(query, part(weight, 0, 1), 0, 1), both[0], both[1]};
}

}  // namespace detail

/// softmax(q k^T / sqrt(head size)) v for each head, projected: the result (target, batch, feature) and the weights, if
/// requested.
RLT_LAZY std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                                 const MultiheadAttentionForwardFuncOptions& options) {
  int64_t target = query.size(0), batch = query.size(1), embed = query.size(2), heads = options.num_heads();
  TORCH_INTERNAL_ASSERT(embed == options.embed_dim_to_check());
  TORCH_INTERNAL_ASSERT(key.sizes() == value.sizes());
  int64_t head_dim = embed / heads, all = batch * heads;
  TORCH_CHECK(head_dim * heads == embed, "embed_dim must be divisible by num_heads");

  auto [q, k, v] = detail::in_projection(query, key, value, options);
  q = q * (1 / std::sqrt(static_cast<double>(head_dim)));
  Tensor mask = options.attn_mask(), padding = options.key_padding_mask();
  const Tensor &bias_k = options.bias_k(), &bias_v = options.bias_v(), &static_k = options.static_k(), &static_v = options.static_v();
  TORCH_CHECK(bias_k.defined() == bias_v.defined(), "bias_k and bias_v come together");
  if (bias_k.defined()) {
    TORCH_CHECK(!static_k.defined(), "bias cannot be added to static key.");
    TORCH_CHECK(!static_v.defined(), "bias cannot be added to static value.");
    k = torch::cat({k, bias_k.repeat({1, batch, 1})});
    v = torch::cat({v, bias_v.repeat({1, batch, 1})});
    mask = detail::with_zeros(mask, 1);
    padding = detail::with_zeros(padding, 1);
  }
  q = detail::split_heads(q, all, head_dim);
  k = static_k.defined() ? static_k : detail::split_heads(k, all, head_dim);
  v = static_v.defined() ? static_v : detail::split_heads(v, all, head_dim);
  TORCH_CHECK(k.size(0) == all && k.size(2) == head_dim, "static_k should have sizes [", all, ", source, ", head_dim, "], but got ", k.sizes());
  TORCH_CHECK(v.size(0) == all && v.size(2) == head_dim, "static_v should have sizes [", all, ", source, ", head_dim, "], but got ", v.sizes());
  int64_t source = k.size(1);
  TORCH_CHECK(!padding.defined() || padding.sizes() == IntArrayRef({batch, source}), "key_padding_mask should have sizes [", batch, ", ", source,
              "], but got ", padding.sizes());
  if (options.add_zero_attn()) {
    ++source;
    k = detail::with_zeros(k, 1);
    v = detail::with_zeros(v, 1);
    mask = detail::with_zeros(mask, 1);
    padding = detail::with_zeros(padding, 1);
  }

  Tensor weights = torch::bmm(q, k.transpose(1, 2));
  if (mask.defined()) weights += mask.unsqueeze(0);
  if (padding.defined()) {
    weights = weights.view({batch, heads, target, source}).masked_fill(padding.unsqueeze(1).unsqueeze(2), -std::numeric_limits<double>::infinity());
    weights = weights.view({all, target, source});
  }
  weights = torch::dropout(torch::softmax(weights, -1), options.dropout_p(), options.training());
  Tensor output = torch::bmm(weights, v).transpose(0, 1).contiguous().view({target, batch, embed});
  output = torch::linear(output, options.out_proj_weight(), options.out_proj_bias());
  if (!options.need_weights()) return {output, Tensor()};
  weights = weights.view({batch, heads, target, source});
  return {output, options.average_attn_weights() ? weights.sum(1) / heads : weights};
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
