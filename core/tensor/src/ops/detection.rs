//! Kernels of object detection.

use super::access::{array, cast};
use super::rules::detection::Deformable;
use crate::dense::{Dense, Spec};
use rushlight_base::{Result, bail};
use rushlight_cpu::detection::{self, Align, Deform, Windows};

/// The tensor, row-major.
fn flat(dense: &Dense) -> Result<Dense> {
    if dense.is_contiguous() {
        return Ok(dense.clone());
    }
    let copy = Spec::new(dense.sizes(), dense.dtype, dense.device).allocate()?;
    super::access::copy_into(&copy, dense)?;
    Ok(copy)
}

/// Runs a kernel whose outputs must be row-major.
fn into<const N: usize>(outs: [&Dense; N], run: impl FnOnce([&Dense; N]) -> Result<()>) -> Result<()> {
    if outs.iter().all(|out| out.is_contiguous()) {
        return run(outs);
    }
    let mut copies = Vec::with_capacity(N);
    for out in outs {
        copies.push(Spec::new(out.sizes(), out.dtype, out.device).allocate()?);
    }
    run(std::array::from_fn(|nth| copies.get(nth).unwrap_or(outs[nth])))?;
    outs.iter().zip(&copies).try_for_each(|(out, copy)| super::access::copy_into(out, copy))
}

fn align(operator: &'static str, scale: f64, bins: [i64; 2], sampling: i64, aligned: bool) -> Align {
    let by_position = operator.starts_with("ps_");
    Align {
        operator,
        scale,
        bins: bins.map(|bins| bins.max(0) as usize),
        sampling,
        aligned: aligned || by_position,
        at_least_one: !aligned && !by_position,
        by_position,
    }
}

fn windows(operator: &'static str, scale: f64, bins: [i64; 2]) -> Windows {
    let inclusive = !operator.starts_with("ps_");
    Windows { operator, scale, bins: bins.map(|bins| bins.max(0) as usize), inclusive, whole: inclusive }
}

/// out = the means of samples of bins
#[allow(clippy::too_many_arguments)] // the operator's
pub fn roi_align(
    out: &Dense,
    input: &Dense,
    rois: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
    sampling_ratio: i64,
    aligned: bool,
) -> Result<()> {
    let by = align("roi_align", spatial_scale, [pooled_height, pooled_width], sampling_ratio, aligned);
    let (input, rois) = (flat(input)?, flat(rois)?);
    into([out], |[out]| detection::align(&array(out), None, &array(&input), &array(&rois), &by))
}

/// out = the gradient by the input
#[allow(clippy::too_many_arguments)] // the operator's
pub fn roi_align_backward(
    out: &Dense,
    grad: &Dense,
    rois: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
    _batch_size: i64,
    _channels: i64,
    _height: i64,
    _width: i64,
    sampling_ratio: i64,
    aligned: bool,
) -> Result<()> {
    let by = align("roi_align", spatial_scale, [pooled_height, pooled_width], sampling_ratio, aligned);
    let (grad, rois) = (flat(grad)?, flat(rois)?);
    into([out], |[out]| detection::align_backward(&array(out), &array(&grad), &array(&rois), &by))
}

/// out, argmax = the maxima of windows and their indices
#[allow(clippy::too_many_arguments)] // the operator's
pub fn roi_pool(
    out: &Dense,
    argmax: &Dense,
    input: &Dense,
    rois: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
) -> Result<()> {
    let by = windows("roi_pool", spatial_scale, [pooled_height, pooled_width]);
    let (input, rois) = (flat(input)?, flat(rois)?);
    into([out, argmax], |[out, argmax]| detection::max(&array(out), &array(argmax), &array(&input), &array(&rois), &by))
}

/// out = the gradient by the input
#[allow(clippy::too_many_arguments)] // the operator's
pub fn roi_pool_backward(
    out: &Dense,
    grad: &Dense,
    rois: &Dense,
    argmax: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
    _batch_size: i64,
    _channels: i64,
    _height: i64,
    _width: i64,
) -> Result<()> {
    let by = windows("roi_pool", spatial_scale, [pooled_height, pooled_width]);
    let (grad, rois, argmax) = (flat(grad)?, flat(rois)?, flat(argmax)?);
    into([out], |[out]| detection::max_backward(&array(out), &array(&grad), &array(&argmax), &array(&rois), &by))
}

/// out, mapping = the means of samples of position-sensitive bins and their channels
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ps_roi_align(
    out: &Dense,
    mapping: &Dense,
    input: &Dense,
    rois: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
    sampling_ratio: i64,
) -> Result<()> {
    let by = align("ps_roi_align", spatial_scale, [pooled_height, pooled_width], sampling_ratio, true);
    let (input, rois) = (flat(input)?, flat(rois)?);
    into([out, mapping], |[out, mapping]| {
        detection::align(&array(out), Some(&array(mapping)), &array(&input), &array(&rois), &by)
    })
}

/// out = the gradient by the input
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ps_roi_align_backward(
    out: &Dense,
    grad: &Dense,
    rois: &Dense,
    _channel_mapping: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
    sampling_ratio: i64,
    _batch_size: i64,
    _channels: i64,
    _height: i64,
    _width: i64,
) -> Result<()> {
    let by = align("ps_roi_align", spatial_scale, [pooled_height, pooled_width], sampling_ratio, true);
    check_bins(grad, [pooled_height, pooled_width])?;
    let (grad, rois) = (flat(grad)?, flat(rois)?);
    into([out], |[out]| detection::align_backward(&array(out), &array(&grad), &array(&rois), &by))
}

fn check_bins(grad: &Dense, bins: [i64; 2]) -> Result<()> {
    if grad.sizes().get(2..) != Some(&bins[..]) {
        bail!(Runtime, "a gradient {} does not belong to {} x {} bins", grad.describe(), bins[0], bins[1])
    }
    Ok(())
}

/// out, mapping = the means of position-sensitive windows and their channels
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ps_roi_pool(
    out: &Dense,
    mapping: &Dense,
    input: &Dense,
    rois: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
) -> Result<()> {
    let by = windows("ps_roi_pool", spatial_scale, [pooled_height, pooled_width]);
    let (input, rois) = (flat(input)?, flat(rois)?);
    into([out, mapping], |[out, mapping]| {
        detection::mean(&array(out), &array(mapping), &array(&input), &array(&rois), &by)
    })
}

/// out = the gradient by the input
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ps_roi_pool_backward(
    out: &Dense,
    grad: &Dense,
    rois: &Dense,
    _channel_mapping: &Dense,
    spatial_scale: f64,
    pooled_height: i64,
    pooled_width: i64,
    _batch_size: i64,
    _channels: i64,
    _height: i64,
    _width: i64,
) -> Result<()> {
    // The forward pass leaves out the last row and column of the image, the backward pass does not, as in torchvision.
    let by = Windows { whole: true, ..windows("ps_roi_pool", spatial_scale, [pooled_height, pooled_width]) };
    check_bins(grad, [pooled_height, pooled_width])?;
    let (grad, rois) = (flat(grad)?, flat(rois)?);
    into([out], |[out]| detection::mean_backward(&array(out), &array(&grad), &array(&rois), &by))
}

impl Deformable {
    fn walk(&self) -> Deform {
        let pair = |values: [i64; 2]| values.map(|value| value.max(0) as usize);
        Deform {
            kernel: pair(self.kernel),
            stride: pair(self.stride),
            padding: pair(self.padding),
            dilation: pair(self.dilation),
            groups: self.groups.max(1) as usize,
            positions: pair(self.positions),
            masked: self.masked,
        }
    }
}

/// Four sizes, which the shape rule has checked.
fn four(sizes: &[i64]) -> [i64; 4] {
    std::array::from_fn(|nth| sizes.get(nth).copied().unwrap_or(0))
}

/// A mask in the dtype of the computation; without one, as it is.
fn mask_like(mask: &Dense, like: &Dense) -> Result<Dense> {
    if mask.dtype == like.dtype { flat(mask) } else { flat(&cast(mask, like.dtype)?) }
}

macro_rules! deform {
    ($($(#[$doc:meta])* $name:ident($out:ident, $grad:ident $(, $input:ident)?; $($size:ident)?) by $sizes:expr => $run:expr;)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $name(
            $out: &Dense,
            $grad: &Dense,
            $($input: &Dense,)?
            offset: &Dense,
            mask: &Dense,
            $($size: &[i64],)?
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            offset_groups: i64,
            use_mask: bool,
        ) -> Result<()> {
            let sizes = four($sizes);
            let by = Deformable::new(sizes, offset, mask, kernel, stride, padding, dilation, offset_groups, use_mask)?;
            let by = by.walk();
            let (first, $($input,)? offset, mask) = (flat($grad)?, $(flat($input)?,)? flat(offset)?, mask_like(mask, $grad)?);
            into([$out], |[out]| {
                $run(&array(out), &array(&first), $(&array(&$input),)? &array(&offset), &array(&mask), &by)
            })
        }
    )*};
}

deform! {
    /// out = what the taps read
    deform_columns(out, input;) by input.sizes() => detection::columns;
    /// out = the gradient by the input
    deform_columns_image(out, grad; input_size) by input_size => detection::columns_image;
    /// out = the gradient by the offsets
    deform_columns_offset(out, grad, input;) by input.sizes() => detection::columns_offset;
    /// out = the gradient by the mask
    deform_columns_mask(out, grad, input;) by input.sizes() => detection::columns_mask;
}
