//! Numbers, integers and parameters of quantized tensors; copies and concatenation.

use super::numbers::{Step, quantize};
use super::views::call;
use super::{Quantized, first, one};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, bail, ensure};

/// `dequantize.self`: also of a floating-point tensor, in single precision
pub(super) fn dequantize(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let tensor = args.tensor(0)?;
    if tensor.is_quantized() {
        return one(first(name, args)?.numbers()?);
    }
    one(ops::to_dtype(tensor, DType::F32, false, false, None)?)
}

/// `dequantize.tensors`
pub(super) fn dequantize_each(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let tensors = args.tensors(0)?;
    let each = tensors.iter().map(|tensor| Quantized::of("aten::dequantize", tensor)?.numbers());
    one(each.collect::<Result<Vec<Tensor>>>()?)
}

/// `int_repr`: a copy of the integers
pub(super) fn int_repr(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(ops::clone(&first(name, args)?.integers, None)?)
}

/// `item`: the number of the only element
pub(super) fn item(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(args.tensor(0)?.item()?)
}

/// `q_scale`
pub(super) fn q_scale(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(first(name, args)?.affine(name)?.0)
}

/// `q_zero_point`
pub(super) fn q_zero_point(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(first(name, args)?.affine(name)?.1)
}

/// The parameters of channels; an error for a tensor with one scale.
fn channels(name: &str, args: &Args<'_>) -> Result<(Vec<f64>, Vec<f64>, usize, bool)> {
    match &*first(name, args)?.quantizer {
        Quantizer::PerChannel { scales, zero_points, axis, float } => {
            Ok((scales.clone(), zero_points.clone(), *axis, *float))
        }
        Quantizer::PerTensor { .. } => {
            bail!(Runtime, "{name} expects a per channel quantized tensor, but the tensor is per tensor quantized")
        }
    }
}

fn doubles(values: &[f64], dtype: DType) -> Result<Vec<Value>> {
    one(ops::to_dtype(&Tensor::from_slice(values, &[values.len() as i64])?, dtype, false, false, None)?)
}

/// `q_per_channel_scales`
pub(super) fn q_per_channel_scales(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (scales, _, _, float) = channels(name, args)?;
    doubles(&scales, if float { DType::F32 } else { DType::F64 })
}

/// `q_per_channel_zero_points`
pub(super) fn q_per_channel_zero_points(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (_, zero_points, _, float) = channels(name, args)?;
    doubles(&zero_points, if float { DType::F32 } else { DType::I64 })
}

/// `q_per_channel_axis`
pub(super) fn q_per_channel_axis(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(channels(name, args)?.2 as i64)
}

/// `qscheme`
pub(super) fn qscheme(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(first(name, args)?.quantizer.scheme())
}

/// `clone`
pub(super) fn clone(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    one(input.with(&ops::clone(&input.integers, args.memory_format_opt(1)?)?)?)
}

/// `contiguous`: the tensor itself if it is contiguous
pub(super) fn contiguous(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (input, format) = (first(name, args)?, args.memory_format(1)?);
    if input.integers.is_contiguous(format) {
        return one(args.tensor(0)?.clone());
    }
    one(input.with(&ops::contiguous(&input.integers, format)?)?)
}

/// `detach`, `alias`
pub(super) fn detach(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    one(input.with(&input.integers)?)
}

/// `to.dtype`: only the dtype that the tensor has
pub(super) fn to_dtype(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (input, dtype) = (first(name, args)?, args.dtype(1)?);
    ensure!(
        dtype == input.dtype,
        Runtime,
        "Creation of quantized tensor requires quantized dtype like torch.quint8: a tensor of {} becomes {dtype} by \
         dequantize() or quantize_per_tensor()",
        input.dtype
    );
    one(if args.bool(3)? { input.with(&ops::clone(&input.integers, None)?)? } else { args.tensor(0)?.clone() })
}

/// `copy_`: floats are quantized; of a quantized tensor, integers and quantizer are copied
pub(super) fn copy_(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (target, source) = (args.tensor(0)?, args.tensor(1)?);
    ensure!(
        target.is_quantized(),
        Runtime,
        "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a float Tensor \
         from a quantized Tensor"
    );
    args.check_in_place(target)?;
    let own = Quantized::of("aten::copy_", target)?;
    if source.is_quantized() {
        let other = Quantized::of("aten::copy_", source)?;
        ensure!(
            own.dtype == other.dtype,
            Runtime,
            "Quantized copy expects tensors of one dtype, but got {} and {}",
            own.dtype,
            other.dtype
        );
        if let Quantizer::PerChannel { .. } = &*other.quantizer {
            ensure!(
                target.sizes() == source.sizes(),
                Runtime,
                "a per channel quantized tensor is copied only to a tensor of its sizes"
            );
        }
        ops::copy_(&own.integers, &other.integers, false)?;
        target.replace_quantizer(other.quantizer)?;
        return Ok(Vec::new());
    }
    ensure!(
        source.dtype() == DType::F32,
        Runtime,
        "Quantized copy only works with kFloat as source Tensor, not with {}",
        source.dtype()
    );
    let spread = ops::expand(&ops::detach(source)?, &target.sizes(), false)?;
    let next = quantize(&spread, own.quantizer.clone(), own.dtype)?;
    ops::copy_(&own.integers, &next.integers()?, false)?;
    Ok(Vec::new())
}

/// `fill_.Scalar`
pub(super) fn fill_(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    args.check_in_place(args.tensor(0)?)?;
    let value = Tensor::from_slice(&[args.scalar(1)?.to_f64() as f32], &[])?;
    let spread = ops::expand(&value, &input.integers.sizes(), false)?;
    ops::copy_(&input.integers, &quantize(&spread, input.quantizer.clone(), input.dtype)?.integers()?, false)?;
    Ok(Vec::new())
}

/// `equal`: the same dtype, quantizer and integers
pub(super) fn equal(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (a, b) = (first(name, args)?, Quantized::of("aten::equal", args.tensor(1)?)?);
    let same = a.dtype == b.dtype && a.quantizer == b.quantizer;
    one(same && ops::equal(&a.integers, &b.integers)?)
}

/// `cat`: with the quantizer of the first tensor
pub(super) fn cat(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(joined("cat", &args.tensors(0)?, args.int(1)?)?)
}

/// `stack`
pub(super) fn stack(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (tensors, dim) = (args.tensors(0)?, args.int(1)?);
    let rows = tensors.iter().map(|tensor| ops::unsqueeze(tensor, dim)).collect::<Result<Vec<_>>>()?;
    one(joined("stack", &rows.iter().collect::<Vec<_>>(), dim)?)
}

fn joined(name: &str, tensors: &[&Tensor], dim: i64) -> Result<Tensor> {
    let Some(head) = tensors.first() else { bail!(Runtime, "{name} expects a non-empty list of tensors") };
    let (scale, zero_point) = Quantized::of(&format!("aten::{name}"), head)?.affine(name)?;
    joined_as(name, tensors, dim, scale, zero_point, false)
}

/// Concatenates with this scale and zero point. Integers are only moved if all tensors have these.
pub(super) fn joined_as(
    name: &str,
    tensors: &[&Tensor],
    dim: i64,
    scale: f64,
    zero_point: i64,
    relu: bool,
) -> Result<Tensor> {
    let parts = tensors.iter().map(|tensor| Quantized::of(name, tensor)).collect::<Result<Vec<_>>>()?;
    let Some(dtype) = parts.first().map(|part| part.dtype) else {
        bail!(Runtime, "{name} expects a non-empty list of tensors")
    };
    let mut same = !relu;
    for part in &parts {
        ensure!(
            part.dtype == dtype,
            Runtime,
            "{name}: All dtypes must be the same, but got {} and {dtype}",
            part.dtype
        );
        same &= part.affine(name)? == (scale, zero_point);
    }
    if same {
        let integers = ops::cat(&parts.iter().map(|part| &part.integers).collect::<Vec<_>>(), dim)?;
        return Tensor::from_integers(&integers, std::sync::Arc::new(Quantizer::PerTensor { scale, zero_point }));
    }
    let numbers = parts.iter().map(Quantized::numbers).collect::<Result<Vec<_>>>()?;
    let all = ops::cat(&numbers.iter().collect::<Vec<_>>(), dim)?;
    super::quantized(&if relu { ops::relu(&all)? } else { all }, scale, zero_point, dtype)
}

/// `constant_pad_nd`: the value is quantized
pub(super) fn constant_pad_nd(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    let (scale, zero_point) = input.affine(name)?;
    let fill = Step::new(scale, zero_point, input.dtype).of(args.scalar(2)?.to_f64() as f32);
    let padded = ops::constant_pad_nd(&input.integers, &args.ints(1)?, Scalar::Int(i64::from(fill)))?;
    one(input.with(&padded)?)
}

/// `pad`
pub(super) fn pad(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    let mut values = args.0.to_vec();
    values[0] = input.integers.clone().into();
    if args.str(2)? == "constant" {
        let (scale, zero_point) = input.affine(name)?;
        let fill = Step::new(scale, zero_point, input.dtype).of(args.float_opt(3)?.unwrap_or(0.0) as f32);
        values[3] = Value::from(f64::from(fill));
    }
    input.affine(name)?;
    match call(name, &values)?.first() {
        Some(Value::Tensor(padded)) => one(input.with(padded)?),
        _ => bail!(Internal, "pad returns no tensor"),
    }
}
