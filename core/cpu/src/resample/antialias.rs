//! Interpolation of images with antialiasing: where an image shrinks, the filter is stretched accordingly, so that
//! every element contributes to the output. Along one dimension after the other: an output position depends on many
//! elements.

use super::taps::{Filter, Scale, Taps, line, rounded};
use crate::array::Array;
use crate::device;
use crate::number::{Number, Wide};
use crate::pooling::store;
use crate::volume::{Volume, try_each_planes};
use rushlight_base::list::{filled, with_capacity};
use rushlight_base::{Result, Scalar};

/// For each output position, along one dimension, the run of inputs it depends on, with their weights.
pub struct Windows {
    first: Vec<usize>,
    count: Vec<usize>,
    /// `width` for each position.
    weights: Vec<f64>,
    width: usize,
    input: usize,
}

impl Windows {
    /// The runs for `length` positions of `input` elements.
    pub fn new(length: usize, input: usize, filter: Filter, scale: Scale) -> Result<Windows> {
        let (single, step) = (scale.single, super::taps::step(length, input, scale));
        let reach = rounded(filter.reach() * step.max(1.0), single);
        let inverse = if step >= 1.0 { rounded(1.0 / step, single) } else { 1.0 };
        let width = input.min((reach.ceil() as usize).saturating_mul(2).saturating_add(1));
        let (mut first, mut count) = (with_capacity(length)?, with_capacity(length)?);
        let mut weights = filled(length.saturating_mul(width), 0.0)?;
        for place in 0..length {
            let middle = rounded(step * (place as f64 + 0.5), single);
            let start = line(middle - reach, 1.0, 0.5, single).max(0.0) as usize;
            let end = (line(middle + reach, 1.0, 0.5, single).max(0.0) as usize).min(input);
            let own = &mut weights[place * width..][..end.saturating_sub(start).min(width)];
            let before = rounded(start as f64 - middle, single);
            let mut sum = 0.0;
            for (nth, weight) in own.iter_mut().enumerate() {
                *weight = filter.at(rounded((rounded(nth as f64 + before, single) + 0.5) * inverse, single), single);
                sum = rounded(sum + *weight, single);
            }
            if sum != 0.0 {
                own.iter_mut().for_each(|weight| *weight = rounded(*weight / sum, single));
            }
            first.push(start);
            count.push(own.len());
        }
        Ok(Windows { first, count, weights, width, input })
    }

    /// The same as a table with the same number of inputs for each position, those beyond its run with weight 0.
    pub fn taps(&self) -> Result<Taps> {
        let mut index = with_capacity(self.weights.len())?;
        // A scale factor may lead beyond the input, where a position has no inputs.
        let last = self.input.saturating_sub(1);
        for &first in &self.first {
            index.extend((0..self.width).map(|nth| first.saturating_add(nth).min(last)));
        }
        let mut weights = with_capacity(self.weights.len())?;
        weights.extend_from_slice(&self.weights);
        Ok(Taps { width: self.width, index, weights })
    }

    fn factors<W: Wide>(&self) -> Result<Vec<W>> {
        let mut factors = with_capacity(self.weights.len())?;
        factors.extend(self.weights.iter().map(|&weight| W::from_scalar(Scalar::Float(weight))));
        Ok(factors)
    }
}

/// Intermediate planes, from one size to the other.
struct Passes<'a, W> {
    down: &'a Windows,
    across: &'a Windows,
    down_factors: Vec<W>,
    across_factors: Vec<W>,
}

impl<'a, W: Wide> Passes<'a, W> {
    fn new([down, across]: [&'a Windows; 2]) -> Result<Passes<'a, W>> {
        Ok(Passes { down, across, down_factors: down.factors()?, across_factors: across.factors()? })
    }

    /// For each position along a dimension, the elements it depends on, each with its weight.
    fn each(windows: &Windows, factors: &[W], place: usize) -> impl Iterator<Item = (usize, W)> {
        let (first, start) = (windows.first[place], place * windows.width);
        factors[start..start + windows.count[place]].iter().enumerate().map(move |(nth, &weight)| (first + nth, weight))
    }
}

/// out = `input` interpolated along width and height, `windows` being those of height and width.
pub fn interpolate_smoothly(out: &Array, input: &Array, windows: [&Windows; 2]) -> Result<()> {
    if !out.is_on_host() {
        let [down, across] = windows;
        return device::sums(out, input, &super::tables(&[Taps::none(), down.taps()?, across.taps()?])?, 0, 2);
    }
    dispatch!(out.dtype(), "compute_index_ranges_weights", float, T => {
        let passes = Passes::<<T as Number>::Wide>::new(windows)?;
        let (to, from) = (Volume::<T>::of(out, 2)?, Volume::<T>::of(input, 2)?);
        let ([_, height, width], rows) = (to.sizes, from.sizes[1]);
        let work = width * rows * passes.across.width + width * height * passes.down.width;
        planes(to.planes(), work, &|plane| {
            let mut lines = filled(rows * width, <T as Number>::Wide::ZERO)?;
            let mut sums = filled(height * width, <T as Number>::Wide::ZERO)?;
            let source = from.plane(plane);
            for h in 0..rows {
                for w in 0..width {
                    let mut sum = <T as Number>::Wide::ZERO;
                    for (at, weight) in Passes::each(passes.across, &passes.across_factors, w) {
                        // SAFETY: the table of taps was built for this input size, so the position is inside the input.
                        let value = unsafe { source.offset(from.row([0, h]) + at as isize * from.steps[2]).read() };
                        sum = sum.add(weight.mul(value.wide()));
                    }
                    lines[h * width + w] = sum;
                }
            }
            for (h, sums) in sums.chunks_exact_mut(width).enumerate() {
                for (at, weight) in Passes::each(passes.down, &passes.down_factors, h) {
                    for (sum, &value) in sums.iter_mut().zip(&lines[at * width..][..width]) {
                        *sum = sum.add(weight.mul(value));
                    }
                }
            }
            store(&to, plane, &sums);
            Ok(())
        })
    })
}

/// out = the transpose of [`interpolate_smoothly`]; `kernel` names it in errors.
pub fn spread_smoothly(out: &Array, grad: &Array, windows: [&Windows; 2], kernel: &'static str) -> Result<()> {
    if !out.is_on_host() {
        let [down, across] = windows;
        return device::spread(out, grad, &super::tables(&[Taps::none(), down.taps()?, across.taps()?])?, 0, 2);
    }
    dispatch!(out.dtype(), kernel, float, T => {
        let passes = Passes::<<T as Number>::Wide>::new(windows)?;
        let (to, from) = (Volume::<T>::of(out, 2)?, Volume::<T>::of(grad, 2)?);
        let ([_, height, width], [_, rows, columns]) = (from.sizes, to.sizes);
        let work = width * rows * passes.across.width + width * height * passes.down.width;
        planes(to.planes(), work, &|plane| {
            let mut lines = filled(rows * width, <T as Number>::Wide::ZERO)?;
            let mut sums = filled(rows * columns, <T as Number>::Wide::ZERO)?;
            let source = from.plane(plane);
            for h in 0..height {
                for (at, weight) in Passes::each(passes.down, &passes.down_factors, h) {
                    for (w, sum) in lines[at * width..][..width].iter_mut().enumerate() {
                        // SAFETY: `h` and `w` are below the gradient's sizes.
                        let value = unsafe { source.offset(from.row([0, h]) + w as isize * from.steps[2]).read() };
                        *sum = sum.add(weight.mul(value.wide()));
                    }
                }
            }
            for (line, sums) in lines.chunks_exact(width).zip(sums.chunks_exact_mut(columns)) {
                for (w, &value) in line.iter().enumerate() {
                    for (at, weight) in Passes::each(passes.across, &passes.across_factors, w) {
                        sums[at] = sums[at].add(weight.mul(value));
                    }
                }
            }
            store(&to, plane, &sums);
            Ok(())
        })
    })
}

/// Calls `body` for each plane; the first error is returned.
fn planes(count: usize, work: usize, body: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    try_each_planes(count, work, &|mut planes| planes.try_for_each(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn a_window_has_every_input_within_reach_and_weights_that_sum_to_one() {
        for (length, input, align_corners) in
            [(3, 100, false), (7, 5, false), (1, 5, true), (4, 9, true), (6, 1, false)]
        {
            for filter in [Filter::Linear, Filter::Cubic] {
                let scale = Scale { align_corners, factor: None, single: false, weights: DType::F64 };
                let windows = Windows::new(length, input, filter, scale).unwrap();
                let taps = windows.taps().unwrap();
                for (place, weights) in taps.weights.chunks(taps.width).enumerate() {
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    assert!(windows.first[place] + windows.count[place] <= input && windows.count[place] > 0);
                    assert!(taps.index[place * taps.width..][..taps.width].iter().all(|&at| at < input));
                }
            }
        }
    }
}
