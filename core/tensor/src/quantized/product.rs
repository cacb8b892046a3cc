//! Products of integers, added up in int32, and their way back to a scale.

use super::Quantized;
use super::numbers::{limits, whole};
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::runtime::{chunk_length, parallel_for};
use rushlight_base::{DType, Result, bail, ensure, list};
use rushlight_cpu::quantize::dot;
use std::sync::{Mutex, PoisonError};

/// Products of each row of `a` with each row of `b`, row by row: rows of `depth` integers.
pub(super) fn products(a: &[i16], b: &[i16], depth: usize) -> Result<Vec<i32>> {
    let columns = b.len().checked_div(depth).unwrap_or(0);
    let rows = a.len().checked_div(depth).unwrap_or(0);
    let mut out = list::filled(rows.saturating_mul(columns), 0i32)?;
    if out.is_empty() {
        return Ok(out);
    }
    let share = chunk_length(rows, 1 + 32_768 / (columns * depth).max(1)).max(1);
    let parts: Vec<Mutex<&mut [i32]>> = list::collect(out.chunks_mut(share * columns).map(Mutex::new))?;
    parallel_for(parts.len(), &|index| {
        let Some(part) = parts.get(index) else { return };
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        let inputs = a.chunks_exact(depth).skip(index * share);
        for (row, input) in part.chunks_mut(columns).zip(inputs) {
            for (sum, weight) in row.iter_mut().zip(b.chunks_exact(depth)) {
                *sum = dot(input, weight);
            }
        }
    })?;
    drop(parts);
    Ok(out)
}

/// The distances of the integers of an input from its zero point, with its scale.
pub(super) fn input(operator: &str, tensor: &Tensor) -> Result<(Vec<i16>, f32)> {
    let input = Quantized::of(operator, tensor)?;
    ensure!(
        input.dtype == DType::QU8,
        Runtime,
        "{operator}: Expected input data type QUInt8 but got {}",
        input.dtype.c10_name()
    );
    let (scale, zero_point) = input.affine(operator)?;
    let zero = zero_point as i32;
    let distances = whole(&input.integers)?;
    Ok((list::collect(distances.iter().map(|value| value.wrapping_sub(zero) as i16))?, scale as f32))
}

/// A packed weight: rows of distances from the zero points, and a scale for each row.
pub(super) struct Rows {
    pub values: Vec<i16>,
    pub scales: Vec<f32>,
}

/// The rows of a weight, whose first dimension are its channels.
pub(super) fn rows(operator: &str, weight: &Tensor) -> Result<Rows> {
    let weight = Quantized::of(operator, weight)?;
    ensure!(
        weight.dtype == DType::QI8,
        Runtime,
        "{operator}: expected scalar type QInt8 but found {}",
        weight.dtype.c10_name()
    );
    let integers = whole(&weight.integers)?;
    let count = weight.integers.sizes().first().copied().unwrap_or(0) as usize;
    let depth = integers.len().checked_div(count).unwrap_or(0).max(1);
    let (scales, zeros): (Vec<f32>, Vec<i32>) = match &*weight.quantizer {
        Quantizer::PerTensor { scale, zero_point } => {
            (list::filled(count, *scale as f32)?, list::filled(count, *zero_point as i32)?)
        }
        Quantizer::PerChannel { scales, zero_points, axis: 0, float: false } => (
            list::collect(scales.iter().map(|&scale| scale as f32))?,
            list::collect(zero_points.iter().map(|&zero| zero as i32))?,
        ),
        Quantizer::PerChannel { axis, float, .. } => {
            bail!(
                Runtime,
                "{operator} expects a weight with channels in dimension 0 and integer zero points, but its axis is {axis}{}",
                if *float { " and its zero points are floats" } else { "" }
            )
        }
    };
    let distances = integers
        .chunks(depth)
        .zip(&zeros)
        .flat_map(|(row, zero)| row.iter().map(|value| value.wrapping_sub(*zero) as i16));
    Ok(Rows { values: list::collect(distances)?, scales })
}

/// How sums of products become integers of a result.
pub(super) struct Requantize<'a> {
    pub input_scale: f32,
    pub scales: &'a [f32],
    pub bias: Option<&'a [f32]>,
    pub scale: f64,
    pub zero_point: i64,
    pub relu: bool,
}

impl Requantize<'_> {
    /// The integers of rows of sums, with a channel for each column.
    pub fn integers(&self, sums: &[i32]) -> Result<Vec<i32>> {
        let (low, high) = limits(DType::QU8);
        let low = if self.relu { low.max(self.zero_point as i32) } else { low };
        let channel = |(channel, &scale): (usize, &f32)| {
            let both = self.input_scale * scale;
            let bias = self.bias.and_then(|bias| bias.get(channel)).map_or(0.0, |bias| bias * (1.0 / both));
            (bias, both / self.scale as f32)
        };
        let channels: Vec<(f32, f32)> = list::collect(self.scales.iter().enumerate().map(channel))?;
        let of = |(&sum, &(bias, factor)): (&i32, &(f32, f32))| {
            let steps = f64::from(((sum as f32 + bias) * factor).round_ties_even()).clamp(-1e9, 1e9);
            (steps as i64 + self.zero_point).clamp(i64::from(low), i64::from(high)) as i32
        };
        list::collect(sums.iter().zip(channels.iter().cycle()).map(of))
    }
}

/// Checks the zero point of a result.
pub(super) fn check_output(operator: &str, scale: f64, zero_point: i64) -> Result<()> {
    ensure!(
        scale > 0.0 && (0..=255).contains(&zero_point),
        Runtime,
        "{operator} expects a positive output scale and a zero point from 0 to 255, but got {scale} and {zero_point}"
    );
    Ok(())
}
