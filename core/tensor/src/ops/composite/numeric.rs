//! Composite operators: comparisons with tolerance, powers of 2.

use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, ensure, runtime};

/// Returns the tensor itself.
pub fn positive(self_: &Tensor) -> Result<Tensor> {
    ensure!(self_.dtype() != DType::Bool, Runtime, "The `+` operator, on a bool tensor is not supported.");
    Ok(self_.clone())
}

/// Whether the elements are equal within a tolerance.
pub fn isclose(self_: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
    let (left, right) = (self_.dtype(), other.dtype());
    ensure!(left == right, Runtime, "{} did not match {}", left.c10_name(), right.c10_name());
    for (name, value) in [("rtol", rtol), ("atol", atol)] {
        ensure!(value >= 0.0, Runtime, "{name} must be greater than or equal to zero, but got {value}");
    }
    let mut close = ops::eq_tensor(self_, other)?;
    if equal_nan && left.is_differentiable() {
        let neither = ops::logical_and(&ops::isnan(self_)?, &ops::isnan(other)?)?;
        close = ops::logical_or(&close, &neither)?;
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(close);
    }
    let number = |tensor: &Tensor| {
        if left.is_integral(true) {
            ops::to_dtype(tensor, runtime::default_dtype(), false, false, None)
        } else {
            ops::detach(tensor)
        }
    };
    let (self_, other) = (number(self_)?, number(other)?);
    let allowed = ops::abs(&ops::mul_scalar(&other, Scalar::Float(rtol))?)?;
    let allowed = ops::add_scalar(&allowed, Scalar::Float(atol), Scalar::Int(1))?;
    let distance = ops::abs(&ops::sub_tensor(&self_, &other, Scalar::Int(1))?)?;
    let near = ops::logical_and(&ops::isfinite(&distance)?, &ops::le_tensor(&distance, &allowed)?)?;
    ops::logical_or(&close, &near)
}

/// Whether all elements are close.
pub fn allclose(self_: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
    ops::metadata::is_nonzero(&ops::all(&isclose(self_, other, rtol, atol, equal_nan)?)?)
}

/// Whether the imaginary part is zero.
pub fn isreal(self_: &Tensor) -> Result<Tensor> {
    if self_.dtype().is_complex() {
        return ops::eq_scalar(&ops::imag(self_)?, Scalar::Int(0));
    }
    ops::ones_like(self_, Options::of(DType::Bool), None)
}

/// self 2^other
pub fn ldexp(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    let power = if self_.dtype().is_integral(true) {
        ops::pow_scalar(Scalar::Float(2.0), other)?
    } else {
        // The dtype of `self` decides that of the power.
        ops::pow_tensor_tensor(&ops::scalar_tensor(Scalar::Float(2.0), self_.options())?, other)?
    };
    ops::mul_tensor(self_, &power)
}
