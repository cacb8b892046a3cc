//! Outputs that are weighted sums of few inputs: interpolation.

use super::{Taps, weights};
use crate::array::Array;
use crate::device;
use crate::number::Wide;
use crate::simd::{Float, FloatVector, Kernel, Simd, run};
use crate::volume::{Volume, has_adjacent_channels};
use rushlight_base::Result;
use rushlight_base::list::filled;
use rushlight_base::runtime::{parallel_chunks, try_parallel_chunks};
use std::ops::Range;

/// Products that are worth a second thread.
const GRAIN: usize = 1 << 14;

/// out = for each position, the sum of the inputs of `taps` times their weights. `taps` is an [`interpolation`]: the
/// inputs of a position are adjacent, but for those that are repeated at the border.
///
/// [`interpolation`]: super::interpolation
pub fn interpolate(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::sums(out, input, &super::tables(taps)?, 0, spatial);
    }
    dispatch!(out.dtype(), "compute_indices_weights", half float, T => {
        let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
        let factors = weights(taps)?;
        sums(&Sums { to, from, taps, factors })
    })
}

/// What all rows of outputs share.
struct Sums<'a, T: Float> {
    to: Volume<T>,
    from: Volume<T>,
    taps: &'a [Taps; 3],
    factors: [Vec<T::Wide>; 3],
}

fn sums<T: Float>(sums: &Sums<T>) -> Result<()> {
    let [samples, channels] = sums.to.lead();
    let [depth, height, width] = sums.to.sizes;
    let [depths, heights, widths] = [0, 1, 2].map(|dim| sums.taps[dim].width);
    let grain = |elements: usize| (GRAIN / (elements * depths * heights * widths).max(1)).max(1);
    if has_adjacent_channels(&sums.to, &sums.from) {
        return parallel_chunks(samples * depth * height, grain(width * channels), &|rows| run(Pixels { sums, rows }));
    }
    try_parallel_chunks(sums.to.planes() * depth * height, grain(width), &|rows| {
        let lines = filled(depths * heights * width, T::Wide::ZERO)?;
        run(Lines { sums, rows, lines });
        Ok(())
    })
}

/// Rows of outputs of a plane. Each row of the input that they need is interpolated along the width once, into a line.
struct Lines<'a, T: Float> {
    sums: &'a Sums<'a, T>,
    rows: Range<usize>,
    /// For each tap of depth and height, a line; the taps of a position have different ones, as they are adjacent.
    lines: Vec<T::Wide>,
}

impl<T: Float> Kernel for Lines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) {
        let Sums { to, from, taps, factors } = self.sums;
        let [depth, height, width] = to.sizes;
        let [depths, heights] = [taps[0].width, taps[1].width];
        // Which row of the input a line is of; at most one for each tap of cubic interpolation.
        let mut lines_of = [usize::MAX; 16];
        for row in self.rows.clone() {
            let (plane, d, h) = (row / (depth * height), row / height % depth, row % height);
            // Positions have 1, 2 or 4 taps: a mask is the remainder, without a division.
            let slot =
                |i: usize, j: usize| (taps[0].index[i] & (depths - 1)) * heights + (taps[1].index[j] & (heights - 1));
            for i in taps[0].of(d) {
                for j in taps[1].of(h) {
                    let at = [taps[0].index[i], taps[1].index[j]];
                    let (slot, id) = (slot(i, j), (plane * from.sizes[0] + at[0]) * from.sizes[1] + at[1]);
                    if lines_of[slot] != id {
                        lines_of[slot] = id;
                        let source = from.plane(plane).wrapping_offset(from.row(at));
                        let line = &mut self.lines[slot * width..][..width];
                        along(line, source, from.steps[2], &taps[2], &factors[2]);
                    }
                }
            }
            // The lines of this row and the weights of their sum, found once for all of its vectors.
            let mut at = [std::ptr::null(); 16];
            let (mut deep, mut down) = ([T::Vector::<S>::from_f64(0.0); 4], [T::Vector::<S>::from_f64(0.0); 4]);
            for (nth, i) in taps[0].of(d).enumerate() {
                deep[nth] = T::Vector::<S>::splat(factors[0][i]);
                for (mth, j) in taps[1].of(h).enumerate() {
                    down[mth] = T::Vector::<S>::splat(factors[1][j]);
                    at[nth * heights + mth] = self.lines[slot(i, j) * width..][..width].as_ptr();
                }
            }
            let target = to.plane(plane).wrapping_offset(to.row([d, h]));
            let lanes = T::Vector::<S>::LANES;
            for first in (0..width).step_by(lanes) {
                let count = lanes.min(width - first);
                let mut sum = T::Vector::<S>::from_f64(0.0);
                for i in 0..depths {
                    let mut layer = T::Vector::<S>::from_f64(0.0);
                    for j in 0..heights {
                        // SAFETY: a line has `width` numbers.
                        let line = unsafe { T::Vector::<S>::load_some(at[i * heights + j].add(first), count) };
                        layer = layer + down[j] * line;
                    }
                    sum = sum + deep[i] * layer;
                }
                // SAFETY: `count` positions from `first` on are inside the row, which belongs to this share alone.
                unsafe {
                    let target = target.offset(first as isize * to.steps[2]);
                    match to.steps[2] {
                        1 => T::store_some::<S>(sum, target, count),
                        step => T::store_strided::<S>(sum, target, step * size_of::<T>() as isize, count),
                    }
                }
            }
        }
    }
}

/// The weighted sum over the taps of depth and height of a position, of whose numbers `line` gets each pair.
#[inline(always)]
fn sum_of_lines<V: FloatVector>(
    taps: &[Taps; 3],
    factors: &[Vec<V::Scalar>; 3],
    [d, h]: [usize; 2],
    mut line: impl FnMut(usize, usize) -> V,
) -> V {
    let mut sum = V::from_f64(0.0);
    for i in taps[0].of(d) {
        let mut layer = V::from_f64(0.0);
        for j in taps[1].of(h) {
            layer = layer + V::splat(factors[1][j]) * line(i, j);
        }
        sum = sum + V::splat(factors[0][i]) * layer;
    }
    sum
}

/// line = the row at `source` interpolated along the width.
#[inline(always)]
fn along<T: Float>(line: &mut [T::Wide], source: *const T, step: isize, taps: &Taps, factors: &[T::Wide]) {
    match taps.width {
        2 => along_of::<T, 2>(line, source, step, taps, factors),
        4 => along_of::<T, 4>(line, source, step, taps, factors),
        // A missing dimension.
        _ => along_of::<T, 1>(line, source, step, taps, factors),
    }
}

#[inline(always)]
fn along_of<T: Float, const N: usize>(
    line: &mut [T::Wide],
    source: *const T,
    step: isize,
    taps: &Taps,
    factors: &[T::Wide],
) {
    let places = taps.index.as_chunks::<N>().0.iter().zip(factors.as_chunks::<N>().0);
    // Adjacent elements have a loop of their own, whose addresses need no product.
    if step == 1 {
        for (to, (places, factors)) in line.iter_mut().zip(places) {
            *to = position(places, factors, |at| source.wrapping_add(at));
        }
    } else {
        for (to, (places, factors)) in line.iter_mut().zip(places) {
            *to = position(places, factors, |at| source.wrapping_offset(at as isize * step));
        }
    }
}

/// The weighted sum of the elements at `places`, whose addresses `element` gives: inside the input, for which the table
/// of taps was built.
#[inline(always)]
fn position<T: Float, const N: usize>(
    places: &[usize; N],
    factors: &[T::Wide; N],
    element: impl Fn(usize) -> *const T,
) -> T::Wide {
    let mut sum = T::Wide::ZERO;
    for (&at, &factor) in places.iter().zip(factors) {
        // SAFETY: the caller gives addresses inside the input.
        let value = unsafe { element(at).read() };
        sum = sum.add(factor.mul(value.wide()));
    }
    sum
}

/// Rows of positions, whose channels are adjacent.
struct Pixels<'a, T: Float> {
    sums: &'a Sums<'a, T>,
    rows: Range<usize>,
}

impl<T: Float> Kernel for Pixels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match self.sums.taps.each_ref().map(|taps| taps.width) {
            [1, 2, 2] => self.of_image::<S, 2>(),
            [1, 4, 4] => self.of_image::<S, 4>(),
            [_, _, 2] => self.of::<S, 2>(simd),
            [_, _, 4] => self.of::<S, 4>(simd),
            _ => self.of::<S, 1>(simd),
        }
    }
}

impl<T: Float> Pixels<'_, T> {
    /// Two dimensions of `N` taps each, whose loops the compiler unrolls; the sums are those of [`Pixels::of`].
    #[inline(always)]
    fn of_image<S: Simd, const N: usize>(self) {
        let Sums { to, from, taps, factors } = self.sums;
        let ([_, height, _], channels, lanes) = (to.sizes, to.lead()[1], T::Vector::<S>::LANES);
        let splat = |factors: &[T::Wide; N]| factors.map(T::Vector::<S>::splat);
        let [down, across] = [1, 2].map(|dim| {
            let Taps { index, .. } = &taps[dim];
            (index.as_chunks::<N>().0, factors[dim].as_chunks::<N>().0)
        });
        for row in self.rows {
            let (plane, h) = (row / height * channels, row % height);
            let (target, image) = (to.plane(plane).wrapping_offset(to.row([0, h])), from.plane(plane));
            let rows = down.0[h].map(|at| image.wrapping_offset(from.row([0, at])));
            let down = splat(&down.1[h]);
            for (w, (places, factors)) in across.0.iter().zip(across.1).enumerate() {
                let offsets = places.map(|at| at as isize * from.steps[2]);
                let (target, across) = (target.wrapping_offset(w as isize * to.steps[2]), splat(factors));
                for first in (0..channels).step_by(lanes) {
                    let count = lanes.min(channels - first);
                    let mut sum = T::Vector::<S>::splat(T::Wide::ZERO);
                    for (row, &down) in rows.iter().zip(&down) {
                        let mut line = T::Vector::<S>::splat(T::Wide::ZERO);
                        for (&offset, &across) in offsets.iter().zip(&across) {
                            // SAFETY: the table of taps was built for this input size, so the position is inside the
                            // input, and `count` channels from `first` on are adjacent.
                            let value = unsafe { T::load_some::<S>(row.offset(offset).add(first), count) };
                            line = line + across * value;
                        }
                        sum = sum + down * line;
                    }
                    // SAFETY: these channels of the position belong to this share alone.
                    unsafe { T::store_some::<S>(sum, target.wrapping_add(first), count) };
                }
            }
        }
    }

    /// With `N` taps along the width.
    #[inline(always)]
    fn of<S: Simd, const N: usize>(self, _: S) {
        let Sums { to, from, taps, factors } = self.sums;
        let ([depth, height, _], channels, lanes) = (to.sizes, to.lead()[1], T::Vector::<S>::LANES);
        for row in self.rows {
            let (plane, d, h) = (row / (depth * height) * channels, row / height % depth, row % height);
            let (target, image) = (to.plane(plane).wrapping_offset(to.row([d, h])), from.plane(plane));
            let places = taps[2].index.as_chunks::<N>().0.iter().zip(factors[2].as_chunks::<N>().0);
            // The rows of the input, at most one for each tap of cubic interpolation.
            let (first_depth, first_height) = (taps[0].of(d).start, taps[1].of(h).start);
            let mut rows = [image; 16];
            let row_of = |i: usize, j: usize| (i - first_depth) * taps[1].width + (j - first_height);
            for i in taps[0].of(d) {
                for j in taps[1].of(h) {
                    rows[row_of(i, j)] = image.wrapping_offset(from.row([taps[0].index[i], taps[1].index[j]]));
                }
            }
            for (w, (places, across)) in places.enumerate() {
                let offsets = places.map(|at| at as isize * from.steps[2]);
                let target = target.wrapping_offset(w as isize * to.steps[2]);
                let mut first = 0;
                while first < channels {
                    let count = lanes.min(channels - first);
                    let sum = sum_of_lines(taps, factors, [d, h], |i, j| {
                        let source = rows[row_of(i, j)].wrapping_add(first);
                        let mut line = T::Vector::<S>::splat(T::Wide::ZERO);
                        for (&offset, &factor) in offsets.iter().zip(across) {
                            // SAFETY: the table of taps was built for this input size, so the position is inside the
                            // input, and `count` channels from `first` on are adjacent.
                            let value = unsafe { T::load_some::<S>(source.offset(offset), count) };
                            line = line + T::Vector::<S>::splat(factor) * value;
                        }
                        line
                    });
                    // SAFETY: these channels of the position belong to this share alone.
                    unsafe { T::store_some::<S>(sum, target.wrapping_add(first), count) };
                    first += lanes;
                }
            }
        }
    }
}
