//! The loss of connectionist temporal classification.

use crate::autograd::Expr;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, MemoryFormat, Result, bail, ensure, list};

/// Reduced over the batch; a single sequence counts as a batch of one.
pub fn ctc_loss_intlist(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    reduction: i64,
    zero_infinity: bool,
) -> Result<Tensor> {
    let batched = log_probs.ndim() == 3;
    let (log_probs, targets) = if batched {
        (log_probs.clone(), targets.clone())
    } else {
        let targets = if targets.ndim() == 1 { ops::unsqueeze(targets, 0)? } else { targets.clone() };
        (ops::unsqueeze(log_probs, 1)?, targets)
    };
    let (losses, _) = ops::_ctc_loss(&log_probs, &targets, input_lengths, target_lengths, blank, zero_infinity)?;
    let mut losses = Expr::from(losses);
    if zero_infinity {
        losses = losses.masked_fill_scalar(losses.eq_scalar(f64::INFINITY), 0);
    }
    match reduction {
        0 if batched => losses,
        0 => losses.squeeze_dim(0),
        1 => {
            let lengths = list::collect(target_lengths.iter().map(|&length| length.max(1)))?;
            let lengths = Expr::from(Tensor::from_slice(&lengths, &[lengths.len() as i64])?);
            let dtype = losses.dtype();
            let lengths = lengths.to_device(log_probs.device(), dtype, false, false, None);
            (losses / lengths).mean(None)
        }
        2 => losses.sum(None),
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
    .into_tensor()
}

/// The lengths in a tensor, as a list. Those on a device are copied to the host, as in PyTorch.
fn listed(name: &str, lengths: &Tensor) -> Result<Vec<i64>> {
    ensure!(lengths.dtype().is_integral(false), Runtime, "{name} must be integral, got {}", lengths.dtype().c10_name());
    let lengths = ops::to_device(lengths, Device::CPU, DType::I64, false, false, None)?;
    ops::contiguous(&ops::reshape(&lengths, &[-1])?, MemoryFormat::Contiguous)?.to_vec::<i64>()
}

/// Like `ctc_loss_intlist`, with the lengths in tensors.
pub fn ctc_loss_tensor(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &Tensor,
    target_lengths: &Tensor,
    blank: i64,
    reduction: i64,
    zero_infinity: bool,
) -> Result<Tensor> {
    let (inputs, labels) = (listed("input_lengths", input_lengths)?, listed("target_lengths", target_lengths)?);
    ctc_loss_intlist(log_probs, targets, &inputs, &labels, blank, reduction, zero_infinity)
}
