//! Operators that create quantized tensors.

use super::numbers::{check_channels, floats, limits, quantize};
use super::{Quantized, choose, first, one, quantized};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::options::Options;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, list};
use std::sync::Arc;

/// `quantize_per_tensor`
pub(super) fn per_tensor(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(quantized(args.tensor(0)?, args.float(1)?, args.int(2)?, args.dtype(3)?)?)
}

/// `quantize_per_tensor.tensor_qparams`
pub(super) fn per_tensor_of_tensors(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (scale, zero_point) = (args.tensor(1)?.item()?.to_f64(), args.tensor(2)?.item()?.to_f64() as i64);
    one(quantized(args.tensor(0)?, scale, zero_point, args.dtype(3)?)?)
}

/// `quantize_per_tensor.tensors`
pub(super) fn each_per_tensor(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (tensors, scales, zero_points) = (args.tensors(0)?, doubles(args.tensor(1)?)?, doubles(args.tensor(2)?)?);
    ensure!(
        scales.len() >= tensors.len() && zero_points.len() >= tensors.len(),
        Runtime,
        "{} tensors need as many scales and zero points, but got {} and {}",
        tensors.len(),
        scales.len(),
        zero_points.len()
    );
    let dtype = args.dtype(3)?;
    let parameters = scales.into_iter().zip(zero_points);
    let each =
        tensors.iter().zip(parameters).map(|(tensor, (scale, zero))| quantized(tensor, scale, zero as i64, dtype));
    one(each.collect::<Result<Vec<Tensor>>>()?)
}

/// `quantize_per_tensor_dynamic`
pub(super) fn dynamic(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (input, dtype, reduced) = (args.tensor(0)?, args.dtype(1)?, args.bool(2)?);
    if dtype == DType::F16 {
        return one(ops::to_dtype(input, dtype, false, false, None)?);
    }
    ensure!(matches!(dtype, DType::QI8 | DType::QU8), Runtime, "dtype {} not supported", dtype.c10_name());
    ensure!(
        input.dtype() == DType::F32,
        Runtime,
        "Quantize only works on Float Tensor, got {}",
        input.dtype().c10_name()
    );
    let range = dynamic_range(input, limits(dtype), reduced)?;
    one(quantized(input, range.scale, i64::from(range.zero_point), dtype)?)
}

/// The parameters for all elements of a tensor.
pub(super) fn dynamic_range(input: &Tensor, limits: (i32, i32), reduced: bool) -> Result<super::Range> {
    let (min, max) = ops::aminmax(&ops::detach(input)?, None, false)?;
    Ok(choose(min.item()?.to_f64() as f32, max.item()?.to_f64() as f32, limits, false, reduced))
}

fn doubles(tensor: &Tensor) -> Result<Vec<f64>> {
    let doubles = ops::to_dtype(tensor, DType::F64, false, false, None)?;
    ops::contiguous(&doubles, MemoryFormat::Contiguous)?.to_vec()
}

/// The quantizer of channels, from tensors.
fn channels(sizes: &[i64], scales: &Tensor, zero_points: &Tensor, axis: i64) -> Result<Quantizer> {
    ensure!(
        scales.ndim() == 1 && zero_points.ndim() == 1,
        Runtime,
        "scale and zero_points need to be 1-D tensors, but have {} and {} dimensions",
        scales.ndim(),
        zero_points.ndim()
    );
    let float = zero_points.dtype().is_floating();
    let scales = if float { floats_as_doubles(scales)? } else { doubles(scales)? };
    let (zero_points, dims) = (doubles(zero_points)?, sizes.len());
    let Some(axis) = usize::try_from(axis).ok().filter(|axis| *axis < dims) else {
        bail!(
            Runtime,
            "Channel axis out of range in per channel affine quantization. Got: {axis} Expected: [0, {dims})"
        )
    };
    check_channels(sizes, scales.len(), zero_points.len(), axis)?;
    Ok(Quantizer::PerChannel { scales, zero_points, axis, float })
}

/// The numbers rounded to single precision.
fn floats_as_doubles(tensor: &Tensor) -> Result<Vec<f64>> {
    let single = ops::to_dtype(tensor, DType::F32, false, false, None)?;
    list::collect(floats(&single)?.into_iter().map(f64::from))
}

/// `quantize_per_channel`
pub(super) fn per_channel(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = args.tensor(0)?;
    let quantizer = channels(&input.sizes(), args.tensor(1)?, args.tensor(2)?, args.int(3)?)?;
    one(quantize(input, Arc::new(quantizer), args.dtype(4)?)?)
}

/// Uninitialized integers with a quantizer.
fn uninitialized(
    sizes: &[i64],
    dtype: Option<DType>,
    format: Option<MemoryFormat>,
    quantizer: Quantizer,
) -> Result<Tensor> {
    let Some(dtype) = dtype.filter(|dtype| dtype.is_quantized()) else {
        bail!(Runtime, "Creation of quantized tensor requires quantized dtype like torch.quint8")
    };
    let integers = ops::empty_memory_format(sizes, Options::of(dtype.to_integer()), format)?;
    Tensor::from_integers(&integers, Arc::new(quantizer))
}

fn check_options(options: &Options) -> Result<()> {
    let device = options.device.unwrap_or(rushlight_base::Device::CPU);
    ensure!(
        device == rushlight_base::Device::CPU,
        NotImplemented,
        "quantized tensors are only supported on the CPU, not on {device}"
    );
    Options { dtype: None, device: None, ..*options }.check()
}

/// `_empty_affine_quantized`
pub(super) fn empty_affine(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let options = args.options(1)?;
    check_options(&options)?;
    let quantizer = Quantizer::PerTensor { scale: args.float(5)?, zero_point: args.int(6)? };
    one(uninitialized(&args.ints(0)?, options.dtype, args.memory_format_opt(7)?, quantizer)?)
}

/// `_empty_per_channel_affine_quantized`
pub(super) fn empty_per_channel(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (sizes, options) = (args.ints(0)?, args.options(4)?);
    check_options(&options)?;
    let quantizer = channels(&sizes, args.tensor(1)?, args.tensor(2)?, args.int(3)?)?;
    one(uninitialized(&sizes, options.dtype, args.memory_format_opt(8)?, quantizer)?)
}

/// `empty_quantized`
pub(super) fn empty_quantized(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (sizes, like) = (args.ints(0)?, Quantized::of("aten::empty_quantized", args.tensor(1)?)?);
    let options = args.options(2)?;
    check_options(&options)?;
    if let Quantizer::PerChannel { scales, zero_points, axis, .. } = &*like.quantizer {
        check_channels(&sizes, scales.len(), zero_points.len(), *axis)?;
    }
    let dtype = options.dtype.unwrap_or(like.dtype);
    one(uninitialized(&sizes, Some(dtype), args.memory_format_opt(6)?, (*like.quantizer).clone())?)
}

/// `empty_like`
pub(super) fn empty_like(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (like, options) = (first(name, args)?, args.options(1)?);
    check_options(&options)?;
    ensure!(
        options.dtype.is_none_or(|dtype| dtype == like.dtype),
        Runtime,
        "It is currently not supported to specify a dtype that doesn't match the input tensor's dtype via empty_like. \
         Specified: {} Input tensor's dtype: {}",
        options.dtype.unwrap_or(like.dtype),
        like.dtype
    );
    let integers = ops::empty_like(&like.integers, Options::default(), args.memory_format_opt(5)?)?;
    one(like.with(&integers)?)
}

/// `_make_per_tensor_quantized_tensor`
pub(super) fn make_per_tensor(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let quantizer = Quantizer::PerTensor { scale: args.float(1)?, zero_point: args.int(2)? };
    let integers = ops::clone(args.tensor(0)?, Some(MemoryFormat::Contiguous))?;
    one(Tensor::from_integers(&integers, Arc::new(quantizer))?)
}

/// `_make_per_channel_quantized_tensor`
pub(super) fn make_per_channel(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let integers = ops::clone(args.tensor(0)?, Some(MemoryFormat::Contiguous))?;
    let quantizer = channels(&integers.sizes(), args.tensor(1)?, args.tensor(2)?, args.int(3)?)?;
    one(Tensor::from_integers(&integers, Arc::new(quantizer))?)
}
