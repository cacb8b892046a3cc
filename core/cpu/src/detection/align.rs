//! Means of samples between elements: `roi_align` and `ps_roi_align`.

use super::{Flat, GRAIN, Indices, Real, image_of, sizes4};
use crate::array::Array;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, err, list};

/// How boxes are sampled.
#[derive(Clone, Copy, Debug)]
pub struct Align {
    /// The name of the operator, for messages.
    pub operator: &'static str,
    /// Elements of the image for each unit of the boxes.
    pub scale: f64,
    /// Bins of a box: height and width.
    pub bins: [usize; 2],
    /// Samples of a bin along each dimension; if not positive, as many as the bin has elements.
    pub sampling: i64,
    /// Whether coordinates refer to the centres of elements, so that half an element is subtracted.
    pub aligned: bool,
    /// Whether a box has at least one element along each dimension.
    pub at_least_one: bool,
    /// Whether each bin has channels of its own (position-sensitive).
    pub by_position: bool,
}

/// The four elements around a point, with their weights.
struct Sample<T> {
    at: [usize; 4],
    weights: [T; 4],
}

/// The samples of a box, bin by bin.
struct Samples<T> {
    image: usize,
    of_bin: usize,
    /// What the sum of a bin is divided by.
    count: T,
    all: Vec<Option<Sample<T>>>,
}

/// The elements around a point, or `None` beyond the image.
fn between<T: Real>(height: usize, width: usize, y: T, x: T) -> Option<Sample<T>> {
    let (rows, columns) = (height as f64, width as f64);
    let outside = |at: f64, size: f64| at < -1.0 || at > size;
    if outside(y.to_f64(), rows) || outside(x.to_f64(), columns) {
        return None;
    }
    let along = |at: T, size: usize| {
        let at = if at.to_f64() <= 0.0 { T::default() } else { at };
        let low = at.to_f64() as usize;
        if low + 1 >= size {
            let last = size.saturating_sub(1);
            (T::of(last as f64), last, last)
        } else {
            (at, low, low + 1)
        }
    };
    let ((y, top, bottom), (x, left, right)) = (along(y, height), along(x, width));
    let (down, across) = (y - T::of(top as f64), x - T::of(left as f64));
    let (up, back) = (T::of(1.0) - down, T::of(1.0) - across);
    Some(Sample {
        at: [top * width + left, top * width + right, bottom * width + left, bottom * width + right],
        weights: [up * back, up * across, down * back, down * across],
    })
}

impl Align {
    fn samples<T: Real>(&self, rois: &Flat<T>, nth: usize, image: [usize; 4], empty: f64) -> Result<Samples<T>> {
        let [images, _, height, width] = image;
        let scale = T::of(self.scale);
        let offset = T::of(if self.aligned { 0.5 } else { 0.0 });
        let number = |at: usize| rois.get(nth * 5 + at) * scale - offset;
        let start = [number(2), number(1)];
        let mut size = [number(4) - start[0], number(3) - start[1]];
        if self.at_least_one {
            size = size.map(|size| if size < T::of(1.0) { T::of(1.0) } else { size });
        }
        let bin = [0, 1].map(|d| size[d] / T::of(self.bins[d] as f64));
        let grid = bin.map(|bin| if self.sampling > 0 { self.sampling as f64 } else { bin.to_f64().ceil() });
        let steps = grid.map(|grid| grid.max(0.0) as usize);
        let of_bin = steps[0].checked_mul(steps[1]);
        let total = of_bin.and_then(|count| count.checked_mul(self.bins[0].checked_mul(self.bins[1])?));
        let (Some(of_bin), Some(total)) = (of_bin, total) else {
            return Err(err!(Value, "{}: box {nth} has too many samples", self.operator));
        };
        let mut all = list::with_capacity(total)?;
        let point = |d: usize, place: usize, step: usize| {
            start[d] + T::of(place as f64) * bin[d] + T::of(step as f64 + 0.5) * bin[d] / T::of(grid[d])
        };
        for row in 0..self.bins[0] {
            for column in 0..self.bins[1] {
                for down in 0..steps[0] {
                    let y = point(0, row, down);
                    for across in 0..steps[1] {
                        all.push(between(height, width, y, point(1, column, across)));
                    }
                }
            }
        }
        let count = T::of((grid[0] * grid[1]).max(empty));
        Ok(Samples { image: image_of(self.operator, rois, nth, images)?, of_bin, count, all })
    }

    /// The channel of the image from which a bin of a channel of the output is computed.
    fn channel(&self, channel: usize, bin: usize) -> usize {
        if self.by_position { channel * self.bins[0] * self.bins[1] + bin } else { channel }
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
