//! The elements that a coordinate selects along one dimension, and their weights or the derivatives of these.

use super::{Beyond, Interpolation, Sampling};
#[cfg(target_arch = "nvptx64")]
use crate::floats::{Functions, Roundings};
use crate::number::{Analytic, Number};

/// Up to four elements with weights.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    taps: [(usize, f64); 4],
    count: usize,
}

impl Axis {
    fn none() -> Axis {
        Axis { taps: [(0, 0.0); 4], count: 0 }
    }

    /// A missing dimension: one element with weight 1.
    pub fn single() -> Axis {
        let mut axis = Axis::none();
        axis.push(0, 1.0);
        axis
    }

    #[inline(always)]
    fn push(&mut self, at: usize, weight: f64) {
        self.taps[self.count] = (at, weight);
        self.count += 1;
    }

    /// The element at `at`, unless it is beyond the image.
    #[inline(always)]
    fn add(&mut self, at: f64, size: usize, weight: f64) {
        if at >= 0.0 && at < size as f64 {
            self.push(at as usize, weight);
        }
    }

    pub fn taps(&self) -> &[(usize, f64)] {
        &self.taps[..self.count]
    }
}

/// `value` rounded to the grid's dtype, as PyTorch rounds after every step.
#[inline(always)]
fn rounded<T: Number<Wide: Analytic + Into<f64>>>(value: f64) -> f64 {
    T::narrow(T::Wide::from_f64(value)).wide().into()
}

/// The terms of the coordinate `value` along a dimension of `size` elements, computed in `T`. `order`: of the derivative.
#[inline(always)]
pub(super) fn along<T: Number<Wide: Analytic + Into<f64>>>(
    value: f64,
    size: usize,
    sampling: &Sampling,
    order: usize,
) -> Axis {
    let (length, round) = (size as f64, rounded::<T>);
    let (mut at, mut slope) = if sampling.align_corners {
        (round(round(round(value + 1.0) / 2.0) * (length - 1.0)), (length - 1.0) / 2.0)
    } else {
        (round(round(round(value + 1.0) * length) - 1.0) / 2.0, length / 2.0)
    };
    let cubic = sampling.interpolation == Interpolation::Cubic;
    if !cubic {
        let (inside, direction) = brought_inside(at, length, sampling, round);
        (at, slope) = (inside, slope * direction);
    }
    let mut axis = Axis::none();
    if !at.is_finite() {
        return axis;
    }
    let scale = match order {
        0 => 1.0,
        1 => slope,
        _ => slope.powi(order as i32),
    };
    match sampling.interpolation {
        // A step function: its derivative is 0.
        Interpolation::Nearest if order > 0 => {}
        Interpolation::Nearest => axis.add(at.round_ties_even(), size, 1.0),
        Interpolation::Linear => {
            let first = at.floor();
            let t = round(at - first);
            let weights = match order {
                0 => [round(1.0 - t), t],
                1 => [-1.0, 1.0],
                _ => return axis,
            };
            axis.add(first, size, weights[0] * scale);
            axis.add(first + 1.0, size, weights[1] * scale);
        }
        Interpolation::Cubic => {
            let first = at.floor();
            let weights = cubic_weights(round(at - first), order, round);
            for (offset, weight) in [-1.0, 0.0, 1.0, 2.0].into_iter().zip(weights) {
                let (inside, _) = brought_inside(first + offset, length, sampling, round);
                axis.add(inside.floor(), size, weight * scale);
            }
        }
    }
    axis
}

/// Maps a position beyond the borders back according to the padding mode, with the derivative of the mapping.
#[inline(always)]
fn brought_inside(at: f64, length: f64, sampling: &Sampling, round: impl Fn(f64) -> f64 + Copy) -> (f64, f64) {
    match sampling.beyond {
        Beyond::Zeros => (at, 1.0),
        Beyond::Border => clipped(at, length),
        Beyond::Reflection => {
            let (low, span) = if sampling.align_corners { (0.0, length - 1.0) } else { (-0.5, length) };
            let (mirrored, direction) = reflected(at, low, span, round);
            let (inside, kept) = clipped(mirrored, length);
            (inside, direction * kept)
        }
    }
}

#[inline(always)]
fn clipped(at: f64, length: f64) -> (f64, f64) {
    if at <= 0.0 {
        (0.0, 0.0)
    } else if at >= length - 1.0 {
        (length - 1.0, 0.0)
    } else {
        (at, 1.0)
    }
}

/// Mirrored at `low` and `low + span`, as often as it takes.
#[inline(always)]
fn reflected(at: f64, low: f64, span: f64, round: impl Fn(f64) -> f64 + Copy) -> (f64, f64) {
    if span == 0.0 {
        return (0.0, 0.0);
    }
    let (distance, direction) = if at < low { (low - at, -1.0) } else { (at - low, 1.0) };
    let (distance, twice) = (round(distance), round(2.0 * span));
    let turns = round(distance / twice).trunc();
    let extra = round(distance - round(turns * twice));
    let back = round(twice - extra);
    if extra <= back { (round(extra + low), direction) } else { (round(back + low), -direction) }
}

/// The weights of the cubic convolution with the coefficient -0.75, or their derivatives.
#[inline(always)]
fn cubic_weights(t: f64, order: usize, round: impl Fn(f64) -> f64 + Copy) -> [f64; 4] {
    const A: f64 = -0.75;
    if order == 0 {
        let r = round;
        let near = |x: f64| r(r(r(r(r((A + 2.0) * x) - (A + 3.0)) * x) * x) + 1.0);
        let far = |x: f64| r(r(r(r(r(r(A * x) - 5.0 * A) * x) + 8.0 * A) * x) - 4.0 * A);
        return [far(r(t + 1.0)), near(t), near(r(1.0 - t)), far(r(2.0 - t))];
    }
    // Coefficients from the cube down, for the derivative of this order.
    let polynomial = |mut c: [f64; 4], x: f64| {
        for _ in 0..order.min(4) {
            c = [0.0, 3.0 * c[0], 2.0 * c[1], c[2]];
        }
        ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
    };
    let near = |x: f64| polynomial([A + 2.0, -(A + 3.0), 0.0, 1.0], x);
    let far = |x: f64| polynomial([A, -5.0 * A, 8.0 * A, -4.0 * A], x);
    // The third and the fourth run against t.
    let sign = if order.is_multiple_of(2) { 1.0 } else { -1.0 };
    [far(t + 1.0), near(t), sign * near(1.0 - t), sign * far(2.0 - t)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Interpolation; 3] = [Interpolation::Linear, Interpolation::Nearest, Interpolation::Cubic];

    fn sum(axis: &Axis) -> f64 {
        axis.taps().iter().map(|(_, weight)| weight).sum()
    }

    #[test]
    fn weights_sum_to_one_within_and_their_derivatives_to_zero() {
        for interpolation in ALL {
            for beyond in [Beyond::Zeros, Beyond::Border, Beyond::Reflection] {
                let sampling = Sampling { interpolation, beyond, align_corners: false };
                for order in 0..3 {
                    let wanted = if order == 0 { 1.0 } else { 0.0 };
                    assert!((sum(&along::<f64>(0.1, 9, &sampling, order)) - wanted).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn derivatives_match_finite_differences() {
        let step = 1e-6;
        for interpolation in [Interpolation::Linear, Interpolation::Cubic] {
            let sampling = Sampling { interpolation, beyond: Beyond::Reflection, align_corners: true };
            for (value, order) in [(0.13, 1), (0.61, 1), (0.13, 2)] {
                let at = |value: f64, order: usize| {
                    let axis = along::<f64>(value, 8, &sampling, order);
                    axis.taps().iter().map(|&(at, weight)| weight * (at * at) as f64).sum::<f64>()
                };
                let slope = (at(value + step, order - 1) - at(value - step, order - 1)) / (2.0 * step);
                assert!((at(value, order) - slope).abs() < 1e-4 * slope.abs().max(1.0), "{interpolation:?} {order}");
            }
        }
    }

    #[test]
    fn positions_outside_the_image_are_zero_unless_padded_otherwise() {
        let sampling = Sampling { interpolation: Interpolation::Linear, beyond: Beyond::Zeros, align_corners: true };
        assert!(along::<f64>(3.0, 4, &sampling, 0).taps().is_empty());
        assert!(along::<f64>(f64::NAN, 4, &sampling, 0).taps().is_empty());
        let sampling = Sampling { beyond: Beyond::Border, ..sampling };
        assert_eq!(along::<f64>(3.0, 4, &sampling, 0).taps(), [(3, 1.0)]);
    }
}
