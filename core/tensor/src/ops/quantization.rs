//! Kernels of fake quantization.

use super::access::{Constant, array, number_of, over, sub_array};
use crate::dense::{Dense, Geometry};
use rushlight_base::{DType, Result, ensure, list};
use rushlight_cpu::fake_quantize::{FakeQuantize, fake_quantize as rounded, fake_quantize_mask};
use rushlight_cpu::{Loop, fill};

/// The mask first: the result may be written over the input.
fn quantized(output: &Dense, mask: &Dense, self_: &Dense, by: FakeQuantize) -> Result<()> {
    over(self_.dtype, [mask, self_], |walk| fake_quantize_mask(walk, by))?;
    over(self_.dtype, [output, self_], |walk| rounded(walk, by))
}

/// output = self rounded to multiples of the scale in range, mask = whether self is in range
pub fn fake_quantize(
    output: &Dense,
    mask: &Dense,
    self_: &Dense,
    scale: f64,
    zero_point: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<()> {
    let by = FakeQuantize {
        scale: scale as f32,
        zero_point: zero_point as f64,
        between: false,
        min: quant_min,
        max: quant_max,
    };
    quantized(output, mask, self_, by)
}

/// [`fake_quantize`] with parameters in tensors; a copy if it is not enabled
#[allow(clippy::too_many_arguments, reason = "the operator's")]
pub fn fake_quantize_tensor_qparams(
    output: &Dense,
    mask: &Dense,
    self_: &Dense,
    scale: &Dense,
    zero_point: &Dense,
    fake_quant_enabled: &Dense,
    quant_min: i64,
    quant_max: i64,
) -> Result<()> {
    if number_of(fake_quant_enabled)? == 0.0 {
        super::access::copy_into(output, self_)?;
        let yes = Constant::new(rushlight_base::Scalar::Bool(true), DType::Bool)?;
        return rushlight_cpu::convert::copy(&Loop::new([array(mask), yes.array()])?);
    }
    let (scale, zero_point) = (number_of(scale)?, number_of(zero_point)?.trunc() as i64);
    fake_quantize(output, mask, self_, scale, zero_point, quant_min, quant_max)
}

/// [`fake_quantize`] with the parameters of each index of `axis`
#[allow(clippy::too_many_arguments, reason = "the operator's")]
pub fn fake_quantize_per_channel(
    output: &Dense,
    mask: &Dense,
    self_: &Dense,
    scale: &Dense,
    zero_point: &Dense,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<()> {
    let numbers = |part: &Dense| -> Result<Vec<f64>> {
        let part = &super::transfer::on_host(part)?;
        list::try_collect((0..part.numel()).map(|index| {
            let at = Geometry {
                offset: part.geometry.offset + index * part.strides().first().copied().unwrap_or(0),
                ..Geometry::contiguous(&[])
            };
            Ok(f64::from_bits(fill::element_of(&sub_array(part, &at), DType::F64)?[0]))
        }))
    };
    let (scales, zero_points) = (numbers(scale)?, numbers(zero_point)?);
    let between = zero_point.dtype != DType::I32;
    ensure!(
        between || zero_points.iter().all(|&zero| (quant_min as f64..=quant_max as f64).contains(&zero)),
        Runtime,
        "`zero_point` must be between `quant_min` and `quant_max`, which are {quant_min} and {quant_max}"
    );
    for (channel, (&scale, &zero_point)) in scales.iter().zip(&zero_points).enumerate() {
        let by = FakeQuantize { scale: scale as f32, zero_point, between, min: quant_min, max: quant_max };
        let [output, mask, input] = [output, mask, self_].map(|dense| channel_of(dense, axis as usize, channel as i64));
        quantized(&output, &mask, &input, by)?;
    }
    Ok(())
}

/// One index of a dimension, which exists.
fn channel_of(dense: &Dense, axis: usize, channel: i64) -> Dense {
    let mut geometry = dense.geometry.clone();
    if let (Some(size), Some(stride)) = (geometry.sizes.get_mut(axis), geometry.strides.get(axis)) {
        *size = 1;
        geometry.offset += channel * stride;
    }
    dense.with_geometry(geometry)
}
