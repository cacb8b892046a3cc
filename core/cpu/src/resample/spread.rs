//! The gradients of resampling: each gradient is accumulated at the positions that its element came from.

use super::{Taps, weights};
use crate::array::Array;
use crate::device;
use crate::number::{Number, Wide};
use crate::pooling::store;
use crate::simd::{Kernel, Simd, run_rare};
use crate::volume::{Volume, has_adjacent_channels, try_each_planes};
use rushlight_base::list::{self, filled};
use rushlight_base::{Result, Scalar};
use std::ops::Range;

/// Most adjacent channels that are computed together.
const CHANNELS: usize = 64;

/// out = the transpose of [`interpolate`](super::interpolate) (and of [`pick`](super::pick), whose weights are 1).
pub fn spread(out: &Array, grad: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::spread(out, grad, &super::tables(taps)?, 0, spatial);
    }
    let back = Back::new(&taps[2], out.size(out.ndim() - 1))?;
    dispatch!(out.dtype(), "upsample_backward", integer half float complex chalf, T => {
        let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
        let factors = weights(taps)?;
        let back_factors = list::collect(back.weights.iter().map(|&weight| <T as Number>::Wide::from_scalar(Scalar::Float(weight))))?;
        spread_all(&Spread { to, from, taps, factors, back: &back, back_factors })
    })
}

/// For each input along the width, the outputs that it contributes to.
struct Back {
    /// Where the entries of an input start; its end is the start of the next.
    start: Vec<usize>,
    outputs: Vec<usize>,
    weights: Vec<f64>,
}

impl Back {
    fn new(taps: &Taps, inputs: usize) -> Result<Back> {
        let mut start = filled(inputs + 1, 0)?;
        taps.index.iter().for_each(|&at| start[at + 1] += 1);
        for at in 0..inputs {
            start[at + 1] += start[at];
        }
        let (mut outputs, mut weights) = (filled(taps.index.len(), 0)?, filled(taps.index.len(), 0.0)?);
        let mut next = list::copied(&start)?;
        for (nth, &at) in taps.index.iter().enumerate() {
            (outputs[next[at]], weights[next[at]]) = (nth / taps.width, taps.weights[nth]);
            next[at] += 1;
        }
        Ok(Back { start, outputs, weights })
    }
}

/// What all planes share.
struct Spread<'a, T: Number> {
    to: Volume<T>,
    from: Volume<T>,
    taps: &'a [Taps; 3],
    factors: [Vec<T::Wide>; 3],
    back: &'a Back,
    back_factors: Vec<T::Wide>,
}

fn spread_all<T: Number>(spread: &Spread<T>) -> Result<()> {
    let Spread { to, from, taps, .. } = spread;
    let work = from.area() * taps.iter().map(|taps| taps.width).product::<usize>() + to.area();
    if !has_adjacent_channels(to, from) {
        return try_each_planes(to.planes(), work, &|mut planes| planes.try_for_each(|plane| lines(spread, plane)));
    }
    let [samples, channels] = to.lead();
    let parts = channels.div_ceil(CHANNELS);
    try_each_planes(samples * parts, work.saturating_mul(CHANNELS.min(channels)), &|mut units| {
        units.try_for_each(|unit| {
            let first = unit % parts * CHANNELS;
            let start = unit / parts * channels + first;
            pixels(spread, start..start + CHANNELS.min(channels - first))
        })
    })
}

/// A plane.
fn lines<T: Number>(spread: &Spread<T>, plane: usize) -> Result<()> {
    let mut sums = filled(spread.to.area(), T::Wide::ZERO)?;
    let [depth, height, width] = spread.to.sizes;
    // Sums along the width take a step for each weight, those across rows a vector: fewer rows are summed along.
    let across = spread.from.sizes[1] > height;
    if across {
        let mut rows = filled(depth * height * spread.from.sizes[2], T::Wide::ZERO)?;
        run_rare::<T, _>(Rows { spread, plane, sums: &mut sums, rows: &mut rows });
    } else {
        let mut line = filled(width, T::Wide::ZERO)?;
        run_rare::<T, _>(Lines { spread, plane, sums: &mut sums, line: &mut line });
    }
    store(&spread.to, plane, &sums);
    Ok(())
}

/// Each row of gradients is first summed along the width.
struct Lines<'a, T: Number> {
    spread: &'a Spread<'a, T>,
    plane: usize,
    sums: &'a mut [T::Wide],
    line: &'a mut [T::Wide],
}

impl<T: Number> Kernel for Lines<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Spread { to, from, taps, factors, back, back_factors } = self.spread;
        let [_, rows, width] = to.sizes;
        let (line, step) = (self.line, from.steps[2]);
        for d in 0..from.sizes[0] {
            for h in 0..from.sizes[1] {
                let source = from.plane(self.plane).wrapping_offset(from.row([d, h]));
                along(line, back, back_factors, |output| {
                    // SAFETY: the table of taps was built for this size, so the position is inside the gradient.
                    unsafe { source.offset(output as isize * step).read() }.wide()
                });
                for i in taps[0].of(d) {
                    for j in taps[1].of(h) {
                        let at = (taps[0].index[i] * rows + taps[1].index[j]) * width;
                        let factor = factors[0][i].mul(factors[1][j]);
                        for (sum, &value) in self.sums[at..at + width].iter_mut().zip(&*line) {
                            *sum = sum.add(factor.mul(value));
                        }
                    }
                }
            }
        }
    }
}

/// sums = for each input along the width, the weighted sum of the `values` of the outputs that it contributes to.
#[inline(always)]
fn along<W: Wide>(sums: &mut [W], back: &Back, factors: &[W], value: impl Fn(usize) -> W) {
    for (sum, range) in sums.iter_mut().zip(back.start.windows(2)) {
        let own = range[0]..range[1];
        *sum = W::ZERO;
        for (&output, &factor) in back.outputs[own.clone()].iter().zip(&factors[own]) {
            *sum = sum.add(factor.mul(value(output)));
        }
    }
}

/// The rows of gradients are first added up for each row of the result.
struct Rows<'a, T: Number> {
    spread: &'a Spread<'a, T>,
    plane: usize,
    sums: &'a mut [T::Wide],
    /// For each row of the result, the sum of rows of gradients.
    rows: &'a mut [T::Wide],
}

impl<T: Number> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Spread { to, from, taps, factors, back, back_factors } = self.spread;
        let ([_, height, width], outputs) = (to.sizes, from.sizes[2]);
        for d in 0..from.sizes[0] {
            for h in 0..from.sizes[1] {
                let source = from.plane(self.plane).wrapping_offset(from.row([d, h]));
                for i in taps[0].of(d) {
                    for j in taps[1].of(h) {
                        let row = taps[0].index[i] * height + taps[1].index[j];
                        let row = &mut self.rows[row * outputs..][..outputs];
                        add_row(row, source, from.steps[2], factors[0][i].mul(factors[1][j]));
                    }
                }
            }
        }
        for (sums, row) in self.sums.chunks_exact_mut(width.max(1)).zip(self.rows.chunks_exact(outputs.max(1))) {
            along(sums, back, back_factors, |output| row[output]);
        }
    }
}

/// sums += factor * the row at `source`, which has as many elements.
#[inline(always)]
fn add_row<T: Number>(sums: &mut [T::Wide], source: *const T, step: isize, factor: T::Wide) {
    for (nth, sum) in sums.iter_mut().enumerate() {
        let at = if step == 1 { source.wrapping_add(nth) } else { source.wrapping_offset(nth as isize * step) };
        // SAFETY: the caller passes as many elements as the row of gradients has.
        *sum = sum.add(factor.mul(unsafe { at.read() }.wide()));
    }
}

/// Planes whose elements are adjacent.
fn pixels<T: Number>(spread: &Spread<T>, planes: Range<usize>) -> Result<()> {
    let (to, lanes, first) = (&spread.to, planes.len(), planes.start);
    let mut sums = filled(to.area() * lanes, T::Wide::ZERO)?;
    run_rare::<T, _>(Pixels { spread, planes, sums: &mut sums });
    let [_, height, width] = to.sizes;
    for (position, sums) in sums.chunks_exact(lanes).enumerate() {
        let (d, h, w) = (position / (height * width), position / width % height, position % width);
        let target = to.plane(first).wrapping_offset(to.row([d, h]) + w as isize * to.steps[2]);
        for (lane, &sum) in sums.iter().enumerate() {
            // SAFETY: the channels of this position that belong to this share are adjacent.
            unsafe { target.add(lane).write(T::narrow(sum)) };
        }
    }
    Ok(())
}

struct Pixels<'a, T: Number> {
    spread: &'a Spread<'a, T>,
    planes: Range<usize>,
    sums: &'a mut [T::Wide],
}

impl<T: Number> Kernel for Pixels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Spread { to, from, taps, factors, .. } = self.spread;
        let ([_, rows, row], lanes) = (to.sizes, self.planes.len().min(CHANNELS));
        let mut values = [T::Wide::ZERO; CHANNELS];
        let (values, grads) = (&mut values[..lanes], from.plane(self.planes.start));
        for d in 0..from.sizes[0] {
            for h in 0..from.sizes[1] {
                for w in 0..from.sizes[2] {
                    let source = from.row([d, h]) + w as isize * from.steps[2];
                    let source = grads.wrapping_offset(source);
                    for (lane, value) in values.iter_mut().enumerate() {
                        // SAFETY: the channels of a position are adjacent.
                        *value = unsafe { source.add(lane).read() }.wide();
                    }
                    for i in taps[0].of(d) {
                        for j in taps[1].of(h) {
                            let line = (taps[0].index[i] * rows + taps[1].index[j]) * row;
                            let factor = factors[0][i].mul(factors[1][j]);
                            for k in taps[2].of(w) {
                                let factor = factor.mul(factors[2][k]);
                                let at = (line + taps[2].index[k]) * lanes;
                                for (sum, &value) in self.sums[at..at + lanes].iter_mut().zip(&*values) {
                                    *sum = sum.add(factor.mul(value));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::mirrored;

    #[test]
    fn every_output_of_an_input_is_listed_in_order() {
        // Inputs of the outputs: 2 1 0 1 2 1 0.
        let back = Back::new(&mirrored(7, 3, 2).unwrap(), 3).unwrap();
        assert_eq!(back.start, [0, 2, 5, 7]);
        assert_eq!(back.outputs, [2, 6, 1, 3, 5, 0, 4]);
        assert_eq!(back.weights, [1.0; 7]);
    }
}
