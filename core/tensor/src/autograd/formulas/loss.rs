//! Derivatives of losses and of their gradients.

use super::super::Expr;
use crate::ops;
use crate::ops::rules::{broadcast_sizes, same_but_ones};
use rushlight_base::Scalar;

/// What a loss returns for the losses of the elements.
pub fn reduced(losses: Expr, reduction: i64) -> Expr {
    match reduction {
        0 => losses,
        1 => losses.mean(None),
        _ => losses.sum(None),
    }
}

/// The share of each element in the gradient of a loss: for a mean, a part of it.
pub fn shared(gradients: Expr, reduction: i64) -> Expr {
    let count = gradients.numel();
    if reduction == 1 { gradients / count as f64 } else { gradients }
}

/// `value` where `self` is no farther than `reach` from `target`, else 0.
pub fn near(self_: &Expr, target: &Expr, reach: f64, value: Expr) -> Expr {
    (self_ - target).abs().le_scalar(reach).where_scalarother(value, 0)
}

/// The slope of `smooth_l1_loss`.
pub fn smooth_l1_slope(self_: &Expr, target: &Expr, beta: f64) -> Expr {
    let away = self_ - target;
    if beta == 0.0 { away.sign() } else { (away / beta).clamp(Some(Scalar::Float(-1.0)), Some(Scalar::Float(1.0))) }
}

fn weighed(value: Expr, weight: Option<&Expr>) -> Expr {
    weight.map_or(value.clone(), |weight| value * weight)
}

/// x (1 - x), not 0.
fn spread(self_: &Expr) -> Expr {
    (self_ * (-self_ + 1.0)).clamp_min(1e-12)
}

/// The target of a binary cross entropy, with the sizes of `self` where only ones tell them apart.
fn paired(self_: &Expr, target: &Expr) -> Expr {
    let sizes = self_.sizes();
    if same_but_ones(&sizes, &target.sizes()) { target.reshape(&sizes) } else { target.clone() }
}

/// The slope of `binary_cross_entropy`: w (x - t) / (x (1 - x)).
pub fn binary_cross_entropy_slope(self_: &Expr, target: &Expr, weight: Option<&Expr>) -> Expr {
    weighed((self_ - paired(self_, target)) / spread(self_), weight)
}

/// The gradient of `binary_cross_entropy` by the target: w (ln(1 - x) - ln x).
pub fn binary_cross_entropy_target(
    grad: &Expr,
    self_: &Expr,
    target: &Expr,
    weight: Option<&Expr>,
    reduction: i64,
) -> Expr {
    let slope = (-self_ + 1.0).log().clamp_min(-100.0) - self_.log().clamp_min(-100.0);
    if same_but_ones(&self_.sizes(), &target.sizes()) {
        return shared(grad * weighed(slope, weight), reduction).reshape(&target.sizes());
    }
    match broadcast_sizes(&self_.sizes(), &target.sizes()) {
        Ok(sizes) => shared(grad * weighed(slope.expand(&sizes, false), weight), reduction),
        Err(error) => Expr::from(error),
    }
}

/// The derivative of the gradient by x: w (x^2 - 2 x t + t) / (x (1 - x))^2.
pub fn binary_cross_entropy_twice(
    grad: &Expr,
    grad_output: &Expr,
    self_: &Expr,
    target: &Expr,
    weight: Option<&Expr>,
    reduction: i64,
) -> Expr {
    let (spread, target) = (spread(self_), &paired(self_, target));
    let slope = (self_ * self_ - self_ * target * 2.0 + target) / (&spread * &spread);
    shared(grad * grad_output * weighed(slope, weight), reduction)
}

/// The derivative of the gradient by t: -w / (x (1 - x)).
pub fn binary_cross_entropy_twice_target(
    grad: &Expr,
    grad_output: &Expr,
    self_: &Expr,
    target_sizes: &[i64],
    weight: Option<&Expr>,
    reduction: i64,
) -> Expr {
    let gradient = shared(-(grad * grad_output * weighed(spread(self_).reciprocal(), weight)), reduction);
    if same_but_ones(&self_.sizes(), target_sizes) { gradient.reshape(target_sizes) } else { gradient }
}

/// The derivative of the gradient of `multilabel_margin_loss` by the gradient of its output: the slopes, times `grad`.
pub fn multilabel_margin_twice(grad: &Expr, self_: &Expr, target: &Expr, reduction: i64, is_target: &Expr) -> Expr {
    let single = self_.ndim() < 2;
    let rows = if single { 1 } else { self_.sizes()[0] };
    let ones = if single {
        Expr::of(|| ops::ones(&[], grad.options()))
    } else {
        Expr::of(|| ops::ones(&[rows], grad.options()))
    };
    let slopes = ones.multilabel_margin_loss_backward(self_, target, 0, is_target);
    let along = grad * slopes;
    let each = if single { along.sum(None) } else { along.sum_dim_intlist(Some(&[1]), false, None) };
    if single { each } else { reduced(each, reduction) }
}
