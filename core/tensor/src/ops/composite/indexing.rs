//! Composite operators: indices, diagonals.

use crate::autograd::{formulas, should_record};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, bail, ensure, wrap_dim};

/// The gradient of `index_select`: the gradient's slices added up where they came from.
pub fn index_select_backward(grad: &Tensor, self_sizes: &[i64], dim: i64, index: &Tensor) -> Result<Tensor> {
    ops::index_add(&ops::zeros(self_sizes, grad.options())?, dim, index, grad, Scalar::Int(1))
}

/// Elements at indices along a dimension, which broadcast with the tensor; of all elements without a dimension.
pub fn take_along_dim(self_: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let (self_, dim, indices) = broadcast_along(self_, indices, dim)?;
    ops::gather(&self_, dim, &indices, false)
}

/// Like `take_along_dim`, written to `out`.
pub fn take_along_dim_out(self_: &Tensor, indices: &Tensor, dim: Option<i64>, out: &Tensor) -> Result<()> {
    let (self_, dim, indices) = broadcast_along(self_, indices, dim)?;
    ops::gather_out(&self_, dim, &indices, false, out)
}

/// A tensor and indices in shapes that agree in all dimensions but one.
fn broadcast_along(self_: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<(Tensor, i64, Tensor)> {
    let Some(dim) = dim else {
        return Ok((ops::reshape(self_, &[-1])?, 0, ops::reshape(indices, &[-1])?));
    };
    ensure!(
        self_.ndim() == indices.ndim(),
        Runtime,
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for \
         input, and {} dimensions for indices",
        self_.ndim(),
        indices.ndim()
    );
    ensure!(
        indices.dtype() == DType::I64,
        Runtime,
        "torch.take_along_dim(): dtype of indices should be Long but got {}",
        indices.dtype().c10_name()
    );
    let dim = wrap_dim(dim, self_.ndim())?;
    let (mut own, mut others) = (self_.sizes(), indices.sizes());
    for at in (0..own.len()).filter(|&at| at != dim) {
        // `expand` rejects sizes that differ and are not 1.
        let size = if own[at] == 1 { others[at] } else { own[at] };
        (own[at], others[at]) = (size, size);
    }
    Ok((ops::expand(self_, &own, false)?, dim as i64, ops::expand(indices, &others, false)?))
}

/// The coordinates of the elements that differ from zero.
pub fn argwhere(self_: &Tensor) -> Result<Tensor> {
    ops::nonzero(self_)
}

/// The last dimension on the diagonal of two new ones.
pub fn diag_embed(self_: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Index, "diag_embed(): a 0-dim tensor has no diagonal");
    let rank = self_.ndim() + 1;
    let (first, second) = (wrap_dim(dim1, rank)?, wrap_dim(dim2, rank)?);
    ensure!(first != second, Runtime, "diagonal dimensions cannot be identical {dim1}, {dim2}");
    let side = self_.sizes()[self_.ndim() - 1].saturating_add(offset.saturating_abs());
    let mut sizes = self_.sizes();
    sizes.truncate(rank - 2);
    for dim in [first.min(second), first.max(second)] {
        sizes.insert(dim, side);
    }
    let (result, first, second) = (ops::zeros(&sizes, self_.options())?, first as i64, second as i64);
    if should_record([self_]) {
        return ops::diagonal_scatter(&result, self_, offset, first, second);
    }
    ops::copy_(&ops::diagonal(&result, offset, first, second)?, self_, false)?;
    Ok(result)
}

/// A matrix's diagonal, or a matrix with a vector on its diagonal.
pub fn diag(self_: &Tensor, diagonal: i64) -> Result<Tensor> {
    match self_.ndim() {
        1 => diag_embed(self_, diagonal, 0, 1),
        2 => ops::clone(&ops::diagonal(self_, diagonal, 0, 1)?, None),
        ndim => bail!(Runtime, "diag(): Supports 1D or 2D tensors. Got {ndim}D"),
    }
}

/// A matrix with all elements on its diagonal.
pub fn diagflat(self_: &Tensor, offset: i64) -> Result<Tensor> {
    diag_embed(&ops::reshape(self_, &[-1])?, offset, 0, 1)
}

/// The gradient of `gather`: added where the elements were taken from.
pub fn gather_backward(grad: &Tensor, self_: &Tensor, dim: i64, index: &Tensor, sparse_grad: bool) -> Result<Tensor> {
    ensure!(!sparse_grad, NotImplemented, "gather_backward: sparse gradients are not supported");
    ops::scatter_add(&ops::zeros(&self_.sizes(), grad.options())?, dim, index, grad)
}

/// The gradient of `masked_select`.
pub fn masked_select_backward(grad: &Tensor, input: &Tensor, mask: &Tensor) -> Result<Tensor> {
    formulas::masked_select(&grad.into(), &input.into(), &mask.into()).into_tensor()
}

/// The gradient of `masked_scatter` by its source.
pub fn masked_scatter_backward(grad_output: &Tensor, mask: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    formulas::masked_scatter_source(&grad_output.into(), &mask.into(), sizes).into_tensor()
}

/// The gradient of `diagonal`.
pub fn diagonal_backward(
    grad_output: &Tensor,
    input_sizes: &[i64],
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<Tensor> {
    let zeros = ops::zeros(input_sizes, grad_output.options())?;
    let part = ops::diagonal(&zeros, offset, dim1, dim2)?.sizes().to_vec();
    ops::diagonal_scatter(&zeros, &ops::expand(grad_output, &part, false)?, offset, dim1, dim2)
}

/// A view of the storage with the geometry of `src`.
pub fn slice_inverse(
    self_: &Tensor,
    src: &Tensor,
    _dim: i64,
    _start: Option<i64>,
    _end: Option<i64>,
    _step: i64,
) -> Result<Tensor> {
    ops::as_strided(self_, &src.sizes(), &src.strides(), Some(src.storage_offset()))
}

/// Writes a number to the main diagonal, and for tall matrices to those of the blocks below it.
pub fn fill_diagonal_(self_: &Tensor, fill_value: Scalar, wrap: bool) -> Result<()> {
    let (sizes, strides) = (self_.sizes(), self_.strides());
    ensure!(sizes.len() >= 2, Runtime, "dimensions must larger than 1");
    let equal = sizes.iter().all(|&size| size == sizes[0]);
    ensure!(sizes.len() == 2 || equal, Runtime, "all dimensions of input must be of equal length");
    let (offset, along) = (self_.storage_offset(), strides.iter().fold(0, |sum: i64, step| sum.saturating_add(*step)));
    let fill = |size: &[i64], stride: &[i64], offset: i64| {
        ops::fill_scalar_(&ops::as_strided(self_, size, stride, Some(offset))?, fill_value)
    };
    let (rows, columns) = (sizes[0], sizes[1]);
    if !wrap || sizes.len() > 2 || rows <= columns {
        return fill(&[rows.min(columns)], &[along], offset);
    }
    // The whole blocks, each with the row below it, and the rest of the last block.
    let block = columns + 1;
    let (blocks, rest) = (rows / block, rows % block);
    fill(&[blocks, columns], &[block * strides[0], along], offset)?;
    if rest > 0 { fill(&[rest.min(columns)], &[along], offset + blocks * block * strides[0]) } else { Ok(()) }
}
