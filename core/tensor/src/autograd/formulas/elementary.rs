//! Derivatives of powers, and the constants in those of other elementary functions.

pub use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use super::Expr;
use rushlight_base::{Complex, DType, Scalar};

/// The exponent less one.
fn reduced(exponent: Scalar) -> Scalar {
    match exponent {
        Scalar::Int(value) => Scalar::Int(value.wrapping_sub(1)),
        Scalar::Complex(value) => Scalar::Complex(value - 1.0),
        other => Scalar::Float(other.to_f64() - 1.0),
    }
}

/// The gradient of `acosh`; for a real argument below -1, that of the even continuation.
pub fn acosh(grad: &Expr, self_: &Expr) -> Expr {
    if self_.dtype().is_complex() {
        grad * ((self_ + 1.0).rsqrt() * (self_ - 1.0).rsqrt()).conj()
    } else {
        grad * (self_ * self_ - 1.0).rsqrt()
    }
}

/// The gradient of a power with respect to its base; zero for the exponent 0, which gives a constant.
pub fn pow_base(grad: &Expr, base: &Expr, exponent: Scalar) -> Expr {
    if !exponent.to_bool() {
        return grad.zeros();
    }
    grad * (base.pow_tensor_scalar(reduced(exponent)) * exponent).conj()
}

/// The real part; real numbers are returned unchanged.
fn real_part(expr: &Expr) -> Expr {
    if expr.dtype().is_complex() { expr.real() } else { expr.clone() }
}

/// Like `pow_base`, exponent by exponent.
pub fn pow_bases(grad: &Expr, base: &Expr, exponent: &Expr) -> Expr {
    let slope = exponent * base.pow_tensor_tensor(exponent - 1.0);
    exponent.eq_scalar(0).where_scalarself(0, grad * slope.conj())
}

/// The gradient of a power by its exponent; zero where 0 to the exponent is 0, since ln 0 is not finite.
pub fn pow_exponents(grad: &Expr, base: &Expr, exponent: &Expr, result: &Expr) -> Expr {
    let zero = base.eq_scalar(0).logical_and(real_part(exponent).ge_scalar(0));
    // A negative base has a logarithm among the complex numbers.
    let base =
        if exponent.dtype().is_complex() { base.to_dtype(result.dtype(), false, false, None) } else { base.clone() };
    grad * zero.where_scalarself(0, (result * base.log()).conj())
}

/// Like `pow_exponents`, for a number as the base.
pub fn pow_exponents_of_number(grad: &Expr, base: Scalar, exponent: &Expr, result: &Expr) -> Expr {
    let logarithm = match base {
        Scalar::Complex(value) => Scalar::Complex(value.ln()),
        // A negative base has a logarithm among the complex numbers.
        real if exponent.dtype().is_complex() => Scalar::Complex(Complex::from(real.to_f64()).ln()),
        other => Scalar::Float(other.to_f64().ln()),
    };
    let slope = (result * logarithm).conj();
    if base.to_bool() {
        return grad * slope;
    }
    grad * real_part(exponent).ge_scalar(0).where_scalarself(0, slope)
}

/// The gradient of sin(pi x)/(pi x): (cos(pi x) - sinc x)/x, and 0 at 0.
pub fn sinc(grad: &Expr, self_: &Expr) -> Expr {
    let slope = ((self_ * std::f64::consts::PI).cos() - self_.sinc()) / self_;
    self_.eq_scalar(0).where_scalarself(0, grad * slope.conj())
}

/// The gradient of x ln y by x; 0 at x = 0 where the logarithm is not finite.
pub fn xlogy(grad: &Expr, self_: &Expr, other: &Expr) -> Expr {
    let nowhere = self_.eq_scalar(0).logical_and(other.le_scalar(0));
    nowhere.where_scalarself(0, grad.xlogy_tensor(other))
}

/// Like `xlogy`, for a number.
pub fn xlogy_of_number(grad: &Expr, self_: &Expr, other: Scalar) -> Expr {
    let slope = grad.xlogy_scalar_other(other);
    if other.to_f64() > 0.0 { slope } else { self_.eq_scalar(0).where_scalarself(0, slope) }
}

/// Converts to float64 or complex128, in which float_power computes.
fn in_doubles(expr: &Expr) -> Expr {
    expr.to_dtype(if expr.dtype().is_complex() { DType::C128 } else { DType::F64 }, false, false, None)
}

/// Like `pow_bases`, in doubles.
pub fn float_power_bases(grad: &Expr, base: &Expr, exponent: &Expr) -> Expr {
    pow_bases(grad, &in_doubles(base), &in_doubles(exponent))
}

/// Like `pow_exponents`, in doubles.
pub fn float_power_exponents(grad: &Expr, base: &Expr, exponent: &Expr, result: &Expr) -> Expr {
    pow_exponents(grad, &in_doubles(base), &in_doubles(exponent), result)
}

/// Like `pow_base`, in doubles.
pub fn float_power_base(grad: &Expr, base: &Expr, exponent: Scalar) -> Expr {
    pow_base(grad, &in_doubles(base), exponent)
}

/// Like `pow_exponents_of_number`, in doubles.
pub fn float_power_exponents_of_number(grad: &Expr, base: Scalar, exponent: &Expr, result: &Expr) -> Expr {
    pow_exponents_of_number(grad, base, &in_doubles(exponent), result)
}
