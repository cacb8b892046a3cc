//! `quantized::linear` and its packed parameters.

use super::create::dynamic_range;
use super::numbers::{floats, whole};
use super::product::{check_output, input, products, requantize, rows};
use super::{Quantized, is_relu, one};
use crate::dispatch::{Args, Object, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, Scalar, bail, ensure, format_sizes, list};
use rushlight_cpu::quantize::{self, Weight};
use std::sync::Arc;

/// The class of packed parameters.
pub(super) const CLASS: &str = "__torch__.torch.classes.quantized.LinearPackedParamsBase";

/// The parameters of a linear layer.
pub(super) enum Linear {
    /// An int8 weight.
    Int8 { weight: Tensor, packed: Weight, scales: Vec<f32>, bias: Option<Tensor> },
    /// A weight rounded to half precision.
    Half { weight: Tensor, bias: Option<Tensor> },
}

/// The contents of an object of a class.
pub(super) fn content<'a, T: 'static>(operator: &str, args: &Args<'a>, index: usize) -> Result<&'a T> {
    match args.0.get(index) {
        Some(value) => content_of(operator, value),
        _ => bail!(Type, "{operator}: argument {index} must be packed parameters"),
    }
}

/// The contents of an object.
pub(super) fn content_of<'a, T: 'static>(operator: &str, value: &'a Value) -> Result<&'a T> {
    let Value::Object(object) = value else {
        bail!(Type, "{operator}: expected packed parameters, but got {}", value.kind())
    };
    match object.content() {
        Some(content) => Ok(content),
        None => bail!(Type, "{operator}: an object of {} is no packed parameter of this library", object.class_name()),
    }
}

fn bias_of(operator: &str, bias: Option<&Tensor>, channels: i64) -> Result<Option<Tensor>> {
    let Some(bias) = bias else { return Ok(None) };
    ensure!(
        bias.dtype() == DType::F32 && bias.sizes()[..] == [channels],
        Runtime,
        "{operator}: bias should be a float vector with K entries, {channels}, but it is {} {}",
        format_sizes(&bias.sizes()),
        bias.dtype()
    );
    Ok(Some(ops::clone(&ops::detach(bias)?, None)?))
}

/// The bias of channels, checked.
pub(super) fn packed_bias(operator: &str, bias: Option<&Tensor>, weight: &Tensor) -> Result<Option<Tensor>> {
    bias_of(operator, bias, weight.sizes().first().copied().unwrap_or(0))
}

/// A copy of a weight, with scales in single precision, as packed parameters store them.
pub(super) fn packed_weight(operator: &str, weight: &Tensor) -> Result<Tensor> {
    let weight = Quantized::of(operator, weight)?;
    let single = |scale: f64| f64::from(scale as f32);
    let quantizer = match (*weight.quantizer).clone() {
        Quantizer::PerTensor { scale, zero_point } => Quantizer::PerTensor { scale: single(scale), zero_point },
        Quantizer::PerChannel { scales, zero_points, axis, float } => {
            let scales = list::collect(scales.into_iter().map(single))?;
            Quantizer::PerChannel { scales, zero_points, axis, float }
        }
    };
    Tensor::from_integers(&ops::clone(&weight.integers, None)?, Arc::new(quantizer))
}

/// `quantized::linear_prepack`
pub(super) fn prepack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(Object::new(CLASS, Linear::int8(name, args.tensor(0)?, args.tensor_opt(1)?)?)?)
}

/// `quantized::linear_prepack_fp16`
pub(super) fn prepack_half(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(Object::new(CLASS, Linear::half(name, args.tensor(0)?, args.tensor_opt(1)?)?)?)
}

impl Linear {
    /// Packs an int8 weight.
    pub fn int8(name: &str, weight: &Tensor, bias: Option<&Tensor>) -> Result<Linear> {
        ensure!(
            weight.ndim() == 2,
            Runtime,
            "{name}: The weight tensor should be 2-dimensional, but it has sizes {}",
            format_sizes(&weight.sizes())
        );
        let integers = Quantized::of(name, weight)?.integers;
        let (rows, bias) = (rows(name, weight, &integers)?, packed_bias(name, bias, weight)?);
        Ok(Linear::Int8 { weight: packed_weight(name, weight)?, packed: rows.packed()?, scales: rows.scales, bias })
    }

    /// Packs a weight rounded to half precision.
    pub fn half(name: &str, weight: &Tensor, bias: Option<&Tensor>) -> Result<Linear> {
        ensure!(
            weight.ndim() == 2 && weight.dtype() == DType::F32,
            Runtime,
            "{name}: The weight tensor should be a float matrix, but it is {} {}",
            format_sizes(&weight.sizes()),
            weight.dtype()
        );
        let bias = packed_bias(name, bias, weight)?;
        let limit = Scalar::Float(65504.0);
        let held = ops::clamp(&ops::detach(weight)?, Some(Scalar::Float(-65504.0)), Some(limit))?;
        let half = ops::to_dtype(&held, DType::F16, false, false, None)?;
        Ok(Linear::Half { weight: ops::to_dtype(&half, DType::F32, false, false, None)?, bias })
    }

    /// The weight and the bias.
    pub fn parts(&self) -> (&Tensor, Option<&Tensor>) {
        let (Linear::Int8 { weight, bias, .. } | Linear::Half { weight, bias }) = self;
        (weight, bias.as_ref())
    }
}

/// `quantized::linear_unpack`, `quantized::linear_unpack_fp16`
pub(super) fn unpack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (weight, bias) = content::<Linear>(name, args, 0)?.parts();
    Ok(vec![ops::clone(weight, None)?.into(), bias.cloned().map_or(Value::None, Value::from)])
}

fn int8<'a>(name: &str, linear: &'a Linear) -> Result<(&'a Tensor, &'a Weight, &'a [f32], Option<&'a Tensor>)> {
    match linear {
        Linear::Int8 { weight, packed, scales, bias } => Ok((weight, packed, scales, bias.as_ref())),
        Linear::Half { .. } => bail!(Runtime, "{name}: the weight is packed in half precision"),
    }
}

/// The sizes of the result.
fn result_sizes(name: &str, input: &Tensor, weight: &Tensor) -> Result<rushlight_base::DimVec> {
    let (mut sizes, matrix) = (input.sizes(), weight.sizes());
    let (Some(last), &[channels, depth]) = (sizes.last_mut(), &matrix[..]) else {
        bail!(Runtime, "{name}: The dimension of the input should be greater than 0")
    };
    ensure!(
        *last == depth,
        Runtime,
        "{name}: The number of rows in the packB should be equal to K: the input has {last} columns and the weight {depth}"
    );
    *last = channels;
    Ok(sizes)
}

/// `quantized::linear`, `quantized::linear_relu`
pub(super) fn linear(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let x = args.tensor(0)?;
    let given = input(name, x)?;
    let (weight, packed, scales, bias) = int8(name, content(name, args, 1)?)?;
    let (scale, zero_point) = (args.float(2)?, args.int(3)?);
    check_output(name, scale, zero_point)?;
    let sizes = result_sizes(name, x, weight)?;
    let bytes: Vec<u8> = ops::contiguous(&given.integers, MemoryFormat::Contiguous)?.to_vec()?;
    let sums = quantize::products(&bytes, given.zero_point, packed)?;
    let by = requantize(given.scale, scales, bias, (scale, zero_point), is_relu(name))?;
    let sums = if sums.is_empty() { list::filled(rushlight_base::numel(&sizes)? as usize, 0)? } else { sums };
    let integers = Tensor::from_slice(&by.all(&sums)?, &sizes)?;
    one(Tensor::from_integers(&integers, Arc::new(Quantizer::PerTensor { scale, zero_point }))?)
}

/// `quantized::linear_dynamic`, `quantized::linear_relu_dynamic`
pub(super) fn dynamic(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(dynamic_product(name, args.tensor(0)?, content(name, args, 1)?, args.bool(2)?)?)
}

/// The product of floats, which are quantized by their range, with an int8 weight.
pub(super) fn dynamic_product(name: &str, x: &Tensor, packed: &Linear, reduced: bool) -> Result<Tensor> {
    ensure!(x.dtype() == DType::F32, Runtime, "{name}: expected scalar type Float but found {}", x.dtype().c10_name());
    let (weight, packed, scales, bias) = int8(name, packed)?;
    let sizes = result_sizes(name, x, weight)?;
    if x.numel() == 0 {
        return ops::zeros(&sizes, x.options());
    }
    let range = dynamic_range(x, (0, 255), reduced)?;
    let (inverse, zero) = (f64::from(1.0 / range.scale as f32), range.zero_point);
    // The engine adds the zero point before it rounds here.
    let byte = |value: f32| {
        let steps = ((f64::from(value) * inverse + f64::from(zero)) as f32).round_ties_even();
        steps.clamp(0.0, 255.0) as u8
    };
    let bytes: Vec<u8> = list::collect(floats(x)?.into_iter().map(byte))?;
    let sums = quantize::products(&bytes, zero as u8, packed)?;
    let bias = bias.map(floats).transpose()?;
    let channel = |(channel, scale): (usize, &f32)| {
        let bias = bias.as_ref().and_then(|bias| bias.get(channel)).copied().unwrap_or(0.0);
        (f64::from(range.scale as f32 * scale), f64::from(bias))
    };
    let channels: Vec<(f64, f64)> = list::collect(scales.iter().enumerate().map(channel))?;
    // The product is exact in double, so that it is rounded once, with the bias.
    let relu = is_relu(name);
    let of = |(&sum, &(scale, bias)): (&i32, &(f64, f64))| {
        let value = (f64::from(sum as f32) * scale + bias) as f32;
        if relu && value < 0.0 { 0.0 } else { value }
    };
    let results: Vec<f32> = list::collect(sums.iter().zip(channels.iter().cycle()).map(of))?;
    Tensor::from_slice(&results, &sizes)
}

/// `quantized::linear_dynamic_fp16`, `quantized::linear_relu_dynamic_fp16`
pub(super) fn dynamic_half(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(half_product(name, args.tensor(0)?, content(name, args, 1)?)?)
}

/// `quantized::linear_dynamic_fp16_unpacked_weight`: the weight is packed in each call
pub(super) fn dynamic_half_unpacked(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(half_product(name, args.tensor(0)?, &Linear::half(name, args.tensor(1)?, Some(args.tensor(2)?))?)?)
}

/// The product of floats with a weight rounded to half precision.
pub(super) fn half_product(name: &str, x: &Tensor, packed: &Linear) -> Result<Tensor> {
    let Linear::Half { weight, bias } = packed else { bail!(Runtime, "{name}: the weight is packed in int8") };
    ensure!(x.dtype() == DType::F32, Runtime, "{name}: expected scalar type Float but found {}", x.dtype().c10_name());
    result_sizes(name, x, weight)?;
    let y = ops::linear(&ops::detach(x)?, weight, bias.as_ref())?;
    if is_relu(name) { ops::relu(&y) } else { Ok(y) }
}

/// `quantized::matmul` of matrices with one scale each: products add up in int32 as well.
pub(super) fn matmul(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (a, b) = (Quantized::of(name, args.tensor(0)?)?, Quantized::of(name, args.tensor(1)?)?);
    ensure!(
        a.dtype == b.dtype && a.dtype != DType::QI32,
        Runtime,
        "{name} expects operands of one 8-bit dtype, but got {} and {}",
        a.dtype,
        b.dtype
    );
    let (scale, zero_point) = (args.float(2)?, args.int(3)?);
    let ((scale_a, zero_a), (scale_b, zero_b)) = (a.affine(name)?, b.affine(name)?);
    let (rows, columns) = (a.integers.sizes(), b.integers.sizes());
    let (&[m, k], &[k_b, n]) = (&rows[..], &columns[..]) else {
        bail!(
            NotImplemented,
            "{name} of {} and {}: only matrices are supported",
            format_sizes(&rows),
            format_sizes(&columns)
        )
    };
    ensure!(k == k_b, Runtime, "{name}: mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {k_b}x{n})");
    let distances = |integers: &Tensor, zero: i64| -> Result<Vec<i16>> {
        list::collect(whole(integers)?.iter().map(|value| value.wrapping_sub(zero as i32) as i16))
    };
    let left = distances(&a.integers, zero_a)?;
    let right = distances(&ops::transpose_int(&b.integers, 0, 1)?, zero_b)?;
    let sums = if k == 0 {
        list::filled(rushlight_base::numel(&[m, n])? as usize, 0)?
    } else {
        products(&left, &right, k as usize)?
    };
    let both = scale_a as f32 * scale_b as f32;
    let numbers: Vec<f32> = list::collect(sums.iter().map(|&sum| sum as f32 * both))?;
    one(super::quantized(&Tensor::from_slice(&numbers, &[m, n])?, scale, zero_point, a.dtype)?)
}
