// Looks up rows of an embedding table by index.
#pragma once

#include <c10/core/GradMode.h>
#include <torch/nn/detail/words.h>
#include <torch/nn/options/embedding.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace functional {

inline Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1) { return torch::one_hot(tensor, num_classes); }

namespace detail {
inline void renormalise_rows(Tensor weight, const Tensor& indices, double max_norm, double norm_type) {
  NoGradGuard guard;
  torch::embedding_renorm_(weight, indices, max_norm, norm_type);
}

inline Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx, std::optional<double> max_norm, double norm_type,
                        bool scale_grad_by_freq, bool sparse) {
  int64_t padding = -1;
  if (padding_idx) {
    padding = *padding_idx;
    int64_t rows = weight.size(0);
    if (padding > 0 && padding >= rows) rlt::raise<Error>("Padding_idx must be within num_embeddings");
    if (padding < -rows) rlt::raise<Error>("Padding_idx must be within num_embedding");
    if (padding < 0) padding += rows;
  }
  Tensor indices = input;
  if (max_norm) {
    indices = input.contiguous();
    renormalise_rows(weight, indices, *max_norm, norm_type);
  }
  return torch::embedding(weight, indices, padding, scale_grad_by_freq, sparse);
}
}  // namespace detail

inline Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {}) {
  return detail::embedding(input, weight, options.padding_idx(), options.max_norm(), options.norm_type(), options.scale_grad_by_freq(), options.sparse());
}

/// Sums, means or maxima of bags of rows.
inline Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {}) {
  using nn::detail::Words;
  Tensor indices = input, offsets = options.offsets(), factors = options.per_sample_weights();
  if (factors.defined() && !indices.sizes().equals(factors.sizes())) {
    Words("embedding_bag: If per_sample_weights (").add(factors.sizes()).add(") is not null, then it must have the same shape as the input (")
        .add(indices.sizes()).add(")").raise();
  }
  if (indices.dim() == 2) {
    if (offsets.defined()) {
      rlt::raise<Error>("If input is 2D, then offsets has to be null, as input is treated is a mini-batch of fixed length sequences. However, found offsets of type Tensor");
    }
    offsets = torch::arange(0, indices.numel(), indices.size(1), TensorOptions(kLong).device(indices.device()));
    indices = indices.reshape(-1);
    if (factors.defined()) factors = factors.reshape(-1);
  } else if (indices.dim() == 1) {
    if (!offsets.defined()) rlt::raise<Error>("offsets has to be a 1D Tensor but got null");
    if (offsets.dim() != 1) rlt::raise<Error>("offsets has to be a 1D Tensor");
  } else {
    Words("input has to be 1D or 2D Tensor, but got Tensor of dimension ").add(indices.dim()).raise();
  }
  size_t mode = options.mode().index();
  if (mode == 2 && options.scale_grad_by_freq()) rlt::raise<Error>("max mode does not support scaling the gradient by the frequency");
  if (mode == 2 && options.sparse()) rlt::raise<Error>("max mode does not support sparse weights");
  if (options.max_norm()) detail::renormalise_rows(weight, indices, *options.max_norm(), options.norm_type());
  if (factors.defined() && mode != 0) {
    Words("embedding_bag: per_sample_weights was not null. per_sample_weights is only supported for mode='kSum' (got mode='")
        .add(enumtype::get_enum_name(options.mode())).add("').Please open a feature request on GitHub.").raise();
  }
  return std::get<0>(torch::embedding_bag(weight, indices, offsets, options.scale_grad_by_freq(), static_cast<int64_t>(mode), options.sparse(), factors,
                                          options.include_last_offset(), options.padding_idx()));
}

}  // namespace functional
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
