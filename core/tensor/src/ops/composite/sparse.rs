//! Operators that create or expect sparse tensors. Calls with a sparse tensor do not arrive here: the layer of sparse tensors
//! calls their kernels. Calls with strided tensors only use the same kernels, which convert or report an error.

use crate::dispatch::Argument;
use crate::sparse::called;
use crate::{Options, Tensor, ops};
use rushlight_base::{DType, Layout, Result, Scalar, ensure};

macro_rules! through {
    ($($name:ident($($p:ident: $type:ty),*) -> $result:ty = $row:literal;)*) => {$(
        #[doc = concat!("`", $row, "`")]
        #[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
        pub fn $name($($p: $type),*) -> Result<$result> {
            called($row, &[$(&$p as &dyn Argument),*])
        }
    )*};
}

through! {
    sparse_coo_tensor_size(size: &[i64], options: Options) -> Tensor = "sparse_coo_tensor.size";
    sparse_coo_tensor_indices(indices: &Tensor, values: &Tensor, options: Options, is_coalesced: Option<bool>) -> Tensor
        = "sparse_coo_tensor.indices";
    sparse_coo_tensor_indices_size(indices: &Tensor, values: &Tensor, size: &[i64], options: Options, is_coalesced: Option<bool>) -> Tensor
        = "sparse_coo_tensor.indices_size";
    sparse_coo_tensor_unsafe(indices: &Tensor, values: &Tensor, size: &[i64], options: Options, is_coalesced: Option<bool>) -> Tensor
        = "_sparse_coo_tensor_unsafe";
    sparse_compressed_tensor(compressed: &Tensor, plain: &Tensor, values: &Tensor, size: &[i64], options: Options) -> Tensor
        = "sparse_compressed_tensor.comp_plain_value_size";
    sparse_compressed_tensor_unsafe(compressed: &Tensor, plain: &Tensor, values: &Tensor, size: &[i64], options: Options) -> Tensor
        = "_sparse_compressed_tensor_unsafe";
    sparse_compressed_tensor_unsized(compressed: &Tensor, plain: &Tensor, values: &Tensor, options: Options) -> Tensor
        = "sparse_compressed_tensor.comp_plain_value";
    sparse_csr_tensor(crow: &Tensor, col: &Tensor, values: &Tensor, size: &[i64], options: Options) -> Tensor
        = "sparse_csr_tensor.crow_col_value_size";
    sparse_csr_tensor_unsized(crow: &Tensor, col: &Tensor, values: &Tensor, options: Options) -> Tensor
        = "sparse_csr_tensor.crow_col_value";
    sparse_csc_tensor(ccol: &Tensor, row: &Tensor, values: &Tensor, size: &[i64], options: Options) -> Tensor
        = "sparse_csc_tensor.ccol_row_value_size";
    sparse_csc_tensor_unsized(ccol: &Tensor, row: &Tensor, values: &Tensor, options: Options) -> Tensor
        = "sparse_csc_tensor.ccol_row_value";
    sparse_raw_indices(self_: &Tensor) -> Tensor = "_indices";
    sparse_raw_values(self_: &Tensor) -> Tensor = "_values";
    sparse_indices(self_: &Tensor) -> Tensor = "indices";
    sparse_values(self_: &Tensor) -> Tensor = "values";
    crow_indices(self_: &Tensor) -> Tensor = "crow_indices";
    col_indices(self_: &Tensor) -> Tensor = "col_indices";
    ccol_indices(self_: &Tensor) -> Tensor = "ccol_indices";
    row_indices(self_: &Tensor) -> Tensor = "row_indices";
    sparse_nnz(self_: &Tensor) -> i64 = "_nnz";
    sparse_dim(self_: &Tensor) -> i64 = "sparse_dim";
    dense_dim(self_: &Tensor) -> i64 = "dense_dim";
    is_coalesced(self_: &Tensor) -> bool = "is_coalesced";
    coalesce(self_: &Tensor) -> Tensor = "coalesce";
    coalesced_(self_: &Tensor, coalesced: bool) -> () = "_coalesced_";
    to_dense(self_: &Tensor, dtype: Option<DType>, masked_grad: Option<bool>) -> Tensor = "to_dense";
    to_dense_backward(grad: &Tensor, input: &Tensor, masked_grad: Option<bool>) -> Tensor = "to_dense_backward";
    to_sparse_sparse_dim(self_: &Tensor, sparse_dim: i64) -> Tensor = "to_sparse.sparse_dim";
    to_sparse(self_: &Tensor, layout: Option<Layout>, blocksize: Option<&[i64]>, dense_dim: Option<i64>) -> Tensor = "to_sparse";
    to_sparse_csr(self_: &Tensor, dense_dim: Option<i64>) -> Tensor = "to_sparse_csr";
    to_sparse_csc(self_: &Tensor, dense_dim: Option<i64>) -> Tensor = "to_sparse_csc";
    sparse_mask(self_: &Tensor, mask: &Tensor) -> Tensor = "sparse_mask";
    sparse_resize_(self_: &Tensor, size: &[i64], sparse_dim: i64, dense_dim: i64) -> () = "sparse_resize_";
    sparse_resize_and_clear_(self_: &Tensor, size: &[i64], sparse_dim: i64, dense_dim: i64) -> () = "sparse_resize_and_clear_";
    resize_as_sparse_(self_: &Tensor, the_template: &Tensor) -> () = "resize_as_sparse_";
    copy_sparse_to_sparse_(self_: &Tensor, src: &Tensor, non_blocking: bool) -> () = "copy_sparse_to_sparse_";
    sparse_mm(sparse: &Tensor, dense: &Tensor) -> Tensor = "_sparse_mm";
    hspmm(mat1: &Tensor, mat2: &Tensor) -> Tensor = "hspmm";
    smm(self_: &Tensor, mat2: &Tensor) -> Tensor = "smm";
    sspaddmm(self_: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Tensor = "sspaddmm";
    sparse_sampled_addmm(self_: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Tensor
        = "sparse_sampled_addmm";
    sparse_sum(self_: &Tensor) -> Tensor = "_sparse_sum";
    sparse_sum_dtype(self_: &Tensor, dtype: DType) -> Tensor = "_sparse_sum.dtype";
    sparse_sum_dim(self_: &Tensor, dim: &[i64]) -> Tensor = "_sparse_sum.dim";
    sparse_sum_backward(grad: &Tensor, self_: &Tensor, dim: &[i64]) -> Tensor = "_sparse_sum_backward";
    sparse_csr_sum(self_: &Tensor, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Tensor = "_sparse_csr_sum.dim_dtype";
    sparse_csr_prod(self_: &Tensor, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Tensor = "_sparse_csr_prod.dim_dtype";
    native_norm(self_: &Tensor, p: Scalar) -> Tensor = "native_norm";
    native_norm_dim(self_: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Tensor
        = "native_norm.ScalarOpt_dim_dtype";
    sparse_softmax(self_: &Tensor, dim: i64, half_to_float: bool) -> Tensor = "_sparse_softmax";
    sparse_softmax_int(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Tensor = "_sparse_softmax.int";
    sparse_log_softmax(self_: &Tensor, dim: i64, half_to_float: bool) -> Tensor = "_sparse_log_softmax";
    sparse_log_softmax_int(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Tensor = "_sparse_log_softmax.int";
    sparse_softmax_backward_data(grad_output: &Tensor, output: &Tensor, dim: i64, self_: &Tensor) -> Tensor
        = "_sparse_softmax_backward_data";
    sparse_log_softmax_backward_data(grad_output: &Tensor, output: &Tensor, dim: i64, self_: &Tensor) -> Tensor
        = "_sparse_log_softmax_backward_data";
    sparse_broadcast_to(self_: &Tensor, size: &[i64]) -> Tensor = "_sparse_broadcast_to";
    sparse_mask_projection(self_: &Tensor, mask: &Tensor, accumulate_matches: bool) -> Tensor = "_sparse_mask_projection";
    sparse_mm_reduce_impl(self_: &Tensor, other: &Tensor, reduce: &str) -> (Tensor, Tensor) = "_sparse_mm_reduce_impl";
    sparse_compressed_tensor_with_dims(nnz: i64, dense_dim: i64, size: &[i64], blocksize: &[i64], index_dtype: DType, options: Options) -> Tensor
        = "_sparse_compressed_tensor_with_dims";
    sparse_sum_dim_dtype(self_: &Tensor, dim: &[i64], dtype: DType) -> Tensor = "_sparse_sum.dim_dtype";
}

/// The gradient of `embedding` by its table: the rows of `grad` at their indices, except those of the padding.
pub fn embedding_sparse_backward(
    grad: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor> {
    ensure!(!scale_grad_by_freq, Runtime, "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
    ops::rules::check_rows("embedding_backward", 2, indices.dtype())?;
    let width = grad.sizes().last().copied().unwrap_or(1);
    let rows = ops::reshape(&ops::to_dtype(indices, DType::I64, false, false, None)?, &[-1])?;
    let values = ops::reshape(grad, &[rows.numel(), width])?;
    let (rows, values) = if padding_idx == -1 {
        (rows, values)
    } else {
        let kept = ops::reshape(&ops::nonzero(&ops::ne_scalar(&rows, Scalar::Int(padding_idx))?)?, &[-1])?;
        (ops::index_select(&rows, 0, &kept)?, ops::index_select(&values, 0, &kept)?)
    };
    ops::_sparse_coo_tensor_unsafe(&ops::unsqueeze(&rows, 0)?, &values, &[num_weights, width], values.options(), None)
}
