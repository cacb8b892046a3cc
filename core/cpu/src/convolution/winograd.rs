//! Winograd's convolutions of 3 x 3 kernels with step 1, in `f32`: tiles of 4 x 4 positions from 6 x 6 elements with 36
//! products for each pair of channels instead of 144.
//!
//! Kernels and tiles of the image are transformed by small fixed matrices, multiplied as 36 products over the channels,
//! and transformed back. Rounding errors are about 1e-5 of the largest output, some ten times those of the sums, and
//! elements that are not finite reach the whole tile. The environment variable `RUSHLIGHT_WINOGRAD=0` switches it off.

use super::Job;
use super::axis::{Axis, forward_axis};
use super::finish::Finishing;
use super::padded::{Padded, View};
use crate::array::Array;
use crate::gemm::{Epilogue, batched};
use crate::scratch::Shortage;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run as run_kernel};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DType, Result, Scratch};
use std::ops::Range;
use std::sync::OnceLock;

/// Positions of a tile along a dimension, and the elements that they depend on.
const TILE: usize = 4;
const MET: usize = TILE + 2;
/// Products of a tile.
const POINTS: usize = MET * MET;
/// Positions along each dimension from which on it is faster.
const LEAST: usize = 28;
/// Channels on each side from which on it is faster.
const CHANNELS: usize = 32;
/// Bytes of transformed tiles that are processed together.
const TOGETHER: usize = 4 << 20;
/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 14;

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
    let large = rows >= CHANNELS && channels >= CHANNELS && down.length >= LEAST && across.length >= LEAST;
    if !(fits && large && enabled()) {
        return Ok(false);
    }
    let (Some(kernel_rows), Some(kernel_columns)) = (three(down), three(across)) else { return Ok(false) };
    let tiles = Tiles {
        job,
        rows,
        channels,
        down: down.length.div_ceil(TILE),
        wide: across.length.div_ceil(TILE),
        sizes: [down.length, across.length],
    };
    tiles.run([kernel_rows, kernel_columns])?;
    Ok(true)
}

impl Tiles<'_> {
    fn run(&self, kernel: [([usize; 3], isize); 2]) -> Result<()> {
        let (job, size) = (self.job, size_of::<f32>());
        let transform = || {
            let points = POINTS.saturating_mul(self.rows).saturating_mul(self.channels).saturating_mul(size);
            let points = Scratch::new(points)?;
            self.weights(kernel.map(|(taps, _)| taps), Shared::new(points.start().cast()))?;
            Ok(points)
        };
        let own;
        let weights = match job.packed {
            Some(packed) => packed.points(transform)?,
            None => {
                own = transform()?;
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
        let most = (TOGETHER / row.max(1)).clamp(1, self.down);
        let parts = self.down.div_ceil(self.down.div_ceil(most));
        let tiles = parts * self.wide;
        let space = |channels: usize| Scratch::new((POINTS * tiles).saturating_mul(channels).saturating_mul(size));
        let (from, to) = (space(self.channels)?, space(self.rows)?);
        let count = job.image.size(0);
        for first in (0..count).step_by(padded.together) {
            let samples = first..count.min(first + padded.together);
            let view = padded.samples::<u32>(job.image, &met, samples.clone())?;
            for sample in samples.clone() {
                let mut view = view;
                let at = (sample - samples.start) as isize * view.sample;
                view.at = Shared::new(view.at.get().cast::<f32>().wrapping_offset(at).cast());
                for start in (0..self.down).step_by(parts) {
                    let part = start..self.down.min(start + parts);
                    self.inputs(view, &offsets, part.clone(), Shared::new(from.start().cast()))?;
                    let tiles = (part.len() * self.wide) as i64;
                    let (rows, channels) = (self.rows as i64, self.channels as i64);
                    let sizes = [[rows, tiles], [rows, channels], [channels, tiles]];
                    let sizes = sizes.map(|[down, across]| [POINTS as i64, down, across]);
                    let strides = sizes.map(|[_, down, across]| [down * across, across, 1]);
                    // SAFETY: the buffers have a matrix of these sizes for each point.
                    let [out, left, right] = unsafe {
                        [
                            Array::new(to.start(), DType::F32, &sizes[0], &strides[0]),
                            Array::new(weights.start(), DType::F32, &sizes[1], &strides[1]),
                            Array::new(from.start(), DType::F32, &sizes[2], &strides[2]),
                        ]
                    };
                    batched(&out, &left, &right, &Epilogue::default())?;
                    self.outputs(Shared::new(to.start().cast()), sample, part)?;
                }
            }
        }
        Ok(())
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

    /// Transforms the elements that some rows of tiles meet: for each point, a matrix of channels and tiles.
    fn inputs(&self, view: View, offsets: &[[isize; MET]; MET], down: Range<usize>, to: Shared<f32>) -> Result<()> {
        let (channels, wide) = (self.channels, self.wide);
        let work = down.len() * wide * POINTS;
        parallel_chunks(channels, (GRAIN / work.max(1)).max(1), &|part| {
            let (down, to) = (down.clone(), to.get());
            run_kernel(Inputs { view, offsets, down, wide, part, channels, to });
        })
    }

    /// Transforms the products of some rows of tiles to positions.
    fn outputs(&self, from: Shared<f32>, sample: usize, down: Range<usize>) -> Result<()> {
        let (job, rows, wide, sizes) = (self.job, self.rows, self.wide, self.sizes);
        let shortage = Shortage::new();
        let out = Shared::new(job.out.as_ptr::<f32>().wrapping_offset(sample as isize * job.out.stride(0)));
        let bias = job.bias.map(|bias| (Shared::new(bias.as_ptr::<f32>()), bias.stride(0)));
        let (row_step, steps) = (job.out.stride(1), [job.out.stride(2), job.out.stride(3)]);
        let work = down.len() * wide * POINTS;
        // A row of positions of each row of a tile, in whole vectors.
        let pitch = TILE * wide.next_multiple_of(MAX_LANES);
        parallel_chunks(rows, (GRAIN / work.max(1)).max(1), &|part| {
            let Some(buffer) = shortage.scratch(TILE * pitch * size_of::<f32>()) else { return };
            let (from, down, buffer, out) = (from.get().cast_const(), down.clone(), buffer.start().cast(), out.get());
            let finishing = job.finishing;
            run_kernel(Outputs {
                from,
                down,
                wide,
                part,
                rows,
                sizes,
                buffer,
                pitch,
                out,
                row_step,
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
    down: Range<usize>,
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
        let tiles = self.down.len() * self.wide;
        let plane = self.channels * tiles;
        let from = self.view.at.get().cast::<f32>().cast_const();
        for channel in self.part.clone() {
            for (y, down) in self.down.clone().enumerate() {
                for x in (0..self.wide).step_by(lanes) {
                    let count = lanes.min(self.wide - x);
                    let at = channel as isize * self.view.channel + down as isize * self.view.steps[1] + x as isize;
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
    down: Range<usize>,
    wide: usize,
    part: Range<usize>,
    rows: usize,
    /// Positions down and across.
    sizes: [usize; 2],
    /// A row of `pitch` positions for each row of a tile.
    buffer: *mut f32,
    pitch: usize,
    out: *mut f32,
    row_step: isize,
    steps: [isize; 2],
    bias: Option<(Shared<f32>, isize)>,
    finishing: Option<Finishing>,
}

impl Kernel for Outputs {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let tiles = self.down.len() * self.wide;
        for row in self.part.clone() {
            // SAFETY: the bias has an element for each row.
            let bias = self.bias.map_or(0.0, |(at, step)| unsafe { at.get().offset(row as isize * step).read() });
            let to = self.out.wrapping_offset(row as isize * self.row_step);
            for (y, down) in self.down.clone().enumerate() {
                let from = self.from.wrapping_add(row * tiles + y * self.wide);
                // SAFETY: the products have an element for each row and tile at each point, and the buffer a whole
                // vector of tiles; positions are below the sizes of the output, and no other share has this row.
                unsafe {
                    self.positions::<S>(from, self.rows * tiles, bias);
                    for line in 0..TILE.min(self.sizes[0] - down * TILE) {
                        let from = self.buffer.add(line * self.pitch);
                        let to = to.offset((down * TILE + line) as isize * self.steps[0]);
                        if self.steps[1] == 1 {
                            std::ptr::copy_nonoverlapping(from, to, self.sizes[1]);
                        } else {
                            for x in 0..self.sizes[1] {
                                to.offset(x as isize * self.steps[1]).write(from.add(x).read());
                            }
                        }
                        if let Some(finishing) = &self.finishing {
                            match self.steps[1] {
                                1 => finishing.rows(to, 1, 0, self.sizes[1]),
                                step => finishing.rows(to, self.sizes[1], step, 1),
                            }
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
