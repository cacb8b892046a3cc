//! Kernels of reductions: the output gets the rank of the input back, with size 1 where it is reduced.

use super::access::{Operand, array, array_as};
use super::rules::DimSet;
use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, DimVec, Result, Scalar, smallvec, wrap_dim};
use rushlight_cpu::Array;
use rushlight_cpu::extrema::{Extremum, extremum};

/// Sizes and strides of `out` with the reduced dimensions of `self_` restored.
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
        // An output without dimensions reduces all: small calls need no other geometry.
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
    reduce(out, self_, dim, accumulated(out, self_), rushlight_cpu::reduce::sum)
}

/// The input of a sum or a product: integers that become int64 are widened by the loop itself.
fn accumulated(out: &Dense, self_: &Dense) -> DType {
    let widened = out.dtype == DType::I64 && self_.dtype.is_integral(true);
    if widened { self_.dtype } else { out.dtype }
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

/// out = smallest element of self
pub fn min(out: &Dense, self_: &Dense) -> Result<()> {
    amin(out, self_, &[], false)
}

/// out = smallest element of self over dim
pub fn amin(out: &Dense, self_: &Dense, dim: &[i64], _keepdim: bool) -> Result<()> {
    reduce(out, self_, Some(dim), self_.dtype, |out, a| extremum(Some(out), None, a, Extremum::Min))
}

/// out0, out1 = smallest and largest element of self, along dim or of all
pub fn aminmax(out0: &Dense, out1: &Dense, self_: &Dense, dim: Option<i64>, keepdim: bool) -> Result<()> {
    let dims: DimVec = dim.into_iter().collect();
    amin(out0, self_, &dims, keepdim)?;
    amax(out1, self_, &dims, keepdim)
}

fn extreme_dim(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, which: Extremum) -> Result<()> {
    value_and_place(out0, out1, self_, dim, |values, indices, a, _| extremum(Some(values), Some(indices), a, which))
}

/// out0, out1 = largest element of self along dim and its index
pub fn max_dim(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    extreme_dim(out0, out1, self_, dim, Extremum::Max)
}

/// out0, out1 = smallest element of self along dim and its index
pub fn min_dim(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    extreme_dim(out0, out1, self_, dim, Extremum::Min)
}

fn extreme_place(out: &Dense, self_: &Dense, dim: Option<i64>, which: Extremum) -> Result<()> {
    let dims: DimVec = dim.map_or_else(DimVec::new, |dim| smallvec![dim]);
    reduce(out, self_, Some(&dims), self_.dtype, |out, a| extremum(None, Some(out), a, which))
}

/// out = index of the largest element of self, along dim or of all
pub fn argmax(out: &Dense, self_: &Dense, dim: Option<i64>, _keepdim: bool) -> Result<()> {
    extreme_place(out, self_, dim, Extremum::Max)
}

/// out = index of the smallest element of self, along dim or of all
pub fn argmin(out: &Dense, self_: &Dense, dim: Option<i64>, _keepdim: bool) -> Result<()> {
    extreme_place(out, self_, dim, Extremum::Min)
}

/// out = whether any element of self differs from zero
pub fn any(out: &Dense, self_: &Dense) -> Result<()> {
    reduce(out, self_, None, self_.dtype, rushlight_cpu::reduce::any)
}

/// out = whether any element of self differs from zero, over dim
pub fn any_dim(out: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    reduce(out, self_, Some(&[dim]), self_.dtype, rushlight_cpu::reduce::any)
}

/// out = whether any element of self differs from zero, over dim
pub fn any_dims(out: &Dense, self_: &Dense, dim: Option<&[i64]>, _keepdim: bool) -> Result<()> {
    match dim {
        // Nothing is reduced: each element is its own result.
        Some([]) => rushlight_cpu::reduce::any(&array(out), &array(self_)),
        dim => reduce(out, self_, dim, self_.dtype, rushlight_cpu::reduce::any),
    }
}

/// out = whether all elements of self differ from zero
pub fn all(out: &Dense, self_: &Dense) -> Result<()> {
    reduce(out, self_, None, self_.dtype, rushlight_cpu::reduce::all)
}

/// out = whether all elements of self differ from zero, over dim
pub fn all_dim(out: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    reduce(out, self_, Some(&[dim]), self_.dtype, rushlight_cpu::reduce::all)
}

/// out = whether all elements of self differ from zero, over dim
pub fn all_dims(out: &Dense, self_: &Dense, dim: Option<&[i64]>, _keepdim: bool) -> Result<()> {
    match dim {
        // The contract of `any`.
        Some([]) => rushlight_cpu::reduce::all(&array(out), &array(self_)),
        dim => reduce(out, self_, dim, self_.dtype, rushlight_cpu::reduce::all),
    }
}

/// The real and the imaginary part of a complex tensor.
pub(super) fn parts(dense: &Dense) -> [Dense; 2] {
    [0, 1].map(|part| {
        let strides = dense.strides().iter().map(|stride| stride * 2).collect();
        let offset = dense.geometry.offset * 2 + part;
        let geometry = Geometry { sizes: DimVec::from_slice(dense.sizes()), strides, offset };
        Dense::new(dense.storage.clone(), geometry, dense.dtype.to_real(), dense.device)
    })
}

/// out = variance of self over dim
pub fn var_correction(
    out: &Dense,
    self_: &Dense,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    _keepdim: bool,
) -> Result<()> {
    let correction = correction.map_or(1.0, Scalar::to_f64);
    let of = |out: &Dense, a: &Dense| {
        reduce(out, a, dim, a.dtype, |out, a| rushlight_cpu::reduce::variance(out, a, correction, false))
    };
    if !self_.dtype.is_complex() {
        return of(out, self_);
    }
    // The variance of a complex number is that of its parts together.
    let [real, imaginary] = parts(self_);
    of(out, &real)?;
    let spec = Spec::new(out.sizes(), out.dtype, out.device).with_strides(DimVec::from_slice(out.strides()));
    let rest = spec.allocate()?;
    of(&rest, &imaginary)?;
    super::pointwise::add(out, out, &rest, Scalar::Int(1))
}

/// out = standard deviation of self over dim
pub fn std_correction(
    out: &Dense,
    self_: &Dense,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<()> {
    if self_.dtype.is_complex() {
        var_correction(out, self_, dim, correction, keepdim)?;
        return super::elementary::sqrt(out, out);
    }
    let correction = correction.map_or(1.0, Scalar::to_f64);
    reduce(out, self_, dim, self_.dtype, |out, a| rushlight_cpu::reduce::variance(out, a, correction, true))
}

/// out = norm of self over dim
pub fn linalg_vector_norm(
    out: &Dense,
    self_: &Dense,
    ord: Scalar,
    dim: Option<&[i64]>,
    _keepdim: bool,
    dtype: Option<DType>,
) -> Result<()> {
    // Of one element each, all norms but that of order 0 are the absolute value, and no power can overflow.
    let ord = if out.numel() == self_.numel() && ord.to_f64() != 0.0 { 1.0 } else { ord.to_f64() };
    reduce(out, self_, dim, dtype.unwrap_or(self_.dtype), |out, a| rushlight_cpu::reduce::norm(out, a, ord))
}

/// out = product of self
pub fn prod(out: &Dense, self_: &Dense, _dtype: Option<DType>) -> Result<()> {
    product(out, self_, None)
}

/// out = product of self over dim
pub fn prod_dim(out: &Dense, self_: &Dense, dim: i64, _keepdim: bool, _dtype: Option<DType>) -> Result<()> {
    product(out, self_, Some(&[dim]))
}

fn product(out: &Dense, self_: &Dense, dim: Option<&[i64]>) -> Result<()> {
    reduce(out, self_, dim, accumulated(out, self_), rushlight_cpu::reduce::prod)
}

/// out = number of elements of self that differ from zero
pub fn count_nonzero(out: &Dense, self_: &Dense, dim: Option<i64>) -> Result<()> {
    match dim {
        Some(dim) => count_nonzero_dims(out, self_, &[dim]),
        None => count_nonzero_dims(out, self_, &[]),
    }
}

/// out = number of elements of self that differ from zero over dim
pub fn count_nonzero_dims(out: &Dense, self_: &Dense, dim: &[i64]) -> Result<()> {
    reduce(out, self_, Some(dim), self_.dtype, rushlight_cpu::reduce::count_nonzero)
}

fn scan(out: &Dense, self_: &Dense, dim: i64, scan: rushlight_cpu::scan::Scan) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    let operand = Operand::cast(self_, out.dtype)?;
    scan(&array(out), &operand.array(), dim)
}

/// out = cumulative sums of self along dim
pub fn cumsum(out: &Dense, self_: &Dense, dim: i64, _dtype: Option<DType>) -> Result<()> {
    scan(out, self_, dim, rushlight_cpu::scan::cumsum)
}

/// out = cumulative sums of self along dim, from its end
pub fn cumsum_from_end(out: &Dense, self_: &Dense, dim: i64) -> Result<()> {
    scan(out, self_, dim, rushlight_cpu::scan::cumsum_from_end)
}

/// out = cumulative products of self along dim
pub fn cumprod(out: &Dense, self_: &Dense, dim: i64, _dtype: Option<DType>) -> Result<()> {
    scan(out, self_, dim, rushlight_cpu::scan::cumprod)
}

/// out = logarithms of cumulative sums of exponentials of self along dim
pub fn logcumsumexp(out: &Dense, self_: &Dense, dim: i64) -> Result<()> {
    scan(out, self_, dim, rushlight_cpu::scan::logcumsumexp)
}

fn running_extremum(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, which: Extremum) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    rushlight_cpu::median::running_extremum(&array(out0), &array(out1), &array(self_), dim, which)
}

/// out0, out1 = cumulative maxima of self along dim and their indices
pub fn cummax(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64) -> Result<()> {
    running_extremum(out0, out1, self_, dim, Extremum::Max)
}

/// out0, out1 = cumulative minima of self along dim and their indices
pub fn cummin(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64) -> Result<()> {
    running_extremum(out0, out1, self_, dim, Extremum::Min)
}

fn median_of(out: &Dense, self_: &Dense, ignore_nan: bool) -> Result<()> {
    if self_.numel() == 0 {
        return super::creation::fill(out, self_, Scalar::Float(f64::NAN));
    }
    rushlight_cpu::median::median(&array(out), &array(self_), ignore_nan)
}

/// Runs `kernel`, which finds a value and its index along `dim`, with outputs of size 1 there.
pub(super) fn value_and_place(
    out0: &Dense,
    out1: &Dense,
    self_: &Dense,
    dim: i64,
    kernel: impl FnOnce(&Array, &Array, &Array, usize) -> Result<()>,
) -> Result<()> {
    let dims = DimSet::new(Some(&[dim]), self_.ndim())?;
    let (values, indices) = (kept(out0, self_, dims), kept(out1, self_, dims));
    let (values, indices) = (array_as(out0, &values.0, &values.1), array_as(out1, &indices.0, &indices.1));
    kernel(&values, &indices, &array(self_), wrap_dim(dim, self_.ndim())?)
}

fn median_along(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, ignore_nan: bool) -> Result<()> {
    value_and_place(out0, out1, self_, dim, |values, indices, a, dim| {
        rushlight_cpu::median::median_dim(values, indices, a, dim, ignore_nan)
    })
}

/// out = median of self
pub fn median(out: &Dense, self_: &Dense) -> Result<()> {
    median_of(out, self_, false)
}

/// out = median of self without its NaN
pub fn nanmedian(out: &Dense, self_: &Dense) -> Result<()> {
    median_of(out, self_, true)
}

/// out0, out1 = medians of self along dim and their indices
pub fn median_dim(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    median_along(out0, out1, self_, dim, false)
}

/// out0, out1 = medians of self without its NaN along dim and their indices
pub fn nanmedian_dim(out0: &Dense, out1: &Dense, self_: &Dense, dim: i64, _keepdim: bool) -> Result<()> {
    median_along(out0, out1, self_, dim, true)
}

/// out0, out1 = the k largest (smallest) elements of self along dim and their indices
pub fn topk(out0: &Dense, out1: &Dense, self_: &Dense, _k: i64, dim: i64, largest: bool, sorted: bool) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    rushlight_cpu::sort::topk(&array(out0), &array(out1), &array(self_), dim, largest, sorted)
}
