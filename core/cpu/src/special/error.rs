//! Functions related to the error function: its inverse, the quantile of the normal distribution, and the scaled
//! complement.

use super::coefficients::{ERFCX, ERFINV_EDGE, ERFINV_FAR, ERFINV_NEAR, QUANTILE_FAR, QUANTILE_NEAR};
use super::float::Float;
use crate::math;
use crate::simd::{FloatVector, Mask};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// The inverse of the error function
#[inline(always)]
pub(super) fn erfinv<V: FloatVector>(x: V) -> V {
    let [one, most] = [1.0, 5.0].map(V::from_f64);
    let w = -math::log((one - x) * (one + x));
    let mut value = x * ERFINV_NEAR.of(V::from_f64(0.4) * w - one);
    let far = w.gt(most);
    if far.any() {
        let s = w.sqrt();
        let middle = ERFINV_FAR.of((s - V::from_f64(3.1)) / V::from_f64(0.9));
        let edge = ERFINV_EDGE.of((s - V::from_f64(5.1)) / V::from_f64(1.1));
        let distant = V::select(s.le(V::from_f64(4.0)), middle, edge).copysign(x);
        let distant = V::select(x.abs().eq(one), V::from_f64(f64::INFINITY).copysign(x), distant);
        value = V::select(far, distant, value);
    }
    V::select(x.abs().le(one), value, V::from_f64(f64::NAN))
}

/// The quantile of p of the standard normal distribution
pub(super) fn ndtri<T: Float>(p: T) -> T {
    let (zero, one) = (T::of(0.0), T::of(1.0));
    if p.is_nan() || p < zero || p > one {
        return T::NAN;
    }
    if p == zero {
        return -T::INFINITY;
    }
    if p == one {
        return T::INFINITY;
    }
    // e^-2
    let edge = T::of(0.135_335_283_236_612_7);
    if p > edge && p < one - edge {
        return T::of(SQRT_2) * (p + p - one).erfinv();
    }
    let upper = p > T::of(0.5);
    let s = (T::of(-2.0) * if upper { (-p).ln_1p() } else { p.ln() }).sqrt();
    let z = one / s;
    let rest = if s <= T::of(8.0) {
        QUANTILE_NEAR.at((z - T::of(0.3125)) / T::of(0.1875))
    } else {
        QUANTILE_FAR.at((z - T::of(0.075)) / T::of(0.05))
    };
    let value = s - s.ln() * z - rest * z;
    if upper { value } else { -value }
}

/// e^(x^2) (1 - erf x)
pub(super) fn erfcx<T: Float>(x: T) -> T {
    if x.is_nan() {
        return x;
    }
    if x < T::of(0.0) {
        let grown = T::of(2.0) * (x * x).exp();
        return if grown == T::INFINITY { grown } else { grown - erfcx_of_positive(-x) };
    }
    erfcx_of_positive(x)
}

/// e^(x^2) (1 - erf x), for x >= 0
fn erfcx_of_positive<T: Float>(x: T) -> T {
    let one = T::of(1.0);
    if x == T::INFINITY {
        return T::of(0.0);
    }
    let place = (x - T::of(3.75)) / (x + T::of(3.75));
    ERFCX.at(place) / (one + x + x)
}

/// The logarithm of the CDF of the standard normal distribution at x
pub(super) fn log_ndtr<T: Float>(x: T) -> T {
    let (half, t) = (T::of(0.5), x * T::of(FRAC_1_SQRT_2));
    if x < T::of(-1.0) {
        return (half * erfcx(-t)).ln() - t * t;
    }
    // 1 - erf t = e^(-t^2) erfcx t for small values; above 0 the complement to 1.
    let above = if t < T::of(0.0) { T::of(2.0) - (-(t * t)).exp() * erfcx(-t) } else { (-(t * t)).exp() * erfcx(t) };
    (-(half * above)).ln_1p()
}

/// -x ln x, 0 at 0, minus infinity below
pub(super) fn entr<T: Float>(x: T) -> T {
    let zero = T::of(0.0);
    if x.is_nan() {
        x
    } else if x > zero {
        -(x * x.ln())
    } else if x == zero {
        zero
    } else {
        -T::INFINITY
    }
}

/// x ln(1 + y), 0 where x is, unless y is NaN
pub(super) fn xlog1py<T: Float>(x: T, y: T) -> T {
    if y.is_nan() {
        T::NAN
    } else if x == T::of(0.0) {
        T::of(0.0)
    } else {
        x * y.ln_1p()
    }
}
