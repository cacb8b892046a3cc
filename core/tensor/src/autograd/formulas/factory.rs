//! Derivatives of complex numbers by magnitude and angle.

use super::Expr;
use rushlight_base::{Complex, Scalar};

/// The complex number of magnitude 1 with each angle.
fn direction(angle: &Expr) -> Expr {
    let one = Expr::of(|| crate::ops::ones(&[], angle.options()));
    Expr::of(|| crate::ops::polar(one.tensor()?, angle.tensor()?))
}

/// The gradient of the magnitude: the component along the direction, also where the magnitude is 0 or negative. PyTorch
/// takes the direction of the result there, which is not the derivative.
pub fn polar_size(grad: &Expr, _abs: &Expr, angle: &Expr) -> Expr {
    (grad.conj() * direction(angle)).real()
}

/// The gradient of the angle: the component orthogonal to the direction, times the magnitude.
pub fn polar_angle(grad: &Expr, abs: &Expr, angle: &Expr) -> Expr {
    (grad.conj() * direction(angle) * Scalar::Complex(Complex::new(0.0, 1.0))).real() * abs
}
