//! The gradient by the weights of an image with few channels, such as colours: sums of products along rows of positions, in
//! vectors. Nothing is packed: a product of matrices would have a few dozen columns, and copying them would take longer than
//! their multiplications.

use super::axis::Axis;
use super::padded::{Padded, View, spatial_steps};
use super::unfolded::{count_taps, tap_offsets};
use super::weights::WeightJob;
use crate::number::Wide;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run as run_kernel};
use crate::volume::each_planes;
use rushlight_base::{DType, Element, Result, Scratch, list};
use std::ops::Range;

/// Channels of the gradient, and pairs of channel and tap, whose sums stay in registers.
const DOWN: usize = 3;
const ACROSS: usize = 4;
/// The most channels of a group of the image, and pairs of them with taps.
const CHANNELS: usize = 8;
const COLUMNS: usize = 72;
/// The shortest rows of positions.
const ROW: usize = 24;
/// Elements of the gradient's rows that stay in the first-level cache.
const CACHED: usize = 4096;

/// Computes the gradient, if it is of this kind.
pub(super) fn run(job: &WeightJob) -> Result<bool> {
    let adjacent = spatial_steps(job.grad, job.spatial)[2] == 1 && job.axes[2].length >= ROW;
    let (channels, taps) = (job.out.size(1), count_taps(job.axes));
    if !(adjacent && channels <= CHANNELS && taps > 1 && channels * taps <= COLUMNS) {
        return Ok(false);
    }
    match job.out.dtype() {
        DType::F32 => run_of::<f32>(job)?,
        DType::F64 => run_of::<f64>(job)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn run_of<T: Float + Element>(job: &WeightJob) -> Result<()> {
    let &WeightJob { out, grad, image, axes, groups, spatial } = job;
    let (rows, channels, taps) = (out.size(0) / groups, out.size(1), count_taps(axes));
    let count = (channels * taps).next_multiple_of(ACROSS);
    let per_group = rows.div_ceil(DOWN);
    let bytes = groups.saturating_mul(per_group * DOWN * count * MAX_LANES).saturating_mul(size_of::<T::Wide>());
    let sums = Scratch::new(bytes)?;
    // SAFETY: the buffer has so many bytes, and zero bytes are the zero of floats.
    unsafe { sums.start().write_bytes(0, bytes) };
    let padded = Padded::new(image, &axes.clone().map(|axis| vec![axis]), spatial)?;
    let tap_offsets = tap_offsets(&padded, axes)?;
    let [at, sums] = [grad.start(), sums.start()].map(Shared::new);
    let (grad_steps, line_steps) = ([grad.stride(0), grad.stride(1)], spatial_steps(grad, spatial));
    let work = grad.numel().saturating_mul(count) / out.size(0) * DOWN;
    let samples = image.size(0);
    for first in (0..samples).step_by(padded.together) {
        let some = first..samples.min(first + padded.together);
        let view = padded.samples::<T>(image, axes, some.clone())?;
        let mut offsets = list::with_capacity(count)?;
        for channel in 0..channels as isize {
            offsets.extend(tap_offsets.iter().map(|tap| channel * view.channel + tap));
        }
        while offsets.len() < count {
            offsets.push(offsets[0]);
        }
        each_planes(groups * per_group, work, &|tiles| {
            run_kernel(Share::<T> {
                view,
                axes,
                offsets: &offsets,
                grad: at.get().cast::<T>().wrapping_offset(some.start as isize * grad_steps[0]).cast_const(),
                grad_steps,
                line_steps,
                rows,
                channels,
                per_group,
                samples: some.len(),
                tiles,
                sums: sums.get().cast(),
            });
        })?;
    }
    let sums = sums.get().cast::<T::Wide>().cast_const();
    run_kernel(Totals::<T> { sums, count, per_group, groups, rows, columns: channels * taps, out: out.start().cast() });
    Ok(())
}

/// Some tiles of channels of the gradient.
struct Share<'a, T: Float> {
    view: View,
    axes: &'a [Axis; 3],
    /// Of what the pairs of channel and tap meet at the first position.
    offsets: &'a [isize],
    grad: *const T,
    grad_steps: [isize; 2],
    line_steps: [isize; 3],
    /// Channels of a group of the gradient and of the image, and tiles of a group.
    rows: usize,
    channels: usize,
    per_group: usize,
    samples: usize,
    tiles: Range<usize>,
    /// A vector for each channel and each offset.
    sums: *mut T::Wide,
}

impl<T: Float> Kernel for Share<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let [layers, height, width] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let lines = (CACHED / (DOWN * width)).max(1);
        for sample in 0..self.samples as isize {
            for line in (0..layers * height).step_by(lines) {
                let some = line..(layers * height).min(line + lines);
                for tile in self.tiles.clone() {
                    for column in (0..self.offsets.len()).step_by(ACROSS) {
                        // SAFETY: sample and lines are those of the gradient; the buffer has sums for each tile, those of a
                        // share belong to it alone.
                        unsafe { self.tile::<S>(sample, some.clone(), tile, column) };
                    }
                }
            }
        }
    }
}

impl<T: Float> Share<'_, T> {
    /// Adds the products of some lines to the sums of a tile.
    ///
    /// # Safety
    /// The sample and the lines are those of the gradient, and the tile has sums.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
    unsafe fn tile<S: Simd>(&self, sample: isize, lines: Range<usize>, tile: usize, column: usize) {
        let (group, row) = (tile / self.per_group, tile % self.per_group * DOWN);
        let (lanes, count) = (T::Vector::<S>::LANES, self.offsets.len());
        let (height, width) = (self.axes[1].length, self.axes[2].length);
        let full = width - width % lanes;
        let steps = [self.line_steps, self.view.steps];
        // SAFETY: the caller guarantees lines and sums; missing channels of the last tile read those of its first one. Vectors
        // at the end of a row are read in part, since what follows may not be finite.
        unsafe {
            let to = self.sums.add((tile * DOWN * count + column) * lanes);
            let mut sums = [[T::Vector::<S>::splat(T::Wide::ZERO); ACROSS]; DOWN];
            for i in 0..DOWN {
                for j in 0..ACROSS {
                    sums[i][j] = T::Vector::<S>::load(to.add((i * count + j) * lanes));
                }
            }
            let first = self.grad.offset(sample * self.grad_steps[0]);
            let from = sample * self.view.sample + (group * self.channels) as isize * self.view.channel;
            let from = self.view.at.get().cast::<T>().offset(from).cast_const();
            let mut grads = [first; DOWN];
            for i in 0..DOWN {
                let channel = group * self.rows + if row + i < self.rows { row + i } else { row };
                grads[i] = first.offset(channel as isize * self.grad_steps[1]);
            }
            let mut mets = [from; ACROSS];
            for j in 0..ACROSS {
                mets[j] = from.offset(self.offsets[column + j]);
            }
            for line in lines {
                let [d, h] = [(line / height) as isize, (line % height) as isize];
                let [grad, met] = steps.map(|steps| d * steps[0] + h * steps[1]);
                for w in (0..full as isize).step_by(lanes) {
                    let mut values = [T::Vector::<S>::splat(T::Wide::ZERO); DOWN];
                    for i in 0..DOWN {
                        values[i] = T::load::<S>(grads[i].offset(grad + w));
                    }
                    for j in 0..ACROSS {
                        let other = T::load::<S>(mets[j].offset(met + w));
                        for i in 0..DOWN {
                            sums[i][j] = other.mul_add(values[i], sums[i][j]);
                        }
                    }
                }
                if full < width {
                    let (w, rest) = (full as isize, width - full);
                    let mut values = [T::Vector::<S>::splat(T::Wide::ZERO); DOWN];
                    for i in 0..DOWN {
                        values[i] = T::load_partial::<S>(grads[i].offset(grad + w), rest);
                    }
                    for j in 0..ACROSS {
                        let other = T::load_partial::<S>(mets[j].offset(met + w), rest);
                        for i in 0..DOWN {
                            sums[i][j] = other.mul_add(values[i], sums[i][j]);
                        }
                    }
                }
            }
            for i in 0..DOWN {
                for j in 0..ACROSS {
                    sums[i][j].store(to.add((i * count + j) * lanes));
                }
            }
        }
    }
}

/// Writes the sums to the output, which is contiguous.
struct Totals<T: Float> {
    sums: *const T::Wide,
    /// Sums of a channel of the gradient.
    count: usize,
    /// Tiles of a group, groups, channels of a group of the gradient, and elements of a row of the output.
    per_group: usize,
    groups: usize,
    rows: usize,
    columns: usize,
    out: *mut T,
}

impl<T: Float> Kernel for Totals<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        for row in 0..self.groups * self.rows {
            let (group, within) = (row / self.rows, row % self.rows);
            let first = (group * self.per_group * DOWN + within) * self.count;
            for column in 0..self.columns {
                // SAFETY: the buffer has a vector of sums for each channel and column, and the output an element.
                unsafe {
                    let sum = T::Vector::<S>::load(self.sums.add((first + column) * lanes)).sum();
                    self.out.add(row * self.columns + column).write(T::narrow(sum));
                }
            }
        }
    }
}
