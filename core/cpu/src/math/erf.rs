//! The error function and its complement.

use super::coefficients::Coefficients;
use super::exp::{exp_normal, exp_of_pair};
use super::pair::two_product;
use super::{constant, polynomial};
use crate::simd::FloatVector;

/// erf(x) for `|x| <= 1`.
#[inline(always)]
fn near<V: FloatVector>(x: V) -> V {
    polynomial(x * x, V::Scalar::ERF).mul_add(x, x)
}

/// The error function, within 1.5 ulp.
#[inline(always)]
pub fn erf<V: FloatVector>(x: V) -> V {
    let (size, one) = (x.abs(), V::from_f64(1.0));
    // 1 - e^-q with a polynomial q.
    let bounded = constant::<V>(V::Scalar::ERF_MOST).raw_min(size);
    let q = polynomial(bounded - one, V::Scalar::ERF_TAIL);
    let far = one - exp_normal(-q);
    V::select(size.lt(one), near(x), far.copysign(x))
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
