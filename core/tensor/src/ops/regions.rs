//! Kernels that write into regions of their output: concatenation, padding, slices replaced, triangles.

use super::access::{array, copy_into, copy_unless_same, over, sub_array};
use super::rules::is_skipped;
use super::views;
use crate::dense::{Dense, Geometry};
use rushlight_base::{Result, Scalar, list, wrap_dim};
use rushlight_cpu::triangle::{self, Triangle};
use rushlight_cpu::{Array, Loop, arithmetic, concat, convert, fill};

/// out = tensors, one after another along dim
pub fn cat(out: &Dense, tensors: &[Dense], dim: i64) -> Result<()> {
    let dim = wrap_dim(dim, out.ndim())?;
    let parts = tensors.iter().filter(|tensor| !is_skipped(tensor.sizes())).map(array);
    let parts: Vec<Array> = list::collect(parts)?;
    if concat::concat(&array(out), &parts, dim)? {
        return Ok(());
    }
    let mut part = out.geometry.clone();
    for tensor in parts {
        part.sizes[dim] = tensor.sizes()[dim];
        convert::copy(&Loop::new([sub_array(out, &part), tensor])?)?;
        part.offset += part.sizes[dim] * part.strides[dim];
    }
    Ok(())
}

/// Zeros in `out`, then `grad` in the part of it that `part` names.
fn embed(out: &Dense, grad: &Dense, part: &Geometry) -> Result<()> {
    fill::fill(&Loop::new([array(out)])?, Scalar::Int(0))?;
    copy_into(&out.with_geometry(part.clone()), grad)
}

/// out = 0 with grad at index of dim
pub fn select_backward(out: &Dense, grad_output: &Dense, _input_sizes: &[i64], dim: i64, index: i64) -> Result<()> {
    embed(out, grad_output, &views::select(out, dim, index)?)
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
    embed(out, grad_output, &views::slice(out, dim, Some(start), Some(end), step)?)
}

/// out = self, with src in the region that `part` selects
fn replace(out: &Dense, self_: &Dense, src: &Dense, part: Geometry) -> Result<()> {
    copy_unless_same(out, self_)?;
    copy_into(&out.with_geometry(part), src)
}

/// out = self with src in one slice
pub fn select_scatter(out: &Dense, self_: &Dense, src: &Dense, dim: i64, index: i64) -> Result<()> {
    replace(out, self_, src, views::select(out, dim, index)?)
}

/// out = self with src in slices with a step
pub fn slice_scatter(
    out: &Dense,
    self_: &Dense,
    src: &Dense,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<()> {
    replace(out, self_, src, views::slice(out, dim, start, end, step)?)
}

/// out = self with src on a diagonal
pub fn diagonal_scatter(out: &Dense, self_: &Dense, src: &Dense, offset: i64, dim1: i64, dim2: i64) -> Result<()> {
    replace(out, self_, src, views::diagonal(out, offset, dim1, dim2)?)
}

/// The region of `out` that as_strided selects in `self_`; `out` has the strides of `self_` and separate memory.
fn strided_region(
    out: &Dense,
    self_: &Dense,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Geometry> {
    let own = self_.geometry.offset;
    views::as_strided(out, size, stride, Some(storage_offset.unwrap_or(own) - own + out.geometry.offset))
}

/// out = self with src in the region that as_strided selects
pub fn as_strided_scatter(
    out: &Dense,
    self_: &Dense,
    src: &Dense,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<()> {
    replace(out, self_, src, strided_region(out, self_, size, stride, storage_offset)?)
}

/// out = the windows of grad accumulated at their positions
pub fn unfold_backward(
    out: &Dense,
    grad_in: &Dense,
    _input_sizes: &[i64],
    dim: i64,
    size: i64,
    step: i64,
) -> Result<()> {
    fill::fill(&Loop::new([array(out)])?, Scalar::Int(0))?;
    if out.numel() == 0 {
        return Ok(());
    }
    if out.ndim() == 0 {
        return if size == 0 { Ok(()) } else { copy_into(out, &grad_in.with_geometry(views::select(grad_in, 0, 0)?)) };
    }
    let dim = wrap_dim(dim, out.ndim())?;
    let windows = grad_in.sizes()[dim];
    for at in 0..size {
        // The elements of one position in all windows: no two of them overlap.
        let last = (windows - 1).saturating_mul(step).saturating_add(at + 1);
        let part = out.with_geometry(views::slice(out, dim as i64, Some(at), Some(last), step)?);
        let from = grad_in.with_geometry(views::select(grad_in, -1, at)?);
        over(out.dtype, [&part, &part, &from], |walk| arithmetic::add(walk, Scalar::Int(1)))?;
    }
    Ok(())
}

/// out = value, with self in the middle
pub fn constant_pad_nd(out: &Dense, self_: &Dense, pad: &[i64], value: Scalar) -> Result<()> {
    fill::fill(&Loop::new([array(out)])?, value)?;
    let (mut to, mut from) = (out.geometry.clone(), self_.geometry.clone());
    for (nth, widths) in pad.chunks_exact(2).enumerate() {
        let dim = out.ndim() - 1 - nth;
        // A negative width crops elements, which are not read; a positive one adds elements, which are not written.
        let (left, right) = (widths[0], widths[1]);
        from.offset += from.strides[dim] * (-left).max(0);
        from.sizes[dim] -= (-left).max(0) + (-right).max(0);
        to.offset += to.strides[dim] * left.max(0);
        to.sizes[dim] = from.sizes[dim];
    }
    copy_into(&out.with_geometry(to), &self_.with_geometry(from))
}

/// out = self below a diagonal, zeros above
pub fn tril(out: &Dense, self_: &Dense, diagonal: i64) -> Result<()> {
    triangle::triangle(&array(out), &array(self_), Triangle::Lower, diagonal)
}

/// out = self above a diagonal, zeros below
pub fn triu(out: &Dense, self_: &Dense, diagonal: i64) -> Result<()> {
    triangle::triangle(&array(out), &array(self_), Triangle::Upper, diagonal)
}
