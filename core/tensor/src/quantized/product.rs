//! Products of integers, added up in int32, and their way back to a scale.

use super::Quantized;
use super::numbers::floats;
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::runtime::{chunk_length, parallel_for};
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, list};
use rushlight_cpu::quantize::{Requantize, Weight, dot};
use std::sync::{Mutex, PoisonError};

/// Products of each row of `a` with each row of `b`, row by row: rows of `depth` integers, which need 16 bits.
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

/// The bytes of an input, with its scale and zero point.
pub(super) struct Input {
    pub integers: Tensor,
    pub scale: f32,
    pub zero_point: u8,
}

/// The input of a product.
pub(super) fn input(operator: &str, tensor: &Tensor) -> Result<Input> {
    let input = Quantized::of(operator, tensor)?;
    ensure!(
        input.dtype == DType::QU8,
        Runtime,
        "{operator}: Expected input data type QUInt8 but got {}",
        input.dtype.c10_name()
    );
    let (scale, zero_point) = input.affine(operator)?;
    ensure!(
        (0..=255).contains(&zero_point),
        Runtime,
        "{operator} expects an input with a zero point from 0 to 255, but got {zero_point}"
    );
    Ok(Input { integers: input.integers, scale: scale as f32, zero_point: zero_point as u8 })
}

/// A weight whose first dimension are its channels: integers, and a scale and a zero point for each channel.
pub(super) struct Rows {
    pub integers: Vec<i8>,
    pub scales: Vec<f32>,
    pub zeros: Vec<i32>,
}

impl Rows {
    /// The rows as the right operand of products.
    pub fn packed(&self) -> Result<Weight> {
        Weight::new(&self.integers, &self.zeros)
    }
}

/// The rows of a weight; `integers` are its elements, in any order within a row.
pub(super) fn rows(operator: &str, weight: &Tensor, integers: &Tensor) -> Result<Rows> {
    let weight = Quantized::of(operator, weight)?;
    ensure!(
        weight.dtype == DType::QI8,
        Runtime,
        "{operator}: expected scalar type QInt8 but found {}",
        weight.dtype.c10_name()
    );
    let count = weight.integers.sizes().first().copied().unwrap_or(0) as usize;
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
    Ok(Rows { integers: ops::contiguous(integers, MemoryFormat::Contiguous)?.to_vec()?, scales, zeros })
}

/// How the sums of products of an input become bytes of a result.
pub(super) fn requantize(
    input_scale: f32,
    scales: &[f32],
    bias: Option<&Tensor>,
    (scale, zero_point): (f64, i64),
    relu: bool,
) -> Result<Requantize> {
    let bias = bias.map(floats).transpose()?;
    let channel = |(channel, &weight): (usize, &f32)| {
        let both = input_scale * weight;
        let bias = bias.as_ref().and_then(|bias| bias.get(channel)).map_or(0.0, |bias| bias * (1.0 / both));
        (bias, both / scale as f32)
    };
    let channels = list::collect(scales.iter().enumerate().map(channel))?;
    Ok(Requantize { channels, zero_point: zero_point as u8, relu })
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
