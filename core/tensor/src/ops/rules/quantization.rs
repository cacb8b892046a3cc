//! Shapes of fake quantization.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DeviceType, Result, ensure, wrap_dim};

/// The result, and the mask of the elements in range.
fn masked(self_: &Dense, quant_min: i64, quant_max: i64) -> Result<[Spec; 2]> {
    ensure!(
        quant_min <= quant_max,
        Runtime,
        "`quant_min` should be less than or equal to `quant_max`, but got {quant_min} and {quant_max}"
    );
    ensure!(
        self_.dtype.is_floating(),
        Runtime,
        "\"fake_quantize_tensor_cachemask_kernel_type_handling\" not implemented for '{}'",
        self_.dtype.c10_name()
    );
    let like = super::like(self_)?;
    Ok([like.clone(), Spec { dtype: DType::Bool, ..like }])
}

/// One scale and zero point.
pub fn fake_quantize(self_: &Dense, _scale: f64, zero_point: i64, quant_min: i64, quant_max: i64) -> Result<[Spec; 2]> {
    let specs = masked(self_, quant_min, quant_max)?;
    ensure!(
        (quant_min..=quant_max).contains(&zero_point),
        Runtime,
        "`zero_point` must be between `quant_min` and `quant_max`, but {zero_point} is not between {quant_min} and {quant_max}"
    );
    Ok(specs)
}

/// One scale and zero point, in tensors.
pub fn fake_quantize_tensor_qparams(
    self_: &Dense,
    scale: &Dense,
    zero_point: &Dense,
    fake_quant_enabled: &Dense,
    quant_min: i64,
    quant_max: i64,
) -> Result<[Spec; 2]> {
    for number in [scale, zero_point, fake_quant_enabled] {
        ensure!(
            number.numel() == 1,
            Runtime,
            "a Tensor with {} elements cannot be converted to Scalar",
            number.numel()
        );
    }
    masked(self_, quant_min, quant_max)
}

/// A scale and a zero point for each index of `axis`.
pub fn fake_quantize_per_channel(
    self_: &Dense,
    scale: &Dense,
    zero_point: &Dense,
    axis: i64,
    quant_min: i64,
    quant_max: i64,
) -> Result<[Spec; 2]> {
    ensure!(scale.dtype == DType::F32, Runtime, "Scale must be Float, found {}", scale.dtype.c10_name());
    ensure!(
        matches!(zero_point.dtype, DType::I32 | DType::F32 | DType::F16),
        Runtime,
        "Zero-point must be Int32, Float or Half, found {}",
        zero_point.dtype.c10_name()
    );
    ensure!(scale.ndim() == 1, Runtime, "scale should be a 1-D tensor, but it has {} dimensions", scale.ndim());
    ensure!(
        zero_point.ndim() == 1,
        Runtime,
        "zero point should be a 1-D tensor, but it has {} dimensions",
        zero_point.ndim()
    );
    ensure!(
        scale.numel() == zero_point.numel(),
        Runtime,
        "scale and zero-point need to have the same dimensions, but have {} and {} elements",
        scale.numel(),
        zero_point.numel()
    );
    wrap_dim(axis, self_.ndim())?;
    ensure!(axis >= 0, Runtime, "`axis` must be between 0 and number of dimensions of input, but it is {axis}");
    let channels = self_.sizes().get(axis as usize).copied().unwrap_or(1);
    ensure!(
        scale.numel() == channels,
        Runtime,
        "dimensions of scale and zero-point are not consistent with input tensor: {} scales for {channels} channels",
        scale.numel()
    );
    ensure!(
        [scale, zero_point]
            .iter()
            .all(|part| part.device.kind == self_.device.kind || self_.device.kind == DeviceType::Meta),
        Runtime,
        "scale and zero-point must be on the device of the input, {}",
        self_.device
    );
    masked(self_, quant_min, quant_max)
}
