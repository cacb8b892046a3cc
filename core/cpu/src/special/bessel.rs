//! Bessel functions of order 0 and 1, of all kinds, and Airy's.
//!
//! Near 0, the functions without their logarithm, pole and zeros are series in x^2; for large x, the functions without
//! their growth or oscillation are series in 1/x (Abramowitz and Stegun, chapters 9 and 10, have the formulas).

use super::coefficients::*;
use super::float::{Float, Series};
use std::f64::consts::{FRAC_1_PI, FRAC_1_SQRT_2, FRAC_2_PI, FRAC_PI_4, PI};

/// e^-|x| I of order 0 or 1
fn scaled_i<T: Float>(x: T, near: &Series, far: &Series, odd: bool) -> T {
    let size = x.abs();
    let value = if size <= T::of(8.0) {
        near.at(size * T::of(0.25) - T::of(1.0)) * if odd { size } else { T::of(1.0) }
    } else {
        far.at(T::of(16.0) / size - T::of(1.0)) / size.sqrt()
    };
    if odd && x.is_minus() { -value } else { value }
}

/// e^-|x| I0(x)
pub(super) fn i0e<T: Float>(x: T) -> T {
    scaled_i(x, &I0_NEAR, &I0_FAR, false)
}

/// e^-|x| I1(x)
pub(super) fn i1e<T: Float>(x: T) -> T {
    scaled_i(x, &I1_NEAR, &I1_FAR, true)
}

/// e^|x| times a scaled value, in two steps: the first alone may overflow before the product does.
fn grown<T: Float>(x: T, scaled: T) -> T {
    let root = (x.abs() * T::of(0.5)).exp();
    if scaled == T::of(0.0) { scaled } else { root * scaled * root }
}

/// I0(x); at infinity NaN, as in PyTorch: the product of e^x and 0
pub(super) fn i0<T: Float>(x: T) -> T {
    if x.abs() == T::INFINITY { T::NAN } else { grown(x, i0e(x)) }
}

/// I1(x); at infinity NaN, like I0
pub(super) fn i1<T: Float>(x: T) -> T {
    if x.abs() == T::INFINITY { T::NAN } else { grown(x, i1e(x)) }
}

/// K0(x), times e^x if `scaled`
fn k0_of<T: Float>(x: T, scaled: bool) -> T {
    let zero = T::of(0.0);
    if x == zero {
        return T::INFINITY;
    }
    if x < zero || x.is_nan() {
        return T::NAN;
    }
    if x <= T::of(2.0) {
        let value = K0_NEAR.at(x * x * T::of(0.5) - T::of(1.0)) - (x * T::of(0.5)).ln() * i0(x);
        return if scaled { value * x.exp() } else { value };
    }
    let value = K0_FAR.at(T::of(4.0) / x - T::of(1.0)) / x.sqrt();
    if scaled { value } else { value * (-x).exp() }
}

/// K1(x), times e^x if `scaled`
fn k1_of<T: Float>(x: T, scaled: bool) -> T {
    let zero = T::of(0.0);
    if x == zero {
        return T::INFINITY;
    }
    if x < zero || x.is_nan() {
        return T::NAN;
    }
    if x <= T::of(2.0) {
        let value = (x * T::of(0.5)).ln() * i1(x) + K1_NEAR.at(x * x * T::of(0.5) - T::of(1.0)) / x;
        return if scaled { value * x.exp() } else { value };
    }
    let value = K1_FAR.at(T::of(4.0) / x - T::of(1.0)) / x.sqrt();
    if scaled { value } else { value * (-x).exp() }
}

/// K0(x)
pub(super) fn k0<T: Float>(x: T) -> T {
    k0_of(x, false)
}

/// e^x K0(x)
pub(super) fn k0e<T: Float>(x: T) -> T {
    k0_of(x, true)
}

/// K1(x)
pub(super) fn k1<T: Float>(x: T) -> T {
    k1_of(x, false)
}

/// e^x K1(x)
pub(super) fn k1e<T: Float>(x: T) -> T {
    k1_of(x, true)
}

/// Position in its series for 0 <= x <= 8.
fn near_place<T: Float>(x: T) -> T {
    x * x * T::of(1.0 / 32.0) - T::of(1.0)
}

fn without_zeros<T: Float>(x: T, zeros: [f64; 2]) -> T {
    let square = x * x;
    (square - T::of(zeros[0])) * (square - T::of(zeros[1]))
}

/// Hankel's waves of order 0 or 1 for x > 8: the first kind and the second.
fn waves<T: Float>(x: T, p: &Series, q: &Series, odd: bool) -> (T, T) {
    let place = T::of(128.0) / (x * x) - T::of(1.0);
    let (p, q) = (p.at(place), q.at(place) / x);
    // Cosine and sine of x - pi/4, or of x - 3/4 pi, from those of x itself: x is not rounded once more.
    let (sine, cosine) = (x.sin(), x.cos());
    let (sum, difference) = ((sine + cosine) * T::of(FRAC_1_SQRT_2), (sine - cosine) * T::of(FRAC_1_SQRT_2));
    let (cosine, sine) = if odd { (difference, -sum) } else { (sum, difference) };
    let scale = (T::of(FRAC_2_PI) / x).sqrt();
    (scale * (p * cosine - q * sine), scale * (p * sine + q * cosine))
}

/// J0(x)
pub(super) fn j0<T: Float>(x: T) -> T {
    let x = x.abs();
    if x == T::INFINITY {
        T::NAN
    } else if x <= T::of(8.0) {
        without_zeros(x, J0_ZEROS) * J0_NEAR.at(near_place(x))
    } else {
        waves(x, &P0_FAR, &Q0_FAR, false).0
    }
}

/// J1(x)
pub(super) fn j1<T: Float>(x: T) -> T {
    let size = x.abs();
    let value = if size == T::INFINITY {
        T::NAN
    } else if size <= T::of(8.0) {
        size * without_zeros(size, J1_ZEROS) * J1_NEAR.at(near_place(size))
    } else {
        waves(size, &P1_FAR, &Q1_FAR, true).0
    };
    if x.is_minus() { -value } else { value }
}

/// The second kind: minus infinity at 0, nothing below, and NaN at infinity, as in PyTorch, where it is the sine of that.
fn second_kind<T: Float>(x: T, near: impl Fn(T) -> T, far: impl Fn(T) -> T) -> T {
    if x == T::of(0.0) {
        -T::INFINITY
    } else if x < T::of(0.0) || x.is_nan() || x == T::INFINITY {
        T::NAN
    } else if x <= T::of(8.0) {
        near(x)
    } else {
        far(x)
    }
}

/// Y0(x)
pub(super) fn y0<T: Float>(x: T) -> T {
    let near = |x: T| Y0_NEAR.at(near_place(x)) + T::of(FRAC_2_PI) * x.ln() * j0(x);
    second_kind(x, near, |x| waves(x, &P0_FAR, &Q0_FAR, false).1)
}

/// Y1(x)
pub(super) fn y1<T: Float>(x: T) -> T {
    let near = |x: T| x * Y1_NEAR.at(near_place(x)) + T::of(FRAC_2_PI) * (x.ln() * j1(x) - T::of(1.0) / x);
    second_kind(x, near, |x| waves(x, &P1_FAR, &Q1_FAR, true).1)
}

/// sin(x)/x
pub(super) fn spherical_j0<T: Float>(x: T) -> T {
    if x.abs() == T::INFINITY {
        return T::of(0.0);
    }
    if x.abs() < T::of(0.5) {
        let terms = [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0];
        return super::float::polynomial(x * x, &terms);
    }
    x.sin() / x
}

/// Ai(x)
pub(super) fn airy_ai<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    if x.is_nan() || x.abs() == T::INFINITY {
        return T::NAN;
    }
    if x.abs() <= T::of(2.0) {
        return AIRY_MIDDLE.at(x * T::of(0.5));
    }
    let size = x.abs();
    let (root, zeta) = (size.sqrt(), T::of(2.0 / 3.0) * size * size.sqrt());
    // Two thirds of 2^(3/2), where the series begin.
    let nearness = T::of(1.885_618_083_164_126_7) / zeta;
    if x > one {
        let place = nearness + nearness - one;
        return AIRY_DECAY.at(place) * (-zeta).exp() * T::of(0.5 * standard!(f64::sqrt(FRAC_1_PI))) / root.sqrt();
    }
    let place = T::of(2.0) * nearness * nearness - one;
    let angle = zeta + T::of(FRAC_PI_4);
    let wave = angle.sin() * AIRY_SINE.at(place) - angle.cos() * AIRY_COSINE.at(place) / zeta;
    wave / (T::of(PI).sqrt() * root.sqrt())
}
