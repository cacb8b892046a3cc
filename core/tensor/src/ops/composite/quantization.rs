//! Fake quantization, and the choice of its parameters.

use crate::autograd::GradModeGuard;
use crate::dispatch::{Argument, Value};
use crate::ops;
use crate::options::Options;
use crate::quantized::{Range, called, choose, floats};
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, ensure, f16, list};

macro_rules! through {
    ($($name:ident($($p:ident: $type:ty),*) -> $result:ty = $row:literal;)*) => {$(
        #[doc = concat!("`", $row, "`")]
        #[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
        pub fn $name($($p: $type),*) -> Result<$result> {
            called($row, &[$(&$p as &dyn Argument),*])
        }
    )*};
}

// Calls with a quantized tensor do not arrive here: the layer of quantized tensors calls their kernels. Calls with strided
// tensors only use the same kernels.
through! {
    quantize_per_tensor(self_: &Tensor, scale: f64, zero_point: i64, dtype: DType) -> Tensor = "quantize_per_tensor";
    quantize_per_tensor_tensor_qparams(self_: &Tensor, scale: &Tensor, zero_point: &Tensor, dtype: DType) -> Tensor
        = "quantize_per_tensor.tensor_qparams";
    quantize_per_tensor_tensors(tensors: &[&Tensor], scales: &Tensor, zero_points: &Tensor, dtype: DType) -> Vec<Tensor>
        = "quantize_per_tensor.tensors";
    quantize_per_tensor_dynamic(self_: &Tensor, dtype: DType, reduce_range: bool) -> Tensor = "quantize_per_tensor_dynamic";
    quantize_per_channel(self_: &Tensor, scales: &Tensor, zero_points: &Tensor, axis: i64, dtype: DType) -> Tensor
        = "quantize_per_channel";
    empty_affine_quantized(size: &[i64], options: Options, scale: f64, zero_point: i64, memory_format: Option<MemoryFormat>) -> Tensor
        = "_empty_affine_quantized";
    empty_per_channel_affine_quantized(size: &[i64], scales: &Tensor, zero_points: &Tensor, axis: i64, options: Options, memory_format: Option<MemoryFormat>) -> Tensor
        = "_empty_per_channel_affine_quantized";
    empty_quantized(size: &[i64], qtensor: &Tensor, options: Options, memory_format: Option<MemoryFormat>) -> Tensor
        = "empty_quantized";
    make_per_tensor_quantized_tensor(self_: &Tensor, scale: f64, zero_point: i64) -> Tensor
        = "_make_per_tensor_quantized_tensor";
    make_per_channel_quantized_tensor(self_: &Tensor, scale: &Tensor, zero_point: &Tensor, axis: i64) -> Tensor
        = "_make_per_channel_quantized_tensor";
    dequantize_self(self_: &Tensor) -> Tensor = "dequantize.self";
    dequantize_tensors(tensors: &[&Tensor]) -> Vec<Tensor> = "dequantize.tensors";
    int_repr(self_: &Tensor) -> Tensor = "int_repr";
    q_scale(self_: &Tensor) -> f64 = "q_scale";
    q_zero_point(self_: &Tensor) -> i64 = "q_zero_point";
    q_per_channel_scales(self_: &Tensor) -> Tensor = "q_per_channel_scales";
    q_per_channel_zero_points(self_: &Tensor) -> Tensor = "q_per_channel_zero_points";
    q_per_channel_axis(self_: &Tensor) -> i64 = "q_per_channel_axis";
    qscheme(self_: &Tensor) -> Value = "qscheme";
}

/// fake quantization with one scale and zero point
pub fn fake_quantize_per_tensor_affine(
    self_: &Tensor,
    scale: f64,
    zero_point: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<Tensor> {
    Ok(ops::fake_quantize_per_tensor_affine_cachemask(self_, scale, zero_point, quant_min, quant_max)?.0)
}

/// fake quantization with one scale and zero point, in tensors
pub fn fake_quantize_per_tensor_affine_tensor_qparams(
    self_: &Tensor,
    scale: &Tensor,
    zero_point: &Tensor,
    quant_min: i64,
    quant_max: i64,
) -> Result<Tensor> {
    let enabled = Tensor::from_slice(&[1i64], &[1])?;
    let masked = ops::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self_, scale, zero_point, &enabled, quant_min, quant_max,
    )?;
    Ok(masked.0)
}

/// fake quantization with a scale and a zero point for each channel
pub fn fake_quantize_per_channel_affine(
    self_: &Tensor,
    scale: &Tensor,
    zero_point: &Tensor,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<Tensor> {
    Ok(ops::fake_quantize_per_channel_affine_cachemask(self_, scale, zero_point, axis, quant_min, quant_max)?.0)
}

/// The gradient of fake quantization: that of the elements in range.
pub fn fake_quantize_backward(grad: &Tensor, mask: &Tensor) -> Result<Tensor> {
    ensure!(mask.dtype() == DType::Bool, Runtime, "the mask must be bool, not {}", mask.dtype());
    ensure!(
        mask.numel() == grad.numel(),
        Runtime,
        "`mask` and `dY` are not the same size: `mask` is size {} and `dY` is size {}",
        mask.numel(),
        grad.numel()
    );
    if grad.numel() == 0 { Ok(grad.clone()) } else { ops::mul_tensor(grad, mask) }
}

fn is_on(switch: &Tensor) -> Result<bool> {
    Ok(switch.item()?.to_f64() != 0.0)
}

/// Observes minimum and maximum, and quantizes with the parameters that follow from them.
#[allow(clippy::too_many_arguments, reason = "the operator's")]
pub fn fused_moving_avg_obs_fake_quant(
    self_: &Tensor,
    observer_on: &Tensor,
    fake_quant_on: &Tensor,
    running_min: &Tensor,
    running_max: &Tensor,
    scale: &Tensor,
    zero_point: &Tensor,
    averaging_const: f64,
    quant_min: i64,
    quant_max: i64,
    ch_axis: i64,
    per_row_fake_quant: bool,
    symmetric_quant: bool,
) -> Result<Tensor> {
    if self_.numel() == 0 {
        return ops::clone(self_, None);
    }
    ensure!(
        !per_row_fake_quant || ch_axis == 0,
        Runtime,
        "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on axis == 0"
    );
    ensure!(
        !per_row_fake_quant || self_.ndim() > 0,
        Runtime,
        "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()"
    );
    ensure!(
        [running_min, running_max, scale].iter().all(|part| part.dtype() == DType::F32)
            && zero_point.dtype() == DType::I32,
        Runtime,
        "fused_moving_avg_obs_fake_quant expects running_min, running_max and scale of dtype float and zero_point of \
         dtype int, but got {}, {}, {} and {}",
        running_min.dtype(),
        running_max.dtype(),
        scale.dtype(),
        zero_point.dtype()
    );
    ensure!(self_.dtype() == DType::F32, Runtime, "expected scalar type Float but found {}", self_.dtype().c10_name());
    ensure!(
        (i64::from(i32::MIN)..=quant_max).contains(&quant_min) && quant_max <= i64::from(i32::MAX),
        Runtime,
        "fused_moving_avg_obs_fake_quant: quant_min {quant_min} and quant_max {quant_max} are no range of int32"
    );
    let (observes, quantizes) = (is_on(observer_on)?, is_on(fake_quant_on)?);
    let channels = if per_row_fake_quant { self_.sizes().first().copied().unwrap_or(1) } else { 1 };
    let observed = [running_min, running_max, scale, zero_point];
    let starts = per_row_fake_quant && running_min.numel() == 0;
    ensure!(
        starts || observed.iter().all(|part| part.numel() == channels),
        Runtime,
        "fused_moving_avg_obs_fake_quant expects {channels} running values, scales and zero points, but got {}, {}, {} \
         and {}",
        running_min.numel(),
        running_max.numel(),
        scale.numel(),
        zero_point.numel()
    );
    {
        let _off = GradModeGuard::new(false);
        if starts {
            observed.iter().try_for_each(|part| ops::resize_(part, &[channels], None))?;
            let set = |part: &Tensor, value: f32| ops::copy_(part, &Tensor::from_slice(&[value], &[1])?, false);
            set(running_min, f32::INFINITY)?;
            set(running_max, f32::NEG_INFINITY)?;
            set(scale, 1.0)?;
            set(zero_point, 0.0)?;
        }
        if observes {
            observe(self_, running_min, running_max, averaging_const as f32, per_row_fake_quant)?;
        }
        if quantizes {
            let limits = floats(running_min)?.into_iter().zip(floats(running_max)?);
            let range = (quant_min as i32, quant_max as i32);
            let chosen: Vec<Range> =
                list::collect(limits.map(|(min, max)| choose(min, max, range, symmetric_quant, false)))?;
            let scales: Vec<f32> = list::collect(chosen.iter().map(|range| range.scale as f32))?;
            let zeros: Vec<i32> = list::collect(chosen.iter().map(|range| range.zero_point))?;
            ops::copy_(scale, &Tensor::from_slice(&scales, &scale.sizes())?, false)?;
            ops::copy_(zero_point, &Tensor::from_slice(&zeros, &zero_point.sizes())?, false)?;
        }
    }
    if !quantizes {
        return ops::clone(self_, None);
    }
    if per_row_fake_quant {
        return ops::fake_quantize_per_channel_affine(self_, scale, zero_point, ch_axis, quant_min, quant_max);
    }
    let masked = ops::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self_,
        scale,
        zero_point,
        fake_quant_on,
        quant_min,
        quant_max,
    )?;
    Ok(masked.0)
}

/// Updates the moving averages of minimum and maximum; the first values replace infinities.
fn observe(self_: &Tensor, running_min: &Tensor, running_max: &Tensor, constant: f32, per_row: bool) -> Result<()> {
    let (low, high) = if per_row {
        let rows = ops::reshape(self_, &[self_.sizes().first().copied().unwrap_or(1), -1])?;
        ops::aminmax(&rows, Some(1), false)?
    } else {
        ops::aminmax(self_, None, false)?
    };
    for (running, seen) in [(running_min, low), (running_max, high)] {
        let average =
            |(before, now): (f32, f32)| if before.is_infinite() { now } else { before + constant * (now - before) };
        let next: Vec<f32> = list::collect(floats(running)?.into_iter().zip(floats(&seen)?).map(average))?;
        ops::copy_(running, &Tensor::from_slice(&next, &running.sizes())?, false)?;
    }
    Ok(())
}

/// The error of a quantization of `values` in the range from `low` to `high`. The parameters are rounded to half
/// precision, in which packed embeddings store them.
fn loss(values: &[f32], low: f32, high: f32, bit_width: i64) -> f32 {
    let low = f16::from_f32(low).to_f32();
    let (range, steps) = (high - low, ((1i64 << bit_width) - 1) as f32);
    let scale = if range == 0.0 { 1.0 } else { f16::from_f32(range / steps).to_f32() };
    let inverse = if scale == 0.0 { 1.0 } else { 1.0 / scale };
    let error = |value: &f32| {
        let step = ((value - low) * inverse).round_ties_even().min(steps).max(0.0);
        let difference = value - (step * scale + low);
        difference * difference
    };
    values.iter().map(error).sum::<f32>().sqrt()
}

/// A range with a small error of quantization, found by making it smaller step by step.
pub fn choose_qparams_optimized(
    input: &Tensor,
    numel: i64,
    n_bins: i64,
    ratio: f64,
    bit_width: i64,
) -> Result<(Tensor, Tensor)> {
    ensure!(
        (0..=input.numel()).contains(&numel),
        Runtime,
        "numel is out of the bound of input tensor: {numel} of {} elements",
        input.numel()
    );
    ensure!(input.dtype() == DType::F32, Runtime, "expected scalar type Float but found {}", input.dtype().c10_name());
    ensure!(
        numel > 0 && n_bins > 0 && (1..=30).contains(&bit_width),
        Runtime,
        "choose_qparams_optimized expects at least one element, at least one bin and 1 to 30 bits, but got {numel}, \
         {n_bins} and {bit_width}"
    );
    let values = floats(input)?;
    let values = values.get(..numel as usize).unwrap_or(&values);
    let (mut low, mut high) =
        values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    ensure!(
        low.is_finite() && high.is_finite(),
        Runtime,
        "choose_qparams_optimized expects finite elements, but they range from {low} to {high}"
    );
    let step = (high - low) / n_bins as f32;
    let smallest = n_bins as f32 * (1.0 - ratio as f32) * step;
    let (mut from, mut to) = (low, high);
    let mut best = loss(values, low, high, bit_width);
    let mut current = best;
    while step > 0.0 && from + smallest < to {
        let by_low = loss(values, from + step, to, bit_width);
        let by_high = loss(values, from, to - step, bit_width);
        if current < by_low && current < by_high && current < best {
            (best, low, high) = (current, from, to);
        }
        let before = (from, to);
        if by_low < by_high {
            (from, current) = (from + step, by_low);
        } else {
            (to, current) = (to - step, by_high);
        }
        if (from, to) == before {
            // The step is lost in rounding.
            break;
        }
    }
    Ok((Tensor::from_slice(&[high], &[1])?, Tensor::from_slice(&[low], &[1])?))
}
