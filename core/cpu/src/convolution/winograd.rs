//! Winograd's convolutions of 3 x 3 kernels with step 1, in `f32`: tiles of 4 x 4 positions from 6 x 6 elements with 36
//! products for each pair of channels instead of 144.
//!
//! Kernels and tiles of the image are transformed by small fixed matrices, multiplied as 36 products over the channels,
//! and transformed back. The rows of tiles of all samples are one sequence, so that small images fill the products too:
//! on an AMD Zen 4 with one thread, 14 x 14 positions of one sample with 256 channels take 0.61 of the time of
//! `correlation.rs` with packed weights, 13 x 13 positions of 16 samples 0.70 of it.
//!
//! Rounding errors are about 1e-5 of the largest output, some ten times those of the sums, and elements that are not finite
//! reach the whole tile. The environment variable `RUSHLIGHT_WINOGRAD=0` switches it off.

use super::Job;
use super::axis::{Axis, forward_axis};
use super::padded::{Padded, View};
use super::unfolded::Unfolded;
use crate::array::Array;
use crate::finish::Finishing;
use crate::gemm::{Columns, Factor, PackedA, Run, worthwhile_threads};
use crate::scratch::Shortage;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run as run_kernel};
use rushlight_base::runtime::{FirstError, check_cancelled, parallel_chunks, parallel_for};
use rushlight_base::{DType, Result, Scratch};
use std::ops::Range;
use std::sync::OnceLock;

/// Positions of a tile along a dimension, and the elements that they depend on.
const TILE: usize = 4;
const MET: usize = TILE + 2;
/// Products of a tile.
const POINTS: usize = MET * MET;
/// Tiles of all samples from which on it is faster: with weights that each call transforms, and with packed ones.
const LEAST: [usize; 2] = [49, 16];
/// Positions that the tiles may have for each one of the image.
const WASTE: f64 = 1.6;
/// Channels on each side from which on it is faster.
const CHANNELS: usize = 32;
/// Bytes of transformed tiles that are processed together.
const TOGETHER: usize = 4 << 20;
/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 14;
/// Elements behind the transformed tiles that whole vectors may read.
const BEHIND: usize = 64;
/// Shares of the products for each thread.
const SHARES: usize = 4;

/// An array with an element for each of some indices. The functions of arrays are not always inlined into code that is
/// compiled for an instruction set, so that intrinsics in their closures become calls.
macro_rules! unrolled {
    ($at:ident in $($index:literal)* => $element:expr) => {
        [$({
            let $at: usize = $index;
            $element
        }),*]
    };
}

/// Whether it is switched on.
fn enabled() -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    *ENABLED.get_or_init(|| std::env::var("RUSHLIGHT_WINOGRAD").map_or(true, |value| value.trim() != "0"))
}

/// The elements of a kernel along a dimension in the order of what they meet, and the first offset.
fn three(axis: &Axis) -> Option<([usize; 3], isize)> {
    let mut taps: [(usize, isize); 3] = axis.taps[..].try_into().ok()?;
    taps.sort_by_key(|tap| tap.1);
    let first = taps[0].1;
    let follow = taps.iter().enumerate().all(|(at, tap)| tap.1 == first + at as isize);
    (follow && axis.step == 1 && axis.every == 1 && first <= 0).then(|| (taps.map(|tap| tap.0), first))
}

/// A correlation in progress.
struct Tiles<'a> {
    job: &'a Job<'a>,
    /// Channels of the output and of the image.
    rows: usize,
    channels: usize,
    /// Tiles down and across.
    down: usize,
    wide: usize,
    /// Positions down and across.
    sizes: [usize; 2],
}

/// Computes the correlation, if it is one of these.
pub(super) fn run(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    let [rows, channels] = job.channels();
    let fits = job.spatial == 2 && job.groups == 1 && job.out.dtype() == DType::F32;
    let [[down], [across]] = [&axes[1][..], &axes[2][..]] else { return Ok(false) };
    if !(fits && rows >= CHANNELS && channels >= CHANNELS && enabled()) {
        return Ok(false);
    }
    let sizes = [down.length, across.length];
    let [down_tiles, wide] = sizes.map(|size| size.div_ceil(TILE));
    let tiles = job.out.size(0) * down_tiles * wide;
    let wasted = (down_tiles * wide * TILE * TILE) as f64 > WASTE * (sizes[0] * sizes[1]) as f64;
    if wasted || tiles < LEAST[usize::from(job.packed.is_some())] {
        return Ok(false);
    }
    let (Some(kernel_rows), Some(kernel_columns)) = (three(down), three(across)) else { return Ok(false) };
    Tiles { job, rows, channels, down: down_tiles, wide, sizes }.run([kernel_rows, kernel_columns])?;
    Ok(true)
}

impl Tiles<'_> {
    fn run(&self, kernel: [([usize; 3], isize); 2]) -> Result<()> {
        let (job, size) = (self.job, size_of::<f32>());
        let pack = || self.pack(kernel.map(|(taps, _)| taps));
        let own;
        let weights = match job.packed {
            Some(packed) => packed.points(pack)?,
            None => {
                own = pack()?;
                &own
            }
        };
        // The elements that tiles meet: six taps that move in steps of four.
        let along = |tiles: usize, dim: usize, first: isize| {
            forward_axis([tiles, job.image.size(2 + dim), MET], [TILE as i64, -first as i64, 1])
        };
        let met = [Axis::single(), along(self.down, 0, kernel[0].1)?, along(self.wide, 1, kernel[1].1)?];
        let phases = met.clone().map(|axis| vec![axis]);
        let padded = Padded::copied(job.image, &phases, job.spatial)?;
        let mut offsets = [[0; MET]; MET];
        for (y, offsets) in offsets.iter_mut().enumerate() {
            for (x, offset) in offsets.iter_mut().enumerate() {
                *offset = padded.offset([0, y as isize + kernel[0].1, x as isize + kernel[1].1]);
            }
        }
        // Rows of tiles are processed together as long as they stay in the cache.
        let row = POINTS.saturating_mul(self.rows + self.channels).saturating_mul(self.wide).saturating_mul(size);
        let most = (TOGETHER / row.max(1)).clamp(1, self.down * padded.together);
        let space = |channels: usize| {
            let elements = (POINTS * most * self.wide).saturating_mul(channels).saturating_add(BEHIND);
            Scratch::new(elements.saturating_mul(size))
        };
        let (from, to) = (space(self.channels)?, space(self.rows)?);
        let count = job.image.size(0);
        for first in (0..count).step_by(padded.together) {
            let samples = first..count.min(first + padded.together);
            let view = padded.samples::<u32>(job.image, &met, samples.clone())?;
            let lines = samples.len() * self.down;
            let together = lines.div_ceil(lines.div_ceil(most));
            for start in (0..lines).step_by(together) {
                check_cancelled()?;
                let part = start..lines.min(start + together);
                self.inputs(view, &offsets, part.clone(), Shared::new(from.start().cast()))?;
                let tiles = part.len() * self.wide;
                self.products(weights, Shared::new(from.start()), Shared::new(to.start()), tiles)?;
                self.outputs(Shared::new(to.start().cast()), samples.start, part)?;
            }
        }
        Ok(())
    }

    /// The transformed kernels, packed: a group of rows for each point.
    fn pack(&self, taps: [[usize; 3]; 2]) -> Result<PackedA> {
        let (rows, channels) = (self.rows, self.channels);
        let elements = POINTS.saturating_mul(rows).saturating_mul(channels);
        let points = Scratch::new(elements.saturating_mul(size_of::<f32>()))?;
        self.weights(taps, Shared::new(points.start().cast()))?;
        let (sizes, strides) = ([(POINTS * rows) as i64, channels as i64], [channels as i64, 1]);
        // SAFETY: the buffer has a matrix of rows and channels for each point.
        let matrix = unsafe { Array::new(points.start(), DType::F32, &sizes, &strides) };
        PackedA::new(DType::F32, Factor::<u32>::Matrix(&matrix), POINTS, None)
    }

    /// For each point, the product of the kernels and the tiles: `from` has a matrix of channels and tiles for each, and
    /// `to` of rows and tiles.
    fn products(&self, weights: &PackedA, from: Shared<u8>, to: Shared<u8>, tiles: usize) -> Result<()> {
        let (rows, channels, panels) = (self.rows, self.channels, weights.row_panels());
        let threads = worthwhile_threads((POINTS * rows * channels).saturating_mul(tiles));
        let parts = if threads > 1 { (SHARES * threads).div_ceil(POINTS).clamp(1, panels) } else { 1 };
        let view = View {
            at: from,
            sample: 0,
            channel: tiles as isize,
            steps: [0, 0, 1],
            limit: (POINTS * channels * tiles + BEHIND) as isize,
        };
        let share = |index: usize| -> Result<()> {
            let (point, part) = (index / parts, index % parts);
            let of_part = part * panels / parts..(part + 1) * panels / parts;
            let right = Unfolded { view, channel: point * channels, lengths: [1, 1, tiles], taps: &[0] };
            let at = to.get().wrapping_add(point * rows * tiles * size_of::<f32>());
            for first in (0..tiles).step_by(weights.columns_together()) {
                let lanes = first..tiles.min(first + weights.columns_together());
                let run = Run { lanes: lanes.len(), at: at.wrapping_add(first * size_of::<f32>()) };
                let columns = Columns { lanes, runs: &[run], steps: [tiles as isize, 1], bias: None, after: None };
                // SAFETY: the buffer has an element for each row and tile of the point, whose rows no other share has.
                unsafe { weights.multiply::<u32>(point, of_part.clone(), &right, &columns)? };
            }
            Ok(())
        };
        let shares = POINTS * parts;
        if threads == 1 {
            return (0..shares).try_for_each(share);
        }
        let failed = FirstError::default();
        parallel_for(shares, &|index| failed.note(share(index)))?;
        failed.result()
    }

    /// Transforms all kernels: for each point, a matrix of rows and channels.
    fn weights(&self, [down, across]: [[usize; 3]; 2], to: Shared<f32>) -> Result<()> {
        let weight = self.job.weight;
        let from = Shared::new(weight.as_ptr::<f32>());
        let mut steps = [weight.stride(0), weight.stride(1)];
        if self.job.transposed {
            steps.reverse();
        }
        let offset = |y: usize, x: usize| y as isize * weight.stride(2) + x as isize * weight.stride(3);
        let taps: [[isize; 3]; 3] = down.map(|y| across.map(|x| offset(y, x)));
        let (rows, channels) = (self.rows, self.channels);
        parallel_chunks(rows, (GRAIN / (POINTS * channels)).max(1), &|part| {
            let (from, to) = (from.get().cast_const(), to.get());
            run_kernel(Weights { from, to, steps, taps, part, rows, channels });
        })
    }

    /// Transforms the elements that some rows of tiles meet: for each point, a matrix of channels and tiles. Rows count
    /// through the samples of the view.
    fn inputs(&self, view: View, offsets: &[[isize; MET]; MET], lines: Range<usize>, to: Shared<f32>) -> Result<()> {
        let (channels, down, wide) = (self.channels, self.down, self.wide);
        let work = lines.len() * wide * POINTS;
        parallel_chunks(channels, (GRAIN / work.max(1)).max(1), &|part| {
            let (lines, to) = (lines.clone(), to.get());
            run_kernel(Inputs { view, offsets, lines, down, wide, part, channels, to });
        })
    }

    /// Transforms the products of some rows of tiles to positions. Rows count from those of the sample `first` on.
    fn outputs(&self, from: Shared<f32>, first: usize, lines: Range<usize>) -> Result<()> {
        let (job, rows, wide, sizes) = (self.job, self.rows, self.wide, self.sizes);
        let shortage = Shortage::new();
        let out = Shared::new(job.out.as_ptr::<f32>().wrapping_offset(first as isize * job.out.stride(0)));
        let bias = job.bias.map(|bias| (Shared::new(bias.as_ptr::<f32>()), bias.stride(0)));
        let steps = [0, 1, 2, 3].map(|dim| job.out.stride(dim));
        let work = lines.len() * wide * POINTS;
        // A row of positions of each row of a tile, in whole vectors.
        let pitch = TILE * wide.next_multiple_of(MAX_LANES);
        parallel_chunks(rows, (GRAIN / work.max(1)).max(1), &|part| {
            let Some(buffer) = shortage.scratch(TILE * pitch * size_of::<f32>()) else { return };
            let (from, lines, buffer, out) = (from.get().cast_const(), lines.clone(), buffer.start().cast(), out.get());
            let (down, finishing) = (self.down, job.finishing);
            run_kernel(Outputs {
                from,
                lines,
                down,
                wide,
                part,
                rows,
                sizes,
                buffer,
                pitch,
                out,
                steps,
                bias,
                finishing,
            });
        })?;
        shortage.check()
    }
}

/// Kernels of some rows.
struct Weights {
    from: *const f32,
    to: *mut f32,
    /// Steps of rows and channels.
    steps: [isize; 2],
    taps: [[isize; 3]; 3],
    part: Range<usize>,
    rows: usize,
    channels: usize,
}

impl Kernel for Weights {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = S::F32::LANES;
        let plane = self.rows * self.channels;
        for row in self.part.clone() {
            for channel in (0..self.channels).step_by(lanes) {
                let count = lanes.min(self.channels - channel);
                let at = row as isize * self.steps[0] + channel as isize * self.steps[1];
                let stride = self.steps[1] * size_of::<f32>() as isize;
                // SAFETY: rows, channels and taps are below the sizes of the weight array, and the buffer has an
                // element for each row and channel at each point.
                unsafe {
                    let taps = unrolled!(y in 0 1 2 => unrolled!(x in 0 1 2 => {
                        S::F32::load_strided(self.from.offset(at + self.taps[y][x]), stride, count)
                    }));
                    // Down the columns, then along the rows.
                    let half = unrolled!(x in 0 1 2 => kernel([taps[0][x], taps[1][x], taps[2][x]]));
                    let to = self.to.add(row * self.channels + channel);
                    let [left, middle, right] = half;
                    for (y, left) in left.into_iter().enumerate() {
                        let points = kernel([left, middle[y], right[y]]);
                        for (x, point) in points.into_iter().enumerate() {
                            f32::store_some::<S>(point, to.add((y * MET + x) * plane), count);
                        }
                    }
                }
            }
        }
    }
}

/// Three elements of a kernel at six points.
#[inline(always)]
fn kernel<V: FloatVector>([a, b, c]: [V; 3]) -> [V; MET] {
    let number = V::from_f64;
    let (ends, sixth) = (a + c, number(-1.0 / 6.0));
    let far = a * number(1.0 / 24.0) + c * number(1.0 / 6.0);
    let middle = b * number(1.0 / 12.0);
    [a * number(0.25), (ends + b) * sixth, (ends - b) * sixth, far + middle, far - middle, c]
}

/// Tiles of some channels.
struct Inputs<'a> {
    view: View,
    offsets: &'a [[isize; MET]; MET],
    /// Rows of tiles, of which each sample has `down`.
    lines: Range<usize>,
    down: usize,
    wide: usize,
    part: Range<usize>,
    channels: usize,
    to: *mut f32,
}

impl Kernel for Inputs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = S::F32::LANES;
        let tiles = self.lines.len() * self.wide;
        let plane = self.channels * tiles;
        let from = self.view.at.get().cast::<f32>().cast_const();
        for channel in self.part.clone() {
            for (y, line) in self.lines.clone().enumerate() {
                let (sample, down) = ((line / self.down) as isize, (line % self.down) as isize);
                let at = sample * self.view.sample + channel as isize * self.view.channel + down * self.view.steps[1];
                for x in (0..self.wide).step_by(lanes) {
                    let count = lanes.min(self.wide - x);
                    let at = at + x as isize;
                    // SAFETY: the view has what six taps meet at each tile, and a vector more behind its last plane;
                    // the buffer has an element for each channel and tile at each point.
                    unsafe {
                        let from = from.offset(at);
                        let mut half = [[S::F32::from_f64(0.0); MET]; MET];
                        for (column, half) in half.iter_mut().enumerate() {
                            *half = input(unrolled!(row in 0 1 2 3 4 5 => {
                                S::F32::load(from.offset(self.offsets[row][column]))
                            }));
                        }
                        let to = self.to.add(channel * tiles + y * self.wide + x);
                        #[allow(clippy::needless_range_loop, reason = "a column of the array")]
                        for row in 0..MET {
                            let points = input(unrolled!(column in 0 1 2 3 4 5 => half[column][row]));
                            for (column, point) in points.into_iter().enumerate() {
                                f32::store_some::<S>(point, to.add((row * MET + column) * plane), count);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Six elements at six points.
#[inline(always)]
fn input<V: FloatVector>([a, b, c, d, e, f]: [V; MET]) -> [V; MET] {
    let number = V::from_f64;
    let (four, five) = (number(4.0), number(-5.0));
    let (even, odd) = (c.mul_add(-four, e), b.mul_add(-four, d));
    let (near, next) = (e - c, (d - b) * number(2.0));
    [
        a.mul_add(four, c.mul_add(five, e)),
        even + odd,
        even - odd,
        near + next,
        near - next,
        b.mul_add(four, d.mul_add(five, f)),
    ]
}

/// Products of some rows of the output.
struct Outputs {
    from: *const f32,
    /// Rows of tiles, of which each sample has `down`.
    lines: Range<usize>,
    down: usize,
    wide: usize,
    part: Range<usize>,
    rows: usize,
    /// Positions down and across.
    sizes: [usize; 2],
    /// A row of `pitch` positions for each row of a tile.
    buffer: *mut f32,
    pitch: usize,
    out: *mut f32,
    /// Steps of samples, rows, and positions down and across.
    steps: [isize; 4],
    bias: Option<(Shared<f32>, isize)>,
    finishing: Option<Finishing>,
}

impl Kernel for Outputs {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let tiles = self.lines.len() * self.wide;
        let [sample_step, row_step, down_step, step] = self.steps;
        for row in self.part.clone() {
            // SAFETY: the bias has an element for each row.
            let bias = self.bias.map_or(0.0, |(at, step)| unsafe { at.get().offset(row as isize * step).read() });
            let to = self.out.wrapping_offset(row as isize * row_step);
            for (y, line) in self.lines.clone().enumerate() {
                let (sample, down) = (line / self.down, line % self.down);
                let to = to.wrapping_offset(sample as isize * sample_step);
                let from = self.from.wrapping_add(row * tiles + y * self.wide);
                // SAFETY: the products have an element for each row and tile at each point, and the buffer a whole
                // vector of tiles; positions are below the sizes of the output, and no other share has this row.
                unsafe {
                    self.positions::<S>(from, self.rows * tiles, bias);
                    for line in 0..TILE.min(self.sizes[0] - down * TILE) {
                        let from = self.buffer.add(line * self.pitch);
                        let to = to.offset((down * TILE + line) as isize * down_step);
                        if step == 1 {
                            std::ptr::copy_nonoverlapping(from, to, self.sizes[1]);
                        } else {
                            for x in 0..self.sizes[1] {
                                to.offset(x as isize * step).write(from.add(x).read());
                            }
                        }
                        if let Some(finishing) = &self.finishing {
                            finishing.piece(to, [1, self.sizes[1]], [0, step]);
                        }
                    }
                }
            }
        }
    }
}

impl Outputs {
    /// Four rows of positions, in the buffer.
    ///
    /// # Safety
    /// Products of a row of tiles are at `from`, those of the next point `plane` on.
    #[inline(always)]
    unsafe fn positions<S: Simd>(&self, from: *const f32, plane: usize, bias: f32) {
        let lanes = S::F32::LANES;
        for x in (0..self.wide).step_by(lanes) {
            let count = lanes.min(self.wide - x);
            // SAFETY: the caller guarantees the products, and the buffer has whole vectors of tiles.
            unsafe {
                let mut half = [[S::F32::from_f64(0.0); TILE]; MET];
                for (column, half) in half.iter_mut().enumerate() {
                    let from = from.add(column * plane + x);
                    *half = output(unrolled!(row in 0 1 2 3 4 5 => {
                        f32::load_some::<S>(from.add(row * MET * plane), count)
                    }));
                }
                #[allow(clippy::needless_range_loop, reason = "a column of the array")]
                for line in 0..TILE {
                    let four = output(unrolled!(column in 0 1 2 3 4 5 => half[column][line]));
                    let mut stored = [[0.0f32; MAX_LANES]; TILE];
                    for (stored, position) in stored.iter_mut().zip(four) {
                        (position + S::F32::splat(bias)).store(stored.as_mut_ptr());
                    }
                    let to = self.buffer.add(line * self.pitch + x * TILE).cast::<[f32; TILE]>();
                    #[allow(clippy::needless_range_loop, reason = "a column of the array")]
                    for lane in 0..lanes {
                        to.add(lane).write_unaligned([
                            stored[0][lane],
                            stored[1][lane],
                            stored[2][lane],
                            stored[3][lane],
                        ]);
                    }
                }
            }
        }
    }
}

/// Six points at four positions.
#[inline(always)]
fn output<V: FloatVector>([a, b, c, d, e, f]: [V; MET]) -> [V; TILE] {
    let number = V::from_f64;
    let (near, odd) = (b + c, b - c);
    let (far, next) = (d + e, d - e);
    [a + near + far, next.mul_add(number(2.0), odd), far.mul_add(number(4.0), near), next.mul_add(number(8.0), odd) + f]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Mask;

    /// The three transforms, of a row: y = A ((G g) (B d)).
    #[test]
    fn a_row_of_a_tile_is_the_sum_written_out() {
        struct Row;
        impl Kernel for Row {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, _: S) {
                let number = S::F64::from_f64;
                let (taps, met) = ([2.0, -3.0, 5.0], [1.0, 4.0, -2.0, 7.0, 3.0, -6.0]);
                let (left, right) = (kernel(taps.map(number)), input(met.map(number)));
                let sums = output([0, 1, 2, 3, 4, 5].map(|point| left[point] * right[point]));
                for (at, sum) in sums.into_iter().enumerate() {
                    let wanted: f64 = (0..3).map(|tap| taps[tap] * met[at + tap]).sum();
                    assert!((sum - number(wanted)).abs().lt(number(1e-12)).all(), "position {at}");
                }
            }
        }
        run_kernel(Row);
    }
}
