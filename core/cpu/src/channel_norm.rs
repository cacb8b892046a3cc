//! Normalisation by channels: elements that share a mean and a deviation, and channels that share a weight and a bias.
//! Each channel of each sample is a line `x * scale + shift`.
//!
//! Per-channel values have the wide type and are contiguous: they are few, and may have another dtype.

use crate::array::Array;
use crate::number::{Analytic, Number, Wide};
use crate::pointwise::{LIGHT, Loop};
use rushlight_base::{Element, Result, ensure};

/// `count` contiguous numbers; a stride would have no effect on an empty array.
fn numbers<W: Element>(array: &Array, count: usize) -> Result<*mut W> {
    ensure!(
        array.dtype() == W::DTYPE && array.numel() == count && (count == 0 || array.is_contiguous()),
        Internal,
        "a channel norm got arrays of mismatched sizes"
    );
    Ok(array.as_ptr())
}

/// Turns variances into reciprocal deviations: `a = 1 / sqrt(a + eps)`.
pub fn reciprocal_deviations(a: &Array, eps: f64) -> Result<()> {
    dispatch!(a.dtype(), "batch_norm", float, T => {
        let at = numbers::<T>(a, a.numel())?;
        for nth in 0..a.numel() {
            // SAFETY: the array has as many numbers, and they are contiguous.
            unsafe {
                let variance = at.add(nth).read();
                at.add(nth).write(1.0 / (variance + eps as T).sqrt());
            }
        }
        Ok(())
    })
}

/// `scale = rstd * weight`, `shift = bias - mean * scale` for each channel of each sample. The sizes of `scale` are
/// (samples, channels). If there are fewer means than these, neighbouring channels share a mean and a deviation.
pub fn lines(
    scale: &Array,
    shift: &Array,
    [mean, rstd]: [&Array; 2],
    weight: Option<&Array>,
    bias: Option<&Array>,
) -> Result<()> {
    let (samples, channels) = (scale.size(0), scale.size(1));
    let count = samples * channels;
    dispatch!(scale.dtype(), "batch_norm", float, T => {
        let (scale, shift) = (numbers::<T>(scale, count)?, numbers::<T>(shift, count)?);
        let groups = mean.numel();
        let (mean, rstd) = (numbers::<T>(mean, groups)?, numbers::<T>(rstd, groups)?);
        let parameter = |array: Option<&Array>| array.map(|array| numbers::<T>(array, channels)).transpose();
        let (weight, bias) = (parameter(weight)?, parameter(bias)?);
        let together = count.checked_div(groups).unwrap_or(1).max(1);
        for nth in 0..count {
            let (channel, group) = (nth % channels, nth / together);
            // SAFETY: `numbers` has checked that there is a number for each channel and for each group.
            unsafe {
                let factor = rstd.add(group).read() * weight.map_or(1.0, |weight| weight.add(channel).read());
                scale.add(nth).write(factor);
                let start = bias.map_or(0.0, |bias| bias.add(channel).read());
                shift.add(nth).write(start - mean.add(group).read() * factor);
            }
        }
        Ok(())
    })
}

/// `out = a * scale + shift`
pub fn along_lines(walk: &Loop<4>) -> Result<()> {
    compute!(walk.common(), "batch_norm", half float, T => {
        walk.map_wide::<T, T, T, T>(LIGHT, |x, scale, shift| x.mul(scale).add(shift))
    })
}

/// `running = (1 - momentum) running + momentum new`, `new` times `factor`.
pub fn follow(running: &Array, new: &Array, momentum: f64, factor: f64) -> Result<()> {
    let walk = Loop::computing(new.dtype(), [running.clone(), running.clone(), new.clone()])?;
    compute!(walk.common(), "batch_norm", half float, T => {
        type W = <T as Number>::Wide;
        let [old, share] = [1.0 - momentum, momentum * factor].map(<W as Analytic>::from_f64);
        walk.map::<T, T, T>(LIGHT, move |running, new| running.mul(old).add(new.mul(share)))
    })
}
