//! Losses of class scores.

use super::softmax_input;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, format_sizes};

/// ln softmax along a dimension
pub fn log_softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    ops::_log_softmax(&softmax_input(self_, dtype)?, dim, false)
}

/// Like `log_softmax`, written to `out`.
pub fn log_softmax_out(self_: &Tensor, dim: i64, dtype: Option<DType>, out: &Tensor) -> Result<()> {
    ops::_log_softmax_out(&softmax_input(self_, dtype)?, dim, false, out)
}

/// The negative log likelihood of scores (C), (N, C) or (N, C, ...).
pub fn nll_loss(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<Tensor> {
    Ok(ops::nll_loss_forward(self_, target, weight, reduction, ignore_index)?.0)
}

/// Like `nll_loss`, written to `out`.
pub fn nll_loss_out(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
    out: &Tensor,
) -> Result<()> {
    let total = ops::empty_memory_format(&[], self_.options(), None)?;
    ops::nll_loss_forward_output(self_, target, weight, reduction, ignore_index, out, &total)
}

/// Like `nll_loss`, after a check of the batch sizes.
pub fn nll_loss_nd(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Value, "Expected 1 or more dimensions (got {})", self_.ndim());
    if self_.ndim() > 1 {
        let (batch, targets) = (self_.sizes()[0], target.sizes().first().copied().unwrap_or(1));
        ensure!(batch == targets, Value, "Expected input batch_size ({batch}) to match target batch_size ({targets}).");
    }
    nll_loss(self_, target, weight, reduction, ignore_index)
}

/// Log softmax and negative log likelihood of class numbers, or the cross entropy with class probabilities.
pub fn cross_entropy_loss(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
    label_smoothing: f64,
) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Value, "Expected 1 or more dimensions (got {})", self_.ndim());
    let class_dim = i64::from(self_.ndim() > 1);
    if self_.sizes() == target.sizes() {
        ensure!(
            target.dtype().is_floating(),
            Runtime,
            "Expected floating point type for target with class probabilities, got {}",
            target.dtype().c10_name()
        );
        ensure!(ignore_index < 0, Runtime, "ignore_index is not supported for floating point target");
        return soft_cross_entropy(self_, target, weight, reduction, label_smoothing);
    }
    let scores = ops::log_softmax_int(self_, class_dim, None)?;
    let loss = ops::nll_loss_nd(&scores, target, weight, reduction, ignore_index)?;
    if label_smoothing <= 0.0 {
        return Ok(loss);
    }
    ensure!(label_smoothing <= 1.0, Runtime, "label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}");
    let weighted = match weight {
        Some(weight) => ops::mul_tensor(&scores, &along_classes(weight, &scores, class_dim)?)?,
        None => scores.clone(),
    };
    let ignored = ops::eq_scalar(target, Scalar::Int(ignore_index))?;
    let smooth = ops::neg(&ops::sum_dim_intlist(&weighted, Some(&[class_dim]), false, None)?)?;
    let smooth = ops::masked_fill_scalar(&smooth, &ignored, Scalar::Int(0))?;
    let reduced = match reduction {
        0 => smooth,
        2 => ops::sum(&smooth, None)?,
        1 => {
            let total = match weight {
                // The weights of the targets that count.
                Some(weight) => {
                    let flat = ops::reshape(&ops::masked_fill_scalar(target, &ignored, Scalar::Int(0))?, &[-1])?;
                    let picked = ops::reshape(&ops::index_select(weight, 0, &flat)?, &target.sizes())?;
                    ops::sum(&ops::masked_fill_scalar(&picked, &ignored, Scalar::Int(0))?, None)?
                }
                None => {
                    ops::sum(&ops::to_dtype(&ops::logical_not(&ignored)?, scores.dtype(), false, false, None)?, None)?
                }
            };
            ops::div_tensor(&ops::sum(&smooth, None)?, &total)?
        }
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    };
    let classes = scores.sizes()[class_dim as usize] as f64;
    let kept = ops::mul_scalar(&loss, Scalar::Float(1.0 - label_smoothing))?;
    ops::add_tensor(&kept, &ops::mul_scalar(&reduced, Scalar::Float(label_smoothing / classes))?, Scalar::Int(1))
}

/// One weight per class, shaped to multiply scores.
fn along_classes(weight: &Tensor, scores: &Tensor, class_dim: i64) -> Result<Tensor> {
    let mut shape = DimVec::from_elem(1, scores.ndim());
    shape[class_dim as usize] = weight.numel();
    ops::view(weight, &shape)
}

fn soft_cross_entropy(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    label_smoothing: f64,
) -> Result<Tensor> {
    let class_dim = i64::from(self_.ndim() > 1);
    let scores = ops::log_softmax_int(self_, class_dim, None)?;
    let classes = scores.sizes()[class_dim as usize];
    let target = if label_smoothing > 0.0 {
        ensure!(label_smoothing <= 1.0, Runtime, "label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}");
        let kept = ops::mul_scalar(target, Scalar::Float(1.0 - label_smoothing))?;
        ops::add_scalar(&kept, Scalar::Float(label_smoothing / classes as f64), Scalar::Int(1))?
    } else {
        target.clone()
    };
    let mut product = ops::mul_tensor(&scores, &target)?;
    if let Some(weight) = weight {
        ensure!(
            weight.ndim() == 1 && weight.numel() == classes,
            Runtime,
            "cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got \
             weight tensor of shape: {}",
            format_sizes(&weight.sizes())
        );
        product = ops::mul_tensor(&product, &along_classes(weight, &scores, class_dim)?)?;
    }
    match reduction {
        0 => ops::neg(&ops::sum_dim_intlist(&product, Some(&[class_dim]), false, None)?),
        2 => ops::neg(&ops::sum(&product, None)?),
        1 => {
            let batch = if self_.ndim() == 1 { 1 } else { self_.numel() / classes.max(1) };
            ops::div_scalar(&ops::neg(&ops::sum(&product, None)?)?, Scalar::Int(batch))
        }
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
}
