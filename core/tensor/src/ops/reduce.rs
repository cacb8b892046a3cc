//! Kernels of reductions: the output is given the rank of the input back, with size 1 where it is reduced.

use super::access::{Operand, array, array_as};
use super::rules::DimSet;
use crate::dense::Dense;
use rushlight_base::{DType, DimVec, Result, smallvec, wrap_dim};
use rushlight_cpu::Array;
use rushlight_cpu::extrema::{Extremum, extremum};

/// Sizes and strides of `out` with the reduced dimensions of `self_` put back.
fn kept(out: &Dense, self_: &Dense, dims: DimSet) -> (DimVec, DimVec) {
    let keepdim = out.ndim() == self_.ndim();
    let (mut sizes, mut strides, mut at) = (DimVec::new(), DimVec::new(), 0);
    for dim in 0..self_.ndim() {
        let reduced = dims.contains(dim);
        sizes.push(if reduced { 1 } else { out.sizes()[at] });
        strides.push(if reduced { 1 } else { out.strides()[at] });
        at += usize::from(keepdim || !reduced);
    }
    (sizes, strides)
}

/// Runs `kernel` on `out` and on `self_` in `dtype`.
fn reduce(
    out: &Dense,
    self_: &Dense,
    dim: Option<&[i64]>,
    dtype: DType,
    kernel: impl FnOnce(&Array, &Array) -> Result<()>,
) -> Result<()> {
    let dims = DimSet::new(dim, self_.ndim())?;
    if self_.dtype == dtype && dims.is_all(self_.ndim()) {
        // An output without dimensions reduces all: the small calls need no other geometry.
        return kernel(&array_as(out, &[], &[]), &array(self_));
    }
    let (sizes, strides) = kept(out, self_, dims);
    let operand = Operand::cast(self_, dtype)?;
    kernel(&array_as(out, &sizes, &strides), &operand.array())
}

/// out = sum of self
pub fn sum(out: &Dense, self_: &Dense, dtype: Option<DType>) -> Result<()> {
    sum_dim(out, self_, None, false, dtype)
}

/// out = sum of self over dim
pub fn sum_dim(out: &Dense, self_: &Dense, dim: Option<&[i64]>, _keepdim: bool, _dtype: Option<DType>) -> Result<()> {
    // Integers are widened by the loop itself.
    let widened = out.dtype == DType::I64 && self_.dtype.is_integral(true);
    let dtype = if widened { self_.dtype } else { out.dtype };
    reduce(out, self_, dim, dtype, rushlight_cpu::reduce::sum)
}

/// out = mean of self
pub fn mean(out: &Dense, self_: &Dense, dtype: Option<DType>) -> Result<()> {
    mean_dim(out, self_, None, false, dtype)
}

/// out = mean of self over dim
pub fn mean_dim(out: &Dense, self_: &Dense, dim: Option<&[i64]>, _keepdim: bool, _dtype: Option<DType>) -> Result<()> {
    reduce(out, self_, dim, out.dtype, rushlight_cpu::reduce::mean)
}

/// out = largest element of self
pub fn max(out: &Dense, self_: &Dense) -> Result<()> {
    amax(out, self_, &[], false)
}

/// out = largest element of self over dim
pub fn amax(out: &Dense, self_: &Dense, dim: &[i64], _keepdim: bool) -> Result<()> {
    reduce(out, self_, Some(dim), self_.dtype, |out, a| extremum(Some(out), None, a, Extremum::Max))
}

/// out0, out1 = largest element of self along dim and its index
pub fn max_dim(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    let dims = DimSet::new(Some(&[dim]), self_.ndim())?;
    let (values, indices) = (kept(out0, self_, dims), kept(out1, self_, dims));
    let (values, indices) = (array_as(out0, &values.0, &values.1), array_as(out1, &indices.0, &indices.1));
    extremum(Some(&values), Some(&indices), &array(self_), Extremum::Max)
}

/// out = index of the largest element of self, along dim or of all
pub fn argmax(out: &Dense, self_: &Dense, dim: Option<i64>, _keepdim: bool) -> Result<()> {
    let dims: DimVec = dim.map_or_else(DimVec::new, |dim| smallvec![dim]);
    reduce(out, self_, Some(&dims), self_.dtype, |out, a| extremum(None, Some(out), a, Extremum::Max))
}

/// out0, out1 = the k largest (smallest) elements of self along dim and their indices
pub fn topk(out0: &Dense, out1: &Dense, self_: &Dense, _k: i64, dim: i64, largest: bool, sorted: bool) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    rushlight_cpu::sort::topk(&array(out0), &array(out1), &array(self_), dim, largest, sorted)
}
