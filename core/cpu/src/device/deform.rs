//! Columns of deformable convolutions on a device, and their gradients. A thread computes each element of a result. For the
//! gradient by the images, the elements that the taps of a group read are sorted, so that those of one element are added up
//! in their order.

use super::parameters::{Deforming, Size};
use super::sort::ordered;
use super::{Grid, Temporary, address, launch, small};
use crate::array::Array;
use crate::detection::{Deform, sizes4};
use crate::{Loop, fill};
use rushlight_base::backend::Kernel;
use rushlight_base::{DType, Result, Scalar, ensure, err};

/// Elements read by taps that are sorted at once, if an image has not more.
const SORTED: usize = 1 << 22;

/// Elements around a point, those at a distance below 1 along both dimensions. Half precision does not tell the elements of
/// large images apart, of which 3 along a dimension may be at the same distance.
fn near(dtype: DType) -> u32 {
    if dtype == DType::F16 { 9 } else { 4 }
}

/// The parameter for columns, images, offsets and mask, and for the gradient by one of the latter.
fn deforming(
    columns: &Array,
    images: &Array,
    [offset, mask]: [&Array; 2],
    result: Option<&Array>,
    by: &Deform,
) -> Result<Deforming> {
    let (device, masked) = (images.device(), Some(mask).filter(|_| by.masked));
    for array in [columns, images, offset].into_iter().chain(masked).chain(result) {
        ensure!(array.is_contiguous(), Internal, "a kernel of object detection got a strided array");
        ensure!(array.device() == device, Internal, "a kernel of object detection got arrays of two devices");
    }
    let number = |value: usize| {
        small(value).ok_or_else(|| err!(Runtime, "deform_conv2d on device {device} has a size of {value}"))
    };
    let size = |value: usize| Ok::<_, rushlight_base::Error>(Size::new(number(value)?.max(1)));
    let sizes = |values: [usize; 2]| Ok::<_, rushlight_base::Error>([size(values[0])?, size(values[1])?]);
    let numbers = |values: [usize; 2]| Ok::<_, rushlight_base::Error>([number(values[0])?, number(values[1])?]);
    let [_, channels, height, width] = sizes4(images)?;
    number(columns.numel())?;
    number(images.numel())?;
    number(offset.numel())?;
    Ok(Deforming {
        at: [address(columns), address(images), address(offset), masked.map_or(0, address), result.map_or(0, address)],
        order: [0; 2],
        channels: size(channels)?,
        groups: size(by.groups)?,
        per_group: size(channels / by.groups)?,
        image: numbers([height, width])?,
        sizes: sizes([height, width])?,
        kernel: sizes(by.kernel)?,
        positions: sizes(by.positions)?,
        taps: size(by.kernel[0] * by.kernel[1])?,
        area: size(by.positions[0] * by.positions[1])?,
        stride: numbers(by.stride)?,
        padding: numbers(by.padding)?,
        dilation: numbers(by.dilation)?,
        first: 0,
        count: number(result.unwrap_or(columns).numel())?,
        near: Size::new(near(images.dtype())),
    })
}

fn start(function: &'static str, like: &Array, p: &Deforming) -> Result<()> {
    if p.count == 0 {
        return Ok(());
    }
    let kernel = Kernel { file: "detection", function, dtype: like.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are contiguous, on the device, and the shape
    // rule has checked that their sizes belong together.
    unsafe { launch(like.device(), kernel, Grid::of(p.count as usize), p) }
}

/// columns (images, channels times taps, positions) = what the taps read.
pub(crate) fn deform_columns(out: &Array, input: &Array, moves: [&Array; 2], by: &Deform) -> Result<()> {
    start("deform_columns", out, &deforming(out, input, moves, None, by)?)
}

/// out (images, channels, height, width) = the gradients of columns, added to the elements that the taps read.
pub(crate) fn deform_image(out: &Array, grad: &Array, moves: [&Array; 2], by: &Deform) -> Result<()> {
    let device = out.device();
    if out.numel() == 0 || grad.numel() == 0 {
        return fill::fill(&Loop::new([out.clone()])?, Scalar::Int(0));
    }
    let mut p = deforming(grad, out, moves, None, by)?;
    let number = |value: usize| {
        small(value).ok_or_else(|| err!(Runtime, "deform_conv2d on device {device} reads {value} elements of an image"))
    };
    // Elements that the taps of a group read in an image.
    let readings = grad.numel() / (out.size(0) * out.size(1));
    let read = readings.saturating_mul(p.near.size as usize);
    number(read.saturating_mul(by.groups))?;
    let at_once = (SORTED / (read * by.groups).max(1)).max(1);
    for first in (0..out.size(0)).step_by(at_once) {
        let images = at_once.min(out.size(0) - first);
        let rows = images * by.groups;
        let keys = Temporary::new(device, rows * read * size_of::<u64>())?;
        p = Deforming { first: first as u32, order: [keys.at(), 0], ..p };
        start("deform_places", out, &Deforming { count: number(rows * readings)?, ..p })?;
        let ordered = ordered(device, keys, rows as u32, read as u32)?;
        p.order = [ordered.keys.at(), ordered.places.at()];
        p.count = number(out.numel() / out.size(0) * images)?;
        start("deform_image", out, &p)?;
    }
    Ok(())
}

/// out (images, offsets, positions) = the gradients with respect to the offsets.
pub(crate) fn deform_offset(out: &Array, [grad, input]: [&Array; 2], moves: [&Array; 2], by: &Deform) -> Result<()> {
    if grad.numel() == 0 {
        return fill::fill(&Loop::new([out.clone()])?, Scalar::Int(0));
    }
    start("deform_offset", out, &deforming(grad, input, moves, Some(out), by)?)
}

/// out (images, taps of each group, positions) = the gradients with respect to the mask.
pub(crate) fn deform_mask(out: &Array, [grad, input]: [&Array; 2], moves: [&Array; 2], by: &Deform) -> Result<()> {
    if !by.masked || grad.numel() == 0 {
        return fill::fill(&Loop::new([out.clone()])?, Scalar::Int(0));
    }
    start("deform_mask", out, &deforming(grad, input, moves, Some(out), by)?)
}
