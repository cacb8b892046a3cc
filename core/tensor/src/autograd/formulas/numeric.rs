//! Derivatives of signs, remainders and combinations.

use super::Expr;
use rushlight_base::{Complex, Scalar};

/// The gradient of copysign with respect to the magnitude: the sign, and zero at zero.
pub fn copysign(grad: &Expr, self_: &Expr, result: &Expr) -> Expr {
    self_.eq_scalar(0).where_scalarself(0, grad * (result / self_))
}

/// The gradient of the remainder of a number by its divisor: the whole part of the quotient, negated.
pub fn remainder_of_number(grad: &Expr, number: Scalar, divisor: &Expr) -> Expr {
    let floor = divisor.zeros().add_scalar(number, 1).div_tensor_mode(divisor, Some("floor"));
    -grad * floor
}

/// One minus the weight.
pub fn rest_of(weight: Scalar) -> Scalar {
    match weight {
        Scalar::Complex(value) => Scalar::Complex(1.0 - value),
        other => Scalar::Float(1.0 - other.to_f64()),
    }
}

/// The gradient of an angle: the component orthogonal to a complex number; zero for a real one.
pub fn angle(grad: &Expr, self_: &Expr) -> Expr {
    if !self_.dtype().is_complex() {
        return self_.zeros();
    }
    let size = self_.abs();
    let across = self_ * Scalar::Complex(Complex::new(0.0, 1.0)) * (grad / (&size * &size));
    size.eq_scalar(0).where_scalarself(0, across)
}
