//! Derivatives of losses and of their gradients.

use super::super::Expr;
use crate::ops;
use crate::ops::rules::squeezed_like;

/// Reduces the products of the gradients of a loss with their gradients. Without elements the sum is 0, also for a mean.
pub fn reduced(losses: Expr, reduction: i64) -> Expr {
    match reduction {
        0 => losses,
        1 if losses.numel() > 0 => losses.mean(None),
        _ => losses.sum(None),
    }
}

/// The share of each element in the gradient of a loss: for a mean, a part of it.
pub fn shared(gradients: Expr, reduction: i64) -> Expr {
    let count = gradients.numel();
    if reduction == 1 { gradients / count as f64 } else { gradients }
}

/// `value` where `self` is nearer than `reach` to `target`, else 0.
pub fn near(self_: &Expr, target: &Expr, reach: f64, value: Expr) -> Expr {
    (self_ - target).abs().lt_scalar(reach).where_scalarother(value, 0)
}

fn weighted(value: Expr, weight: Option<&Expr>) -> Expr {
    weight.map_or(value.clone(), |weight| value * weight)
}

/// x (1 - x), not 0 where x is a probability.
fn spread(self_: &Expr) -> Expr {
    (self_ + 1e-12) * (-self_ + 1.0 + 1e-12)
}

/// A factor of the losses as `binary_cross_entropy` pairs it with the probabilities.
fn paired(other: &Expr, self_: &Expr) -> Expr {
    match squeezed_like(&other.sizes(), &self_.sizes()) {
        Ok(sizes) => other.reshape(&sizes),
        Err(error) => Expr::from(error),
    }
}

/// A gradient of the losses as one of `other`, which was paired with the probabilities.
fn unpaired(gradient: Expr, other: &Expr) -> Expr {
    match squeezed_like(&other.sizes(), &gradient.sizes()) {
        Ok(sizes) => gradient.sum_to_size(&sizes).reshape(&other.sizes()),
        Err(error) => Expr::from(error),
    }
}

/// The derivative of the gradient of `binary_cross_entropy` by `grad_output`: w (x - t) / (x (1 - x)).
pub fn binary_cross_entropy_slope(
    grad: &Expr,
    grad_output: &Expr,
    self_: &Expr,
    target: &Expr,
    weight: Option<&Expr>,
    reduction: i64,
) -> Expr {
    let slopes = shared(grad * weighted((self_ - paired(target, self_)) / spread(self_), weight), reduction);
    if reduction == 0 { unpaired(slopes, grad_output) } else { slopes }
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
    unpaired(shared(grad * weighted(slope, weight), reduction), target)
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
    let (spread, target) = (spread(self_), paired(target, self_));
    let slope = (self_ * self_ - self_ * &target * 2.0 + target) / (&spread * &spread);
    shared(grad * paired(grad_output, self_) * weighted(slope, weight), reduction)
}

/// The derivative of the gradient by t: -w / (x (1 - x)).
pub fn binary_cross_entropy_twice_target(
    grad: &Expr,
    grad_output: &Expr,
    self_: &Expr,
    target: &Expr,
    weight: Option<&Expr>,
    reduction: i64,
) -> Expr {
    let slope = weighted(spread(self_).reciprocal(), weight);
    unpaired(shared(-(grad * paired(grad_output, self_) * slope), reduction), target)
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
