//! Rules of losses that compare each element with its target.

use super::pointwise::arithmetic;
use super::{common_dtype, elementwise};
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, bail, ensure, format_sizes};

/// One number, or one for each element.
pub fn reduced(self_: &Dense, target: &Dense, reduction: i64) -> Result<Spec> {
    let each = arithmetic(self_, target)?;
    match reduction {
        0 => Ok(each),
        1 | 2 => Ok(Spec { sizes: DimVec::new(), strides: None, ..each }),
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
}

/// The gradient of each element.
pub fn reduced_backward(grad_output: &Dense, self_: &Dense, target: &Dense) -> Result<Spec> {
    let all = [grad_output, self_, target];
    elementwise(common_dtype(&all)?, &all)
}

/// `beta` is a distance.
pub fn smooth_l1_loss(self_: &Dense, target: &Dense, reduction: i64, beta: f64) -> Result<Spec> {
    ensure!(beta >= 0.0, Runtime, "smooth_l1_loss does not support negative values for beta.");
    reduced(self_, target, reduction)
}

/// `delta` is a distance, but not 0.
pub fn huber_loss(self_: &Dense, target: &Dense, reduction: i64, delta: f64) -> Result<Spec> {
    ensure!(delta > 0.0, Runtime, "huber_loss does not support non-positive values for delta.");
    reduced(self_, target, reduction)
}

/// Are these the same sizes, but for ones that stand elsewhere?
pub fn same_but_ones(a: &[i64], b: &[i64]) -> bool {
    let counting = |sizes: &[i64]| -> DimVec { sizes.iter().copied().filter(|&size| size != 1).collect() };
    a != b && counting(a) == counting(b)
}

/// `target`, with the sizes of `self` where only ones tell them apart: the binary cross entropy of a column and a row pairs their
/// elements in order, as PyTorch's does.
pub fn paired(self_: &Dense, target: &Dense) -> Dense {
    let mut view = target.clone();
    if same_but_ones(self_.sizes(), target.sizes()) {
        let mut strides = target.sizes().iter().zip(target.strides()).filter(|(size, _)| **size != 1);
        view.geometry.sizes = DimVec::from_slice(self_.sizes());
        let of_size = |&size: &i64| if size == 1 { 1 } else { strides.next().map_or(1, |(_, stride)| *stride) };
        view.geometry.strides = self_.sizes().iter().map(of_size).collect();
    }
    view
}

/// The gradient of each element, for pairs like those of the loss.
pub fn binary_cross_entropy_backward(grad_output: &Dense, self_: &Dense, target: &Dense) -> Result<Spec> {
    reduced_backward(grad_output, self_, &paired(self_, target))
}

/// All of one dtype; weights broadcast to the losses.
pub fn binary_cross_entropy(self_: &Dense, target: &Dense, weight: Option<&Dense>, reduction: i64) -> Result<Spec> {
    let target = &paired(self_, target);
    let (dtype, found) = (self_.dtype, target.dtype);
    ensure!(found == dtype, Runtime, "Found dtype {} but expected {}", found.c10_name(), dtype.c10_name());
    if let Some(weight) = weight {
        let found = weight.dtype;
        ensure!(found == dtype, Runtime, "Found dtype {} but expected {}", found.c10_name(), dtype.c10_name());
        super::check_expandable(weight.sizes(), &super::broadcast_sizes(self_.sizes(), target.sizes())?)?;
    }
    reduced(self_, target, reduction)
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

fn check_lengths(name: &str, lengths: &[i64], batch: i64, most: i64) -> Result<()> {
    ensure!(lengths.len() as i64 == batch, Runtime, "{name} must be of size batch_size");
    for (nth, &length) in lengths.iter().enumerate() {
        ensure!(
            (0..=most).contains(&length),
            Runtime,
            "Expected {name} to have value at least 0 and at most {most}, but got value {length} for element {nth}"
        );
    }
    Ok(())
}

/// A likelihood for each of the batch, and one for each step and label on the way.
pub fn ctc_loss(
    log_probs: &Dense,
    targets: &Dense,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    _zero_infinity: bool,
) -> Result<[Spec; 2]> {
    let sizes = log_probs.sizes();
    ensure!(sizes.len() == 3, Runtime, "log_probs has to be of shape (T, N, C), got {}", format_sizes(sizes));
    let (steps, batch, classes) = (sizes[0], sizes[1], sizes[2]);
    ensure!((0..classes).contains(&blank), Runtime, "blank must be in label range");
    ensure!(
        matches!(targets.dtype, DType::I32 | DType::I64),
        Runtime,
        "Expected tensor for argument 'targets' to have one of the following scalar types: Int, Long; but got {} \
         instead (while checking arguments for ctc_loss)",
        targets.dtype.c10_name()
    );
    let longest = target_lengths.iter().copied().max().unwrap_or(0);
    let most = match *targets.sizes() {
        [count] => {
            let sum: i64 = target_lengths.iter().sum();
            ensure!(
                sum == count,
                Runtime,
                "Expected targets of {sum} elements, the sum of target_lengths, got {count}"
            );
            longest
        }
        [rows, columns] if rows == batch => columns,
        _ => bail!(
            Runtime,
            "Expected targets of shape ({batch}, S) or (sum of target_lengths), got {}",
            format_sizes(targets.sizes())
        ),
    };
    check_lengths("input_lengths", input_lengths, batch, steps)?;
    check_lengths("target_lengths", target_lengths, batch, most)?;
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
