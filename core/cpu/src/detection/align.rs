//! Means of samples between elements: `roi_align` and `ps_roi_align`.

use super::bins::{Align, Sample, between};
use super::{Flat, GRAIN, Indices, Real, corners, image_of, sizes4};
use crate::array::Array;
use crate::device;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, err, list};

/// The samples of a box, bin by bin.
struct Samples<T> {
    image: usize,
    of_bin: usize,
    /// What the sum of a bin is divided by.
    count: T,
    all: Vec<Option<Sample<T>>>,
}

impl Align {
    fn samples<T: Real>(&self, rois: &Flat<T>, nth: usize, image: [usize; 4], empty: f64) -> Result<Samples<T>> {
        let [images, _, height, width] = image;
        let bins = self.bins_of(corners(rois, nth));
        let steps = [bins.steps(0), bins.steps(1)];
        let of_bin = steps[0].checked_mul(steps[1]);
        let total = of_bin.and_then(|count| count.checked_mul(self.bins[0].checked_mul(self.bins[1])?));
        let (Some(of_bin), Some(total)) = (of_bin, total) else {
            return Err(err!(Value, "{}: box {nth} has too many samples", self.operator));
        };
        let mut all = list::with_capacity(total)?;
        for row in 0..self.bins[0] {
            for column in 0..self.bins[1] {
                for down in 0..steps[0] {
                    let y = bins.point(0, row, down);
                    for across in 0..steps[1] {
                        all.push(between(height, width, y, bins.point(1, column, across)));
                    }
                }
            }
        }
        Ok(Samples { image: image_of(self.operator, rois, nth, images)?, of_bin, count: bins.count(empty), all })
    }
}

/// out (boxes, channels, bins) = the means of samples; `mapping` receives the channels that they come from.
pub fn align(out: &Array, mapping: Option<&Array>, input: &Array, rois: &Array, by: &Align) -> Result<()> {
    match by.by_position {
        false => {
            dispatch!(input.dtype(), "roi_align_forward_kernel", float float16, T => forward::<T>(out, mapping, input, rois, by))
        }
        true => {
            dispatch!(input.dtype(), "ps_roi_align_forward_kernel", float float16, T => forward::<T>(out, mapping, input, rois, by))
        }
    }
}

fn forward<T: Real>(out: &Array, mapping: Option<&Array>, input: &Array, rois: &Array, by: &Align) -> Result<()> {
    if !out.is_on_host() {
        return device::align([out, input, rois], mapping, by);
    }
    let (sizes, [boxes, channels, ..]) = (sizes4(input)?, sizes4(out)?);
    let (to, from, rois) = (Flat::<T>::of(out)?, Flat::<T>::of(input)?, Flat::<T>::of(rois)?);
    let mapping = mapping.map(Indices::of).transpose()?;
    let (bins, plane) = (by.bins[0] * by.bins[1], sizes[2] * sizes[3]);
    if to.len == 0 {
        return Ok(());
    }
    for nth in 0..boxes {
        // Boxes without samples are 0 here; there they divide by 0.
        let samples = by.samples(&rois, nth, sizes, if by.by_position { f64::NEG_INFINITY } else { 1.0 })?;
        let grain = (GRAIN / (bins * samples.of_bin.max(1)).max(1)).max(1);
        parallel_chunks(channels, grain, &|range| {
            for channel in range {
                for bin in 0..bins {
                    let source = by.channel(channel, bin);
                    let first = (samples.image * sizes[1] + source) * plane;
                    let mut sum = T::default();
                    for sample in samples.all.iter().skip(bin * samples.of_bin).take(samples.of_bin).flatten() {
                        let part = |k: usize| sample.weights[k] * from.get(first + sample.at[k]);
                        sum = sum + (part(0) + part(1) + part(2) + part(3));
                    }
                    let place = (nth * channels + channel) * bins + bin;
                    to.set(place, sum / samples.count);
                    if let Some(mapping) = &mapping {
                        mapping.set(place, source as i32);
                    }
                }
            }
        })?;
    }
    Ok(())
}

/// out (images, channels, height, width) = the gradients of the means, added to the elements of their samples.
pub fn align_backward(out: &Array, grad: &Array, rois: &Array, by: &Align) -> Result<()> {
    match by.by_position {
        false => {
            dispatch!(grad.dtype(), "roi_align_backward_kernel", float float16, T => backward::<T>(out, grad, rois, by))
        }
        true => {
            dispatch!(grad.dtype(), "ps_roi_align_backward_kernel", float float16, T => backward::<T>(out, grad, rois, by))
        }
    }
}

fn backward<T: Real>(out: &Array, grad: &Array, rois: &Array, by: &Align) -> Result<()> {
    if !out.is_on_host() {
        return device::align_backward([out, grad, rois], by);
    }
    let (sizes, [boxes, channels, ..]) = (sizes4(out)?, sizes4(grad)?);
    let (to, from, rois) = (Flat::<T>::of(out)?, Flat::<T>::of(grad)?, Flat::<T>::of(rois)?);
    let (bins, plane) = (by.bins[0] * by.bins[1], sizes[2] * sizes[3]);
    to.clear();
    if from.len == 0 {
        return Ok(());
    }
    for nth in 0..boxes {
        let samples = by.samples(&rois, nth, sizes, f64::NEG_INFINITY)?;
        let grain = (GRAIN / (bins * samples.of_bin.max(1)).max(1)).max(1);
        parallel_chunks(channels, grain, &|range| {
            for channel in range {
                for bin in 0..bins {
                    let first = (samples.image * sizes[1] + by.channel(channel, bin)) * plane;
                    let given = from.get((nth * channels + channel) * bins + bin);
                    for sample in samples.all.iter().skip(bin * samples.of_bin).take(samples.of_bin).flatten() {
                        for k in 0..4 {
                            to.add(first + sample.at[k], given * sample.weights[k] / samples.count);
                        }
                    }
                }
            }
        })?;
    }
    Ok(())
}
