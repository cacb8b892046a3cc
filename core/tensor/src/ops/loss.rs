//! Kernels of the negative log likelihood.

use super::access::array;
use crate::dense::Dense;
use rushlight_base::Result;
use rushlight_cpu::loss::{self, Reduction, Targets};

fn targets<'a>(target: &'a Dense, weight: Option<&'a Dense>, ignore_index: i64) -> Targets<'a> {
    Targets { target: array(target), weight: weight.map(array), ignore_index }
}

/// A single score vector is reduced by having only one target.
fn reduction_of(self_: &Dense, reduction: i64) -> Result<Reduction> {
    Reduction::from_code(if self_.ndim() == 1 && reduction == 0 { 2 } else { reduction })
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
    let targets = targets(target, weight, ignore_index);
    let reduction = reduction_of(self_, reduction)?;
    loss::nll_loss_backward(&array(out), &array(grad_output), &targets, reduction, &array(total_weight))
}
