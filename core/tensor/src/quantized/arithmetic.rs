//! `quantized::add`, `mul`, `cat`, activation functions and normalization with a quantizer for the result.

use super::convert::joined_as;
use super::numbers::{
    Flat, Step, affine, bytes, check_zero_point, integers_of, is_byte, limits, looked_up, of_bytes, table, whole,
};
use super::pointwise::limited;
use super::{Quantized, is_relu, one, quantized};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, bail, ensure, format_sizes, list};
use rushlight_cpu::quantize::Sums;
use std::sync::Arc;

/// The numbers of integers as the vector loops of sums compute them: scale * q - scale * zero_point, rounded once.
fn fused(name: &str, tensor: &Quantized) -> Result<impl Fn(i32) -> f32> {
    let (scale, zero_point) = tensor.affine(name)?;
    let scale = scale as f32;
    let shift = f64::from(-scale * zero_point as f32);
    Ok(move |q: i32| (f64::from(scale) * f64::from(q) + shift) as f32)
}

/// The sum of two tensors.
fn sum(name: &str, a: &Quantized, b: &Quantized, scale: f64, zero_point: i64) -> Result<Tensor> {
    let (first, second) = (fused(name, a)?, fused(name, b)?);
    if is_byte(a.dtype) {
        let tables = [table(a.dtype, first), table(b.dtype, second)];
        let (left, right) = (Flat::of(&a.integers)?, Flat::of(&b.integers)?);
        if left.is_like(&right) {
            check_zero_point("tensor", zero_point, a.dtype)?;
            let by = affine(scale, zero_point, a.dtype);
            let sums = Sums { tables: [&tables[0], &tables[1]], relu: is_relu(name), by };
            let sum = sums.bytes(&bytes(&left.tensor)?, &bytes(&right.tensor)?)?;
            return as_is(&of_bytes(&left, &sum, a.dtype)?, scale, zero_point);
        }
        let (a_numbers, b_numbers) = (looked_up(&a.integers, &tables[0])?, looked_up(&b.integers, &tables[1])?);
        return requantized(
            name,
            &ops::add_tensor(&a_numbers, &b_numbers, Scalar::Int(1))?,
            scale,
            zero_point,
            a.dtype,
        );
    }
    let numbers = |of: &Quantized, number: &dyn Fn(i32) -> f32| {
        let numbers: Vec<f32> = list::collect(whole(&of.integers)?.into_iter().map(number))?;
        Tensor::from_slice(&numbers, &of.integers.sizes())
    };
    let result = ops::add_tensor(&numbers(a, &first)?, &numbers(b, &second)?, Scalar::Int(1))?;
    requantized(name, &result, scale, zero_point, a.dtype)
}

/// Numbers as a result, without negative ones where the operator has `relu`.
fn requantized(name: &str, numbers: &Tensor, scale: f64, zero_point: i64, dtype: DType) -> Result<Tensor> {
    if is_relu(name) {
        return quantized(&ops::relu(numbers)?, scale, zero_point, dtype);
    }
    quantized(numbers, scale, zero_point, dtype)
}

fn operands(name: &str, args: &Args<'_>) -> Result<(Quantized, Quantized)> {
    let (a, b) = (Quantized::of(name, args.tensor(0)?)?, Quantized::of(name, args.tensor(1)?)?);
    ensure!(
        a.dtype == b.dtype,
        Runtime,
        "{name}: operands should have same data type, but have {} and {}",
        a.dtype,
        b.dtype
    );
    Ok((a, b))
}

/// `quantized::add`, `quantized::mul` and the forms with `relu`
pub(super) fn binary(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(binary_as(name, args, args.float(2)?, args.int(3)?)?)
}

/// The sum or product of the first two arguments with this scale and zero point.
pub(super) fn binary_as(name: &str, args: &Args<'_>, scale: f64, zero_point: i64) -> Result<Tensor> {
    let (a, b) = operands(name, args)?;
    if name.contains("::add") {
        return sum(name, &a, &b, scale, zero_point);
    }
    a.affine(name)?;
    b.affine(name)?;
    requantized(name, &ops::mul_tensor(&a.numbers()?, &b.numbers()?)?, scale, zero_point, a.dtype)
}

/// The second argument, a number or a tensor with one element.
fn number(args: &Args<'_>) -> Result<f64> {
    match args.0.get(1) {
        Some(Value::Tensor(tensor)) => Ok(tensor.item()?.to_f64()),
        _ => Ok(args.scalar(1)?.to_f64()),
    }
}

/// Integers with another scale and zero point.
fn as_is(integers: &Tensor, scale: f64, zero_point: i64) -> Result<Tensor> {
    Tensor::from_integers(integers, Arc::new(Quantizer::PerTensor { scale, zero_point }))
}

/// `quantized::add.Scalar`: another zero point, and another scale only if that would be out of range
pub(super) fn add_number(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = Quantized::of(name, args.tensor(0)?)?;
    let (scale, zero_point) = input.affine(name)?;
    let (low, high) = limits(input.dtype);
    let (low, high) = (f64::from(low), f64::from(high));
    let steps = (number(args)? / scale).round_ties_even();
    let moved = zero_point as f64 - steps;
    let result = if moved < low || moved > high {
        let reach = if moved < low { high - moved } else { moved - low };
        let zero = if moved < low { low } else { high };
        // The numbers of the integers, moved.
        let shifted = as_is(&ops::to_dtype(&input.integers, DType::I32, false, false, None)?, scale, moved as i64)?;
        quantized(&Quantized::of(name, &shifted)?.numbers()?, reach / (high - low) * scale, zero as i64, input.dtype)?
    } else {
        as_is(&ops::clone(&input.integers, None)?, scale, moved as i64)?
    };
    // PyTorch's overloads with a tensor keep negative numbers here, although their name has `relu`.
    if matches!(args.0.get(1), Some(Value::Tensor(_))) { one(result) } else { rectified(name, result) }
}

fn rectified(name: &str, result: Tensor) -> Result<Vec<Value>> {
    if is_relu(name) { limited(name, &Quantized::of(name, &result)?, Some(0.0), None) } else { one(result) }
}

/// `quantized::mul.Scalar`: another scale
pub(super) fn mul_number(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = Quantized::of(name, args.tensor(0)?)?;
    let (scale, zero_point) = input.affine(name)?;
    let (low, high) = limits(input.dtype);
    let factor = number(args)?;
    let result = if factor > 0.0 {
        as_is(&ops::clone(&input.integers, None)?, scale * factor, zero_point)?
    } else if factor < 0.0 {
        let mirror = i64::from(low) + i64::from(high);
        let mirrored: Vec<i32> =
            list::collect(whole(&input.integers)?.iter().map(|&q| (mirror - i64::from(q)) as i32))?;
        as_is(&integers_of(&mirrored, &input.integers.sizes(), input.dtype)?, -scale * factor, mirror - zero_point)?
    } else {
        as_is(&ops::zeros(&input.integers.sizes(), input.integers.options())?, 1.0, 0)?
    };
    rectified(name, result)
}

/// `quantized::cat`, `quantized::cat_relu`
pub(super) fn cat(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let tensors = args.tensors(0)?;
    let Some(head) = tensors.first() else { bail!(Runtime, "{name} expects a non-empty list of tensors") };
    let own = Quantized::of(name, head)?.affine(name)?;
    let (scale, zero_point) = (args.float_opt(2)?.unwrap_or(own.0), args.int_opt(3)?.unwrap_or(own.1));
    one(joined_as(name, &tensors, args.int(1)?, scale, zero_point, is_relu(name))?)
}

/// Activation functions whose last arguments are the scale and the zero point of the result.
pub(super) fn activation(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = Quantized::of(name, args.tensor(0)?)?;
    input.affine(name)?;
    let x = input.numbers()?;
    let (result, at) = match name.rsplit("::").next().unwrap_or(name) {
        "hardswish" => (ops::hardswish(&x)?, 1),
        "sigmoid" => (ops::sigmoid(&x)?, 1),
        "elu" => (ops::elu(&x, args.scalar(3)?, args.scalar(4)?, args.scalar(5)?)?, 1),
        "celu" => (ops::celu(&x, args.scalar(3)?)?, 1),
        "leaky_relu" => (ops::leaky_relu(&x, args.scalar(1)?)?, 3),
        "softmax" => (ops::softmax_int(&x, args.int(1)?, None)?, 2),
        _ => bail!(Internal, "{name} is no activation function"),
    };
    one(quantized(&result, args.float(at)?, args.int(at + 1)?, input.dtype)?)
}

/// `quantized::clamp`, `quantized::relu6`
pub(super) fn clamp(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = Quantized::of(name, args.tensor(0)?)?;
    if name.ends_with("relu6") {
        return limited(name, &input, Some(0.0), Some(6.0));
    }
    let limit = |index: usize| -> Result<Option<f64>> { Ok(args.scalar_opt(index)?.map(Scalar::to_f64)) };
    limited(name, &input, limit(1)?, limit(2)?)
}

/// `quantized::batch_norm`, `batch_norm1d`, `batch_norm2d`, `batch_norm3d` and the forms with `relu`
pub(super) fn batch_norm(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = Quantized::of(name, args.tensor(0)?)?;
    input.affine(name)?;
    let sizes = input.integers.sizes();
    ensure!(sizes.len() >= 2, Runtime, "{name} expects at least 2 dimensions, but got {}", format_sizes(&sizes));
    let (weight, bias, mean, var) = (args.tensor_opt(1)?, args.tensor_opt(2)?, args.tensor(3)?, args.tensor(4)?);
    for part in [weight, bias, Some(mean), Some(var)].into_iter().flatten() {
        ensure!(
            part.sizes()[..] == [sizes[1]] && part.dtype() == DType::F32,
            Runtime,
            "{name}: Expect weight, bias, mean and var to be float vectors with {} elements, but one is {} {}",
            sizes[1],
            format_sizes(&part.sizes()),
            part.dtype()
        );
    }
    let deviation = ops::sqrt(&ops::add_scalar(var, Scalar::Float(args.float(5)?), Scalar::Int(1))?)?;
    let factor = match weight {
        Some(weight) => ops::div_tensor(weight, &deviation)?,
        None => ops::reciprocal(&deviation)?,
    };
    let moved = ops::neg(&ops::mul_tensor(mean, &factor)?)?;
    let shift = match bias {
        Some(bias) => ops::add_tensor(bias, &moved, Scalar::Int(1))?,
        None => moved,
    };
    let mut shape: Vec<i64> = vec![1; sizes.len()];
    shape[1] = sizes[1];
    let spread = |part: &Tensor| ops::reshape(&ops::detach(part)?, &shape);
    let scaled = ops::mul_tensor(&input.numbers()?, &spread(&factor)?)?;
    let result = ops::add_tensor(&scaled, &spread(&shift)?, Scalar::Int(1))?;
    let result = if is_relu(name) { ops::relu(&result)? } else { result };
    one(quantized(&result, args.float(6)?, args.int(7)?, input.dtype)?)
}

/// `quantized::max_pool2d`, `aten::quantized_max_pool2d`: `max_pool2d` computes them
pub(super) fn max_pool(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let name = name.rsplit("::").next().unwrap_or(name);
    super::views::call(name.strip_prefix("quantized_").unwrap_or(name), args.0)
}

/// `quantized::threshold`
pub(super) fn threshold(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    super::views::call("threshold", args.0)
}

/// `quantized::dropout`, which returns its input, as in PyTorch
pub(super) fn dropout(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    Quantized::of(name, args.tensor(0)?)?;
    one(args.tensor(0)?.clone())
}

/// `quantized::prelu`: products of integers. The weight is quantized, and so is the factor 1 of positive numbers.
pub(super) fn prelu(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (input, weight) = operands(name, args)?;
    let ((scale, zero), (weight_scale, weight_zero)) = (input.affine(name)?, weight.affine(name)?);
    let (result_scale, result_zero) = (args.float(2)?, args.int(3)?);
    let sizes = input.integers.sizes();
    let channels = sizes.get(1).copied().unwrap_or(1);
    let factors = whole(&weight.integers)?;
    ensure!(
        factors.len() == 1 || factors.len() as i64 == channels,
        Runtime,
        "{name}: Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and channel size = \
         {channels}.",
        factors.len()
    );
    let step = i64::from(Step::new(weight_scale, weight_zero, weight.dtype).of(1.0)) - weight_zero;
    let by = (scale as f32 * weight_scale as f32) * (1.0 / result_scale as f32);
    let inner = sizes.get(2..).unwrap_or(&[]).iter().product::<i64>().max(1) as usize;
    let (low, high) = limits(input.dtype);
    let of = |(index, &q): (usize, &i32)| {
        let x = i64::from(q) - zero;
        let factor = factors.get(index / inner % factors.len()).map_or(0, |&factor| i64::from(factor) - weight_zero);
        let product = x.wrapping_mul(if x > 0 { step } else { factor });
        let steps = f64::from((product as f32 * by).round_ties_even()).clamp(-1e15, 1e15);
        (steps as i64).saturating_add(result_zero).clamp(i64::from(low), i64::from(high)) as i32
    };
    let integers: Vec<i32> = list::collect(whole(&input.integers)?.iter().enumerate().map(of))?;
    one(as_is(&integers_of(&integers, &sizes, input.dtype)?, result_scale, result_zero)?)
}
