//! The error function and its complement.

use super::coefficients::Coefficients;
use super::exp::{exp_normal, exp_of_pair, rounder};
use super::pair::two_product;
use super::{constant, piece, polynomial, tables};
use crate::simd::FloatVector;

/// erf(x) for `|x| <= 1`.
#[inline(always)]
fn near<V: FloatVector>(x: V) -> V {
    polynomial(x * x, V::Scalar::ERF).mul_add(x, x)
}

/// The error function, within 1.5 ulp.
#[inline(always)]
pub fn erf<V: FloatVector>(x: V) -> V {
    if let Some(tables) = tables::<V>() {
        let size = V::from_f64(3.93).raw_min(x.abs());
        // The last bits of this count eighths.
        let rounder = rounder::<V>() * V::from_f64(1.0 / 8.0);
        let shifted = size + rounder;
        let (place, rest) = (shifted.bits(), size - (shifted - rounder));
        let slope = piece(&tables.erf[1..], place, rest);
        // Small numbers in full: the slope less 1, which has more bits.
        let first = V::select(size.le(V::from_f64(1.0 / 16.0)), size, V::look_up(&tables.erf[0], place));
        return slope.mul_add(rest, first).copysign(x);
    }
    let (size, one) = (x.abs(), V::from_f64(1.0));
    // 1 - e^-q with a polynomial q.
    let bounded = constant::<V>(V::Scalar::ERF_MOST).raw_min(size);
    let q = polynomial(bounded - one, V::Scalar::ERF_TAIL);
    let far = one - exp_normal(-q);
    V::select(size.lt(one), near(x), far.copysign(x))
}

/// The CDF of the standard normal distribution, within 1e-7: (1 + erf(x/sqrt(2)))/2.
#[inline(always)]
pub fn phi<V: FloatVector>(x: V) -> V {
    let half = V::from_f64(0.5);
    let Some(tables) = tables::<V>() else {
        return half.mul_add(erf(x * V::from_f64(std::f64::consts::FRAC_1_SQRT_2)), half);
    };
    let (size, width) = (V::from_f64(5.6).raw_min(x.abs()), V::from_f64(3.0 / 16.0));
    let shifted = size.mul_add(V::from_f64(16.0 / 3.0), rounder());
    let rest = (shifted - rounder()).mul_add(-width, size);
    piece(&tables.phi, shifted.bits(), rest).copysign(x) + half
}

/// 1 - erf(x), within 4 ulp; small results are as exact as others.
#[inline(always)]
pub fn erfc<V: FloatVector>(x: V) -> V {
    let y = constant::<V>(V::Scalar::ERFC_MOST).raw_min(x.abs());
    // e^(-y^2) times a slowly falling function, which is a polynomial in a fraction of y.
    let center = constant::<V>(V::Scalar::ERFC_CENTER);
    let slow = polynomial((y - center) / (y + center), V::Scalar::ERFC) / (y + y + V::from_f64(1.0));
    let (square, lost) = two_product(y, y);
    let (n, mantissa) = exp_of_pair(-square, -lost);
    let result = (slow * mantissa).ldexp(n);
    let far = V::select(x.lt(V::from_f64(0.0)), V::from_f64(2.0) - result, result);
    V::select(x.abs().lt(V::from_f64(0.5)), V::from_f64(1.0) - near(x), far)
}
