//! Derivatives of complex numbers by size and angle.

use super::Expr;
use rushlight_base::{Complex, Scalar};

/// The number of size 1 at each angle.
fn direction(angle: &Expr) -> Expr {
    let one = Expr::of(|| crate::ops::ones(&[], angle.options()));
    Expr::of(|| crate::ops::polar(one.tensor()?, angle.tensor()?))
}

/// The gradient of the size: the part along the direction.
pub fn polar_size(grad: &Expr, _abs: &Expr, angle: &Expr) -> Expr {
    (grad.conj() * direction(angle)).real()
}

/// The gradient of the angle: the part across the direction, times the size.
pub fn polar_angle(grad: &Expr, abs: &Expr, angle: &Expr) -> Expr {
    (grad.conj() * direction(angle) * Scalar::Complex(Complex::new(0.0, 1.0))).real() * abs
}
