//! From floats to integers and back, rounded as the engine `fbgemm` does.

use super::Quantized;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use crate::{dispatch, ops};
use rushlight_base::{DType, DeviceType, Element, MemoryFormat, Result, bail, ensure, list};
use rushlight_cpu::quantize::Affine;
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

/// The integers, which are in range, as a tensor of the integers of `dtype` in the order of another.
pub(super) fn integers_like(flat: &Flat, values: &[i32], dtype: DType) -> Result<Tensor> {
    match dtype.to_integer() {
        DType::I8 => flat.like(&list::collect(values.iter().map(|&value| value as i8))?),
        DType::U8 => flat.like(&list::collect(values.iter().map(|&value| value as u8))?),
        _ => flat.like(values),
    }
}

/// A tensor as contiguous memory in the order of its strides, if that is channels last.
pub(super) struct Flat {
    pub tensor: Tensor,
    /// The dimensions of the tensor in the order of memory.
    order: Vec<i64>,
}

impl Flat {
    pub fn of(tensor: &Tensor) -> Result<Flat> {
        let dims = tensor.ndim() as i64;
        let last = match dims {
            4 => tensor.is_contiguous(MemoryFormat::ChannelsLast),
            5 => tensor.is_contiguous(MemoryFormat::ChannelsLast3d),
            _ => false,
        };
        if last && !tensor.is_contiguous(MemoryFormat::Contiguous) {
            let order: Vec<i64> = [0].into_iter().chain(2..dims).chain([1]).collect();
            return Ok(Flat { tensor: ops::permute(tensor, &order)?, order });
        }
        Ok(Flat { tensor: ops::contiguous(tensor, MemoryFormat::Contiguous)?, order: (0..dims).collect() })
    }

    /// Elements in the same order, as a tensor of the same sizes and strides.
    pub fn like<T: Element>(&self, values: &[T]) -> Result<Tensor> {
        let tensor = Tensor::from_slice(values, &self.tensor.sizes())?;
        if self.order.is_sorted() {
            return Ok(tensor);
        }
        let mut back = vec![0; self.order.len()];
        for (at, &dim) in self.order.iter().enumerate() {
            back[dim as usize] = at as i64;
        }
        ops::permute(&tensor, &back)
    }

    /// Whether the elements of both are in the same order.
    pub fn is_like(&self, other: &Flat) -> bool {
        self.order == other.order && self.tensor.sizes() == other.tensor.sizes()
    }
}

/// The bytes of a tensor of 8-bit integers.
pub(super) fn bytes(integers: &Tensor) -> Result<Vec<u8>> {
    match integers.dtype() {
        DType::I8 => list::collect(integers.to_vec::<i8>()?.into_iter().map(i8::cast_unsigned)),
        _ => integers.to_vec(),
    }
}

/// A tensor of 8-bit integers of `dtype`, in the order of another.
pub(super) fn of_bytes(flat: &Flat, bytes: &[u8], dtype: DType) -> Result<Tensor> {
    match dtype.to_integer() {
        DType::I8 => flat.like(&list::collect(bytes.iter().map(|byte| byte.cast_signed()))?),
        _ => flat.like(bytes),
    }
}

/// The integers that bytes of `dtype` stand for.
fn all_integers(dtype: DType) -> [i32; 256] {
    let signed = dtype.to_integer() == DType::I8;
    std::array::from_fn(|byte| if signed { i32::from((byte as u8).cast_signed()) } else { byte as i32 })
}

/// A function of the integers of `dtype`, for each of their bytes.
pub(super) fn table(dtype: DType, number: impl Fn(i32) -> f32) -> [f32; 256] {
    all_integers(dtype).map(number)
}

/// How floats become bytes of `dtype`. NaN becomes the largest one, as in the engine, which takes the minimum with a
/// large number first.
pub(super) fn affine(scale: f64, zero_point: i64, dtype: DType) -> Affine {
    let limits = limits(dtype);
    Affine { inverse: 1.0 / scale as f32, zero_point: zero_point as i32, limits, nan: limits.1 }
}

/// Whether the integers of a quantized dtype have 8 bits.
pub(super) fn is_byte(dtype: DType) -> bool {
    dtype.to_integer().size() == 1
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
pub(super) fn check_zero_point(kind: &str, zero_point: i64, dtype: DType) -> Result<()> {
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
    let plain = dispatch::carried_out(input)?;
    if let (Quantizer::PerTensor { scale, zero_point }, true) = (&*quantizer, is_byte(dtype)) {
        check_zero_point("tensor", *zero_point, dtype)?;
        let flat = Flat::of(&plain)?;
        let bytes = affine(*scale, *zero_point, dtype).bytes(&flat.tensor.to_vec::<f32>()?)?;
        return Tensor::from_integers(&of_bytes(&flat, &bytes, dtype)?, quantizer);
    }
    let (values, sizes) = (floats(&plain)?, input.sizes());
    let steps: Vec<i32> = match &*quantizer {
        Quantizer::PerTensor { scale, zero_point } => {
            check_zero_point("tensor", *zero_point, dtype)?;
            let step = Step::new(*scale, *zero_point, dtype);
            list::collect(values.iter().map(|&value| step.of(value)))?
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

/// The numbers that a table has for bytes.
pub(super) fn looked_up(integers: &Tensor, table: &[f32; 256]) -> Result<Tensor> {
    let flat = Flat::of(integers)?;
    let numbers = list::collect(bytes(&flat.tensor)?.into_iter().map(|byte| table[usize::from(byte)]))?;
    flat.like(&numbers)
}

/// The numbers of a quantized tensor.
pub(super) fn dequantize(tensor: &Quantized) -> Result<Tensor> {
    let quantizer = &*tensor.quantizer;
    if matches!(quantizer, Quantizer::PerTensor { .. }) && is_byte(tensor.dtype) {
        return looked_up(&tensor.integers, &table(tensor.dtype, |integer| quantizer.number(integer, 0)));
    }
    let (values, sizes) = (whole(&tensor.integers)?, tensor.integers.sizes());
    let numbers: Vec<f32> = match quantizer {
        Quantizer::PerTensor { .. } => list::collect(values.iter().map(|&value| quantizer.number(value, 0)))?,
        Quantizer::PerChannel { axis, .. } => {
            let (inner, channels) = blocks(&sizes, *axis);
            let of = |(index, &value): (usize, &i32)| quantizer.number(value, (index / inner) % channels);
            list::collect(values.iter().enumerate().map(of))?
        }
    };
    Tensor::from_slice(&numbers, &sizes)
}
