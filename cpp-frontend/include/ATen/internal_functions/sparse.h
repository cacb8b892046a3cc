// Sparse tensors: construction without and with checks, conversion of indices, and products.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/out_forms.h>

namespace at {
RLT_NAMESPACE_BEGIN

RLT_LAZY Tensor _coalesce(const Tensor& self) { return self.coalesce(); }
RLT_LAZY Tensor _indices_copy(const Tensor& self) { return self._indices().clone(); }
RLT_LAZY Tensor _values_copy(const Tensor& self) { return self._values().clone(); }
RLT_LAZY Tensor indices_copy(const Tensor& self) { return self.indices().clone(); }
RLT_LAZY Tensor values_copy(const Tensor& self) { return self.values().clone(); }
RLT_LAZY Tensor crow_indices_copy(const Tensor& self) { return self.crow_indices().clone(); }
RLT_LAZY Tensor col_indices_copy(const Tensor& self) { return self.col_indices().clone(); }
RLT_LAZY Tensor ccol_indices_copy(const Tensor& self) { return self.ccol_indices().clone(); }
RLT_LAZY Tensor row_indices_copy(const Tensor& self) { return self.row_indices().clone(); }

// ---- Construction ----

RLT_LAZY Tensor _sparse_csr_tensor_unsafe(const Tensor& crow_indices, const Tensor& col_indices, const Tensor& values, IntArrayRef size, TensorOptions options = {}) {
  return at::_sparse_compressed_tensor_unsafe(crow_indices, col_indices, values, size, options.layout(kSparseCsr));
}
RLT_LAZY Tensor _sparse_csc_tensor_unsafe(const Tensor& ccol_indices, const Tensor& row_indices, const Tensor& values, IntArrayRef size, TensorOptions options = {}) {
  return at::_sparse_compressed_tensor_unsafe(ccol_indices, row_indices, values, size, options.layout(kSparseCsc));
}
/// A tensor without specified elements.
RLT_LAZY Tensor _sparse_coo_tensor_with_dims(int64_t sparse_dim, int64_t dense_dim, IntArrayRef size, TensorOptions options = {}) {
  TORCH_CHECK(static_cast<int64_t>(size.size()) == sparse_dim + dense_dim, "_sparse_coo_tensor_with_dims: number of dimensions must be sparse_dim (", sparse_dim,
              ") + dense_dim (", dense_dim, "), but got ", size.size());
  std::vector<int64_t> values = size.slice(static_cast<size_t>(sparse_dim)).vec();
  values.insert(values.begin(), 0);
  return at::_sparse_coo_tensor_unsafe(at::empty({sparse_dim, 0}, TensorOptions(kLong)), at::empty(values, options.layout(kStrided)), size);
}
RLT_LAZY Tensor _sparse_coo_tensor_with_dims_and_tensors(int64_t, int64_t, IntArrayRef size, const Tensor& indices, const Tensor& values, TensorOptions options = {},
                                                         std::optional<bool> is_coalesced = {}) {
  return at::_sparse_coo_tensor_unsafe(indices, values, size, options, is_coalesced);
}
RLT_LAZY void _validate_sparse_csr_tensor_args(const Tensor& crow_indices, const Tensor& col_indices, const Tensor& values, IntArrayRef size) {
  at::sparse_csr_tensor(crow_indices, col_indices, values, size);
}
RLT_LAZY void _validate_sparse_csc_tensor_args(const Tensor& ccol_indices, const Tensor& row_indices, const Tensor& values, IntArrayRef size) {
  at::sparse_csc_tensor(ccol_indices, row_indices, values, size);
}
RLT_LAZY void _validate_sparse_compressed_tensor_args(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values, IntArrayRef size,
                                                      Layout layout) {
  at::sparse_compressed_tensor(compressed_indices, plain_indices, values, size, values.options().layout(layout));
}
RLT_LAZY void _validate_compressed_sparse_indices(bool is_crow, const Tensor& compressed_idx, const Tensor& plain_idx, int64_t cdim, int64_t dim, int64_t nnz) {
  Tensor values = at::empty({nnz}, TensorOptions(kChar));
  if (is_crow) at::sparse_csr_tensor(compressed_idx, plain_idx, values, {cdim, dim});
  else at::sparse_csc_tensor(compressed_idx, plain_idx, values, {dim, cdim});
}
/// A matrix with the rows of `diagonals` on the diagonals `offsets`.
RLT_LAZY Tensor _spdiags(const Tensor& diagonals, const Tensor& offsets, IntArrayRef shape, std::optional<Layout> layout = {}) {
  Tensor rows_of = diagonals.dim() == 1 ? diagonals.unsqueeze(0) : diagonals, starts = offsets.dim() == 0 ? offsets.unsqueeze(0) : offsets;
  TORCH_CHECK(shape.size() == 2 && rows_of.dim() == 2 && starts.size(0) == rows_of.size(0),
              "_spdiags: expected a matrix of diagonals with an offset for each row, but got shapes ", diagonals.sizes(), " and ", offsets.sizes());
  Tensor columns = at::arange(rows_of.size(1), TensorOptions(kLong)).expand(rows_of.sizes());
  Tensor rows = columns - starts.unsqueeze(1);
  Tensor inside = (rows >= 0).logical_and(rows < shape[0]).logical_and(columns < shape[1]);
  Tensor result = at::sparse_coo_tensor(at::stack({rows.masked_select(inside), columns.masked_select(inside)}), rows_of.masked_select(inside), shape);
  if (layout == kSparseCsr) return result.to_sparse_csr();
  return layout == kSparseCsc ? result.to_sparse_csc() : result;
}

// ---- Indices ----

/// The compressed form of sorted row indices: for each row the number of indices before it.
RLT_LAZY Tensor _convert_indices_from_coo_to_csr(const Tensor& self, int64_t size, bool out_int32 = false) {
  return at::searchsorted(self, at::arange(size + 1, self.options()), out_int32);
}
/// Rows and columns (columns and rows if `transpose`).
RLT_LAZY Tensor _convert_indices_from_csr_to_coo(const Tensor& crow_indices, const Tensor& col_indices, bool out_int32 = false, bool transpose = false) {
  TORCH_CHECK(crow_indices.dim() == 1 && col_indices.dim() == 1, "_convert_indices_from_csr_to_coo: batches are not supported, got shapes ", crow_indices.sizes(),
              " and ", col_indices.sizes());
  Tensor rows = at::repeat_interleave(at::arange(crow_indices.size(0) - 1, crow_indices.options()), crow_indices.diff());
  return at::stack({transpose ? col_indices : rows, transpose ? rows : col_indices}).to(out_int32 ? kInt : kLong);
}

// ---- Arithmetic ----

RLT_LAZY Tensor _sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1) {
  return at::addmm(self, mat1, mat2, beta, alpha);
}
RLT_LAZY Tensor _sparse_sparse_matmul(const Tensor& self, const Tensor& other) { return at::mm(self, other); }
/// The product of a sparse matrix in CSR format and a dense one, with another reduction of the terms than their sum.
RLT_LAZY Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense, std::string_view reduce) {
  return reduce == "sum" ? at::_sparse_mm(sparse, dense) : std::get<0>(at::_sparse_mm_reduce_impl(sparse, dense, reduce));
}
/// The gradient of gather with respect to its input.
RLT_LAZY Tensor _gather_sparse_backward(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& grad) {
  if (self.dim() == 0) return at::sparse_coo_tensor(at::empty({0, grad.numel()}, TensorOptions(kLong)), grad.reshape({-1}), self.sizes());
  std::vector<Tensor> coordinates;
  for (int64_t d = 0; d < self.dim(); ++d) {
    std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
    sizes[static_cast<size_t>(d)] = -1;
    Tensor all = d == dim ? index : at::arange(index.size(d), index.options()).reshape(sizes).expand(index.sizes());
    coordinates.push_back(all.reshape({-1}));
  }
  return at::sparse_coo_tensor(at::stack(coordinates), grad.reshape({-1}), self.sizes());
}

RLT_LAZY Tensor& _sparse_coo_tensor_with_dims_out(Tensor& out, int64_t sparse_dim, int64_t dense_dim, IntArrayRef size) {
  return rlt::copy_out("_sparse_coo_tensor_with_dims", out, at::_sparse_coo_tensor_with_dims(sparse_dim, dense_dim, size, out.options()));
}
RLT_LAZY Tensor& _sparse_coo_tensor_with_dims_and_tensors_out(Tensor& out, int64_t sparse_dim, int64_t dense_dim, IntArrayRef size, const Tensor& indices,
                                                              const Tensor& values, std::optional<bool> is_coalesced = {}) {
  Tensor result = at::_sparse_coo_tensor_with_dims_and_tensors(sparse_dim, dense_dim, size, indices, values, out.options(), is_coalesced);
  return rlt::copy_out("_sparse_coo_tensor_with_dims_and_tensors", out, result);
}

RLT_OUT_METHOD(_to_dense)
RLT_OUT_METHOD(_to_sparse)
RLT_OUT_METHOD(_to_sparse_bsc)
RLT_OUT_METHOD(_to_sparse_bsr)
RLT_OUT_METHOD(_to_sparse_csc)
RLT_OUT_METHOD(_to_sparse_csr)
RLT_OUT_1(_coalesce)
RLT_OUT_1(_convert_indices_from_coo_to_csr)
RLT_OUT_1(_convert_indices_from_csr_to_coo)
RLT_OUT_1(_indices_copy)
RLT_OUT_1(_sparse_addmm)
RLT_OUT_1(_sparse_sparse_matmul)
RLT_OUT_1(_spdiags)
RLT_OUT_1(_values_copy)
RLT_OUT_1(ccol_indices_copy)
RLT_OUT_1(col_indices_copy)
RLT_OUT_1(crow_indices_copy)
RLT_OUT_1(indices_copy)
RLT_OUT_1(row_indices_copy)
RLT_OUT_1(values_copy)

RLT_NAMESPACE_END
}  // namespace at
