//! Derivatives of batch and group norm.

use super::super::{Expr, is_grad_enabled};
use super::{eps_of, normalised, widened};
use crate::ops;
use rushlight_base::{DeviceType, DimVec};
use std::ops::Add;

/// `(C)` shaped to multiply `(N, C, *)`.
fn by_channel(expr: &Expr, ndim: usize) -> Expr {
    let mut sizes = DimVec::from_elem(1, ndim);
    sizes[1] = -1;
    widened(expr).reshape(&sizes)
}

/// All dimensions but that of the channels.
fn but_channels(ndim: usize) -> DimVec {
    (0..ndim as i64).filter(|&dim| dim != 1).collect()
}

/// The sum over each channel.
pub fn sum_channels(grad: &Expr) -> Expr {
    widened(grad).sum_dim_intlist(Some(&but_channels(grad.ndim())), false, None)
}

/// `input` normalized over `dims`, and the reciprocal deviations: as functions of it, if they are to be differentiated.
fn normal_over<E>(input: &Expr, dims: &[i64], mean: Expr, rstd: Expr, eps: E) -> (Expr, Expr)
where
    Expr: Add<E, Output = Expr>,
{
    if is_grad_enabled() {
        return normalised(input, dims, eps);
    }
    ((widened(input) - mean) * &rstd, rstd)
}

/// The gradient with respect to the input that was normalized over `dims`.
fn through(grad: Expr, normal: Expr, rstd: Expr, dims: &[i64]) -> Expr {
    let mean = grad.mean_dim(Some(dims), true, None);
    let along = (&grad * &normal).mean_dim(Some(dims), true, None);
    (grad - mean - normal * along) * rstd
}

/// The batch normalized, and the reciprocal deviation of each channel.
#[allow(clippy::too_many_arguments)] // the operator's
fn normal_batch(
    input: &Expr,
    running_mean: Option<&Expr>,
    running_var: Option<&Expr>,
    mean: &Expr,
    rstd: &Expr,
    training: bool,
    eps: f64,
) -> (Expr, Expr) {
    let ndim = input.ndim();
    match (training, running_mean, running_var) {
        (false, Some(mean), Some(variance)) => {
            let rstd = (by_channel(variance, ndim) + eps).sqrt().reciprocal();
            ((widened(input) - by_channel(mean, ndim)) * &rstd, rstd)
        }
        _ => normal_over(input, &but_channels(ndim), by_channel(mean, ndim), by_channel(rstd, ndim), eps),
    }
}

/// The gradients of batch norm by the input, the weight and the bias, as far as they are needed: in one call, unless they
/// are to be differentiated again or are on another device.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn batch_norm(
    grad: &Expr,
    input: &Expr,
    weight: Option<&Expr>,
    running_mean: Option<&Expr>,
    running_var: Option<&Expr>,
    mean: &Expr,
    rstd: &Expr,
    training: bool,
    eps: f64,
    needs: [bool; 3],
) -> [Option<Expr>; 3] {
    let by_bias = || needs[2].then(|| sum_channels(grad));
    if !needs[0] && !needs[1] {
        return [None, None, by_bias()];
    }
    let ndim = input.ndim();
    let on_host = input.options().device.is_some_and(|device| device.kind == DeviceType::Cpu);
    if on_host && !is_grad_enabled() && (training || needs[1]) {
        let statistics = match (training, running_mean, running_var) {
            (false, Some(mean), Some(variance)) => (widened(mean), (widened(variance) + eps).sqrt().reciprocal()),
            _ => (mean.clone(), rstd.clone()),
        };
        let [by_input, by_weight, by_bias] = in_one_call(grad, input, weight, statistics, training);
        return [needs[0].then_some(by_input), needs[1].then_some(by_weight), needs[2].then_some(by_bias)];
    }
    let (normal, rstd) = normal_batch(input, running_mean, running_var, mean, rstd, training, eps);
    let grad = widened(grad);
    let weight = weight.map(|weight| by_channel(weight, ndim));
    let by_input = || match (training, &weight) {
        (true, Some(weight)) => through(&grad * weight, normal.clone(), rstd.clone(), &but_channels(ndim)),
        (true, None) => through(grad.clone(), normal.clone(), rstd.clone(), &but_channels(ndim)),
        (false, Some(weight)) => &grad * (weight * &rstd),
        (false, None) => &grad * &rstd,
    };
    let by_weight = || sum_channels(&(&grad * &normal));
    [needs[0].then(by_input), needs[1].then(by_weight), by_bias()]
}

/// The three gradients from the statistics that normalized the input.
fn in_one_call(grad: &Expr, input: &Expr, weight: Option<&Expr>, of: (Expr, Expr), training: bool) -> [Expr; 3] {
    let call = || {
        let weight = weight.map(Expr::tensor).transpose()?;
        let (mean, rstd) = (of.0.tensor()?, of.1.tensor()?);
        ops::_batch_norm_backward(grad.tensor()?, input.tensor()?, weight, mean, rstd, training)
    };
    match call() {
        Ok((by_input, by_weight, by_bias)) => [by_input, by_weight, by_bias].map(Expr::from),
        Err(error) => [error.clone(), error.clone(), error].map(Expr::from),
    }
}

/// `(N, C, *)` as `(N, groups, rest)`.
fn in_groups(expr: &Expr, groups: i64) -> Expr {
    let (samples, count) = (expr.sizes().first().copied().unwrap_or(1), expr.numel());
    expr.reshape(&[samples, groups, count / (samples * groups).max(1)])
}

/// The summand that the variances had in `rstd`, for each group.
pub fn group_eps(input: &Expr, groups: i64, rstd: &Expr) -> Expr {
    eps_of(&in_groups(input, groups), &[2], &widened(rstd).unsqueeze(2))
}

/// The mean and the reciprocal deviation of each group, as functions of the input.
pub fn group_statistics(input: &Expr, groups: i64, eps: f64) -> (Expr, Expr) {
    let elements = widened(&in_groups(input, groups));
    let (_, rstd) = normalised(&elements, &[2], eps);
    (elements.mean_dim(Some(&[2]), false, None), rstd.squeeze_dim(2))
}

/// The groups normalized, and the reciprocal deviation of each.
fn normal_groups<E>(input: &Expr, groups: i64, mean: &Expr, rstd: &Expr, eps: E) -> (Expr, Expr)
where
    Expr: Add<E, Output = Expr>,
{
    let each = |expr: &Expr| widened(expr).unsqueeze(2);
    normal_over(&in_groups(input, groups), &[2], each(mean), each(rstd), eps)
}

/// The gradient of group norm by the input.
pub fn group_norm_input<E>(
    grad: &Expr,
    input: &Expr,
    groups: i64,
    weight: Option<&Expr>,
    mean: &Expr,
    rstd: &Expr,
    eps: E,
) -> Expr
where
    Expr: Add<E, Output = Expr>,
{
    let (normal, rstd) = normal_groups(input, groups, mean, rstd, eps);
    let grad = widened(grad);
    let grad = weight.map_or(grad.clone(), |weight| grad * by_channel(weight, input.ndim()));
    through(in_groups(&grad, groups), normal, rstd, &[2]).reshape(&input.sizes())
}

/// The gradient of group norm by the weight.
pub fn group_norm_weight<E>(grad: &Expr, input: &Expr, groups: i64, mean: &Expr, rstd: &Expr, eps: E) -> Expr
where
    Expr: Add<E, Output = Expr>,
{
    let (normal, _) = normal_groups(input, groups, mean, rstd, eps);
    sum_channels(&(widened(grad) * normal.reshape(&input.sizes())))
}
