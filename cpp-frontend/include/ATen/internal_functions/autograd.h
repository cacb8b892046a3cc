// Functions of libtorch's derivatives.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/out_forms.h>
#include <ATen/internal_functions/integers.h>

#include <cmath>

namespace at {
RLT_NAMESPACE_BEGIN

RLT_LAZY std::tuple<Tensor, Tensor> _prelu_kernel_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  Tensor positive = self > 0;
  return {at::where(positive, grad_output, weight * grad_output), at::where(positive, at::zeros_like(self), self * grad_output)};
}
/// The derivative of glu along `dx`.
RLT_LAZY Tensor glu_jvp(const Tensor& glu, const Tensor& x, const Tensor& dx, int64_t dim) {
  int64_t half = x.size(dim) / 2;
  Tensor sigmoid = at::sigmoid(x.narrow(dim, half, half)), second = dx.narrow(dim, half, half);
  return dx.narrow(dim, 0, half) * sigmoid + second * (glu - sigmoid * glu);
}
RLT_LAZY Tensor _grid_sampler_2d_cpu_fallback(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  return at::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners);
}
RLT_LAZY std::tuple<Tensor, Tensor> _grid_sampler_2d_cpu_fallback_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                                                           int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  return at::grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, std::array<bool, 2>{true, true});
}
RLT_LAZY std::tuple<Tensor, Tensor> rrelu_with_noise_functional(const Tensor& self, const Tensor& noise, const Scalar& lower = 0.125,
                                                                const Scalar& upper = 0.3333333333333333, bool training = false,
                                                                std::optional<Generator> generator = {}) {
  Tensor slopes = noise.clone();
  Tensor result = at::rrelu_with_noise(self, slopes, lower, upper, training, generator);
  return {result, slopes};
}
/// The gradient of a packed sequence with respect to the padded one of sizes `input_size`.
RLT_LAZY Tensor _pack_padded_sequence_backward(const Tensor& grad, IntArrayRef input_size, const Tensor& batch_sizes, bool batch_first) {
  std::vector<int64_t> sizes = input_size.vec();
  if (batch_first) std::swap(sizes[0], sizes[1]);
  Tensor result = at::zeros(sizes, grad.options());
  int64_t offset = 0, step = 0;
  for (int64_t count : rlt::integers(batch_sizes)) {
    result[step++].narrow(0, 0, count).copy_(grad.narrow(0, offset, count));
    offset += count;
  }
  return batch_first ? result.transpose(0, 1) : result;
}
/// The gradient of the distances between all pairs of rows, in the order of pdist.
RLT_LAZY Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  Tensor pairs = at::triu_indices(self.size(0), self.size(0), 1);
  Tensor difference = self.index_select(0, pairs[0]) - self.index_select(0, pairs[1]);
  Tensor distance = pdist.unsqueeze(1), slope;
  if (p == 0) slope = at::zeros_like(difference);
  else if (p == 1) slope = difference.sign();
  else if (std::isinf(p)) slope = difference.sign() * (difference.abs() == distance).to(self.scalar_type());
  else slope = difference.sign() * (difference.abs() / distance).pow(p - 1).masked_fill(distance == 0, 0);
  Tensor each = slope * grad.unsqueeze(1);
  return at::zeros_like(self).index_add(0, pairs[0], each).index_add(0, pairs[1], each, -1);
}

// ---- Connectionist temporal classification with lengths as tensors ----

RLT_LAZY std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                                              int64_t blank = 0, bool zero_infinity = false) {
  return at::_ctc_loss(log_probs, targets, IntArrayRef(rlt::integers(input_lengths)), IntArrayRef(rlt::integers(target_lengths)), blank, zero_infinity);
}
RLT_LAZY Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                                   const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank, bool zero_infinity = false) {
  return at::_ctc_loss_backward(grad, log_probs, targets, IntArrayRef(rlt::integers(input_lengths)), IntArrayRef(rlt::integers(target_lengths)),
                                neg_log_likelihood, log_alpha, blank, zero_infinity);
}
RLT_LAZY std::tuple<Tensor&, Tensor&> _ctc_loss_out(Tensor& out0, Tensor& out1, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                                                    const Tensor& target_lengths, int64_t blank = 0, bool zero_infinity = false) {
  return rlt::copy_out("_ctc_loss", std::tie(out0, out1), at::_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity));
}

// ---- Bags of embeddings ----

namespace rlt_bags {

enum { Sum, Mean, Max };
/// The gradient of each embedding of each bag (sums and means).
RLT_LAZY Tensor of_embeddings(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size, bool scale_grad_by_freq, int64_t mode,
                              const std::optional<Tensor>& per_sample_weights, int64_t padding_idx, int64_t num_weights) {
  Tensor each = grad.index_select(0, offset2bag);
  if (mode == Mean) each = each / bag_size.index_select(0, offset2bag).unsqueeze(1);
  if (per_sample_weights && per_sample_weights->defined()) each = each * per_sample_weights->unsqueeze(1);
  if (scale_grad_by_freq) each = each / at::bincount(indices, {}, num_weights).index_select(0, indices).unsqueeze(1);
  return each.masked_fill((indices == padding_idx).unsqueeze(1), 0);
}

}  // namespace rlt_bags

RLT_LAZY std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq = false,
                                                                   int64_t mode = 0, bool sparse = false, const std::optional<Tensor>& per_sample_weights = {},
                                                                   bool include_last_offset = false, int64_t padding_idx = -1) {
  std::optional<int64_t> padding = padding_idx < 0 ? std::nullopt : std::make_optional(padding_idx);
  return at::embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding);
}
RLT_LAZY std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag_forward_only(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                                                                bool scale_grad_by_freq = false, int64_t mode = 0, bool sparse = false,
                                                                                const std::optional<Tensor>& per_sample_weights = {},
                                                                                bool include_last_offset = false, int64_t padding_idx = -1) {
  return at::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx);
}
RLT_LAZY Tensor _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                                              const Tensor& maximum_indices, int64_t num_weights, bool scale_grad_by_freq, int64_t mode,
                                              const std::optional<Tensor>& per_sample_weights, int64_t padding_idx = -1) {
  Tensor zeros = at::zeros({num_weights, grad.size(1)}, grad.options());
  if (mode == rlt_bags::Max) {
    Tensor filled = bag_size.nonzero().squeeze(1);
    return zeros.scatter_add(0, maximum_indices.index_select(0, filled).to(kLong), grad.index_select(0, filled));
  }
  return zeros.index_add(0, indices,
                         rlt_bags::of_embeddings(grad, indices, offset2bag, bag_size, scale_grad_by_freq, mode, per_sample_weights, padding_idx, num_weights));
}
RLT_LAZY Tensor _embedding_bag_sparse_backward(const Tensor& grad, const Tensor& indices, const Tensor&, const Tensor& offset2bag, const Tensor& bag_size,
                                               int64_t num_weights, bool scale_grad_by_freq, int64_t mode, const std::optional<Tensor>& per_sample_weights,
                                               int64_t padding_idx = -1) {
  TORCH_CHECK(mode != rlt_bags::Max, "_embedding_bag_sparse_backward: mode max has no sparse gradient");
  Tensor each = rlt_bags::of_embeddings(grad, indices, offset2bag, bag_size, scale_grad_by_freq, mode, per_sample_weights, padding_idx, num_weights);
  return at::sparse_coo_tensor(indices.to(kLong).unsqueeze(0), each, {num_weights, grad.size(1)});
}
RLT_LAZY Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag, const Tensor& bag_size,
                                        const Tensor& maximum_indices, int64_t num_weights, bool scale_grad_by_freq, int64_t mode, bool sparse,
                                        const std::optional<Tensor>& per_sample_weights, int64_t padding_idx = -1) {
  if (sparse) {
    return at::_embedding_bag_sparse_backward(grad, indices, offsets, offset2bag, bag_size, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
  }
  return at::_embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}
RLT_LAZY Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor&, const Tensor& offset2bag,
                                                           int64_t mode, int64_t padding_idx = -1) {
  TORCH_CHECK(mode == rlt_bags::Sum, "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  return (grad.index_select(0, offset2bag) * weight.index_select(0, indices)).sum(1).masked_fill(indices == padding_idx, 0);
}

RLT_OUT_1(_embedding_bag_dense_backward)
RLT_OUT_1(_embedding_bag_per_sample_weights_backward)
RLT_OUT_1(_grid_sampler_2d_cpu_fallback)
RLT_OUT_1(_pdist_backward)
RLT_OUT_1(glu_jvp)
RLT_OUT_4(_embedding_bag)
RLT_OUT_4(_embedding_bag_forward_only)

RLT_NAMESPACE_END
}  // namespace at
