//! The inputs of each output position, along one dimension.

use rushlight_base::list::{filled, with_capacity};
use rushlight_base::{DType, Result, bf16, f16};
use std::ops::Range;

/// For each position `i` of the output, the inputs `index[i * width..]` with their weights, `width` of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Taps {
    /// Inputs per position.
    pub width: usize,
    /// Their positions.
    pub index: Vec<usize>,
    /// Their weights, as many.
    pub weights: Vec<f64>,
}

impl Taps {
    fn single(length: usize, at: impl Fn(usize) -> usize) -> Result<Taps> {
        let mut index = with_capacity(length)?;
        index.extend((0..length).map(at));
        Ok(Taps { width: 1, index, weights: filled(length, 1.0)? })
    }

    fn with_space(length: usize, width: usize) -> Result<Taps> {
        let count = length.saturating_mul(width);
        Ok(Taps { width, index: with_capacity(count)?, weights: with_capacity(count)? })
    }

    /// A missing dimension: one element.
    pub fn none() -> Taps {
        Taps { width: 1, index: vec![0], weights: vec![1.0] }
    }

    /// The entries of a position.
    #[inline(always)]
    pub(super) fn of(&self, place: usize) -> Range<usize> {
        place * self.width..(place + 1) * self.width
    }

    /// The first input of a position.
    pub(super) fn first(&self, place: usize) -> usize {
        self.index[place * self.width]
    }
}

/// Interpolation mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The straight line between two.
    Linear,
    /// The cubic convolution of four, with the coefficient -0.75.
    Cubic,
}

impl Filter {
    /// Radius of the antialiasing filter, in elements of the input if it does not shrink.
    pub(super) fn reach(self) -> f64 {
        if self == Filter::Cubic { 2.0 } else { 1.0 }
    }

    /// The antialiasing filter at `x`. (Its cubic convolution has the coefficient -0.5.)
    pub(super) fn at(self, x: f64, single: bool) -> f64 {
        let x = x.abs();
        let value = match self {
            Filter::Linear => 1.0 - x,
            Filter::Cubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Filter::Cubic => -0.5 * (((x - 5.0) * x + 8.0) * x - 4.0),
        };
        if x < self.reach() { rounded(value, single) } else { 0.0 }
    }
}

/// How positions of the output correspond to those of the input.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The centres of the corner elements are aligned, rather than the outer edges.
    pub align_corners: bool,
    /// Scale factor: size of the output over that of the input, if given.
    pub factor: Option<f64>,
    /// Places are computed in `f32`, as dtypes up to that compute.
    pub single: bool,
    /// The dtype in which weights are stored.
    pub weights: DType,
}

/// A weight rounded to `dtype`.
fn kept(weight: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => weight,
        DType::F16 => f16::from_f32(weight as f32).to_f64(),
        DType::BF16 => bf16::from_f32(weight as f32).to_f64(),
        _ => f64::from(weight as f32),
    }
}

pub(super) fn rounded(value: f64, single: bool) -> f64 {
    if single { f64::from(value as f32) } else { value }
}

/// `a * b + c`, rounded to the precision of `single` after each step.
pub(super) fn line(a: f64, b: f64, c: f64, single: bool) -> f64 {
    rounded(rounded(a * b, single) + c, single)
}

/// The nearest element: by the upper left corner, or, `exact`, by the centre of the element. Computed in `f32` for
/// every dtype, like PyTorch.
pub fn nearest(length: usize, input: usize, factor: Option<f64>, exact: bool) -> Result<Taps> {
    let step = match factor.filter(|&factor| factor > 0.0) {
        Some(factor) => (1.0 / factor) as f32,
        None => input as f32 / length as f32,
    };
    Taps::single(length, |place| {
        let at = if exact { (place as f32 + 0.5) * step } else { place as f32 * step };
        (at.floor() as usize).min(input.saturating_sub(1))
    })
}

/// Distance in the input of two adjacent outputs.
pub(super) fn step(length: usize, input: usize, scale: Scale) -> f64 {
    let single = scale.single;
    if scale.align_corners {
        return if length > 1 { rounded((input as f64 - 1.0) / (length as f64 - 1.0), single) } else { 0.0 };
    }
    match scale.factor.filter(|&factor| factor > 0.0) {
        Some(factor) => rounded(1.0 / factor, single),
        None => rounded(input as f64 / length as f64, single),
    }
}

/// Interpolation between elements.
pub fn interpolation(length: usize, input: usize, filter: Filter, scale: Scale) -> Result<Taps> {
    let (single, step) = (scale.single, step(length, input, scale));
    let at = |place: usize| {
        if scale.align_corners {
            rounded(place as f64 * step, single)
        } else {
            line(place as f64 + 0.5, step, -0.5, single)
        }
    };
    let last = input.saturating_sub(1);
    match filter {
        Filter::Linear => {
            let mut taps = Taps::with_space(length, 2)?;
            for place in 0..length {
                let at = at(place).max(0.0);
                let first = (at as usize).min(last);
                let second = (first + 1).min(last);
                let rest = kept((at - first as f64).clamp(0.0, 1.0), scale.weights);
                taps.index.extend([first, second]);
                taps.weights.extend([kept(1.0 - rest, scale.weights), rest]);
            }
            Ok(taps)
        }
        Filter::Cubic => {
            let mut taps = Taps::with_space(length, 4)?;
            for place in 0..length {
                let at = at(place);
                let first = at.floor();
                let rest = rounded(at - first, single).clamp(0.0, 1.0);
                let tap = |offset: f64| (first + offset).clamp(0.0, last as f64) as usize;
                taps.index.extend([-1.0, 0.0, 1.0, 2.0].map(tap));
                taps.weights.extend(cubic(rest).map(|weight| kept(weight, scale.weights)));
            }
            Ok(taps)
        }
    }
}

/// The weights of the four elements around a position `t` after the second of them.
fn cubic(t: f64) -> [f64; 4] {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

/// Padding of `left` elements (negative: cropping) by reflection at the first and last element.
pub fn mirrored(length: usize, input: usize, left: i64) -> Result<Taps> {
    let last = input as i64 - 1;
    Taps::single(length, |place| {
        let at = (place as i64 - left).abs();
        (if at > last { 2 * last - at } else { at }) as usize
    })
}

/// Padding of `left` elements that repeats the first and the last one.
pub fn repeated(length: usize, input: usize, left: i64) -> Result<Taps> {
    Taps::single(length, |place| (place as i64 - left).clamp(0, input as i64 - 1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_leave_out_the_edge_and_repetition_does_not() {
        assert_eq!(mirrored(7, 3, 2).unwrap().index, [2, 1, 0, 1, 2, 1, 0]);
        assert_eq!(repeated(6, 3, 2).unwrap().index, [0, 0, 0, 1, 2, 2]);
        assert_eq!(repeated(2, 4, -1).unwrap().index, [1, 2]);
    }

    #[test]
    fn weights_sum_to_one() {
        for scale in [(false, None), (true, None), (false, Some(2.5))] {
            let scale = Scale { align_corners: scale.0, factor: scale.1, single: false, weights: DType::F64 };
            for filter in [Filter::Linear, Filter::Cubic] {
                let taps = interpolation(7, 3, filter, scale).unwrap();
                for weights in taps.weights.chunks(taps.width) {
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
