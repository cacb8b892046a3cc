//! Images with adjacent channels, as weight gradients and `adjacent.rs` read them: what the taps of a row of the kernel meet at a
//! position is adjacent in memory.
//!
//! An image that is stored like that, and is met only inside, is read in place. Others are copied with their padding,
//! one after the other the groups of channels of each sample.

use super::axis::Axis;
use super::padded::spatial_steps;
use crate::array::Array;
use crate::gemm::across;
use crate::shared::Shared;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, Scratch, list};
use std::ops::Range;

/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 14;
/// Elements behind the last one that whole vectors may read.
const BEHIND: usize = 64;

/// Where the elements of an image are. Steps are in elements.
#[derive(Clone, Copy)]
pub(super) struct Deep {
    pub at: Shared<u8>,
    pub sample: isize,
    pub group: isize,
    /// Steps between elements of the image.
    pub steps: [isize; 3],
    /// Elements from `at` on that can be read.
    pub limit: isize,
}

/// The layout of the copy of an image, or the image itself.
pub(super) struct Channels {
    /// Zeros before the source, and elements with zeros, of each dimension. None where the image is read in place.
    padded: Option<[(usize, usize); 3]>,
    /// Whether rows of the copy are met by a tap: along the first two dimensions.
    met: [Vec<bool>; 2],
    groups: usize,
    sizes: [usize; 3],
    steps: [isize; 3],
    /// Samples that are copied together.
    pub together: usize,
    buffer: Option<Scratch>,
}

impl Channels {
    /// The layout for these axes. Samples are copied together as long as they have at most `most` bytes.
    pub fn new(image: &Array, axes: &[Axis; 3], spatial: usize, groups: usize, most: usize) -> Result<Channels> {
        let steps = spatial_steps(image, spatial);
        let (samples, channels) = (image.size(0), image.size(1));
        let sizes = [0, 1, 2].map(|dim| axes[dim].source);
        let met_inside = |axis: &Axis| axis.taps.iter().all(|tap| tap.1 >= 0 && axis.inside(tap.1) == (0, axis.length));
        let adjacent = image.stride(1) == 1 || channels == groups;
        if adjacent && axes.iter().all(met_inside) {
            let met = [Vec::new(), Vec::new()];
            return Ok(Channels { padded: None, met, groups, sizes, steps, together: samples.max(1), buffer: None });
        }
        let bounds = |axis: &Axis| {
            let low = axis.taps.iter().map(|tap| (-tap.1).max(0)).max().unwrap_or(0) as usize;
            let last = axis.length.saturating_sub(1) as isize * axis.step;
            let high = axis.taps.iter().map(|tap| tap.1 + last + 1).max().unwrap_or(0).max(0) as usize;
            (low, low + high)
        };
        let padded = [bounds(&axes[0]), bounds(&axes[1]), bounds(&axes[2])];
        let mut met = [Vec::new(), Vec::new()];
        for (dim, met) in met.iter_mut().enumerate() {
            *met = list::filled(padded[dim].1, false)?;
            for tap in axes[dim].taps.iter() {
                for position in 0..axes[dim].length {
                    let at = padded[dim].0 as isize + tap.1 + position as isize * axes[dim].step;
                    met[at as usize] = true;
                }
            }
        }
        let bytes = padded.iter().fold(channels, |product, extent| product.saturating_mul(extent.1));
        let bytes = bytes.saturating_mul(image.dtype().size());
        let together = (most / bytes.max(1)).clamp(1, samples.max(1));
        let slack = BEHIND * image.dtype().size();
        let buffer = Some(Scratch::new(bytes.saturating_mul(together).saturating_add(slack))?);
        Ok(Channels { padded: Some(padded), met, groups, sizes, steps, together, buffer })
    }

    /// The first element of what a tap meets at the first position, in a view of the image with these steps.
    pub fn offset(&self, tap: [isize; 3], steps: &[isize; 3]) -> isize {
        let low = self.padded.map_or([0; 3], |padded| padded.map(|(low, _)| low as isize));
        (0..3).map(|dim| (tap[dim] + low[dim]) * steps[dim]).sum()
    }

    /// Steps between elements of the views of an image of so many channels.
    pub fn steps(&self, channels: usize) -> [isize; 3] {
        match self.padded {
            None => self.steps,
            Some([_, (_, y), (_, x)]) => {
                let per_group = (channels / self.groups) as isize;
                [(y * x) as isize * per_group, x as isize * per_group, per_group]
            }
        }
    }

    /// The elements of `samples`, which are copied if necessary. At most `together`.
    pub fn samples<T: Copy + Default + Send + Sync>(&self, image: &Array, samples: Range<usize>) -> Result<Deep> {
        let per_group = image.size(1) / self.groups;
        let first = image.start().wrapping_offset(samples.start as isize * image.stride(0) * size_of::<T>() as isize);
        let (Some(padded), Some(buffer)) = (&self.padded, &self.buffer) else {
            let last = |size: usize, step: isize| (size.max(1) - 1) as isize * step;
            let ends: isize = (0..image.ndim()).map(|dim| last(image.size(dim), image.stride(dim))).sum();
            let limit = ends + 1 - samples.start as isize * image.stride(0);
            let group = per_group as isize * image.stride(1);
            return Ok(Deep { at: Shared::new(first), sample: image.stride(0), group, steps: self.steps, limit });
        };
        let [z, y, x] = padded.map(|(_, extent)| extent);
        let (line, area) = (x * per_group, z * y);
        let (from, to) = (Shared::new(first.cast::<T>()), Shared::new(buffer.start().cast::<T>()));
        let rows = samples.len() * self.groups * area;
        let (sample_step, channel_step) = (image.stride(0), image.stride(1));
        parallel_chunks(rows, (GRAIN / line.max(1)).max(1), &|rows| {
            for row in rows {
                let (plane, [d, h]) = (row / area, [row % area / y, row % y]);
                if !(self.met[0][d] && self.met[1][h]) {
                    continue;
                }
                let (sample, group) = (plane / self.groups, plane % self.groups);
                let to = to.get().wrapping_add(row * line);
                let inside = |dim: usize, at: usize| at.checked_sub(padded[dim].0).filter(|&at| at < self.sizes[dim]);
                let (low, count) = match (inside(0, d), inside(1, h)) {
                    (Some(_), Some(_)) => (padded[2].0.min(x), self.sizes[2].min(x - padded[2].0.min(x))),
                    _ => (x, 0),
                };
                // SAFETY: the row has `line` elements in the buffer, and those inside are elements of the image.
                unsafe {
                    std::slice::from_raw_parts_mut(to, low * per_group).fill(T::default());
                    let rest = x - low - count;
                    std::slice::from_raw_parts_mut(to.add((low + count) * per_group), rest * per_group)
                        .fill(T::default());
                    if let (Some(d), Some(h)) = (inside(0, d), inside(1, h)) {
                        let at = sample as isize * sample_step
                            + (group * per_group) as isize * channel_step
                            + d as isize * self.steps[0]
                            + h as isize * self.steps[1];
                        let strides = [channel_step, self.steps[2]];
                        copy(from.get().wrapping_offset(at), to.add(low * per_group), strides, [per_group, count]);
                    }
                }
            }
        })?;
        let total = samples.len() * self.groups * area * line;
        // SAFETY: the buffer has `BEHIND` elements behind the rows of `together` samples.
        unsafe { to.get().add(total).write_bytes(0, BEHIND) };
        let plane = (area * line) as isize;
        Ok(Deep {
            at: Shared::new(buffer.start()),
            sample: self.groups as isize * plane,
            group: plane,
            steps: self.steps(image.size(1)),
            limit: (total + BEHIND) as isize,
        })
    }
}

/// Copies the channels of each of some positions next to each other.
///
/// # Safety
/// The elements can be read and written.
unsafe fn copy<T: Copy>(from: *const T, to: *mut T, strides: [isize; 2], [channels, positions]: [usize; 2]) {
    // SAFETY: the caller guarantees `channels` times `positions` elements on both sides.
    unsafe {
        if strides[0] == 1 || channels == 1 {
            if strides[1] == channels as isize {
                return std::ptr::copy_nonoverlapping(from, to, channels * positions);
            }
            for position in 0..positions {
                let from = from.offset(position as isize * strides[1]);
                std::ptr::copy_nonoverlapping(from, to.add(position * channels), channels);
            }
        } else if strides[1] == 1 || positions == 1 {
            across(from, strides[0], channels, positions, to, channels);
        } else {
            for position in 0..positions {
                for channel in 0..channels {
                    let at = position as isize * strides[1] + channel as isize * strides[0];
                    to.add(position * channels + channel).write(from.offset(at).read());
                }
            }
        }
    }
}
