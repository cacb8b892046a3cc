//! Derivatives that do not fit on one line of the schema.
//!
//! Each is built from operators on [`Expr`], so that it can be differentiated again.

#[cfg(feature = "op-activation")]
mod activation;
#[cfg(feature = "op-convolution")]
mod convolution;
#[cfg(feature = "op-elementary")]
mod elementary;
#[cfg(feature = "op-nn")]
mod embedding_bag;
#[cfg(feature = "op-factory")]
mod factory;
#[cfg(feature = "op-fft")]
mod fft;
#[cfg(feature = "op-series")]
mod filter;
mod indexing;
#[cfg(feature = "op-linalg_solve")]
mod linalg;
#[cfg(feature = "op-loss")]
mod loss;
#[cfg(feature = "op-nn")]
mod nn;
#[cfg(feature = "op-normalization")]
mod normalization;
#[cfg(feature = "op-numeric")]
mod numeric;
#[cfg(feature = "op-pooling")]
mod pooling;
#[cfg(feature = "op-random")]
mod random;
#[cfg(feature = "op-recurrent")]
mod recurrent;
#[cfg(feature = "op-special")]
mod special;
#[cfg(feature = "op-vision")]
mod vision;

#[cfg(feature = "op-activation")]
pub use activation::*;
#[cfg(feature = "op-convolution")]
pub use convolution::*;
#[cfg(feature = "op-elementary")]
pub use elementary::*;
#[cfg(feature = "op-nn")]
pub use embedding_bag::*;
#[cfg(feature = "op-factory")]
pub use factory::*;
#[cfg(feature = "op-fft")]
pub use fft::*;
#[cfg(feature = "op-series")]
pub use filter::*;
pub use indexing::*;
#[cfg(feature = "op-linalg_solve")]
pub use linalg::*;
#[cfg(feature = "op-loss")]
pub use loss::*;
#[cfg(feature = "op-nn")]
pub use nn::*;
#[cfg(feature = "op-normalization")]
pub use normalization::*;
#[cfg(feature = "op-numeric")]
pub use numeric::*;
#[cfg(feature = "op-pooling")]
pub use pooling::*;
#[cfg(feature = "op-random")]
pub use random::*;
#[cfg(feature = "op-recurrent")]
pub use recurrent::*;
#[cfg(feature = "op-special")]
pub use special::*;
#[cfg(feature = "op-vision")]
pub use vision::*;

use super::Expr;
use crate::dense::Geometry;
use crate::ops;
use crate::options::Options;
use rushlight_base::{DType, DimVec, MemoryFormat, Result, Scalar, wrap_dim};

/// Pairs of real numbers as complex ones, for any strides.
pub fn as_complex(grad: &Expr) -> Expr {
    grad.contiguous(MemoryFormat::Contiguous).view_as_complex()
}

/// A derivative that PyTorch does not have either: requesting it is an error.
pub fn not_implemented(what: &str) -> Expr {
    Expr::from(rushlight_base::err!(NotImplemented, "the derivative for '{what}' is not implemented."))
}

/// The gradient of an operator without a derivative in PyTorch: an error when it is requested.
pub fn no_formula(operator: &str) -> Expr {
    Expr::from(rushlight_base::err!(NotImplemented, "derivative for aten::{operator} is not implemented"))
}

/// Restores the reduced dimensions of `grad` as sizes of 1; `None` or an empty list stands for all.
fn with_dims(grad: &Expr, ndim: usize, dim: Option<&[i64]>, keepdim: bool) -> Expr {
    let dims = dim.unwrap_or_default();
    if keepdim || ndim == 0 || dims.is_empty() {
        // A full reduction has one element, which broadcasts as it is.
        return grad.clone();
    }
    let wrapped: Result<Vec<usize>> = dims.iter().map(|&dim| wrap_dim(dim, ndim)).collect();
    match wrapped {
        Ok(mut dims) => {
            dims.sort_unstable();
            dims.into_iter().fold(grad.clone(), |grad, dim| grad.unsqueeze(dim as i64))
        }
        Err(error) => Expr::from(error),
    }
}

/// The gradient of a sum: the same for every element summed.
pub fn sum(grad: &Expr, sizes: &[i64], dim: Option<&[i64]>, keepdim: bool) -> Expr {
    with_dims(grad, sizes.len(), dim, keepdim).expand(sizes, false)
}

/// The gradient of a mean: that of the sum, divided by the number of elements averaged.
pub fn mean(grad: &Expr, sizes: &[i64], dim: Option<&[i64]>, keepdim: bool) -> Expr {
    sum(grad, sizes, dim, keepdim) / Scalar::Int(reduced_count(sizes, dim))
}

/// The gradient of an extremum over dimensions: shared equally among the elements that equal it.
pub fn extreme_along(grad: &Expr, self_: &Expr, result: &Expr, dim: &[i64], keepdim: bool) -> Expr {
    shared_by(|self_, result| self_.eq_tensor(result), grad, self_, result, dim, keepdim)
}

/// Like `extreme_along`, for all elements; NaN is also found as the result.
pub fn extreme(grad: &Expr, self_: &Expr, result: &Expr, dim: &[i64], keepdim: bool) -> Expr {
    let hits = |self_: &Expr, result: &Expr| {
        self_.eq_tensor(result).logical_or(self_.ne_tensor(self_).logical_and(result.ne_tensor(result)))
    };
    shared_by(hits, grad, self_, result, dim, keepdim)
}

/// Distributes the gradient of a result equally among the elements that are equal to it.
fn shared_by(
    hits: impl FnOnce(&Expr, &Expr) -> Expr,
    grad: &Expr,
    self_: &Expr,
    result: &Expr,
    dim: &[i64],
    keepdim: bool,
) -> Expr {
    let ndim = self_.ndim();
    let grad = with_dims(grad, ndim, Some(dim), keepdim);
    let result = with_dims(result, ndim, Some(dim), keepdim);
    let hits = hits(self_, &result).to_dtype(grad.dtype(), false, false, None);
    let count = hits.sum_dim_intlist((!dim.is_empty()).then_some(dim), ndim > 0, None);
    grad * (hits / count)
}

/// The gradient of the smallest and the largest element, along a dimension or of all.
pub fn aminmax(grads: [&Expr; 2], self_: &Expr, results: [&Expr; 2], dim: Option<i64>, keepdim: bool) -> Expr {
    let dims: DimVec = dim.into_iter().collect();
    let [least, most] = [0, 1].map(|nth| extreme(grads[nth], self_, results[nth], &dims, keepdim));
    least + most
}

/// The number of elements that are reduced to one.
fn reduced_count(sizes: &[i64], dim: Option<&[i64]>) -> i64 {
    let dims = dim.unwrap_or_default();
    let size_of = |&dim: &i64| wrap_dim(dim, sizes.len()).ok().and_then(|dim| sizes.get(dim)).copied().unwrap_or(1);
    if dims.is_empty() { sizes.iter().product() } else { dims.iter().map(size_of).product() }
}

/// The gradient of a variance: twice the deviation from the mean, divided as the squares were.
pub fn variance(grad: &Expr, self_: &Expr, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Expr {
    let ndim = self_.ndim();
    let freedom = reduced_count(&self_.sizes(), dim) as f64 - correction.map_or(1.0, Scalar::to_f64);
    let grad = with_dims(grad, ndim, dim, keepdim);
    let away = self_ - self_.mean_dim(dim, ndim > 0, None);
    if freedom <= 0.0 {
        // NaN at the mean, infinite elsewhere.
        return grad * (&away * &away * Scalar::Float(f64::INFINITY));
    }
    grad * Scalar::Float(2.0 / freedom) * away
}

/// The gradient of a standard deviation, which is 0 where that is.
pub fn deviation(
    grad: &Expr,
    self_: &Expr,
    result: &Expr,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Expr {
    let grad = (grad / (result * Scalar::Int(2))).masked_fill_scalar(result.eq_scalar(0), 0);
    variance(&grad, self_, dim, correction, keepdim)
}

/// The gradient of a sign: zero for a real number; for a complex number, the component orthogonal to the number.
pub fn sgn(grad: &Expr, self_: &Expr, result: &Expr) -> Expr {
    if !self_.dtype().is_complex() {
        return grad.zeros();
    }
    let size = self_.abs();
    let along = (grad.conj() * result).real() / &size;
    let across = grad / &size - result * along;
    size.eq_scalar(0).where_scalarself(0, across)
}

/// The absolute values of the elements, with 1 for those that are 0, and a mask of these. This keeps infinities out of
/// derivatives.
fn sizes_but_none(self_: &Expr) -> (Expr, Expr) {
    let none = self_.eq_scalar(0);
    (self_.abs().masked_fill_scalar(&none, 1), none)
}

/// The gradient of a norm.
pub fn norm(grad: &Expr, self_: &Expr, result: &Expr, ord: Scalar, dim: Option<&[i64]>, keepdim: bool) -> Expr {
    let (ndim, ord) = (self_.ndim(), ord.to_f64());
    let (grad, result) = (with_dims(grad, ndim, dim, keepdim), with_dims(result, ndim, dim, keepdim));
    if ord == 0.0 {
        return self_.zeros();
    }
    // Where the norm is zero, there is no gradient.
    let vanishes = result.eq_scalar(0);
    let divisor = result.masked_fill_scalar(&vanishes, 1);
    if ord == 2.0 {
        return grad.masked_fill_scalar(vanishes, 0) * (self_ / divisor);
    }
    let (size, none) = sizes_but_none(self_);
    // The sign of NaN is 0 here.
    if ord == 1.0 {
        return grad * self_.sgn();
    }
    if ord.is_infinite() {
        let size = size.masked_fill_scalar(&none, 0);
        let hits = size.eq_tensor(&result).logical_or(size.ne_tensor(&size).logical_and(result.ne_tensor(&result)));
        let hits = hits.to_dtype(grad.dtype(), false, false, None);
        let count = hits.sum_dim_intlist(dim, ndim > 0, None);
        return grad * (hits / count) * self_.sgn();
    }
    let sign = self_ / &size;
    let ratio = (size / divisor).masked_fill_scalar(&none, 1);
    let power = (ratio.log() * Scalar::Float(ord - 1.0)).exp().masked_fill_scalar(&none, 0);
    grad.masked_fill_scalar(vanishes, 0) * sign * power
}

/// How many elements are zero: if any is, quotients cannot compute the products of the other elements.
pub fn count_zeros(self_: &Expr) -> Result<i64> {
    Ok(ops::sum(&ops::eq_scalar(self_.tensor()?, Scalar::Int(0))?, None)?.item()?.to_i64())
}

/// Along `dim`, from the last to the first.
fn reversed(expr: &Expr, dim: i64, len: i64) -> Expr {
    let order = Expr::of(|| {
        let options = Options { dtype: Some(DType::I64), ..expr.options() };
        ops::arange_start_step(Scalar::Int(len - 1), Scalar::Int(-1), Scalar::Int(-1), options)
    });
    expr.index_select(dim, order)
}

/// For each element along `dim`, the product of the elements before it.
fn products_before(self_: &Expr, dim: i64, len: i64) -> Expr {
    let first = self_.narrow(dim, 0, 1).zeros() + Scalar::Int(1);
    let rest = self_.narrow(dim, 0, len - 1);
    Expr::of(|| ops::cat(&[first.tensor()?, rest.tensor()?], dim)).cumprod(dim, None)
}

/// For each element along `dim`, the product of all other elements.
fn products_of_others(self_: &Expr, dim: i64, len: i64) -> Expr {
    let after = reversed(&products_before(&reversed(self_, dim, len), dim, len), dim, len);
    products_before(self_, dim, len) * after
}

/// The gradient of a product: the product of the other factors.
pub fn prod(grad: &Expr, self_: &Expr, result: &Expr, dim: Option<i64>, keepdim: bool) -> Expr {
    let self_ = &self_.to_dtype(grad.dtype(), false, false, None);
    let ndim = self_.ndim();
    let dims: DimVec = dim.into_iter().collect();
    let (grad, result) = (with_dims(grad, ndim, Some(&dims), keepdim), with_dims(result, ndim, Some(&dims), keepdim));
    match count_zeros(self_) {
        Err(error) => Expr::from(error),
        Ok(0) => grad * (result / self_).conj(),
        Ok(_) if ndim == 0 => grad.clone(),
        Ok(zeros) => {
            let sizes = self_.sizes();
            let others = match dim {
                Some(dim) => products_of_others(self_, dim, reduced_count(&sizes, Some(&dims))),
                None => products_of_others(&self_.reshape(&[-1]), 0, self_.numel()).reshape(&sizes),
            };
            // Two zeros make every product of others 0, also with a factor that is NaN.
            let vanishes = dim.is_none() && zeros > 1;
            let others = if vanishes { others.masked_fill_scalar(others.ne_tensor(&others), 0) } else { others };
            grad * others.conj()
        }
    }
}

/// The gradient of cumulative products.
pub fn cumprod(grad: &Expr, self_: &Expr, result: &Expr, dim: i64) -> Expr {
    if self_.ndim() == 0 || self_.numel() == 0 {
        return grad.clone();
    }
    match count_zeros(self_) {
        Err(error) => Expr::from(error),
        Ok(0) => (grad * result.conj())._cumsum_from_end(dim) / self_.conj(),
        Ok(_) => {
            let len = reduced_count(&self_.sizes(), Some(&[dim]));
            let self_ = self_.conj();
            products_before(&self_, dim, len) * weighted_products_after(grad, self_.narrow(dim, 1, len - 1), dim, len)
        }
    }
}

/// For each element k along `dim`: g_k + g_(k+1) x_(k+1) + g_(k+2) x_(k+1) x_(k+2) + ... to the end, for the factors x
/// from x_1 on. Sums of 1, 2, 4, ... terms are computed from one another, so a row takes as many steps as its length
/// has bits, without a division.
fn weighted_products_after(grad: &Expr, factors: Expr, dim: i64, len: i64) -> Expr {
    // The products of the `terms` elements after each.
    let (mut sums, mut terms, mut factors) = (grad.clone(), 1, factors);
    while terms < len {
        let nearer = sums.narrow(dim, 0, len - terms) + &factors * sums.narrow(dim, terms, len - terms);
        let last = sums.narrow(dim, len - terms, terms);
        sums = Expr::of(|| ops::cat(&[nearer.tensor()?, last.tensor()?], dim));
        let left = len - 2 * terms;
        if left > 0 {
            factors = factors.narrow(dim, 0, left) * factors.narrow(dim, terms, left);
        }
        terms *= 2;
    }
    sums
}

/// The gradient of logcumsumexp, r: exp(x_k - r_k) (g_k + g_(k+1) exp(r_k - r_(k+1)) + ...). No exponent of a real
/// tensor is positive, so nothing overflows.
pub fn logcumsumexp(grad: &Expr, self_: &Expr, result: &Expr, dim: i64) -> Expr {
    if self_.ndim() == 0 || self_.numel() == 0 {
        return grad.clone();
    }
    let len = reduced_count(&self_.sizes(), Some(&[dim]));
    let (self_, result) = (self_.conj(), result.conj());
    let before = result.narrow(dim, 0, len - 1);
    // Elements of an empty sum have no gradient: not that of a difference of infinities.
    let none = |x: &Expr| x.eq_scalar(f64::NEG_INFINITY);
    let factors = (&before - result.narrow(dim, 1, len - 1)).exp().masked_fill_scalar(none(&before), 0);
    let weights = (&self_ - &result).exp().masked_fill_scalar(none(&self_), 0);
    weights * weighted_products_after(grad, factors, dim, len)
}

/// The gradient of an element-wise maximum with respect to `a`: whole where a > b, half at ties.
pub fn larger(grad: &Expr, a: &Expr, b: &Expr) -> Expr {
    let shared = a.eq_tensor(b).where_self(grad / Scalar::Int(2), grad);
    shared.masked_fill_scalar(a.lt_tensor(b), 0)
}

/// The gradient of `clamp`: where the element was within the bounds.
pub fn clamp(grad: &Expr, self_: &Expr, min: Option<Scalar>, max: Option<Scalar>) -> Expr {
    let above = min.map(|min| self_.ge_scalar(min));
    let below = max.map(|max| self_.le_scalar(max));
    keep_where(grad, above, below)
}

/// The gradient of `clamp.Tensor` by the input: where it was within the bounds.
pub fn clamp_tensor(grad: &Expr, self_: &Expr, min: Option<&Expr>, max: Option<&Expr>) -> Expr {
    let above = min.map(|min| self_.ge_tensor(min));
    let below = max.map(|max| self_.le_tensor(max));
    keep_where(grad, above, below)
}

/// The gradient of `clamp.Tensor` by the lower bound: where it was the result.
pub fn clamp_tensor_min(grad: &Expr, self_: &Expr, min: Option<&Expr>, max: Option<&Expr>) -> Expr {
    let raised = min.map(|min| self_.lt_tensor(min));
    let below = min.zip(max).map(|(min, max)| min.lt_tensor(max));
    keep_where(grad, raised, below)
}

/// The gradient of `clamp.Tensor` by the upper bound: where it was the result.
pub fn clamp_tensor_max(grad: &Expr, self_: &Expr, min: Option<&Expr>, max: Option<&Expr>) -> Expr {
    let Some(max) = max else { return grad.zeros() };
    let lowered = self_.gt_tensor(max);
    let hits = match min {
        Some(min) => lowered.logical_or(max.lt_tensor(min)),
        None => lowered,
    };
    keep_where(grad, Some(hits), None)
}

/// `grad` where all the given conditions hold, else 0.
fn keep_where(grad: &Expr, first: Option<Expr>, second: Option<Expr>) -> Expr {
    let condition = match (first, second) {
        (Some(first), Some(second)) => first.logical_and(second),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return grad.clone(),
    };
    condition.where_scalarother(grad, 0)
}

/// The gradient of a quotient: zero if it was rounded, which is a step function.
pub fn div_rounded(grad: &Expr, exact: impl Into<Expr>, rounding_mode: Option<&str>) -> Expr {
    let exact = exact.into();
    if rounding_mode.is_some() { exact.zeros().expand_as(grad + exact) } else { exact }
}

/// The factor that dropout applies to the surviving elements.
pub fn dropout_scale(p: f64, train: Option<bool>) -> f64 {
    match (train, p) {
        (Some(false), _) => 1.0,
        (_, 1.0) => 0.0,
        _ => 1.0 / (1.0 - p),
    }
}

/// The gradient of `cat`: the slices that belong to each input.
pub fn cat(grad: &Expr, sizes: &[DimVec], dim: i64) -> Vec<Expr> {
    let dim = match wrap_dim(dim, grad.ndim()) {
        Ok(dim) => dim,
        Err(error) => return sizes.iter().map(|_| Expr::from(error.clone())).collect(),
    };
    let mut start = 0;
    sizes
        .iter()
        .map(|sizes| {
            if ops::rules::is_skipped(sizes) {
                return grad.new_zeros(sizes);
            }
            let first = start;
            start += sizes[dim];
            grad.slice_tensor(dim as i64, Some(first), Some(start), 1)
        })
        .collect()
}

/// The gradient of a sum over batches, expanded to each of them; `sizes` are those of the summed tensor.
#[cfg(feature = "op-linalg")]
pub fn each_batch(grad: &Expr, sizes: &[i64]) -> Expr {
    grad.unsqueeze(0).expand(&[sizes[0], -1, -1], false)
}

/// The permutation that undoes `dims`.
pub fn inverse_permutation(dims: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; dims.len()];
    for (at, &dim) in dims.iter().enumerate() {
        // The view rule has checked the dimensions.
        if let Ok(dim) = wrap_dim(dim, dims.len()) {
            inverse[dim] = at as i64;
        }
    }
    inverse
}

/// The position of each element of a geometry, counted from `base`, as a flat index tensor.
fn places(geometry: &Geometry, base: i64, options: Options) -> Expr {
    Expr::of(|| {
        let indices = Options { dtype: Some(DType::I64), ..options };
        let mut places = ops::full(&[], Scalar::Int(geometry.offset - base), indices)?;
        for (&size, &stride) in geometry.sizes.iter().zip(&geometry.strides) {
            let steps = ops::mul_scalar(&ops::arange(Scalar::Int(size), indices)?, Scalar::Int(stride))?;
            places = ops::add_tensor(&ops::unsqueeze(&places, -1)?, &steps, Scalar::Int(1))?;
        }
        ops::reshape(&places, &[-1])
    })
}

/// The gradient of `as_strided`: accumulated in a flat storage at the positions the view reads, then read back with the
/// input's geometry. Elements of the input that share a position share the gradient.
pub fn as_strided(grad: &Expr, geometry: &Geometry, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Expr {
    let offset = storage_offset.unwrap_or(geometry.offset);
    let view = Geometry { sizes: DimVec::from_slice(size), strides: DimVec::from_slice(stride), offset };
    let ((low, high), (view_low, view_high)) = (geometry.element_range(), view.element_range());
    let (low, high) = (low.min(view_low), high.max(view_high));
    let storage = grad.new_zeros(&[high - low]);
    let flat = grad.reshape(&[-1]);
    let storage = storage.index_add(0, places(&view, low, grad.options()), flat, 1);
    let own = places(geometry, low, grad.options());
    let strides_overlap = !ops::rules::is_non_overlapping_and_dense(&geometry.sizes, &geometry.strides);
    let storage = if strides_overlap && geometry.numel() > 0 {
        let ones = Expr::of(|| ops::ones(&[geometry.numel()], grad.options()));
        let count = grad.new_zeros(&[high - low]).index_add(0, &own, ones, 1);
        // Positions that are not read count 0 and are not read back either.
        storage / count.clamp_min(1)
    } else {
        storage
    };
    storage.index_select(0, own).reshape(&geometry.sizes)
}

/// The gradient with respect to the input of `as_strided_scatter`. As in PyTorch, it is that at the replaced part, and
/// zero elsewhere.
pub fn as_strided_scatter(
    grad: &Expr,
    geometry: &Geometry,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Expr {
    let (storage, view, own) = spread(grad, geometry, size, stride, storage_offset);
    let replaced = storage.index_select(0, &view);
    storage.zeros().index_copy(0, view, replaced).index_select(0, own).reshape(&geometry.sizes)
}

/// The gradient with respect to the source of `as_strided_scatter`.
pub fn as_strided_scattered(
    grad: &Expr,
    geometry: &Geometry,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Expr {
    let (storage, view, _) = spread(grad, geometry, size, stride, storage_offset);
    storage.index_select(0, view).reshape(size)
}

/// `grad` in a flat storage with the input's geometry, and the positions that the view and the input read.
fn spread(
    grad: &Expr,
    geometry: &Geometry,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> (Expr, Expr, Expr) {
    let offset = storage_offset.unwrap_or(geometry.offset);
    let view = Geometry { sizes: DimVec::from_slice(size), strides: DimVec::from_slice(stride), offset };
    let (low, high) = geometry.element_range();
    let own = places(geometry, low, grad.options());
    let storage = grad.new_zeros(&[high - low]).index_add(0, &own, grad.reshape(&[-1]), 1);
    (storage, places(&view, low, grad.options()), own)
}

/// The gradient of a slice of a dimension, padded with zeros.
#[cfg(feature = "op-view_copy")]
pub fn narrow(grad: &Expr, sizes: &[i64], dim: i64, start: i64, length: i64) -> Expr {
    match ops::views::narrow_start(sizes, dim, start, length) {
        Ok(start) => grad.slice_backward(sizes, dim, start, start + length, 1),
        Err(error) => Expr::from(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_and_its_inverse_cancel() {
        assert_eq!(inverse_permutation(&[2, 0, 1]), [1, 2, 0]);
        assert_eq!(inverse_permutation(&[-1, 0, 1]), [1, 2, 0]);
    }

    #[test]
    fn dropout_scales_only_in_training() {
        assert_eq!(dropout_scale(0.5, Some(true)), 2.0);
        assert_eq!(dropout_scale(0.5, Some(false)), 1.0);
        assert_eq!(dropout_scale(1.0, None), 0.0);
    }
}
