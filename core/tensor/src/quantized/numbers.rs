//! From floats to integers and back, rounded as the engine `fbgemm` does.

use super::Quantized;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use crate::{dispatch, ops};
use rushlight_base::{DType, DeviceType, MemoryFormat, Result, bail, ensure, list};
use std::sync::Arc;

/// The smallest and the largest integer of a quantized dtype.
pub(super) fn limits(dtype: DType) -> (i32, i32) {
    match dtype.to_integer() {
        DType::I8 => (-128, 127),
        DType::U8 => (0, 255),
        _ => (i32::MIN, i32::MAX),
    }
}

/// How a number becomes an integer.
#[derive(Clone, Copy)]
pub(super) struct Step {
    inverse: f32,
    zero_point: i64,
    low: i64,
    high: i64,
}

impl Step {
    /// The step of one scale and zero point.
    pub fn new(scale: f64, zero_point: i64, dtype: DType) -> Step {
        let (low, high) = limits(dtype);
        Step { inverse: 1.0 / scale as f32, zero_point, low: i64::from(low), high: i64::from(high) }
    }

    /// The integer of a number: rounded to even and saturated. NaN becomes the smallest one.
    #[inline]
    pub fn of(&self, value: f32) -> i32 {
        let steps = f64::from((value * self.inverse).round_ties_even()).clamp(-1e15, 1e15);
        if steps.is_nan() {
            return self.low as i32;
        }
        (steps as i64 + self.zero_point).clamp(self.low, self.high) as i32
    }
}

/// The number of an integer.
#[inline]
pub(super) fn value_of(integer: i32, scale: f32, zero_point: i32) -> f32 {
    scale * integer.wrapping_sub(zero_point) as f32
}

/// The elements of a float tensor, row-major.
pub(crate) fn floats(tensor: &Tensor) -> Result<Vec<f32>> {
    ops::contiguous(tensor, MemoryFormat::Contiguous)?.to_vec()
}

/// The elements of an integer tensor, row-major, as int32.
pub(super) fn whole(tensor: &Tensor) -> Result<Vec<i32>> {
    let tensor = if tensor.dtype() == DType::I32 {
        tensor.clone()
    } else {
        ops::to_dtype(tensor, DType::I32, false, false, None)?
    };
    ops::contiguous(&tensor, MemoryFormat::Contiguous)?.to_vec()
}

/// The integers, which are in range, as a tensor of the integers of `dtype`.
pub(super) fn integers_of(values: &[i32], sizes: &[i64], dtype: DType) -> Result<Tensor> {
    match dtype.to_integer() {
        DType::I8 => Tensor::from_slice(&list::collect(values.iter().map(|&value| value as i8))?, sizes),
        DType::U8 => Tensor::from_slice(&list::collect(values.iter().map(|&value| value as u8))?, sizes),
        _ => Tensor::from_slice(values, sizes),
    }
}

/// Checks the input of a quantization.
fn check(input: &Tensor, dtype: DType) -> Result<()> {
    ensure!(dtype.is_quantized(), Runtime, "ScalarType {} is not supported in new_qtensor.", dtype.c10_name());
    ensure!(
        input.dtype() == DType::F32,
        Runtime,
        "Quantize only works on Float Tensor, got {}",
        input.dtype().c10_name()
    );
    ensure!(
        input.device().kind == DeviceType::Cpu,
        NotImplemented,
        "quantized tensors are only supported on the CPU, not on {}",
        input.device()
    );
    Ok(())
}

/// Checks a zero point.
fn check_zero_point(kind: &str, zero_point: i64, dtype: DType) -> Result<()> {
    let (low, high) = limits(dtype);
    ensure!(
        zero_point <= i64::from(high),
        Runtime,
        "quantize_tensor_per_{kind}_affine zero_point {zero_point} is above upper bound."
    );
    ensure!(
        zero_point >= i64::from(low),
        Runtime,
        "quantize_tensor_per_{kind}_affine zero_point {zero_point} is below lower bound."
    );
    Ok(())
}

/// How far apart the indices of a dimension are in row-major order, and how many there are.
fn blocks(sizes: &[i64], axis: usize) -> (usize, usize) {
    let inner = sizes.get(axis + 1..).unwrap_or(&[]).iter().product::<i64>().max(1) as usize;
    (inner, sizes.get(axis).copied().unwrap_or(1).max(1) as usize)
}

/// The tensor of floats as integers of the quantizer.
pub(super) fn quantize(input: &Tensor, quantizer: Arc<Quantizer>, dtype: DType) -> Result<Tensor> {
    check(input, dtype)?;
    let (values, sizes) = (floats(&dispatch::carried_out(input)?)?, input.sizes());
    let steps: Vec<i32> = match &*quantizer {
        Quantizer::PerTensor { scale, zero_point } => {
            check_zero_point("tensor", *zero_point, dtype)?;
            let step = Step::new(*scale, *zero_point, dtype);
            let largest = limits(dtype);
            // The engine takes the minimum with a large number first, which replaces NaN; int32 has no such loop.
            let nan = if dtype == DType::QI32 { largest.0 } else { largest.1 };
            list::collect(values.iter().map(|&value| if value.is_nan() { nan } else { step.of(value) }))?
        }
        Quantizer::PerChannel { scales, zero_points, axis, float } => {
            check_channels(&sizes, scales.len(), zero_points.len(), *axis)?;
            let (inner, channels) = blocks(&sizes, *axis);
            if !*float {
                zero_points.iter().try_for_each(|&zero| check_zero_point("channel", zero as i64, dtype))?;
            }
            let (low, high) = limits(dtype);
            let channel = |index: usize| (index / inner) % channels;
            let of = |(index, &value): (usize, &f32)| {
                let (scale, zero) = (scales[channel(index)], zero_points[channel(index)]);
                if *float {
                    let steps = (value * (1.0 / scale as f32) + zero as f32).round_ties_even();
                    return (f64::from(steps)).clamp(f64::from(low), f64::from(high)) as i32;
                }
                Step::new(scale, zero as i64, dtype).of(value)
            };
            list::collect(values.iter().enumerate().map(of))?
        }
    };
    Tensor::from_integers(&integers_of(&steps, &sizes, dtype)?, quantizer)
}

/// Checks the parameters of channels.
pub(super) fn check_channels(sizes: &[i64], scales: usize, zero_points: usize, axis: usize) -> Result<()> {
    let Some(&channels) = sizes.get(axis) else {
        bail!(
            Runtime,
            "Channel axis out of range in per channel affine quantization. Got: {axis} Expected: [0, {})",
            sizes.len()
        )
    };
    ensure!(
        scales as i64 == channels,
        Runtime,
        "length of scales must equal to channel, expected {channels} got, {scales}"
    );
    ensure!(
        zero_points as i64 == channels,
        Runtime,
        "length of zero_points must equal to channel, expected {channels} got, {zero_points}"
    );
    Ok(())
}

/// The numbers of a quantized tensor.
pub(super) fn dequantize(tensor: &Quantized) -> Result<Tensor> {
    let (values, sizes) = (whole(&tensor.integers)?, tensor.integers.sizes());
    let numbers: Vec<f32> = match &*tensor.quantizer {
        Quantizer::PerTensor { scale, zero_point } => {
            let (scale, zero) = (*scale as f32, *zero_point as i32);
            list::collect(values.iter().map(|&value| value_of(value, scale, zero)))?
        }
        Quantizer::PerChannel { scales, zero_points, axis, float } => {
            let (inner, channels) = blocks(&sizes, *axis);
            let of = |(index, &value): (usize, &i32)| {
                let channel = (index / inner) % channels;
                let (scale, zero) = (scales[channel], zero_points[channel]);
                if *float {
                    return (value as f32 - zero as f32) * scale as f32;
                }
                // The engine multiplies in double here.
                (scale * (f64::from(value) - zero)) as f32
            };
            list::collect(values.iter().enumerate().map(of))?
        }
    };
    Tensor::from_slice(&numbers, &sizes)
}
