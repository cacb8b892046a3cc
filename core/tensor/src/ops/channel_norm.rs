//! Kernels of batch and group norm: moments of the groups, from which the scale and shift of each channel follow.

use super::access::{Constant, array, array_as, copy_into, over};
use super::norm::numbers;
use super::reduce::parts;
use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, DeviceType, DimVec, Result, Scalar};
use rushlight_cpu::{Loop, arithmetic, batch_norm, channel_norm, fill, reduce};
use std::borrow::Cow;

/// Mean and reciprocal deviation of groups, in the computation dtype.
struct Statistics {
    mean: Dense,
    rstd: Dense,
}

impl Statistics {
    /// Stores them as results, and continues with the stored values: in half precision they have been rounded, as in
    /// PyTorch.
    fn given(self, mean: &Dense, rstd: &Dense) -> Result<Statistics> {
        copy_into(mean, &self.mean)?;
        copy_into(rstd, &self.rstd)?;
        if mean.dtype == self.mean.dtype {
            return Ok(self);
        }
        copy_into(&self.mean, mean)?;
        copy_into(&self.rstd, rstd)?;
        Ok(self)
    }
}

/// A new contiguous tensor.
fn fresh(sizes: &[i64], dtype: DType, like: &Dense) -> Result<Dense> {
    Spec::new(sizes, dtype, like.device).allocate()
}

/// A copy in `dtype`.
fn copy_of(dense: &Dense, dtype: DType) -> Result<Dense> {
    let copy = fresh(dense.sizes(), dtype, dense)?;
    copy_into(&copy, dense)?;
    Ok(copy)
}

/// Mean and variance of the groups of `input`; `kept` is its shape with 1 for averaged dimensions, `sizes` that of the
/// results.
fn moments(input: &Dense, kept: &[i64], sizes: &[i64]) -> Result<[Dense; 2]> {
    let dtype = input.dtype.opmath();
    let pairs = fresh(kept, if dtype == DType::F64 { DType::C128 } else { DType::C64 }, input)?;
    reduce::moments(&array(&pairs), &array(input))?;
    let [mean, variance] = parts(&pairs);
    let own = |part: &Dense| copy_of(part, dtype).map(|copy| copy.with_geometry(Geometry::contiguous(sizes)));
    Ok([own(&mean)?, own(&variance)?])
}

/// `out = (input - mean) * rstd * weight + bias`, as a scale and a shift for each sample and channel.
fn normalise(
    out: &Dense,
    input: &Dense,
    statistics: &Statistics,
    samples: i64,
    weight: Option<&Dense>,
    bias: Option<&Dense>,
) -> Result<()> {
    let (dtype, channels) = (input.dtype.opmath(), input.sizes()[1]);
    let (scale, shift) = (fresh(&[samples, channels], dtype, input)?, fresh(&[samples, channels], dtype, input)?);
    let weight = weight.map(|weight| numbers(weight, dtype)).transpose()?;
    let bias = bias.map(|bias| numbers(bias, dtype)).transpose()?;
    // (samples, groups, channels of a group): the channels of a group share a mean and a deviation.
    let groups = statistics.mean.numel() / samples.max(1);
    let together = channels.checked_div(groups).unwrap_or(1);
    let sizes = [samples, groups, together];
    let lines = [channels, together, 1];
    let (by_group, by_channel) = ([groups, 1, 0], [0, together, 1]);
    let number = |value: f64| Constant::new(Scalar::Float(value), dtype);
    let (one, zero) = (number(1.0)?, number(0.0)?);
    let [mean, rstd] = [&statistics.mean, &statistics.rstd].map(|dense| array_as(dense, &sizes, &by_group));
    let weight = weight.as_ref().map_or_else(|| one.array(), |dense| array_as(dense, &sizes, &by_channel));
    let bias = bias.as_ref().map_or_else(|| zero.array(), |dense| array_as(dense, &sizes, &by_channel));
    let [scales, shifts] = [&scale, &shift].map(|dense| array_as(dense, &sizes, &lines));
    arithmetic::mul(&Loop::new([scales.clone(), rstd, weight])?)?;
    channel_norm::shift(&Loop::new([shifts, bias, mean, scales])?)?;
    let mut sizes = DimVec::from_elem(1, input.ndim());
    (sizes[0], sizes[1]) = (samples, channels);
    let strides = Geometry::contiguous(&sizes).strides;
    let [scale, shift] = [&scale, &shift].map(|line| array_as(line, &sizes, &strides));
    channel_norm::along_lines(&Loop::computing(dtype, [array(out), array(input), scale, shift])?)
}

/// Turns variances into reciprocal deviations.
fn invert(variance: &Dense, eps: f64) -> Result<()> {
    channel_norm::reciprocal_deviations(&Loop::new([array(variance), array(variance)])?, eps)
}

/// Moves running statistics towards new ones, times `factor`.
fn follow(running: &Dense, new: &Dense, momentum: f64, factor: f64) -> Result<()> {
    over(new.dtype, [running, running, new], |walk| channel_norm::follow(walk, 1.0 - momentum, momentum * factor))
}

/// The mean and the variance of each channel, after writing the normalized input, if there is a kernel for both.
fn in_one_call(
    out: &Dense,
    input: &Dense,
    weight: Option<&Dense>,
    bias: Option<&Dense>,
    eps: f64,
) -> Result<Option<[Dense; 2]>> {
    let dtype = input.dtype;
    if input.device.kind != DeviceType::Cpu || dtype != dtype.opmath() {
        return Ok(None);
    }
    let sizes = [input.sizes()[1]];
    let statistics = [fresh(&sizes, dtype, input)?, fresh(&sizes, dtype, input)?];
    let [weight, bias] = [weight, bias].map(|factors| factors.map(|factors| numbers(factors, dtype)).transpose());
    let (weight, bias) = (weight?, bias?);
    let call = batch_norm::Training {
        out: array(out),
        input: array(input),
        weight: weight.as_deref().map(array),
        bias: bias.as_deref().map(array),
        mean: array(&statistics[0]),
        variance: array(&statistics[1]),
        eps,
    };
    Ok(batch_norm::forward(&call)?.then_some(statistics))
}

/// out0 = input normalized over all dimensions but the channels; out1, out2 = the mean and the reciprocal standard
/// deviation of each channel. Without training the running statistics are used; with it they are updated.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn native_batch_norm(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    input: &Dense,
    weight: Option<&Dense>,
    bias: Option<&Dense>,
    running_mean: Option<&Dense>,
    running_var: Option<&Dense>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<()> {
    let (dtype, channels) = (input.dtype.opmath(), input.sizes()[1]);
    let (statistics, is_normalized) = match (training, running_mean, running_var) {
        (false, Some(mean), Some(variance)) => {
            (Statistics { mean: copy_of(mean, dtype)?, rstd: copy_of(variance, dtype)? }, false)
        }
        _ => {
            for running in [running_mean, running_var].into_iter().flatten() {
                running.check_writable()?;
            }
            let found = in_one_call(out0, input, weight, bias, eps)?;
            let is_normalized = found.is_some();
            let [mean, variance] = match found {
                Some(statistics) => statistics,
                None => {
                    let mut kept = DimVec::from_elem(1, input.ndim());
                    kept[1] = channels;
                    moments(input, &kept, &[channels])?
                }
            };
            let count = (input.numel() / channels.max(1)) as f64;
            if let Some(running) = running_mean {
                follow(running, &mean, momentum, 1.0)?;
            }
            if let Some(running) = running_var {
                // The unbiased variance of the batch.
                follow(running, &variance, momentum, count / (count - 1.0))?;
            }
            (Statistics { mean, rstd: variance }, is_normalized)
        }
    };
    invert(&statistics.rstd, eps)?;
    let statistics = if training { statistics.given(out1, out2)? } else { statistics };
    if is_normalized {
        return Ok(());
    }
    normalise(out0, input, &statistics, 1, weight, bias)
}

/// out0 = the gradient by input; out1, out2 = those by weight and bias
#[allow(clippy::too_many_arguments)] // the operator's
pub fn batch_norm_backward(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    grad: &Dense,
    input: &Dense,
    weight: Option<&Dense>,
    mean: &Dense,
    rstd: &Dense,
    training: bool,
) -> Result<()> {
    if input.numel() == 0 {
        return [out1, out2].into_iter().try_for_each(|sum| fill::fill(&Loop::new([array(sum)])?, Scalar::Int(0)));
    }
    let dtype = input.dtype.opmath();
    let (mean, rstd) = (numbers(mean, dtype)?, numbers(rstd, dtype)?);
    let weight = weight.map(|weight| numbers(weight, dtype)).transpose()?;
    // Arrays of another layout are copied: in that of the result if this is one that the kernel takes.
    let given = [out0, grad, input];
    let fits = |dense: &Dense, like: &Dense| batch_norm::has_kernel([&array(dense), &array(like), &array(like)]);
    let like = if fits(out0, out0) { Cow::Borrowed(out0) } else { Cow::Owned(fresh(out0.sizes(), out0.dtype, out0)?) };
    let [to, grad, input] = given.map(|dense| -> Result<Cow<'_, Dense>> {
        if fits(dense, &like) {
            return Ok(Cow::Borrowed(dense));
        }
        let copy = super::rules::like(&like)?.allocate()?;
        copy_into(&copy, dense)?;
        Ok(Cow::Owned(copy))
    });
    let (to, grad, input) = (to?, grad?, input?);
    let operands = batch_norm::Operands {
        grad: array(&grad),
        input: array(&input),
        mean: array(&mean),
        rstd: array(&rstd),
        weight: weight.as_deref().map(array),
        training,
    };
    batch_norm::batch_norm_backward(&operands, &array(&to), [&array(out1), &array(out2)])?;
    if let Cow::Owned(to) = &to { copy_into(out0, to) } else { Ok(()) }
}

/// out0 = input normalised by groups of channels; out1, out2 = the mean and the reciprocal deviation of each group
#[allow(clippy::too_many_arguments)] // the operator's
pub fn group_norm(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    input: &Dense,
    num_groups: i64,
    weight: Option<&Dense>,
    bias: Option<&Dense>,
    eps: f64,
) -> Result<()> {
    let (samples, channels) = (input.sizes()[0], input.sizes()[1]);
    // (N, C, *) seen as (N, groups, channels of a group, *)
    let mut geometry = input.geometry.clone();
    geometry.sizes[1] = channels / num_groups;
    geometry.sizes.insert(1, num_groups);
    geometry.strides.insert(1, geometry.strides[1] * (channels / num_groups));
    let grouped = input.with_geometry(geometry);
    let mut kept = DimVec::from_elem(1, grouped.ndim());
    (kept[0], kept[1]) = (samples, num_groups);
    let [mean, variance] = moments(&grouped, &kept, &[samples, num_groups])?;
    invert(&variance, eps)?;
    let statistics = Statistics { mean, rstd: variance };
    copy_into(out1, &statistics.mean)?;
    copy_into(out2, &statistics.rstd)?;
    normalise(out0, input, &statistics, samples, weight, bias)
}
