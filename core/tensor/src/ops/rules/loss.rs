//! Rules of losses that compare each element with its target.

use super::pointwise::arithmetic;
use super::{common_dtype, elementwise};
use crate::dense::{Dense, Geometry, Spec, check_cast};
use rushlight_base::{DType, DimVec, Result, bail, ensure, format_sizes};

/// A single number, or one for each element.
pub fn reduced(self_: &Dense, target: &Dense, reduction: i64) -> Result<Spec> {
    let each = arithmetic(self_, target)?;
    match reduction {
        0 => Ok(each),
        1 | 2 => Ok(Spec { sizes: DimVec::new(), strides: None, ..each }),
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
}

/// The gradient of each element. Dtypes are not promoted.
pub fn reduced_backward(grad_output: &Dense, self_: &Dense, target: &Dense) -> Result<Spec> {
    same_dtype(self_, target)?;
    same_dtype(self_, grad_output)?;
    elementwise(self_.dtype, &[self_, target, grad_output])
}

/// The gradient of each element, in the dtype of `self`.
pub fn smooth_l1_loss_backward(grad_output: &Dense, self_: &Dense, target: &Dense) -> Result<Spec> {
    let all = [self_, target, grad_output];
    elementwise(common_dtype(&all)?, &all)?.cast_to(self_.dtype)
}

/// `beta` is a distance, so it must not be negative.
pub fn smooth_l1_loss(self_: &Dense, target: &Dense, reduction: i64, beta: f64) -> Result<Spec> {
    ensure!(beta >= 0.0, Runtime, "smooth_l1_loss does not support negative values for beta.");
    reduced(self_, target, reduction)
}

/// `delta` is a distance, so it must be positive.
pub fn huber_loss(self_: &Dense, target: &Dense, reduction: i64, delta: f64) -> Result<Spec> {
    ensure!(delta > 0.0, Runtime, "huber_loss does not support non-positive values for delta.");
    reduced(self_, target, reduction)
}

/// The sizes of `other` with dimensions of size 1 where `like` has them, as `binary_cross_entropy` broadcasts: it
/// ignores these dimensions in both, so that `[4, 1]` and `[4]` are four pairs, not sixteen.
pub(crate) fn squeezed_like(other: &[i64], like: &[i64]) -> Result<DimVec> {
    let squeezed = |sizes: &[i64]| sizes.iter().copied().filter(|&size| size != 1).collect::<DimVec>();
    let (mut left, kept) = (squeezed(other), squeezed(like));
    let all = super::broadcast_sizes(&kept, &left)?;
    ensure!(
        all == kept,
        Runtime,
        "output with shape {} doesn't match the broadcast shape {}",
        format_sizes(&kept),
        format_sizes(&all)
    );
    let mut sizes = DimVec::from_elem(1, like.len());
    for dim in (0..like.len()).rev().filter(|&dim| like[dim] != 1) {
        sizes[dim] = left.pop().unwrap_or(1);
    }
    Ok(sizes)
}

/// `other` as [`squeezed_like`] pairs it.
pub(crate) fn paired(other: &Dense, like: &[i64]) -> Result<Dense> {
    let sizes = squeezed_like(other.sizes(), like)?;
    let mut steps = other.sizes().iter().zip(other.strides()).rev().filter(|&(&size, _)| size != 1);
    let mut strides = DimVec::from_elem(1, sizes.len());
    for dim in (0..sizes.len()).rev().filter(|&dim| sizes[dim] != 1) {
        strides[dim] = steps.next().map_or(1, |(_, &step)| step);
    }
    Ok(other.with_geometry(Geometry { sizes, strides, offset: other.geometry.offset }))
}

fn weighted(self_: &Dense, weight: Option<&Dense>) -> Result<()> {
    let Some(weight) = weight else { return Ok(()) };
    let all = super::broadcast_sizes(self_.sizes(), weight.sizes())?;
    ensure!(
        *all == *self_.sizes(),
        Runtime,
        "output with shape {} doesn't match the broadcast shape {}",
        format_sizes(self_.sizes()),
        format_sizes(&all)
    );
    check_cast(weight.dtype, self_.dtype)
}

/// Target and input of one dtype and, without dimensions of size 1, of one shape; weights broadcast to the losses.
pub fn binary_cross_entropy(self_: &Dense, target: &Dense, weight: Option<&Dense>, reduction: i64) -> Result<Spec> {
    same_dtype(self_, target)?;
    squeezed_like(target.sizes(), self_.sizes())?;
    weighted(self_, weight)?;
    match reduction {
        0 => elementwise(self_.dtype, &[self_]),
        1 | 2 => Ok(Spec::new(&[], self_.dtype, self_.device)),
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
}

/// The gradient of each probability.
pub fn binary_cross_entropy_backward(
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    weight: Option<&Dense>,
) -> Result<Spec> {
    for other in [target, grad_output] {
        same_dtype(self_, other)?;
        squeezed_like(other.sizes(), self_.sizes())?;
    }
    weighted(self_, weight)?;
    elementwise(self_.dtype, &[self_])
}

fn same_dtype(self_: &Dense, other: &Dense) -> Result<()> {
    let (dtype, found) = (self_.dtype, other.dtype);
    ensure!(found == dtype, Runtime, "Found dtype {} but expected {}", found.c10_name(), dtype.c10_name());
    Ok(())
}

/// The loss of each row or one number, and a mark for each class.
pub fn multilabel_margin_loss(self_: &Dense, target: &Dense, reduction: i64) -> Result<[Spec; 2]> {
    let sizes = self_.sizes();
    ensure!(
        sizes.len() <= 2 && sizes.last() != Some(&0),
        Runtime,
        "Expected non-empty vector or matrix with optional 0-dim batch size, but got: {}",
        format_sizes(sizes)
    );
    ensure!(
        target.sizes() == sizes,
        Runtime,
        "inconsistent target size: {} for input of size: {}",
        format_sizes(target.sizes()),
        format_sizes(sizes)
    );
    ensure!(target.dtype == DType::I64, Runtime, "expected scalar type Long but found {}", target.dtype.c10_name());
    let losses = match reduction {
        0 if sizes.len() == 2 => &sizes[..1],
        0..=2 => &[],
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    };
    Ok([Spec::new(losses, self_.dtype, self_.device), Spec::new(sizes, self_.dtype, self_.device)])
}

/// The gradient of each score.
pub fn multilabel_margin_loss_backward(
    grad_output: &Dense,
    self_: &Dense,
    target: &Dense,
    reduction: i64,
    is_target: &Dense,
) -> Result<Spec> {
    let [losses, marks] = multilabel_margin_loss(self_, target, reduction)?;
    ensure!(
        *grad_output.sizes() == *losses.sizes
            && grad_output.dtype == self_.dtype
            && *is_target.sizes() == *marks.sizes
            && is_target.dtype == self_.dtype,
        Runtime,
        "expected a gradient of shape {} and marks like {}, got {} and {}",
        format_sizes(&losses.sizes),
        self_.describe(),
        grad_output.describe(),
        is_target.describe()
    );
    Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
}

/// The end of PyTorch's messages on arguments of `_ctc_loss`.
const BY_CTC: &str = "(while checking arguments for ctc_loss_allocate_outputs)";

/// A likelihood for each element of the batch, and one for each step and alignment state.
pub fn ctc_loss(
    log_probs: &Dense,
    targets: &Dense,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    _zero_infinity: bool,
) -> Result<[Spec; 2]> {
    let (sizes, labels) = (log_probs.sizes(), targets.sizes());
    ensure!(
        matches!(targets.dtype, DType::I32 | DType::I64),
        Runtime,
        "Expected tensor for argument #2 'targets' to have scalar type Int; but got torch.{}Tensor instead {BY_CTC}",
        targets.dtype.c10_name()
    );
    ensure!(
        sizes.len() == 3,
        Runtime,
        "Expected 3-dimensional tensor, but got {}-dimensional tensor for argument #1 'log_probs' {BY_CTC}",
        sizes.len()
    );
    ensure!(
        matches!(labels.len(), 1 | 2),
        Runtime,
        "Expected 1 to 2 dimensions, but got {}-dimensional tensor for argument #2 'targets' {BY_CTC}",
        labels.len()
    );
    let (steps, batch, classes) = (sizes[0], sizes[1], sizes[2]);
    ensure!((0..classes).contains(&blank), Runtime, "blank must be in label range");
    for (name, lengths) in [("input_lengths", input_lengths), ("target_lengths", target_lengths)] {
        ensure!(lengths.len() as i64 == batch, Runtime, "{name} must be of size batch_size");
    }
    let at_least_none = |name: &str, length: i64| {
        ensure!(length >= 0, Runtime, "Expected {name} to have value at least 0, but got value {length} {BY_CTC}");
        Ok(())
    };
    let (mut longest, mut sum) = (0, 0i64);
    for &length in target_lengths {
        at_least_none("target_lengths", length)?;
        (longest, sum) = (longest.max(length), sum.saturating_add(length));
    }
    let wanted = if labels.len() == 1 { sum } else { batch };
    ensure!(
        labels[0] == wanted,
        Runtime,
        "Expected tensor to have size {wanted} at dimension 0, but got size {} for argument #2 'targets' {BY_CTC}",
        labels[0]
    );
    if let [_, columns] = *labels {
        ensure!(
            columns >= longest,
            Runtime,
            "Expected tensor to have size at least {longest} at dimension 1, but got size {columns} for argument #2 \
             'targets' {BY_CTC}"
        );
    }
    for &length in input_lengths {
        at_least_none("input_lengths", length)?;
        ensure!(
            length <= steps,
            Runtime,
            "Expected input_lengths to have value at most {steps}, but got value {length} {BY_CTC}"
        );
    }
    let spec = |sizes: &[i64]| Spec::new(sizes, log_probs.dtype, log_probs.device);
    Ok([spec(&[batch]), spec(&[batch, steps, 2 * longest + 1])])
}

/// The gradient of the log-probabilities.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ctc_loss_backward(
    grad: &Dense,
    log_probs: &Dense,
    targets: &Dense,
    input_lengths: &[i64],
    target_lengths: &[i64],
    neg_log_likelihood: &Dense,
    log_alpha: &Dense,
    blank: i64,
) -> Result<Spec> {
    let [losses, alphas] = ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, false)?;
    let fits = |dense: &Dense, spec: &Spec| *dense.sizes() == *spec.sizes && dense.dtype == spec.dtype;
    ensure!(
        fits(grad, &losses) && fits(neg_log_likelihood, &losses) && fits(log_alpha, &alphas),
        Runtime,
        "expected a gradient and likelihoods of shape {} and {} for the steps, got {}, {} and {}",
        format_sizes(&losses.sizes),
        format_sizes(&alphas.sizes),
        grad.describe(),
        neg_log_likelihood.describe(),
        log_alpha.describe()
    );
    Ok(Spec::new(log_probs.sizes(), log_probs.dtype, log_probs.device))
}
