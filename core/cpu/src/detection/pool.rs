//! Maxima and means of windows of elements: `roi_pool` and `ps_roi_pool`.

use super::windows::Windows;
use super::{Flat, GRAIN, Indices, Real, corners, image_of, sizes4};
use crate::array::Array;
use crate::device;
use rushlight_base::Result;
use rushlight_base::runtime::parallel_chunks;
use std::ops::Range;

impl Windows {
    /// Calls `visit` with each window of a box: its number, rows and columns.
    fn each<T: Real>(
        &self,
        rois: &Flat<T>,
        nth: usize,
        image: [usize; 2],
        mut visit: impl FnMut(usize, Range<usize>, Range<usize>),
    ) {
        let split = self.split(corners(rois, nth), image);
        for row in 0..self.bins[0] {
            for column in 0..self.bins[1] {
                visit(row * self.bins[1] + column, split.range(0, row), split.range(1, column));
            }
        }
    }
}

/// out, indices (boxes, channels, windows) = the maxima of windows and their indices in the channel, -1 of an empty one.
pub fn max(out: &Array, indices: &Array, input: &Array, rois: &Array, by: &Windows) -> Result<()> {
    dispatch!(input.dtype(), "roi_pool_forward_kernel", float float16, T => maxima::<T>(out, indices, input, rois, by))
}

fn maxima<T: Real>(out: &Array, indices: &Array, input: &Array, rois: &Array, by: &Windows) -> Result<()> {
    if !out.is_on_host() {
        return device::windows_max([out, input, rois], indices, by);
    }
    let [images, channels, height, width] = sizes4(input)?;
    let (to, from, rois) = (Flat::<T>::of(out)?, Flat::<T>::of(input)?, Flat::<T>::of(rois)?);
    let (indices, bins, boxes) = (Indices::of(indices)?, by.bins[0] * by.bins[1], sizes4(out)?[0]);
    if to.len == 0 {
        return Ok(());
    }
    for nth in 0..boxes {
        let image = image_of(by.operator, &rois, nth, images)?;
        parallel_chunks(channels, (GRAIN / (bins + height * width).max(1)).max(1), &|range| {
            for channel in range {
                let first = (image * channels + channel) * height * width;
                by.each(&rois, nth, [height, width], |bin, rows, columns| {
                    let empty = rows.is_empty() || columns.is_empty();
                    let mut best = T::of(if empty { 0.0 } else { -f64::from(f32::MAX) });
                    let mut index = -1i32;
                    for row in rows {
                        for at in row * width + columns.start..row * width + columns.end {
                            let value = from.get(first + at);
                            if value > best {
                                (best, index) = (value, at as i32);
                            }
                        }
                    }
                    let place = (nth * channels + channel) * bins + bin;
                    to.set(place, best);
                    indices.set(place, index);
                });
            }
        })?;
    }
    Ok(())
}

/// out (images, channels, height, width) = the gradients, added to the elements with the maxima.
pub fn max_backward(out: &Array, grad: &Array, indices: &Array, rois: &Array, by: &Windows) -> Result<()> {
    dispatch!(grad.dtype(), "roi_pool_backward_kernel", float float16, T => {
        if !out.is_on_host() {
            return device::windows_max_backward([out, grad, rois], indices, by);
        }
        let ([images, channels, height, width], [boxes, ..]) = (sizes4(out)?, sizes4(grad)?);
        let (to, from, rois) = (Flat::<T>::of(out)?, Flat::<T>::of(grad)?, Flat::<T>::of(rois)?);
        let (indices, bins, plane) = (Indices::of(indices)?, by.bins[0] * by.bins[1], height * width);
        to.clear();
        if from.len == 0 {
            return Ok(());
        }
        for nth in 0..boxes {
            let image = image_of(by.operator, &rois, nth, images)?;
            for place in nth * channels * bins..(nth + 1) * channels * bins {
                let channel = place / bins - nth * channels;
                if let Some(index) = indices.get(place).filter(|index| *index < plane) {
                    to.add((image * channels + channel) * plane + index, from.get(place));
                }
            }
        }
        Ok(())
    })
}

/// out, mapping (boxes, channels, windows) = the means of windows, each of its own channel, and these channels.
pub fn mean(out: &Array, mapping: &Array, input: &Array, rois: &Array, by: &Windows) -> Result<()> {
    dispatch!(input.dtype(), "ps_roi_pool_forward_kernel", float float16, T => means::<T>(out, mapping, input, rois, by))
}

fn means<T: Real>(out: &Array, mapping: &Array, input: &Array, rois: &Array, by: &Windows) -> Result<()> {
    if !out.is_on_host() {
        return device::windows_mean([out, input, rois], mapping, by);
    }
    let ([images, channels, height, width], [boxes, outs, ..]) = (sizes4(input)?, sizes4(out)?);
    let (to, from, rois) = (Flat::<T>::of(out)?, Flat::<T>::of(input)?, Flat::<T>::of(rois)?);
    let (mapping, bins) = (Indices::of(mapping)?, by.bins[0] * by.bins[1]);
    if to.len == 0 {
        return Ok(());
    }
    for nth in 0..boxes {
        let image = image_of(by.operator, &rois, nth, images)?;
        parallel_chunks(outs, (GRAIN / (bins + height * width).max(1)).max(1), &|range| {
            for out in range {
                by.each(&rois, nth, [height, width], |bin, rows, columns| {
                    let channel = out * bins + bin;
                    let first = (image * channels + channel) * height * width;
                    let area = T::of((rows.len() * columns.len()) as f64);
                    let empty = rows.is_empty() || columns.is_empty();
                    let mut sum = T::default();
                    for row in rows {
                        for at in row * width + columns.start..row * width + columns.end {
                            sum = sum + from.get(first + at);
                        }
                    }
                    let place = (nth * outs + out) * bins + bin;
                    to.set(place, if empty { T::default() } else { sum / area });
                    mapping.set(place, channel as i32);
                });
            }
        })?;
    }
    Ok(())
}

/// out (images, channels, height, width) = the gradients of the means, added to the elements of their windows.
pub fn mean_backward(out: &Array, grad: &Array, rois: &Array, by: &Windows) -> Result<()> {
    dispatch!(grad.dtype(), "ps_roi_pool_backward_kernel", float float16, T => {
        if !out.is_on_host() {
            return device::windows_mean_backward([out, grad, rois], by);
        }
        let ([images, channels, height, width], [boxes, outs, ..]) = (sizes4(out)?, sizes4(grad)?);
        let (to, from, rois) = (Flat::<T>::of(out)?, Flat::<T>::of(grad)?, Flat::<T>::of(rois)?);
        let bins = by.bins[0] * by.bins[1];
        to.clear();
        if from.len == 0 {
            return Ok(());
        }
        for nth in 0..boxes {
            let image = image_of(by.operator, &rois, nth, images)?;
            parallel_chunks(outs, (GRAIN / (bins + height * width).max(1)).max(1), &|range| {
                for out in range {
                    by.each(&rois, nth, [height, width], |bin, rows, columns| {
                        let first = (image * channels + out * bins + bin) * height * width;
                        let area = T::of((rows.len() * columns.len()) as f64);
                        let part = from.get((nth * outs + out) * bins + bin) / area;
                        for row in rows {
                            for at in row * width + columns.start..row * width + columns.end {
                                to.add(first + at, part);
                            }
                        }
                    });
                }
            })?;
        }
        Ok(())
    })
}
