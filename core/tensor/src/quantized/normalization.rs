//! `quantized::layer_norm`, `group_norm` and `instance_norm`.
//!
//! Mean and variance of a group are those of its integers, whose sums are exact; the integers are normalized in single
//! precision, in the order of the engine's operations.

use super::numbers::{Flat, Step, floats, integers_like, integers_of, whole};
use super::{Quantized, one};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, ensure, format_sizes, list};
use std::sync::Arc;

/// `x * y + z` of floats, rounded once.
#[inline]
fn fused(x: f32, y: f32, z: f32) -> f32 {
    x.mul_add(y, z)
}

/// The mean of a group in steps from the zero point, and the factor that divides a step by the standard deviation.
fn statistics(group: impl Iterator<Item = i32>, count: usize, scale: f32, zero_point: i64, eps: f64) -> (f32, f32) {
    let (mut sum, mut squares) = (0i128, 0i128);
    for q in group {
        let q = i128::from(q);
        sum += q;
        squares += q * q;
    }
    let count = count as f32;
    let mean = sum as f32 / count;
    let variance = fused(-mean, mean, squares as f32 / count).max(0.0);
    let deviation = (f64::from(variance * scale * scale) + eps).sqrt();
    (mean - zero_point as f32, (f64::from(scale) / deviation) as f32)
}

/// The parameter of channels or elements.
fn parameter(name: &str, kind: &str, tensor: Option<&Tensor>, sizes: &[i64]) -> Result<Option<Vec<f32>>> {
    let Some(tensor) = tensor else { return Ok(None) };
    ensure!(
        tensor.dtype() == DType::F32 && tensor.sizes()[..] == *sizes,
        Runtime,
        "{name}: expected {kind} to have dtype float32 and sizes {}, but got {} {}",
        format_sizes(sizes),
        tensor.dtype(),
        format_sizes(&tensor.sizes())
    );
    floats(&ops::detach(tensor)?).map(Some)
}

fn at(values: Option<&[f32]>, index: usize, missing: f32) -> f32 {
    values.and_then(|values| values.get(index)).copied().unwrap_or(missing)
}

/// `quantized::layer_norm`
pub(super) fn layer_norm(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = Quantized::of(name, args.tensor(0)?)?;
    let (scale, zero_point) = input.affine(name)?;
    let (sizes, shape) = (input.integers.sizes(), args.ints(1)?);
    ensure!(
        !shape.is_empty() && sizes.ends_with(&shape),
        Runtime,
        "{name}: Given normalized_shape={}, expected input with shape [*, {}], but got input of size {}",
        format_sizes(&shape),
        format_sizes(&shape).trim_matches(['[', ']']),
        format_sizes(&sizes)
    );
    let count = shape.iter().product::<i64>() as usize;
    let (weight, bias) = (
        parameter(name, "weight", args.tensor_opt(2)?, &shape)?,
        parameter(name, "bias", args.tensor_opt(3)?, &shape)?,
    );
    let (eps, result) = (args.float(4)?, (args.float(5)?, args.int(6)?));
    let step = Step::new(result.0, result.1, input.dtype);
    let integers = whole(&input.integers)?;
    let mut out = list::with_capacity(integers.len())?;
    for group in integers.chunks(count.max(1)) {
        let (mean, factor) = statistics(group.iter().copied(), count, scale as f32, zero_point, eps);
        out.extend(group.iter().enumerate().map(|(index, &q)| {
            let normal = ((q as f32 - zero_point as f32) - mean) * factor;
            step.of(fused(normal, at(weight.as_deref(), index, 1.0), at(bias.as_deref(), index, 0.0)))
        }));
    }
    one(with_quantizer(&integers_of(&out, &sizes, input.dtype)?, result)?)
}

fn with_quantizer(integers: &Tensor, (scale, zero_point): (f64, i64)) -> Result<Tensor> {
    Tensor::from_integers(integers, Arc::new(Quantizer::PerTensor { scale, zero_point }))
}

/// `quantized::group_norm`
pub(super) fn group_norm(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let parameters = (args.tensor_opt(2)?, args.tensor_opt(3)?);
    grouped(name, args.tensor(0)?, Some(args.int(1)?), parameters, args.float(4)?, (args.float(5)?, args.int(6)?))
}

/// `quantized::instance_norm`: a group for each channel
pub(super) fn instance_norm(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let parameters = (args.tensor_opt(1)?, args.tensor_opt(2)?);
    grouped(name, args.tensor(0)?, None, parameters, args.float(3)?, (args.float(4)?, args.int(5)?))
}

fn grouped(
    name: &str,
    x: &Tensor,
    groups: Option<i64>,
    (weight, bias): (Option<&Tensor>, Option<&Tensor>),
    eps: f64,
    result: (f64, i64),
) -> Result<Vec<Value>> {
    let input = Quantized::of(name, x)?;
    let (scale, zero_point) = input.affine(name)?;
    let sizes = input.integers.sizes();
    ensure!(
        sizes.len() >= 3,
        Runtime,
        "{name}: Expected normalized_shape to be at least 3-dimensional, but got {}",
        format_sizes(&sizes)
    );
    let channels = sizes[1];
    let groups = groups.unwrap_or(channels);
    ensure!(
        groups > 0 && channels % groups == 0,
        Runtime,
        "{name}: Expected channels {channels} to be evenly divisible by groups {groups}"
    );
    let weight = parameter(name, "weight", weight, &[channels])?;
    let bias = parameter(name, "bias", bias, &[channels])?;
    let (channels, groups) = (channels as usize, groups as usize);
    let step = Step::new(result.0, result.1, input.dtype);
    // The engine has another loop for channels last, which moves the mean into the bias.
    let last = sizes.len() == 4 && input.integers.is_contiguous(MemoryFormat::ChannelsLast);
    let flat = if last {
        Flat::of(&input.integers)?
    } else {
        Flat::of(&ops::contiguous(&input.integers, MemoryFormat::Contiguous)?)?
    };
    let integers = whole(&flat.tensor)?;
    let plane = sizes[2..].iter().product::<i64>() as usize;
    let each = channels / groups;
    // Where element `place` of a channel of an image is.
    let index = |image: usize, channel: usize, place: usize| {
        if last { (image * plane + place) * channels + channel } else { (image * channels + channel) * plane + place }
    };
    let mut out = list::filled(integers.len(), 0)?;
    for image in 0..sizes[0] as usize {
        for group in 0..groups {
            let own = group * each..(group + 1) * each;
            let members = own.clone().flat_map(|channel| (0..plane).map(move |place| index(image, channel, place)));
            let of_group = members.filter_map(|index| integers.get(index).copied());
            let (mean, factor) = statistics(of_group, each * plane, scale as f32, zero_point, eps);
            for channel in own {
                let factor = factor * at(weight.as_deref(), channel, 1.0);
                let bias = at(bias.as_deref(), channel, 0.0);
                let moved = fused(-factor, mean, bias);
                for place in 0..plane {
                    let index = index(image, channel, place);
                    if let (Some(&q), Some(to)) = (integers.get(index), out.get_mut(index)) {
                        let x = q as f32 - zero_point as f32;
                        *to = step.of(if last { fused(x, factor, moved) } else { fused(x - mean, factor, bias) });
                    }
                }
            }
        }
    }
    let integers = integers_like(&flat, &out, input.dtype)?;
    one(with_quantizer(&integers, result)?)
}
