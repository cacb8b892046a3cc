//! Depthwise correlations along the channels, which are adjacent in memory, and their weight gradients.

use super::super::axis::Axis;
use super::super::channels::{Channels, Deep};
use super::super::padded::spatial_steps;
use super::super::unfolded::{count_taps, each_tap};
use super::super::weights::WeightJob;
use super::super::{Job, Place};
use super::gradient::constant;
use super::kernel_offsets;
use crate::finish::Finishing;
use crate::number::Wide;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, prefetch_far, run as run_kernel};
use rushlight_base::runtime::{parallel_chunks, try_parallel_chunks};
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
    let steps = spatial_steps(job.image, job.spatial);
    let mut met = list::with_capacity(taps)?;
    each_tap(axes, |tap| {
        let offset = [0, 1, 2].map(|dim| tap[dim].1 * steps[dim]).iter().sum();
        met.push(Tap { offset, inside: [0, 1, 2].map(|dim| axes[dim].inside(tap[dim].1)) });
    });
    let place = Place::of(job.out, axes, job.spatial);
    let (factors, to) = (Shared::new(start), Shared::new(job.out.as_ptr::<T>().wrapping_offset(place.offset)));
    let (image, samples) = (Shared::new(job.image.as_ptr::<T>()), [job.image.stride(0), job.out.stride(0)]);
    let rows = job.image.size(0) * axes[0].length * axes[1].length;
    let work = axes[2].length.saturating_mul(channels).saturating_mul(taps);
    try_parallel_chunks(rows, (GRAIN / work.max(1)).max(1), &|rows| {
        run_kernel(Rows {
            image: image.get().cast_const(),
            image_steps: [0, 1, 2].map(|dim| steps[dim] * axes[dim].step),
            axes,
            taps: &met,
            active: list::with_capacity(taps)?,
            factors: factors.get().cast_const(),
            padded,
            channels,
            rows,
            out: to.get(),
            out_steps: place.steps,
            samples,
            ahead: met.last().map_or(0, |tap| tap.offset) + steps[1] * axes[1].step,
            finishing: job.finishing,
            bounds: job.finishing.and_then(|finishing| finishing.bounds()),
        });
        Ok(())
    })
}

/// What a tap meets at the first position, and the positions at which that is inside the image.
struct Tap {
    offset: isize,
    inside: [(usize, usize); 3],
}

/// Some rows of the output. Taps that meet padding are left out, so that the image is read in place (0.6 to 1.0 of the time of
/// padding a copy).
struct Rows<'a, T: Float> {
    image: *const T,
    /// Steps in the image between positions of the output.
    image_steps: [isize; 3],
    axes: &'a [Axis; 3],
    taps: &'a [Tap],
    /// The offsets of the taps that meet the image at the current positions, and their rows of `factors`.
    active: Vec<(isize, usize)>,
    /// A row of `padded` for each tap, and one with the bias.
    factors: *const T::Wide,
    padded: usize,
    channels: usize,
    rows: Range<usize>,
    out: *mut T,
    out_steps: [isize; 3],
    /// From a sample to the next, in the image and in the output.
    samples: [isize; 2],
    /// From what the first tap meets to what the last tap meets in the next row, which is prefetched, as is the next row of the
    /// output: 3 x 3 over 144 channels of 56 x 56 takes 0.47 of the time without, over 32 of 112 x 112 0.74.
    ahead: isize,
    /// What follows, and its bounds if it is clamping.
    finishing: Option<Finishing>,
    bounds: Option<[f32; 2]>,
}

impl<T: Float> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) {
        let [depth, height, width] = [0, 1, 2].map(|dim| self.axes[dim].length);
        for row in self.rows.clone() {
            let (plane, h) = (row / height, row % height);
            let (sample, d) = ((plane / depth) as isize, plane % depth);
            let place = |sample_step: isize, steps: [isize; 3]| {
                sample * sample_step + d as isize * steps[0] + h as isize * steps[1]
            };
            let from = self.image.wrapping_offset(place(self.samples[0], self.image_steps));
            let to = self.out.wrapping_offset(place(self.samples[1], self.out_steps));
            let meets = |tap: &&Tap| within(tap.inside[0], d) && within(tap.inside[1], h);
            // Positions at which all taps of the row meet the image, and the others.
            let whole = self
                .taps
                .iter()
                .filter(meets)
                .fold((0, width), |(low, high), tap| (low.max(tap.inside[2].0), high.min(tap.inside[2].1)));
            let (low, high) = if whole.0 < whole.1 { whole } else { (width, width) };
            for w in (0..low).chain(high..width) {
                self.select(|tap| meets(&tap) && within(tap.inside[2], w));
                // SAFETY: the row and `w` are positions of the output, and the selected taps meet the image there.
                unsafe { self.positions::<S, 1>(from, to, w..w + 1) };
            }
            self.select(|tap| meets(&tap));
            // SAFETY: from `low` to `high` all taps of the row meet the image.
            unsafe { self.positions::<S, TILE>(from, to, low..high) };
            if let (Some(finishing), None) = (&self.finishing, self.bounds) {
                // SAFETY: the channels of the row's positions are elements of the output, in `f32`, of this share alone.
                unsafe { finishing.piece(to.cast(), [width, self.channels], [self.out_steps[2], 1]) };
            }
        }
    }
}

fn within(range: (usize, usize), at: usize) -> bool {
    (range.0..range.1).contains(&at)
}

impl<T: Float> Rows<'_, T> {
    /// Makes the taps active that `meets` selects.
    #[inline(always)]
    fn select(&mut self, meets: impl Fn(&Tap) -> bool) {
        self.active.clear();
        let selected = self.taps.iter().enumerate().filter(|(_, tap)| meets(tap));
        self.active.extend(selected.map(|(t, tap)| (tap.offset, t * self.padded)));
    }

    /// Computes all channels at some positions of a row, `N` at a time.
    ///
    /// # Safety
    /// The positions are those of the row at `to`, no other share has it, and what the active taps meet is inside the
    /// image.
    #[inline(always)]
    unsafe fn positions<S: Simd, const N: usize>(&self, from: *const T, to: *mut T, positions: Range<usize>) {
        let lanes = T::Vector::<S>::LANES;
        for w in positions.clone().step_by(N) {
            // Missing positions repeat the last one.
            let at: [isize; N] = std::array::from_fn(|i| (w + i).min(positions.end - 1) as isize);
            let from = at.map(|at| from.wrapping_offset(at * self.image_steps[2]));
            let to = at.map(|at| to.wrapping_offset(at * self.out_steps[2]));
            for channel in (0..self.channels).step_by(lanes) {
                let some = lanes.min(self.channels - channel);
                // SAFETY: the caller guarantees the elements, with all channels.
                unsafe {
                    let (from, to) = (from.map(|at| at.add(channel)), to.map(|at| at.add(channel)));
                    match some == lanes {
                        true => self.tile::<S, N, true>(from, to, channel, some),
                        false => self.tile::<S, N, false>(from, to, channel, some),
                    }
                }
            }
        }
    }

    /// Computes `some` channels at some positions, a whole vector if `FULL`.
    ///
    /// # Safety
    /// What the active taps meet from these addresses on can be read, and the results written.
    #[inline(always)]
    unsafe fn tile<S: Simd, const N: usize, const FULL: bool>(
        &self,
        from: [*const T; N],
        to: [*mut T; N],
        channel: usize,
        some: usize,
    ) {
        let factors = self.factors.wrapping_add(channel);
        // SAFETY: the caller guarantees the elements; rows of factors have whole vectors.
        unsafe {
            let start = T::Vector::<S>::load(factors.add(self.taps.len() * self.padded));
            let mut sums = [start; N];
            if N > 1 {
                for i in 0..N {
                    prefetch_far(from[i].wrapping_offset(self.ahead).cast());
                    prefetch_far(to[i].wrapping_offset(self.out_steps[1]).cast());
                }
            }
            for &(offset, row) in &self.active {
                let factor = T::Vector::<S>::load(factors.add(row));
                for i in 0..N {
                    let met = match FULL {
                        true => T::load::<S>(from[i].offset(offset)),
                        false => T::load_partial::<S>(from[i].offset(offset), some),
                    };
                    sums[i] = met.mul_add(factor, sums[i]);
                }
            }
            if let (Some(finishing), Some(bounds)) = (&self.finishing, self.bounds) {
                for i in 0..N {
                    sums[i] = finishing.clamp::<T, S>(sums[i], bounds, to[i], some);
                }
            }
            for i in 0..N {
                match FULL {
                    true => T::store::<S>(sums[i], to[i]),
                    false => T::store_partial::<S>(sums[i], to[i], some),
                }
            }
        }
    }
}

/// out = the gradient by the weights.
pub(super) fn weight_gradient<T: Float>(job: &WeightJob) -> Result<()> {
    let &WeightJob { out, grad, image, axes, spatial, .. } = job;
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
        each_tap(axes, |tap| offsets.push(layout.offset(tap.map(|(_, offset)| offset), &view.steps)));
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
        let [depth, height, _] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let steps = [0, 1].map(|dim| self.view.steps[dim] * self.axes[dim].step);
        let image = self.view.at.get().cast::<T>().cast_const();
        // All channels of a row, which stays in the cache for the next rows. A step of 3 x 3 over 144 channels of 56 x 56 takes
        // 0.91 of the time of all rows for some channels, eight taps at a time.
        for (sample, d, h) in positions([self.samples, depth, height]) {
            let from = image.wrapping_offset(sample * self.view.sample + d * steps[0] + h * steps[1]);
            let offset = sample * self.grad_sample + d * self.grad_steps[0] + h * self.grad_steps[1];
            let grad = self.grad.wrapping_offset(offset);
            for channel in self.channels.clone().step_by(lanes) {
                let some = lanes.min(self.channels.end - channel);
                let row = (from.wrapping_add(channel), grad.wrapping_add(channel));
                let mut first = 0;
                while first < self.taps.len() {
                    let taps = &self.taps[first..];
                    let sums = self.sums.wrapping_add(first * self.padded + channel);
                    // SAFETY: the sums of these channels are a part of the buffer that no other share has, in whole
                    // vectors; image and gradient have these channels in this row.
                    first += unsafe { constant!(taps.len(), N => self.add::<S, N>(taps, sums, row, some)) };
                }
            }
        }
    }
}

/// All positions in these sizes, row-major.
fn positions([samples, depth, height]: [usize; 3]) -> impl Iterator<Item = (isize, isize, isize)> {
    (0..samples).flat_map(move |sample| {
        (0..depth).flat_map(move |d| (0..height).map(move |h| (sample as isize, d as isize, h as isize)))
    })
}

impl<T: Float> Sums<'_, T> {
    /// Adds the products of `some` channels of a row of the gradient with what `N` taps meet.
    ///
    /// # Safety
    /// The sums can be written, and the channels of image and gradient, which start at `from` and `grad`, read.
    #[inline(always)]
    unsafe fn add<S: Simd, const N: usize>(
        &self,
        taps: &[isize],
        sums: *mut T::Wide,
        (mut from, mut grad): (*const T, *const T),
        some: usize,
    ) {
        let step = self.view.steps[2] * self.axes[2].step;
        let taps: [isize; N] = std::array::from_fn(|t| taps[t]);
        // SAFETY: the caller guarantees the elements: positions are below the sizes of the gradient, and what the taps
        // meet there is inside the view.
        unsafe {
            let mut totals: [T::Vector<S>; N] =
                std::array::from_fn(|t| T::Vector::<S>::load(sums.add(t * self.padded)));
            for _ in 0..self.axes[2].length {
                let value = T::load_some::<S>(grad, some);
                for t in 0..N {
                    let met = T::load_some::<S>(from.offset(taps[t]), some);
                    totals[t] = met.mul_add(value, totals[t]);
                }
                from = from.wrapping_offset(step);
                grad = grad.wrapping_offset(self.grad_steps[2]);
            }
            for (t, total) in totals.into_iter().enumerate() {
                total.store(sums.add(t * self.padded));
            }
        }
    }
}
