//! Kernels of pointwise operators: each is one loop of `rushlight-cpu`, which computes in the dtype of the output.

use super::access::{Constant, array, copy_unless_same, number_of, over};
use crate::dense::Dense;
use rushlight_base::{DType, Result, Scalar, bf16, f16};
use rushlight_cpu::arithmetic::{self, Rounding};
use rushlight_cpu::{Loop, convert, fill};

fn unary(out: &Dense, a: &Dense, kernel: impl FnOnce(&Loop<2>) -> Result<()>) -> Result<()> {
    over(out.dtype, [out, a], kernel)
}

#[inline(always)]
fn binary(out: &Dense, a: &Dense, b: &Dense, kernel: impl FnOnce(&Loop<3>) -> Result<()>) -> Result<()> {
    over(out.dtype, [out, a, b], kernel)
}

fn with_scalar(out: &Dense, a: &Dense, b: Scalar, kernel: impl FnOnce(&Loop<3>) -> Result<()>) -> Result<()> {
    let b = Constant::new(b, out.dtype)?;
    kernel(&Loop::new([array(out), array(a), b.array()])?)
}

/// Whether half precision has no such number.
fn is_rounded(number: f64, half: DType) -> bool {
    let number = number as f32;
    match half {
        DType::F16 => f16::from_f32(number).to_f32() != number,
        DType::BF16 => bf16::from_f32(number).to_f32() != number,
        _ => false,
    }
}

/// [`with_scalar`] for products and quotients: in half precision the number is one of `f32`, as in PyTorch.
fn by_number(out: &Dense, a: &Dense, b: Scalar, kernel: impl FnOnce(&Loop<3>) -> Result<()>) -> Result<()> {
    if out.dtype.is_half() && is_rounded(b.to_f64(), out.dtype) {
        let b = Constant::new(b, DType::F32)?;
        return kernel(&Loop::computing(DType::F32, [array(out), array(a), b.array()])?);
    }
    with_scalar(out, a, b, kernel)
}

/// [`binary`] for products and quotients: a single element of another dtype is a number, as in
/// [`by_number`].
#[inline(always)]
fn by_element(out: &Dense, a: &Dense, b: &Dense, kernel: impl Fn(&Loop<3>) -> Result<()>) -> Result<()> {
    if out.dtype.is_half() && b.dtype != out.dtype && b.numel() == 1 && a.dtype == out.dtype && b.is_on_host() {
        return over_element(out, a, b, &kernel);
    }
    binary(out, a, b, kernel)
}

#[cold]
fn over_element(out: &Dense, a: &Dense, b: &Dense, kernel: &dyn Fn(&Loop<3>) -> Result<()>) -> Result<()> {
    let common = if is_rounded(number_of(b)?, out.dtype) { DType::F32 } else { out.dtype };
    over(common, [out, a, b], kernel)
}

/// out = self + alpha other
pub fn add(out: &Dense, self_: &Dense, other: &Dense, alpha: Scalar) -> Result<()> {
    binary(out, self_, other, |walk| arithmetic::add(walk, alpha))
}

/// out = self + alpha other
pub fn add_scalar(out: &Dense, self_: &Dense, other: Scalar, alpha: Scalar) -> Result<()> {
    with_scalar(out, self_, other, |walk| arithmetic::add(walk, alpha))
}

/// out = self - alpha other
pub fn sub(out: &Dense, self_: &Dense, other: &Dense, alpha: Scalar) -> Result<()> {
    binary(out, self_, other, |walk| arithmetic::sub(walk, alpha))
}

/// out = self - alpha other
pub fn sub_scalar(out: &Dense, self_: &Dense, other: Scalar, alpha: Scalar) -> Result<()> {
    with_scalar(out, self_, other, |walk| arithmetic::sub(walk, alpha))
}

/// out = other - alpha self
pub fn rsub(out: &Dense, self_: &Dense, other: &Dense, alpha: Scalar) -> Result<()> {
    sub(out, other, self_, alpha)
}

/// out = other - alpha self
pub fn rsub_scalar(out: &Dense, self_: &Dense, other: Scalar, alpha: Scalar) -> Result<()> {
    let other = Constant::new(other, out.dtype)?;
    arithmetic::sub(&Loop::new([array(out), other.array(), array(self_)])?, alpha)
}

/// out = self other
pub fn mul(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    by_element(out, self_, other, arithmetic::mul)
}

/// out = self other
pub fn mul_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    // In place, PyTorch rounds the number to half precision first.
    if out.ptr() == self_.ptr() {
        return with_scalar(out, self_, other, arithmetic::mul);
    }
    by_number(out, self_, other, arithmetic::mul)
}

/// out = self / other
pub fn div(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    by_element(out, self_, other, arithmetic::div)
}

/// out = self / other
pub fn div_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    by_number(out, self_, other, arithmetic::div)
}

fn quotient(walk: &Loop<3>, rounding_mode: Option<&str>) -> Result<()> {
    match rounding_mode {
        None => arithmetic::div(walk),
        Some("trunc") => arithmetic::div_rounded(walk, Rounding::Trunc),
        // The shape rule has rejected every other mode.
        Some(_) => arithmetic::div_rounded(walk, Rounding::Floor),
    }
}

/// out = round(self / other)
pub fn div_mode(out: &Dense, self_: &Dense, other: &Dense, rounding_mode: Option<&str>) -> Result<()> {
    by_element(out, self_, other, |walk| quotient(walk, rounding_mode))
}

/// out = round(self / other)
pub fn div_mode_scalar(out: &Dense, self_: &Dense, other: Scalar, rounding_mode: Option<&str>) -> Result<()> {
    by_number(out, self_, other, |walk| quotient(walk, rounding_mode))
}

/// out = -self
pub fn neg(out: &Dense, self_: &Dense) -> Result<()> {
    unary(out, self_, arithmetic::neg)
}

/// out = 1 / self
pub fn reciprocal(out: &Dense, self_: &Dense) -> Result<()> {
    let one = Constant::new(Scalar::Int(1), out.dtype)?;
    arithmetic::div(&Loop::new([array(out), one.array(), array(self_)])?)
}

/// out = conj(self), materialized
pub fn conj_physical(out: &Dense, self_: &Dense) -> Result<()> {
    unary(out, self_, if out.dtype.is_complex() { arithmetic::conj } else { convert::copy })
}

/// out = max(self, 0)
pub fn relu(out: &Dense, self_: &Dense) -> Result<()> {
    clamp(out, self_, Some(Scalar::Int(0)), None)
}

/// out = min(max(self, min), max)
pub fn clamp(out: &Dense, self_: &Dense, min: Option<Scalar>, max: Option<Scalar>) -> Result<()> {
    for bound in [min, max].into_iter().flatten() {
        bound.check_convertible(out.dtype)?;
    }
    // One of two bounds that is NaN makes everything NaN; nothing is less or greater than a bound that is NaN alone.
    if let (Some(low), Some(high)) = (min, max)
        && let Some(bound) = [low, high].into_iter().find(is_nan)
    {
        return fill::fill(&Loop::new([array(out)])?, bound);
    }
    unary(out, self_, |walk| arithmetic::clamp_scalar(walk, min, max))
}

fn is_nan(bound: &Scalar) -> bool {
    matches!(bound, Scalar::Float(value) if value.is_nan())
}

/// out = max(self, min); a NaN bound makes everything NaN
pub fn clamp_min(out: &Dense, self_: &Dense, min: Scalar) -> Result<()> {
    clamp(out, self_, Some(min), is_nan(&min).then_some(min))
}

/// out = min(self, max); a NaN bound makes everything NaN
pub fn clamp_max(out: &Dense, self_: &Dense, max: Scalar) -> Result<()> {
    clamp(out, self_, is_nan(&max).then_some(max), Some(max))
}

/// out = min(max(self, min), max), bound by bound
pub fn clamp_tensor(out: &Dense, self_: &Dense, min: Option<&Dense>, max: Option<&Dense>) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => over(out.dtype, [out, self_, min, max], arithmetic::clamp),
        (Some(min), None) => binary(out, self_, min, arithmetic::maximum),
        (None, Some(max)) => binary(out, self_, max, arithmetic::minimum),
        (None, None) => copy_unless_same(out, self_),
    }
}

/// out = max(self, other); NaN wins
pub fn maximum(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, arithmetic::maximum)
}

/// out = grad where self > threshold, else 0
pub fn threshold_backward(out: &Dense, grad_output: &Dense, self_: &Dense, threshold: Scalar) -> Result<()> {
    threshold.check_convertible(out.dtype)?;
    binary(out, grad_output, self_, |walk| arithmetic::threshold_backward(walk, threshold))
}

/// out = value where mask, else self
pub fn masked_fill(out: &Dense, self_: &Dense, mask: &Dense, value: Scalar) -> Result<()> {
    let value = Constant::new(value, out.dtype)?;
    arithmetic::select_where(&Loop::new([array(out), array(mask), value.array(), array(self_)])?)
}

/// Like `masked_fill`, with a 0-dim tensor.
pub fn masked_fill_tensor(out: &Dense, self_: &Dense, mask: &Dense, value: &Dense) -> Result<()> {
    let value = Constant::cast_of(value, out.dtype)?;
    arithmetic::select_where(&Loop::new([array(out), array(mask), value.array(), array(self_)])?)
}

/// out = self where condition, else other
pub fn where_self(out: &Dense, condition: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    over(out.dtype, [out, condition, self_, other], arithmetic::select_where)
}

/// out = grad mask scale
pub fn native_dropout_backward(out: &Dense, grad_output: &Dense, mask: &Dense, scale: f64) -> Result<()> {
    debug_assert_eq!(mask.dtype, DType::Bool);
    over(out.dtype, [out, grad_output, mask], |walk| arithmetic::mask_scale(walk, scale))
}
