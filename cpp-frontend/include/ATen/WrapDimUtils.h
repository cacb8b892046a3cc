// at::maybe_wrap_dim and similar: dimensions that may be negative, for one tensor, for lists of tensors and for lists of dimensions.
#pragma once

#include <ATen/core/TensorBody.h>
#include <c10/core/WrapDimMinimal.h>

#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

using c10::maybe_wrap_dim;

/// All tensors of a list have the same number of dimensions; without tensors the dimension stays.
inline int64_t maybe_wrap_dim(int64_t dim, TensorList tensors) { return tensors.empty() ? dim : maybe_wrap_dim(dim, tensors[0].dim()); }
inline int64_t maybe_wrap_dim(int64_t dim, const std::vector<std::vector<int64_t>>& tensor_sizes) {
  return tensor_sizes.empty() ? dim : maybe_wrap_dim(dim, static_cast<int64_t>(tensor_sizes[0].size()));
}

/// Replaces each dimension by its index.
inline void maybe_wrap_dims_n(int64_t* dims, int64_t ndims, int64_t dim_post_expr, bool wrap_scalars = true) {
  if (dim_post_expr <= 0 && !wrap_scalars) {
    TORCH_CHECK_INDEX(ndims == 0, "Dimension specified as ", dims[0], " but tensor has no dimensions");
    return;
  }
  for (int64_t i = 0; i < ndims; ++i) dims[i] = maybe_wrap_dim(dims[i], dim_post_expr, wrap_scalars);
}
template <class Container>
void maybe_wrap_dims(Container& dims, int64_t dim_post_expr, bool wrap_scalars = true) {
  maybe_wrap_dims_n(dims.data(), static_cast<int64_t>(dims.size()), dim_post_expr, wrap_scalars);
}

/// The dimension of `cat`, which skips tensors of size [0].
inline int64_t legacy_cat_wrap_dim(int64_t dim, const std::vector<std::vector<int64_t>>& tensor_sizes) {
  for (const std::vector<int64_t>& sizes : tensor_sizes) {
    if (sizes.size() != 1 || sizes[0] != 0) return maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  }
  return dim;
}
inline int64_t legacy_cat_wrap_dim(int64_t dim, TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() != 1 || tensor.size(0) != 0) return maybe_wrap_dim(dim, tensor.dim());
  }
  return dim;
}

inline void wrap_all_dims(std::vector<int64_t>& dims, int64_t tensor_total_dims) {
  for (int64_t& dim : dims) dim = maybe_wrap_dim(dim, tensor_total_dims);
}

RLT_NAMESPACE_END
}  // namespace at
