//! Derivatives of special functions.

use super::Expr;
use crate::ops;
use rushlight_base::Scalar;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, PI};

/// The n-th derivative of digamma.
pub fn polygamma(n: i64, self_: &Expr) -> Expr {
    Expr::of(|| ops::polygamma(n, self_.tensor()?))
}

/// The gradient of I1: I0 - I1/x, one half at 0 and NaN.
pub fn i1(grad: &Expr, self_: &Expr, result: &Expr) -> Expr {
    let slope = self_.i0() - result / self_;
    grad * self_.abs().gt_scalar(0).where_scalarother(slope, 0.5)
}

/// The gradient of the exponentially scaled I1; as that of I1 at 0 and NaN.
pub fn i1e(grad: &Expr, self_: &Expr, result: &Expr) -> Expr {
    let slope = self_.special_i0e() - result * (self_.sgn() + self_.reciprocal());
    grad * self_.abs().gt_scalar(0).where_scalarother(slope, 0.5)
}

/// The gradient of the CDF of the standard normal distribution: the PDF.
pub fn ndtr(grad: &Expr, self_: &Expr) -> Expr {
    grad * (self_ * self_ * -0.5).exp() * (1.0 / (2.0 * PI).sqrt())
}

/// The gradient of the logarithm of the CDF: the PDF divided by the CDF, both scaled.
pub fn log_ndtr(grad: &Expr, self_: &Expr) -> Expr {
    grad / (self_ * -FRAC_1_SQRT_2).special_erfcx() * FRAC_2_PI.sqrt()
}

/// The gradient of the quantile function of the standard normal distribution: 1 over the PDF.
pub fn ndtri(grad: &Expr, result: &Expr) -> Expr {
    grad * (result * result * 0.5).exp() * (2.0 * PI).sqrt()
}

/// The gradient of the incomplete gamma function with respect to its bound: the integrand.
pub fn igamma(grad: &Expr, self_: &Expr, other: &Expr) -> Expr {
    grad * ((self_ - 1.0) * other.log() - other - self_.lgamma()).exp()
}

/// The derivative of the Hurwitz zeta function of one exponent.
pub fn zeta_slope(exponent: Scalar, other: &Expr) -> Expr {
    let next = Scalar::Float(exponent.to_f64() + 1.0);
    Expr::of(|| ops::special_zeta_self_scalar(next, other.tensor()?)) * Scalar::Float(-exponent.to_f64())
}

/// The gradient of x ln(1 + y) by x; 0 at x = 0 where the logarithm is not finite.
pub fn xlog1py(grad: &Expr, self_: &Expr, other: &Expr) -> Expr {
    let nowhere = self_.eq_scalar(0).logical_and(other.le_scalar(-1));
    nowhere.where_scalarself(0, grad * other.log1p())
}

/// Like `xlog1py`, for a number.
pub fn xlog1py_of_number(grad: &Expr, self_: &Expr, other: Scalar) -> Expr {
    let slope = grad * other.to_f64().ln_1p();
    if other.to_f64() > -1.0 { slope } else { self_.eq_scalar(0).where_scalarself(0, slope) }
}
