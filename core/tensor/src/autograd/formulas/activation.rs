//! Second derivatives of activation functions, used by the derivatives of their gradients. Each function here gives the
//! derivative of `grad_output f'(self)` with respect to `self`, `grad grad_output f''(self)`.

pub use crate::ops::rules::{SELU_ALPHA, SELU_SCALE};

use super::Expr;
use rushlight_base::Scalar;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// One minus the argument.
fn rest(x: &Expr) -> Expr {
    -x + 1.0
}

/// s (1 - s) (2 + x (1 - 2s)), s = sigmoid x.
pub fn silu_twice(grad: &Expr, grad_output: &Expr, self_: &Expr) -> Expr {
    let s = self_.sigmoid();
    let slope = &s * rest(&s) * (self_ * rest(&(&s * 2.0)) + 2.0);
    grad * grad_output * slope
}

/// (2 - x^2) phi(x), phi the density of the normal distribution; or the second derivative of the approximation.
pub fn gelu_twice(grad: &Expr, grad_output: &Expr, self_: &Expr, approximate: &str) -> Expr {
    let square = self_ * self_;
    if approximate != "tanh" {
        let density = (&square * -0.5).exp() * (FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 0.5);
        return grad * grad_output * density * (-square + 2.0);
    }
    let (beta, kappa) = (FRAC_2_SQRT_PI * FRAC_1_SQRT_2, 0.044715);
    let t = ((self_ + self_ * &square * kappa) * beta).tanh();
    let (first, second) = ((&square * (3.0 * kappa) + 1.0) * beta, self_ * (6.0 * beta * kappa));
    let bend = (second - &t * &first * &first * 2.0) * self_ * 0.5;
    grad * grad_output * rest(&(&t * &t)) * (first + bend)
}

/// s (1 - t^2) (2 + x (1 - s - 2 t s)), s = sigmoid x, t = tanh(ln(1 + e^x)).
pub fn mish_twice(grad: &Expr, grad_output: &Expr, self_: &Expr) -> Expr {
    let (s, t) = (self_.sigmoid(), self_.softplus(1, 20).tanh());
    let slope = &s * rest(&(&t * &t)) * (self_ * (rest(&s) - &t * &s * 2.0) + 2.0);
    grad * grad_output * slope
}

/// Below zero, alpha scale input_scale^2 e^(input_scale x), or input_scale by the result; above, nothing.
pub fn elu_twice(
    grad: &Expr,
    grad_output: &Expr,
    [alpha, scale, input_scale]: [Scalar; 3],
    is_result: bool,
    self_or_result: &Expr,
) -> Expr {
    let input_scale = input_scale.to_f64();
    let slope = if is_result {
        grad * grad_output * input_scale
    } else {
        let factor = alpha.to_f64() * scale.to_f64() * input_scale * input_scale;
        grad * grad_output * (self_or_result * input_scale).exp() * factor
    };
    self_or_result.lt_scalar(0).where_scalarother(slope, 0)
}

/// beta s (1 - s), s = sigmoid(beta x), up to the threshold.
pub fn softplus_twice(grad: &Expr, grad_output: &Expr, self_: &Expr, beta: Scalar, threshold: Scalar) -> Expr {
    let scaled = self_ * beta;
    let s = scaled.sigmoid();
    scaled.gt_scalar(threshold).where_scalarself(0, grad * grad_output * &s * rest(&s) * beta)
}

/// 1/3 between -3 and 3.
pub fn hardswish_twice(grad: &Expr, grad_output: &Expr, self_: &Expr) -> Expr {
    let within = self_.gt_scalar(-3).logical_and(self_.lt_scalar(3));
    within.where_scalarother(grad * grad_output / 3.0, 0)
}

/// The gradient of `logit`, which divides by x (1 - x): zero outside of the bounds, NaN outside of [0, 1].
pub fn logit(grad: &Expr, self_: &Expr, eps: Option<f64>) -> Expr {
    let slope = grad / (self_ * rest(self_));
    // A negative eps is none.
    let (low, outside) = eps.filter(|eps| *eps >= 0.0 || eps.is_nan()).map_or((0.0, f64::NAN), |eps| (eps, 0.0));
    self_.lt_scalar(low).logical_or(self_.gt_scalar(1.0 - low)).where_scalarself(outside, slope)
}
