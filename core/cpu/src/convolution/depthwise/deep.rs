//! Depthwise correlations along the channels, which are adjacent in memory, and their weight gradients.

use super::super::axis::Axis;
use super::super::channels::{Channels, Deep};
use super::super::padded::spatial_steps;
use super::super::unfolded::{count_taps, each_tap};
use super::super::{Job, Place};
use super::gradient::{TOGETHER, constant};
use super::kernel_offsets;
use crate::array::Array;
use crate::number::Wide;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run as run_kernel};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, Scratch, list};
use std::ops::Range;

/// Multiplications that are worth a second thread.
const GRAIN: usize = 1 << 16;
/// Bytes of samples that are padded together.
const PADDED: usize = 4 << 20;
/// Positions of a tile.
const TILE: usize = 4;

/// Computes a phase.
pub(super) fn run<T: Float>(job: &Job, axes: &[Axis; 3]) -> Result<()> {
    let layout = Channels::new(job.image, axes, job.spatial, 1, PADDED)?;
    let (channels, taps) = (job.out.size(1), count_taps(axes));
    let padded = channels.next_multiple_of(MAX_LANES);
    let factors = Scratch::new((taps + 1).saturating_mul(padded).saturating_mul(size_of::<T::Wide>()))?;
    let start = factors.start().cast::<T::Wide>();
    // The groups are one dimension of the weights, the first; their other one has one element.
    let weights = job.weight.as_ptr::<T>();
    for (t, offset) in kernel_offsets(job.weight, axes, job.spatial)?.into_iter().enumerate() {
        for channel in 0..padded {
            let at = offset + channel as isize * job.weight.stride(0);
            // SAFETY: the weight has a kernel for each channel, and the buffer a row of `padded` for each tap.
            unsafe {
                let factor = if channel < channels { weights.offset(at).read().wide() } else { T::Wide::ZERO };
                start.add(t * padded + channel).write(factor);
            }
        }
    }
    for channel in 0..padded {
        let bias = match job.bias {
            // SAFETY: the bias has an element for each channel.
            Some(bias) if channel < channels => unsafe {
                bias.as_ptr::<T>().offset(channel as isize * bias.stride(0)).read().wide()
            },
            _ => T::Wide::ZERO,
        };
        // SAFETY: the last row of the buffer is for the bias.
        unsafe { start.add(taps * padded + channel).write(bias) };
    }
    let place = Place::of(job.out, axes, job.spatial);
    let (factors, to) = (Shared::new(start), Shared::new(job.out.as_ptr::<T>()));
    let count = job.image.size(0);
    for first in (0..count).step_by(layout.together) {
        let samples = first..count.min(first + layout.together);
        let view = layout.samples::<T>(job.image, samples.clone())?;
        let mut offsets = list::with_capacity(taps)?;
        each_tap(axes, |tap| offsets.push(layout.offset(tap.map(|(_, offset)| offset), &view)));
        let rows = samples.len() * axes[0].length * axes[1].length;
        let work = axes[2].length.saturating_mul(channels).saturating_mul(taps);
        let to = Shared::new(to.get().wrapping_offset(first as isize * job.out.stride(0) + place.offset));
        let out_sample = job.out.stride(0);
        let out_steps = place.steps;
        parallel_chunks(rows, (GRAIN / work.max(1)).max(1), &|rows| {
            let (factors, out) = (factors.get().cast_const(), to.get());
            let taps = &offsets;
            run_kernel(Rows { view, axes, taps, factors, padded, channels, rows, out, out_sample, out_steps });
        })?;
    }
    Ok(())
}

/// Some rows of the output.
struct Rows<'a, T: Float> {
    view: Deep,
    axes: &'a [Axis; 3],
    taps: &'a [isize],
    /// A row of `padded` for each tap, and one with the bias.
    factors: *const T::Wide,
    padded: usize,
    channels: usize,
    rows: Range<usize>,
    out: *mut T,
    out_sample: isize,
    out_steps: [isize; 3],
}

impl<T: Float> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        let [depth, height, width] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let steps = [0, 1, 2].map(|dim| self.view.steps[dim] * self.axes[dim].step);
        let image = self.view.at.get().cast::<T>().cast_const();
        for row in self.rows.clone() {
            let (plane, h) = (row / height, row % height);
            let (sample, d) = ((plane / depth) as isize, plane % depth);
            let from = sample * self.view.sample + d as isize * steps[0] + h as isize * steps[1];
            let to = sample * self.out_sample + d as isize * self.out_steps[0] + h as isize * self.out_steps[1];
            for channel in (0..self.channels).step_by(lanes) {
                let some = lanes.min(self.channels - channel);
                for w in (0..width).step_by(TILE) {
                    // Missing positions repeat the last one.
                    let at: [isize; TILE] = std::array::from_fn(|i| (w + i).min(width - 1) as isize);
                    // SAFETY: rows, positions and channels are below the sizes of the output, and what the taps meet is
                    // inside the view; no other share has these rows.
                    unsafe {
                        let from = at.map(|at| image.offset(from + at * steps[2]).add(channel));
                        let to = at.map(|at| self.out.offset(to + at * self.out_steps[2]).add(channel));
                        match some == lanes {
                            true => self.tile::<S, true>(from, to, channel, some),
                            false => self.tile::<S, false>(from, to, channel, some),
                        }
                    }
                }
            }
        }
    }
}

impl<T: Float> Rows<'_, T> {
    /// Computes `some` channels at some positions, a whole vector if `FULL`.
    ///
    /// # Safety
    /// What the taps meet from these addresses on can be read, and the results written.
    #[inline(always)]
    unsafe fn tile<S: Simd, const FULL: bool>(
        &self,
        from: [*const T; TILE],
        to: [*mut T; TILE],
        channel: usize,
        some: usize,
    ) {
        let factors = self.factors.wrapping_add(channel);
        // SAFETY: the caller guarantees the elements; rows of factors have whole vectors.
        unsafe {
            let start = T::Vector::<S>::load(factors.add(self.taps.len() * self.padded));
            let mut sums = [start; TILE];
            for (t, &tap) in self.taps.iter().enumerate() {
                let factor = T::Vector::<S>::load(factors.add(t * self.padded));
                for i in 0..TILE {
                    let met = match FULL {
                        true => T::load::<S>(from[i].offset(tap)),
                        false => T::load_partial::<S>(from[i].offset(tap), some),
                    };
                    sums[i] = met.mul_add(factor, sums[i]);
                }
            }
            for i in 0..TILE {
                match FULL {
                    true => T::store::<S>(sums[i], to[i]),
                    false => T::store_partial::<S>(sums[i], to[i], some),
                }
            }
        }
    }
}

/// out = the gradient by the weights.
pub(super) fn weight_gradient<T: Float>(
    out: &Array,
    grad: &Array,
    image: &Array,
    axes: &[Axis; 3],
    spatial: usize,
) -> Result<()> {
    let layout = Channels::new(image, axes, spatial, 1, PADDED)?;
    let (channels, taps) = (out.size(0), count_taps(axes));
    let padded = channels.next_multiple_of(MAX_LANES);
    let elements = taps.saturating_mul(padded);
    let sums = Scratch::new(elements.saturating_mul(size_of::<T::Wide>()))?;
    let start = Shared::new(sums.start().cast::<T::Wide>());
    // SAFETY: the buffer has so many elements.
    unsafe { std::slice::from_raw_parts_mut(start.get(), elements).fill(T::Wide::ZERO) };
    let (met, grad_sample, grad_steps) =
        (Shared::new(grad.as_ptr::<T>()), grad.stride(0), spatial_steps(grad, spatial));
    let count = grad.size(0);
    for first in (0..count).step_by(layout.together) {
        let samples = first..count.min(first + layout.together);
        let view = layout.samples::<T>(image, samples.clone())?;
        let mut offsets = list::with_capacity(taps)?;
        each_tap(axes, |tap| offsets.push(layout.offset(tap.map(|(_, offset)| offset), &view)));
        let positions: usize = axes.iter().map(|axis| axis.length).product();
        let work = samples.len().saturating_mul(positions).saturating_mul(taps).saturating_mul(MAX_LANES);
        let grad = Shared::new(met.get().wrapping_offset(first as isize * grad_sample));
        let samples = samples.len();
        // Parts of the channels, each as many as a vector has at most.
        parallel_chunks(padded / MAX_LANES, (GRAIN / work.max(1)).max(1), &|parts| {
            let channels = parts.start * MAX_LANES..channels.min(parts.end * MAX_LANES);
            let (sums, grad, taps) = (start.get(), grad.get().cast_const(), &offsets[..]);
            run_kernel(Sums { view, axes, taps, sums, padded, channels, samples, grad, grad_sample, grad_steps });
        })?;
    }
    let to = out.as_ptr::<T>();
    for channel in 0..channels {
        for t in 0..taps {
            // SAFETY: the output is contiguous and has a kernel for each channel, and the buffer a sum for each.
            unsafe { to.add(channel * taps + t).write(T::narrow(start.get().add(t * padded + channel).read())) };
        }
    }
    Ok(())
}

/// The sums of some channels.
struct Sums<'a, T: Float> {
    view: Deep,
    axes: &'a [Axis; 3],
    taps: &'a [isize],
    /// A row of `padded` for each tap.
    sums: *mut T::Wide,
    padded: usize,
    channels: Range<usize>,
    samples: usize,
    grad: *const T,
    grad_sample: isize,
    grad_steps: [isize; 3],
}

impl<T: Float> Kernel for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        for channel in self.channels.clone().step_by(lanes) {
            let some = lanes.min(self.channels.end - channel);
            for first in (0..self.taps.len()).step_by(TOGETHER) {
                let taps = &self.taps[first..self.taps.len().min(first + TOGETHER)];
                let sums = self.sums.wrapping_add(first * self.padded + channel);
                // SAFETY: the sums of these channels are a part of the buffer that no other share has, in whole
                // vectors; image and gradient have these channels.
                unsafe { constant!(taps.len(), N => self.add::<S, N>(taps, sums, channel, some)) };
            }
        }
    }
}

impl<T: Float> Sums<'_, T> {
    /// Adds the products of `some` channels of the gradient with what `N` taps meet.
    ///
    /// # Safety
    /// The sums can be written, and the channels of image and gradient read.
    #[inline(always)]
    unsafe fn add<S: Simd, const N: usize>(&self, taps: &[isize], sums: *mut T::Wide, channel: usize, some: usize) {
        let [depth, height, width] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let steps = [0, 1, 2].map(|dim| self.view.steps[dim] * self.axes[dim].step);
        let image = self.view.at.get().cast::<T>().cast_const();
        let taps: [isize; N] = std::array::from_fn(|t| taps[t]);
        // SAFETY: the caller guarantees the elements: positions are below the sizes of the gradient, and what the taps
        // meet there is inside the view.
        unsafe {
            let mut totals: [T::Vector<S>; N] =
                std::array::from_fn(|t| T::Vector::<S>::load(sums.add(t * self.padded)));
            for sample in 0..self.samples as isize {
                for d in 0..depth as isize {
                    for h in 0..height as isize {
                        let from = sample * self.view.sample + d * steps[0] + h * steps[1];
                        let mut from = image.offset(from).add(channel);
                        let grad = sample * self.grad_sample + d * self.grad_steps[0] + h * self.grad_steps[1];
                        let mut grad = self.grad.offset(grad).add(channel);
                        for _ in 0..width {
                            let value = T::load_some::<S>(grad, some);
                            for t in 0..N {
                                let met = T::load_some::<S>(from.offset(taps[t]), some);
                                totals[t] = met.mul_add(value, totals[t]);
                            }
                            from = from.wrapping_offset(steps[2]);
                            grad = grad.wrapping_offset(self.grad_steps[2]);
                        }
                    }
                }
            }
            for (t, total) in totals.into_iter().enumerate() {
                total.store(sums.add(t * self.padded));
            }
        }
    }
}
