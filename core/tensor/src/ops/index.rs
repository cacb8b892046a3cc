//! Kernels of indexing and concatenation.

use super::access::{array, copy_into, copy_unless_same, sub_array};
use super::rules::is_skipped;
use crate::dense::{Dense, Geometry};
use rushlight_base::{Result, Scalar, wrap_dim};
use rushlight_cpu::{Loop, convert, index};

/// out = slices of self at index along dim
pub fn index_select(out: &Dense, self_: &Dense, dim: i64, index: &Dense) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    index::index_select(&array(out), &array(self_), dim, &array(index))
}

/// out = self, plus alpha source at index along dim
pub fn index_add(out: &Dense, self_: &Dense, dim: i64, index: &Dense, source: &Dense, alpha: Scalar) -> Result<()> {
    copy_unless_same(out, self_)?;
    let dim = wrap_dim(dim, self_.ndim())?;
    index::index_add(&array(out), dim, &array(index), &array(source), alpha)
}

/// out = elements of self at index along dim
pub fn gather(out: &Dense, self_: &Dense, dim: i64, index: &Dense, _sparse_grad: bool) -> Result<()> {
    if index.numel() == 0 {
        return Ok(());
    }
    index::gather(&array(out), &array(self_), wrap_dim(dim, self_.ndim())?, &array(index))
}

/// out = self with src written at index along dim
pub fn scatter_src(out: &Dense, self_: &Dense, dim: i64, index: &Dense, src: &Dense) -> Result<()> {
    copy_unless_same(out, self_)?;
    if index.numel() == 0 {
        return Ok(());
    }
    index::scatter(&array(out), wrap_dim(dim, self_.ndim())?, &array(index), &array(src))
}

/// out = self with value written at index along dim
pub fn scatter_value(out: &Dense, self_: &Dense, dim: i64, index: &Dense, value: Scalar) -> Result<()> {
    copy_unless_same(out, self_)?;
    if index.numel() == 0 {
        return Ok(());
    }
    index::scatter_value(&array(out), wrap_dim(dim, self_.ndim())?, &array(index), value)
}

/// out = self with src added at index along dim
pub fn scatter_add(out: &Dense, self_: &Dense, dim: i64, index: &Dense, src: &Dense) -> Result<()> {
    copy_unless_same(out, self_)?;
    if index.numel() == 0 {
        return Ok(());
    }
    index::scatter_add(&array(out), wrap_dim(dim, self_.ndim())?, &array(index), &array(src))
}

/// out = tensors, one after another along dim
pub fn cat(out: &Dense, tensors: &[Dense], dim: i64) -> Result<()> {
    let dim = wrap_dim(dim, out.ndim())?;
    let mut part = out.geometry.clone();
    for tensor in tensors.iter().filter(|tensor| !is_skipped(tensor.sizes())) {
        part.sizes[dim] = tensor.sizes()[dim];
        convert::copy(&Loop::new([sub_array(out, &part), array(tensor)])?)?;
        part.offset += part.sizes[dim] * part.strides[dim];
    }
    Ok(())
}

/// Zeros in `out`, then `grad` in the part of it that `part` names.
fn embed(out: &Dense, grad: &Dense, part: &Geometry) -> Result<()> {
    rushlight_cpu::fill::fill(&Loop::new([array(out)])?, Scalar::Int(0))?;
    copy_into(&out.with_geometry(part.clone()), grad)
}

/// out = 0 with grad at index of dim
pub fn select_backward(out: &Dense, grad_output: &Dense, _input_sizes: &[i64], dim: i64, index: i64) -> Result<()> {
    embed(out, grad_output, &super::views::select(out, dim, index)?)
}

/// out = 0 with grad in the slice of dim
pub fn slice_backward(
    out: &Dense,
    grad_output: &Dense,
    _input_sizes: &[i64],
    dim: i64,
    start: i64,
    end: i64,
    step: i64,
) -> Result<()> {
    embed(out, grad_output, &super::views::slice(out, dim, Some(start), Some(end), step)?)
}
