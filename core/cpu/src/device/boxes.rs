//! Pooling of boxes on a device. A thread computes each element of a result; the gradient of an element is added up in the
//! order of the boxes and their bins, as on the CPU.

use super::parameters::{Boxes, Size};
use super::sort::ordered;
use super::{Grid, Temporary, address, launch, small};
use crate::array::Array;
use crate::detection::{Align, Windows, sizes4};
use crate::{Loop, fill};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::report::Mistake;
use rushlight_base::{Result, Scalar, ensure, err};

/// The parameter for images, bins, boxes, and indices or channels of bins.
fn boxes(images: &Array, bins: &Array, rois: &Array, beside: Option<&Array>, written: &Array) -> Result<Boxes> {
    let device = images.device();
    for array in [images, bins, rois].into_iter().chain(beside) {
        ensure!(array.is_contiguous(), Internal, "a kernel of object detection got a strided array");
        ensure!(array.device() == device, Internal, "a kernel of object detection got arrays of two devices");
    }
    let number =
        |value: usize| small(value).ok_or_else(|| err!(Runtime, "boxes on device {device} have a size of {value}"));
    let size = |value: usize| Ok::<_, rushlight_base::Error>(Size::new(number(value)?.max(1)));
    let ([count, channels, height, width], [boxes, results, rows, columns]) = (sizes4(images)?, sizes4(bins)?);
    number(images.numel())?;
    number(bins.numel())?;
    Ok(Boxes {
        at: [address(images), address(rois), address(bins), beside.map_or(0, address)],
        order: [0; 2],
        scale: 1.0,
        sampling: 0,
        watch: backend::watch(device, Mistake::Index, [count as i64, 0])?,
        images: number(count)?,
        boxes: number(boxes)?,
        channels: size(channels)?,
        results: size(results)?,
        image: [number(height)?, number(width)?],
        sizes: [size(height)?, size(width)?],
        bins: [size(rows)?, size(columns)?],
        aligned: 0,
        at_least_one: 0,
        by_position: 0,
        inclusive: 0,
        whole: 0,
        count: number(written.numel())?,
    })
}

fn with_bins(p: Boxes, by: &Align) -> Boxes {
    Boxes {
        scale: by.scale,
        sampling: by.sampling,
        aligned: u32::from(by.aligned),
        at_least_one: u32::from(by.at_least_one),
        by_position: u32::from(by.by_position),
        ..p
    }
}

fn with_windows(p: Boxes, by: &Windows) -> Boxes {
    Boxes { scale: by.scale, inclusive: u32::from(by.inclusive), whole: u32::from(by.whole), ..p }
}

fn start(function: &'static str, like: &Array, p: &Boxes) -> Result<()> {
    if p.count == 0 {
        return Ok(());
    }
    let kernel = Kernel { file: "detection", function, dtype: like.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are contiguous, on the device, and the shape
    // rule has checked that their sizes belong together.
    unsafe { launch(like.device(), kernel, Grid::of(p.count as usize), p) }
}

/// out (boxes, channels, bins) = the means of samples; `mapping` receives the channels that they come from.
pub(crate) fn align([out, input, rois]: [&Array; 3], mapping: Option<&Array>, by: &Align) -> Result<()> {
    start("align", out, &with_bins(boxes(input, out, rois, mapping, out)?, by))
}

/// out (images, channels, height, width) = the gradients of the means, added to the elements of their samples.
pub(crate) fn align_backward([out, grad, rois]: [&Array; 3], by: &Align) -> Result<()> {
    start("align_backward", out, &with_bins(boxes(out, grad, rois, None, out)?, by))
}

/// out, indices (boxes, channels, windows) = the maxima of windows and their indices in the channel, -1 of an empty one.
pub(crate) fn windows_max([out, input, rois]: [&Array; 3], indices: &Array, by: &Windows) -> Result<()> {
    start("windows_max", out, &with_windows(boxes(input, out, rois, Some(indices), out)?, by))
}

/// out (images, channels, height, width) = the gradients, added to the elements with the maxima: after a sort of the
/// indices.
pub(crate) fn windows_max_backward([out, grad, rois]: [&Array; 3], indices: &Array, by: &Windows) -> Result<()> {
    let (device, bins) = (out.device(), grad.numel());
    if bins == 0 {
        return fill::fill(&Loop::new([out.clone()])?, Scalar::Int(0));
    }
    let keys = Temporary::new(device, bins * size_of::<u64>())?;
    let mut p = with_windows(boxes(out, grad, rois, Some(indices), grad)?, by);
    p.order = [keys.at(), 0];
    start("windows_max_places", out, &p)?;
    let ordered = ordered(device, keys, 1, p.count)?;
    p.order = [ordered.keys.at(), ordered.places.at()];
    start("windows_max_backward", out, &Boxes { count: out.numel() as u32, ..p })
}

/// out, mapping (boxes, channels, windows) = the means of windows, each of its own channel, and these channels.
pub(crate) fn windows_mean([out, input, rois]: [&Array; 3], mapping: &Array, by: &Windows) -> Result<()> {
    start("windows_mean", out, &with_windows(boxes(input, out, rois, Some(mapping), out)?, by))
}

/// out (images, channels, height, width) = the gradients of the means, added to the elements of their windows.
pub(crate) fn windows_mean_backward([out, grad, rois]: [&Array; 3], by: &Windows) -> Result<()> {
    start("windows_mean_backward", out, &with_windows(boxes(out, grad, rois, None, out)?, by))
}
