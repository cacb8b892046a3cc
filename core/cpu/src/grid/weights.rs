//! The elements that coordinates select along one dimension, and their weights or the derivatives of these.

use super::{Beyond, Interpolation, Sampling};
#[cfg(target_arch = "nvptx64")]
use crate::floats::Roundings;
use crate::number::{Analytic, Number, Ordered, Wide};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `f32` or `f64`, in which the positions of a grid are computed.
pub(super) trait Coordinate:
    Analytic
    + Ordered
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn floor(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    /// The integer, saturated.
    fn index(self) -> i32;
}

macro_rules! coordinates {
    ($($type:ident),*) => {$(
        impl Coordinate for $type {
            #[inline(always)]
            fn floor(self) -> $type {
                standard!($type::floor(self))
            }
            #[inline(always)]
            fn trunc(self) -> $type {
                standard!($type::trunc(self))
            }
            #[inline(always)]
            fn round_ties_even(self) -> $type {
                standard!($type::round_ties_even(self))
            }
            #[inline(always)]
            fn index(self) -> i32 {
                self as i32
            }
        }
    )*};
}

coordinates!(f32, f64);

/// `each!(i => value)`: an array of the values for every `i`. A loop, which is compiled for the instruction set of the
/// kernel; closures that the compiler does not inline are not.
macro_rules! each {
    ($i:ident => $value:expr) => {{
        let mut all = [<_>::ZERO; N];
        for $i in 0..N {
            all[$i] = $value;
        }
        all
    }};
}

/// The elements that `N` coordinates select along a dimension: up to four for each.
#[derive(Clone, Copy)]
pub(super) struct Axis<W, const N: usize> {
    taps: usize,
    /// Their indices; -1 beyond the image.
    pub at: [[i32; N]; 4],
    /// Their weights; 0 beyond the image.
    pub weights: [[W; N]; 4],
}

impl<W: Coordinate, const N: usize> Axis<W, N> {
    /// A missing dimension: one element with weight 1.
    pub fn single() -> Axis<W, N> {
        Axis { taps: 1, at: [[0; N]; 4], weights: [[W::ONE; N]; 4] }
    }

    /// How many elements each coordinate selects.
    #[inline(always)]
    pub fn taps(&self) -> usize {
        self.taps
    }

    /// Adds the elements at the positions `at`, unless they are beyond the image.
    #[inline(always)]
    fn push(&mut self, at: [W; N], length: W, weights: [W; N]) {
        for i in 0..N {
            let inside = at[i] >= W::ZERO && at[i] < length;
            self.at[self.taps][i] = if inside { at[i].index() } else { -1 };
            self.weights[self.taps][i] = if inside { weights[i] } else { W::ZERO };
        }
        self.taps += 1;
    }
}

/// A number rounded to the grid's dtype, as PyTorch rounds after every step.
#[inline(always)]
fn round<T: Number>(value: T::Wide) -> T::Wide {
    T::narrow(value).wide()
}

/// axis = the terms of the coordinates `values` along a dimension of `size` elements, less than 2^31, computed in `T`.
/// `order`: of the derivative. Every step is a loop over the coordinates, which the compiler vectorizes.
#[inline(always)]
pub(super) fn along<T: Number<Wide: Coordinate>, const N: usize>(
    axis: &mut Axis<T::Wide, N>,
    values: &[T::Wide; N],
    size: usize,
    sampling: &Sampling,
    order: usize,
) {
    let (zero, one, two) = (T::Wide::ZERO, T::Wide::ONE, T::Wide::from_f64(2.0));
    let (length, r) = (T::Wide::from_f64(size as f64), round::<T>);
    let (mut at, mut slopes) = if sampling.align_corners {
        (each!(i => r(r(r(values[i] + one) / two) * (length - one))), [(length - one) / two; N])
    } else {
        (each!(i => r(r(r(r(values[i] + one) * length) - one) / two)), [length / two; N])
    };
    if sampling.interpolation != Interpolation::Cubic {
        let (inside, directions) = brought_inside::<T, N>(at, length, sampling);
        (at, slopes) = (inside, each!(i => slopes[i] * directions[i]));
    }
    axis.taps = 0;
    let scaled = |mut weights: [T::Wide; N]| {
        for _ in 0..order {
            weights = each!(i => weights[i] * slopes[i]);
        }
        weights
    };
    match sampling.interpolation {
        // A step function: its derivative is 0.
        Interpolation::Nearest if order > 0 => {}
        Interpolation::Nearest => axis.push(each!(i => at[i].round_ties_even()), length, [one; N]),
        Interpolation::Linear => {
            let first = each!(i => at[i].floor());
            let t = each!(i => r(at[i] - first[i]));
            let [near, far] = match order {
                0 => [each!(i => r(one - t[i])), t],
                1 => [[-one; N], [one; N]],
                _ => return,
            };
            axis.push(first, length, scaled(near));
            axis.push(each!(i => first[i] + one), length, scaled(far));
        }
        Interpolation::Cubic => {
            let first = each!(i => at[i].floor());
            for tap in 0..4 {
                let offset = T::Wide::from_f64(tap as f64 - 1.0);
                let (inside, _) = brought_inside::<T, N>(each!(i => first[i] + offset), length, sampling);
                // A position of infinity has no elements, also if the padding brings it inside.
                let known = each!(i => if at[i] * zero == zero { inside[i].floor() } else { -one });
                let weights = each!(i => cubic_weights::<T>(r(at[i] - first[i]), order)[tap]);
                axis.push(known, length, scaled(weights));
            }
        }
    }
}

/// Maps positions beyond the borders back according to the padding mode, with the derivatives of the mapping.
#[inline(always)]
fn brought_inside<T: Number<Wide: Coordinate>, const N: usize>(
    at: [T::Wide; N],
    length: T::Wide,
    sampling: &Sampling,
) -> ([T::Wide; N], [T::Wide; N]) {
    let (last, one) = (length - T::Wide::ONE, T::Wide::ONE);
    match sampling.beyond {
        Beyond::Zeros => (at, [one; N]),
        Beyond::Border => (each!(i => clipped(at[i], last).0), each!(i => clipped(at[i], last).1)),
        Beyond::Reflection => {
            let half = T::Wide::from_f64(0.5);
            let (low, span) = if sampling.align_corners { (T::Wide::ZERO, last) } else { (-half, length) };
            let (mut inside, mut directions) = (at, [one; N]);
            for i in 0..N {
                let (mirrored, direction) = reflected::<T>(at[i], low, span);
                let (place, kept) = clipped(mirrored, last);
                (inside[i], directions[i]) = (place, direction * kept);
            }
            (inside, directions)
        }
    }
}

#[inline(always)]
fn clipped<W: Coordinate>(at: W, last: W) -> (W, W) {
    if at <= W::ZERO {
        (W::ZERO, W::ZERO)
    } else if at >= last {
        (last, W::ZERO)
    } else {
        (at, W::ONE)
    }
}

/// Mirrored at `low` and `low + span`, as often as it takes.
#[inline(always)]
fn reflected<T: Number<Wide: Coordinate>>(at: T::Wide, low: T::Wide, span: T::Wide) -> (T::Wide, T::Wide) {
    let (one, r) = (T::Wide::ONE, round::<T>);
    if span == T::Wide::ZERO {
        return (T::Wide::ZERO, T::Wide::ZERO);
    }
    let (distance, direction) = if at < low { (low - at, -one) } else { (at - low, one) };
    let (distance, twice) = (r(distance), r(span + span));
    let turns = r(distance / twice).trunc();
    let extra = r(distance - r(turns * twice));
    let back = r(twice - extra);
    if extra <= back { (r(extra + low), direction) } else { (r(back + low), -direction) }
}

/// The weights of the cubic convolution with the coefficient -0.75, or their derivatives.
#[inline(always)]
fn cubic_weights<T: Number<Wide: Coordinate>>(t: T::Wide, order: usize) -> [T::Wide; 4] {
    const A: f64 = -0.75;
    let (c, r, one) = (T::Wide::from_f64, round::<T>, T::Wide::ONE);
    if order == 0 {
        let near = |x| r(r(r(r(r(c(A + 2.0) * x) - c(A + 3.0)) * x) * x) + one);
        let far = |x| r(r(r(r(r(r(c(A) * x) - c(5.0 * A)) * x) + c(8.0 * A)) * x) - c(4.0 * A));
        return [far(r(t + one)), near(t), near(r(one - t)), far(r(c(2.0) - t))];
    }
    // Coefficients from the cube down, for the derivative of this order.
    let polynomial = |mut of: [f64; 4], x| {
        for _ in 0..order.min(4) {
            of = [0.0, 3.0 * of[0], 2.0 * of[1], of[2]];
        }
        ((c(of[0]) * x + c(of[1])) * x + c(of[2])) * x + c(of[3])
    };
    let near = |x| polynomial([A + 2.0, -(A + 3.0), 0.0, 1.0], x);
    let far = |x| polynomial([A, -5.0 * A, 8.0 * A, -4.0 * A], x);
    // The third and the fourth run against t.
    let sign = if order.is_multiple_of(2) { one } else { -one };
    [far(t + one), near(t), sign * near(one - t), sign * far(c(2.0) - t)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Interpolation; 3] = [Interpolation::Linear, Interpolation::Nearest, Interpolation::Cubic];

    /// The elements inside the image of a coordinate, with their weights.
    fn terms(value: f64, size: usize, sampling: &Sampling, order: usize) -> Vec<(i32, f64)> {
        let mut axis = Axis::<f64, 1>::single();
        along::<f64, 1>(&mut axis, &[value], size, sampling, order);
        (0..axis.taps()).map(|tap| (axis.at[tap][0], axis.weights[tap][0])).filter(|term| term.0 >= 0).collect()
    }

    #[test]
    fn weights_sum_to_one_within_and_their_derivatives_to_zero() {
        for interpolation in ALL {
            for beyond in [Beyond::Zeros, Beyond::Border, Beyond::Reflection] {
                let sampling = Sampling { interpolation, beyond, align_corners: false };
                for order in 0..3 {
                    let wanted = if order == 0 { 1.0 } else { 0.0 };
                    let sum: f64 = terms(0.1, 9, &sampling, order).iter().map(|term| term.1).sum();
                    assert!((sum - wanted).abs() < 1e-12);
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
                    let terms = terms(value, 8, &sampling, order);
                    terms.iter().map(|&(at, weight)| weight * f64::from(at * at)).sum::<f64>()
                };
                let slope = (at(value + step, order - 1) - at(value - step, order - 1)) / (2.0 * step);
                assert!((at(value, order) - slope).abs() < 1e-4 * slope.abs().max(1.0), "{interpolation:?} {order}");
            }
        }
    }

    #[test]
    fn positions_outside_the_image_are_zero_unless_padded_otherwise() {
        let sampling = Sampling { interpolation: Interpolation::Linear, beyond: Beyond::Zeros, align_corners: true };
        assert!(terms(3.0, 4, &sampling, 0).is_empty());
        assert!(terms(f64::NAN, 4, &sampling, 0).is_empty());
        let sampling = Sampling { beyond: Beyond::Border, ..sampling };
        assert_eq!(terms(3.0, 4, &sampling, 0), [(3, 1.0)]);
    }
}
