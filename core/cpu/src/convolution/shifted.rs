//! Few output channels, such as the colours of an image or of its gradient: first a product of each position's channels with
//! the weights of all taps, then sums of its rows, shifted by the taps. Nothing is unfolded, and the product has a row for each
//! tap instead of a few.
//!
//! Shares are bands of output rows. Each position is the sum of what its taps meet, in order of the source's rows, then of the
//! taps of a row.

use super::Job;
use super::axis::Axis;
use super::padded::{Padded, View};
use super::unfolded::Unfolded;
use crate::array::Array;
use crate::gemm::{Columns, Factor, PackedA, Run};
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, run as run_kernel};
use crate::volume::try_each_planes;
use rushlight_base::{DType, Element, Result, Scratch, list};
use std::ops::{AddAssign, Range};

/// Output channels up to which products come first.
const ROWS: usize = 4;
/// Channels of the source from which on the sums take less time than the products.
const CHANNELS: usize = 16;
/// Output rows of a share, counted in steps of the stride.
const BAND: usize = 32;
/// Bytes of the products of a row of positions.
const MOST: usize = 512 << 10;
/// Bytes of products that are computed before they are added.
const BLOCK: usize = 192 << 10;

/// Computes the correlation, if it is of this kind.
pub(super) fn run(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    match job.out.dtype() {
        DType::F32 => run_of::<f32>(job, axes),
        DType::F64 => run_of::<f64>(job, axes),
        _ => Ok(false),
    }
}

/// A tap of one dimension: an element of the kernel, the phase of the positions that meet it, and the source's position that
/// the first of them meets.
struct Shift {
    tap: usize,
    phase: usize,
    offset: isize,
}

/// The taps of all phases of a dimension.
fn shifts(phases: &[Axis]) -> Result<Vec<Shift>> {
    let count = phases.iter().map(|axis| axis.taps.len()).sum();
    let mut shifts = list::with_capacity(count)?;
    for (phase, axis) in phases.iter().enumerate() {
        shifts.extend(axis.taps.iter().map(|&(tap, offset)| Shift { tap, phase, offset }));
    }
    Ok(shifts)
}

fn run_of<T: Element + AddAssign>(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    let [rows, channels] = job.channels();
    let flat = matches!(&axes[0][..], [axis] if axis.source == 1 && axis.length == 1 && axis.taps[..] == [(0, 0)]);
    let steps = axes.iter().flatten().all(|axis| axis.step == 1);
    let [down, across] = [shifts(&axes[1])?, shifts(&axes[2])?];
    let products = rows * down.len() * across.len();
    let [height, width] = [axes[1][0].source, axes[2][0].source];
    let line = products.saturating_mul(width).saturating_mul(size_of::<T>());
    let few = rows <= ROWS && channels >= CHANNELS && products > rows;
    if !(few && flat && steps && job.groups == 1 && line <= MOST) || job.image.numel() == 0 {
        return Ok(false);
    }
    let weights = pack::<T>(job, &down, &across)?;
    let whole = [axes[0][0].clone(), Axis::whole(height), Axis::whole(width)];
    let padded = Padded::new(job.image, &whole.clone().map(|axis| vec![axis]), job.spatial)?;
    let count = job.image.size(0);
    let longest = |dim: usize| axes[dim].iter().map(|axis| axis.length).max().unwrap_or(0);
    let [bands, pitch] = [longest(1).div_ceil(BAND), longest(2)];
    let out = Shared::new(job.out.start().cast::<T>());
    for first in (0..count).step_by(padded.together) {
        let samples = first..count.min(first + padded.together);
        let view = padded.samples::<T>(job.image, &whole, samples.clone())?;
        let shifted = Shifted { job, axes, weights: &weights, view, down: &down, across: &across, rows, pitch, out };
        let work = (products * channels * width).saturating_mul(BAND.min(height));
        try_each_planes(samples.len() * bands, work, &|shares| {
            for share in shares {
                let (sample, band) = (share / bands, share % bands);
                let band = band * BAND..longest(1).min((band + 1) * BAND);
                shifted.share(sample, samples.start + sample, band)?;
            }
            Ok(())
        })?;
    }
    Ok(true)
}

/// A row for each pair of taps and output channel, a column for each channel of the source.
fn pack<T: Element>(job: &Job, down: &[Shift], across: &[Shift]) -> Result<PackedA> {
    let [rows, channels] = job.channels();
    let (weight, spatial) = (job.weight, job.spatial);
    let count = down.len() * across.len() * rows;
    let matrix = Scratch::new(count * channels * size_of::<T>())?;
    let [row_step, channel_step] = match job.transposed {
        true => [weight.stride(1), weight.stride(0)],
        false => [weight.stride(0), weight.stride(1)],
    };
    let down_step = if spatial > 1 { weight.stride(spatial) } else { 0 };
    let (from, mut to) = (weight.as_ptr::<T>(), matrix.start().cast::<T>());
    for high in down {
        for wide in across {
            for row in 0..rows as isize {
                let tap = high.tap as isize * down_step + wide.tap as isize * weight.stride(1 + spatial);
                let from = from.wrapping_offset(tap + row * row_step);
                for channel in 0..channels as isize {
                    // SAFETY: taps, rows and channels are those of the weight array; the buffer has an element for each.
                    unsafe { to.write(from.offset(channel * channel_step).read()) };
                    to = to.wrapping_add(1);
                }
            }
        }
    }
    let (sizes, strides) = ([count as i64, channels as i64], [channels as i64, 1]);
    // SAFETY: the buffer has `count` rows of `channels` elements.
    let matrix = unsafe { Array::new(matrix.start(), T::DTYPE, &sizes, &strides) };
    PackedA::new(T::DTYPE, Factor::<T>::Matrix(&matrix), 1, None)
}

/// A correlation in progress.
struct Shifted<'a, T> {
    job: &'a Job<'a>,
    axes: &'a [Vec<Axis>; 3],
    weights: &'a PackedA,
    view: View,
    /// The taps of both dimensions.
    down: &'a [Shift],
    across: &'a [Shift],
    /// Output channels.
    rows: usize,
    /// Elements of a row of sums of one phase.
    pitch: usize,
    out: Shared<T>,
}

impl<T: Element + AddAssign> Shifted<'_, T> {
    /// Computes a band of the output of a sample: the `sample`-th of the view, `index` of all.
    fn share(&self, sample: usize, index: usize, band: Range<usize>) -> Result<()> {
        let [height, width] = [self.axes[1][0].source, self.axes[2][0].source];
        let products = self.rows * self.down.len() * self.across.len();
        let lines = (BLOCK / (products * width * size_of::<T>()).max(1)).clamp(1, height);
        let block = Scratch::new(products * lines * width * size_of::<T>())?;
        let phases = self.axes[1].len() * self.axes[2].len();
        let count = self.rows * phases * band.len() * self.pitch;
        let sums = Scratch::new(count * size_of::<T>())?;
        // SAFETY: the buffer has so many elements, and zero bytes are the zero of `T`.
        unsafe { sums.start().write_bytes(0, count * size_of::<T>()) };
        let met = |offset: isize, at: usize| (at as isize + offset).clamp(0, height as isize) as usize;
        let first = self.down.iter().map(|shift| met(shift.offset, band.start)).min().unwrap_or(0);
        let end = self.down.iter().map(|shift| met(shift.offset, band.end)).max().unwrap_or(0);
        let unfolded = Unfolded { view: self.view, channel: 0, lengths: [1, height, width], taps: &[0] };
        for y in (first..end).step_by(lines) {
            let here = y..end.min(y + lines);
            let lanes = (sample * height + here.start) * width..(sample * height + here.end) * width;
            let runs = [Run { lanes: lanes.len(), at: block.start() }];
            let steps = [lanes.len() as isize, 1];
            let columns = Columns { lanes, runs: &runs, steps, bias: None, after: None };
            // SAFETY: the buffer has a row of `products` for each position of the lines.
            unsafe { self.weights.multiply::<T>(0, 0..self.weights.row_panels(), &unfolded, &columns)? };
            run_kernel(Sums {
                of: self,
                from: block.start().cast::<T>().cast_const(),
                to: sums.start().cast::<T>(),
                lines: here,
                band: band.clone(),
            });
        }
        self.store(sums.start().cast::<T>().cast_const(), index, &band);
        Ok(())
    }

    /// The first sum of a channel, of phases of both dimensions and of a row of the band.
    #[inline(always)]
    fn place(&self, channel: usize, [high, wide]: [usize; 2], row: usize, band: &Range<usize>) -> usize {
        let phase = (channel * self.axes[1].len() + high) * self.axes[2].len() + wide;
        (phase * band.len() + row - band.start) * self.pitch
    }

    /// Writes the sums of a band to the output, with the bias and what follows.
    fn store(&self, sums: *const T, sample: usize, band: &Range<usize>) {
        let (out, spatial) = (self.job.out, self.job.spatial);
        let row_step = if spatial > 1 { out.stride(spatial) } else { 0 };
        let step = out.stride(1 + spatial);
        let after = self.job.finishing.map(|finishing| finishing.after([out.stride(1), step]));
        for (high, axis) in self.axes[1].iter().enumerate() {
            for row in band.start..band.end.min(axis.length) {
                let line = (axis.first + axis.every * row) as isize * row_step;
                let line = self.out.get().wrapping_offset(sample as isize * out.stride(0) + line);
                for channel in 0..self.rows {
                    let to = line.wrapping_offset(channel as isize * out.stride(1));
                    let bias =
                        self.job.bias.map(|bias| bias.as_ptr::<T>().wrapping_offset(channel as isize * bias.stride(0)));
                    for (wide, axis) in self.axes[2].iter().enumerate() {
                        let from = sums.wrapping_add(self.place(channel, [high, wide], row, band));
                        let (to, every) = (to.wrapping_offset(axis.first as isize * step), axis.every as isize * step);
                        // SAFETY: the sums have a row of `pitch` elements, at least as many as the phase has positions, which
                        // are elements of the output; the bias has an element for each channel.
                        unsafe {
                            let from = std::slice::from_raw_parts(from, axis.length);
                            let bias = bias.map_or(T::default(), |bias| bias.read());
                            for (i, &sum) in from.iter().enumerate() {
                                let mut sum = sum;
                                sum += bias;
                                to.offset(i as isize * every).write(sum);
                            }
                        }
                    }
                }
                if let Some(after) = after {
                    // SAFETY: the row of the output belongs to this share alone.
                    unsafe { after.finish(line.cast(), [self.rows, out.size(1 + spatial)]) };
                }
            }
        }
    }
}

/// Adds products to the sums of a band.
struct Sums<'a, T> {
    of: &'a Shifted<'a, T>,
    from: *const T,
    to: *mut T,
    /// Rows of the source.
    lines: Range<usize>,
    band: Range<usize>,
}

impl<T: Element + AddAssign> Kernel for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let of = self.of;
        let width = of.axes[2][0].source;
        for y in self.lines.clone() {
            for (a, high) in of.down.iter().enumerate() {
                let row = y as isize - high.offset;
                let length = of.axes[1][high.phase].length.min(self.band.end);
                if row < self.band.start as isize || row >= length as isize {
                    continue;
                }
                for (b, wide) in of.across.iter().enumerate() {
                    let (first, end) = of.axes[2][wide.phase].inside(wide.offset);
                    for channel in 0..of.rows {
                        let product = (a * of.across.len() + b) * of.rows + channel;
                        let line = product * self.lines.len() + y - self.lines.start;
                        let from = (line * width) as isize + first as isize + wide.offset;
                        let to = of.place(channel, [high.phase, wide.phase], row as usize, &self.band) + first;
                        // SAFETY: the positions inside meet elements of the row of products, and have sums in the band.
                        unsafe {
                            let from = std::slice::from_raw_parts(self.from.offset(from), end - first);
                            let to = std::slice::from_raw_parts_mut(self.to.add(to), end - first);
                            for (to, from) in to.iter_mut().zip(from) {
                                *to += *from;
                            }
                        }
                    }
                }
            }
        }
    }
}
