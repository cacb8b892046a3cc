//! Kernels of losses.

use super::access::{array, number_of, over};
use super::norm::numbers;
use crate::dense::{Dense, Spec};
use rushlight_base::{Result, Scalar, ensure};
use rushlight_cpu::extrema::{Extremum, extremum};
use rushlight_cpu::loss::{self, Reduction, Targets};
use rushlight_cpu::{Loop, deviation, fill, multilabel};
use std::borrow::Cow;

fn targets<'a>(target: &'a Dense, weight: Option<&'a Dense>, ignore_index: i64) -> Targets<'a> {
    Targets { target: array(target), weight: weight.map(array), ignore_index }
}

/// A single score vector is reduced by having only one target.
fn reduction_of(self_: &Dense, reduction: i64) -> Result<Reduction> {
    Reduction::from_code(if self_.ndim() == 1 && reduction == 0 { 2 } else { reduction })
}

/// The tensor, without gaps if it is on a device, whose kernels take one step for all dimensions after the classes.
fn evened(dense: &Dense) -> Result<Cow<'_, Dense>> {
    if dense.is_on_host() { Ok(Cow::Borrowed(dense)) } else { numbers(dense, dense.dtype) }
}

/// The target of one vector of scores, which may be the first of several; the targets of several.
fn one_target<'a>(self_: &Dense, target: &'a Dense) -> Result<Cow<'a, Dense>> {
    if self_.ndim() != 1 || target.ndim() == 0 {
        return Ok(Cow::Borrowed(target));
    }
    Ok(Cow::Owned(target.with_geometry(super::views::select(target, 0, 0)?)))
}

/// out0, out1 = the loss and the total weight
pub fn nll_loss_forward(
    out0: &Dense,
    out1: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
    ignore_index: i64,
) -> Result<()> {
    let target = one_target(self_, target)?;
    let (self_, target) = (&evened(self_)?, &evened(&target)?);
    let targets = targets(target, weight, ignore_index);
    loss::nll_loss(&array(out0), &array(out1), &array(self_), &targets, reduction_of(self_, reduction)?)
}

/// out = the gradient by self
#[allow(clippy::too_many_arguments)] // the operator's
pub fn nll_loss_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
    ignore_index: i64,
    total_weight: &Dense,
) -> Result<()> {
    let target = one_target(self_, target)?;
    let (target, grad_output) = (&evened(&target)?, &evened(grad_output)?);
    let targets = targets(target, weight, ignore_index);
    let reduction = reduction_of(self_, reduction)?;
    loss::nll_loss_backward(&array(out), &array(grad_output), &targets, reduction, &array(total_weight))
}

/// Reduces the element losses from `kernel`.
fn reduced(
    out: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
    kernel: impl FnOnce(&Loop<3>) -> Result<()>,
) -> Result<()> {
    let losses = |to: &Dense| {
        over(to.dtype, [to, self_, target], kernel)?;
        weight.map_or(Ok(()), |weight| super::pointwise::mul(to, to, weight))
    };
    let reduction = Reduction::from_code(reduction)?;
    if reduction == Reduction::None {
        return losses(out);
    }
    let sizes = super::rules::broadcast_sizes(self_.sizes(), target.sizes())?;
    let each = Spec::new(&sizes, out.dtype, out.device).allocate()?;
    losses(&each)?;
    match reduction {
        Reduction::Mean => super::reduce::mean(out, &each, None),
        _ => super::reduce::sum(out, &each, None),
    }
}

/// The factor of the gradient of each element: for a mean, a fraction.
fn share_of(out: &Dense, reduction: i64) -> f64 {
    if reduction == 1 { 1.0 / out.numel() as f64 } else { 1.0 }
}

/// The same for gradients that may be integers, in which the infinite fraction of a mean over no elements overflows.
fn checked_share_of(out: &Dense, reduction: i64) -> Result<f64> {
    let share = share_of(out, reduction);
    Scalar::Float(share).check_convertible(out.dtype)?;
    Ok(share)
}

/// out = (self - target)^2, reduced
pub fn mse_loss(out: &Dense, self_: &Dense, target: &Dense, reduction: i64) -> Result<()> {
    reduced(out, self_, target, None, reduction, deviation::squared)
}

/// out = the gradient of `mse_loss` by self
pub fn mse_loss_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    reduction: i64,
) -> Result<()> {
    let share = checked_share_of(out, reduction)?;
    over(out.dtype, [out, grad_output, self_, target], |walk| deviation::squared_backward(walk, share))
}

/// out = the smooth L1 loss of self and target, quadratic within beta, reduced
pub fn smooth_l1_loss(out: &Dense, self_: &Dense, target: &Dense, reduction: i64, beta: f64) -> Result<()> {
    reduced(out, self_, target, None, reduction, |walk| deviation::smooth_l1(walk, beta))
}

/// out = the gradient of `smooth_l1_loss` by self
pub fn smooth_l1_loss_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    reduction: i64,
    beta: f64,
) -> Result<()> {
    let share = checked_share_of(out, reduction)?;
    let common = super::rules::common_dtype(&[grad_output, self_, target])?;
    over(common, [out, grad_output, self_, target], |walk| deviation::smooth_l1_backward(walk, beta, share))
}

/// out = half the squared distance of self to target, linear beyond delta, reduced
pub fn huber_loss(out: &Dense, self_: &Dense, target: &Dense, reduction: i64, delta: f64) -> Result<()> {
    reduced(out, self_, target, None, reduction, |walk| deviation::huber(walk, delta))
}

/// out = the gradient of `huber_loss` by self
pub fn huber_loss_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    reduction: i64,
    delta: f64,
) -> Result<()> {
    let share = share_of(out, reduction);
    over(out.dtype, [out, grad_output, self_, target], |walk| deviation::huber_backward(walk, delta, share))
}

fn check_probabilities(name: &str, tensor: &Dense) -> Result<()> {
    if tensor.numel() == 0 || !tensor.dtype.is_floating() {
        return Ok(());
    }
    let end = Spec::new(&[], tensor.dtype, tensor.device).allocate()?;
    for which in [Extremum::Min, Extremum::Max] {
        extremum(Some(&array(&end)), None, &array(tensor), which)?;
        // Also rejects NaN.
        let within = (0.0..=1.0).contains(&number_of(&end)?);
        ensure!(within, Runtime, "all elements of {name} should be between 0 and 1");
    }
    Ok(())
}

/// out = the cross entropy of probabilities and targets, reduced
pub fn binary_cross_entropy(
    out: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
) -> Result<()> {
    check_probabilities("input", self_)?;
    check_probabilities("target", target)?;
    let target = super::rules::paired(target, self_.sizes())?;
    reduced(out, self_, &target, weight, reduction, deviation::cross_entropy)
}

/// out = the gradient of `binary_cross_entropy` by self
pub fn binary_cross_entropy_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
    reduction: i64,
) -> Result<()> {
    let [grad_output, target] = [grad_output, target].map(|other| super::rules::paired(other, self_.sizes()));
    let (grad_output, target) = (&grad_output?, &target?);
    let share = share_of(out, reduction);
    over(out.dtype, [out, grad_output, self_, target], |walk| deviation::cross_entropy_backward(walk, share))?;
    weight.map_or(Ok(()), |weight| super::pointwise::mul(out, out, weight))
}

/// output, is_target = the loss of rows with several labels, reduced, and a mask of the classes that are labels
pub fn multilabel_margin_loss_forward(
    out0: &Dense,
    out1: &Dense,
    self_: &Dense,
    target: &Dense,
    reduction: i64,
) -> Result<()> {
    fill::fill(&Loop::new([array(out1)])?, Scalar::Int(0))?;
    let reduction = Reduction::from_code(reduction)?;
    if reduction == Reduction::None || self_.ndim() < 2 {
        return multilabel::multilabel_margin(&array(out0), &array(out1), &array(self_), &array(target));
    }
    let each = Spec::new(&self_.sizes()[..1], out0.dtype, out0.device).allocate()?;
    multilabel::multilabel_margin(&array(&each), &array(out1), &array(self_), &array(target))?;
    match reduction {
        Reduction::Mean => super::reduce::mean(out0, &each, None),
        _ => super::reduce::sum(out0, &each, None),
    }
}

/// out = the gradient of `multilabel_margin_loss` by self
pub fn multilabel_margin_loss_backward(
    out: &Dense,
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    reduction: i64,
    is_target: &Dense,
) -> Result<()> {
    fill::fill(&Loop::new([array(out)])?, Scalar::Int(0))?;
    let rows = if self_.ndim() < 2 { 1 } else { self_.sizes()[0] };
    let factor = if reduction == 1 { 1.0 / rows as f64 } else { 1.0 };
    let (grad, scores, marks) = (array(grad_output), array(self_), array(is_target));
    multilabel::multilabel_margin_backward(&array(out), &grad, &scores, &array(target), &marks, factor)
}
