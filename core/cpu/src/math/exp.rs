//! Exponentials: e^x = 2^n e^r with integer `n` and `|r| <= ln(2)/2`, and functions based on them.

use super::coefficients::Coefficients;
use super::tables::Tables;
use super::{Huge, constant, piece, polynomial, tables};
use crate::simd::{FloatVector, IntVector};

/// `value`, or the nearer of the two bounds; NaN stays.
#[inline(always)]
fn clamp<V: FloatVector>(value: V, least: V::Scalar, most: V::Scalar) -> V {
    constant::<V>(most).raw_min(constant::<V>(least).raw_max(value))
}

/// e^r of a reduced `r`.
#[inline(always)]
fn mantissa<V: FloatVector>(r: V) -> V {
    V::from_f64(1.0) + polynomial(r, V::Scalar::EXP).mul_add(r * r, r)
}

/// A number so large that its last bit is worth 1: adding it rounds, and leaves integers in the last bits.
#[inline(always)]
pub(super) fn rounder<V: FloatVector>() -> V {
    V::from_f64(1.5 * (1u64 << V::Scalar::MANTISSA) as f64)
}

/// `n + rounder`, `n` and `r` of `x`, which is not so large that `n` overflows; the product with the upper part of
/// ln(2) is exact.
#[inline(always)]
fn reduce_shifted<V: FloatVector>(x: V) -> (V, V, V) {
    let shifted = x.mul_add(constant(V::Scalar::LOG2_E), rounder());
    let n = shifted - rounder();
    let r = (-n).mul_add(constant(V::Scalar::LN2_HIGH), x);
    (shifted, n, (-n).mul_add(constant(V::Scalar::LN2_LOW), r))
}

/// `n` and `r` of `x`.
#[inline(always)]
fn reduce<V: FloatVector>(x: V) -> (V, V) {
    let (_, n, r) = reduce_shifted(x);
    (n, r)
}

/// 2^n for an integer `n` for which it is a normal number.
#[inline(always)]
pub(super) fn power_of_two<V: FloatVector>(n: V) -> V {
    let bias = V::from_f64(1.0).bits();
    V::from_bits(n.to_int().shl(V::Scalar::MANTISSA) + bias)
}

/// `n` and `m` with e^(high + low) = 2^k m, where `k` is the greatest whole number up to `n`. For all numbers `m` is finite
/// and positive; `n` is NaN where `high` is.
#[inline(always)]
pub(super) fn exp_by_table<V: FloatVector>(tables: &'static Tables<V::Scalar>, high: V, low: V) -> (V, V) {
    // The last bits of this count 32nds.
    let rounder = rounder::<V>() * V::from_f64(1.0 / 32.0);
    let shifted = high.mul_add(constant(V::Scalar::LOG2_E), rounder);
    let n = shifted - rounder;
    let r = (-n).mul_add(constant(V::Scalar::LN2_HIGH), high);
    let r = (-n).mul_add(constant(V::Scalar::LN2_LOW), r) + low;
    // It is small already, unless the result overflows or vanishes.
    let r = r.limit(V::from_f64(1.0 / 16.0));
    let power = V::look_up(&tables.exp, shifted.bits());
    (n, (power * r).mul_add(polynomial(r, &tables.exp_near), power))
}

/// `n` and `m` with e^(high + low) = 2^n m, for a `low` much smaller than `high`.
#[inline(always)]
pub(super) fn exp_of_pair<V: FloatVector>(high: V, low: V) -> (V, V) {
    let (n, r) = reduce(clamp(high, V::Scalar::EXP_LEAST, V::Scalar::EXP_MOST));
    (n, mantissa(r + low))
}

/// e^x, within 1.1 ulp.
#[inline(always)]
pub fn exp<V: FloatVector>(x: V) -> V {
    if let Some(tables) = tables::<V>() {
        let (n, m) = exp_by_table(tables, x, V::from_f64(-0.0));
        return m.scale_by(n);
    }
    let (n, r) = reduce(clamp(x, V::Scalar::EXP_LEAST, V::Scalar::EXP_MOST));
    mantissa(r).ldexp(n)
}

/// e^x where that is a normal number: less work than [`exp`].
#[inline(always)]
pub(super) fn exp_normal<V: FloatVector>(x: V) -> V {
    let (shifted, _, r) = reduce_shifted(x);
    // The last bits of `shifted` move to where the exponent is.
    let power = V::from_bits(shifted.bits().shl(V::Scalar::MANTISSA) + V::from_f64(1.0).bits());
    mantissa(r) * power
}

/// 2^x, within 1.5 ulp.
#[inline(always)]
pub fn exp2<V: FloatVector>(x: V) -> V {
    let x = clamp(x, V::Scalar::EXP2_LEAST, V::Scalar::EXP2_MOST);
    let n = x.round();
    let r = x - n;
    polynomial(r, V::Scalar::EXP2).mul_add(r, V::from_f64(1.0)).ldexp(n)
}

/// (e^x - 1)/4, or itself where `n` is zero: that mask is the second result. In quarters there is no premature
/// overflow.
#[inline(always)]
fn quarter_expm1<V: FloatVector>(x: V) -> (V, V, V::Mask) {
    let (n, r) = reduce(x);
    let p = polynomial(r, V::Scalar::EXPM1).mul_add(r * r, r);
    let scale = power_of_two(n - V::from_f64(2.0));
    (scale.mul_add(p, scale - V::from_f64(0.25)), p, n.eq(V::from_f64(0.0)))
}

/// e^x - 1, within 2 ulp.
#[inline(always)]
pub fn expm1<V: FloatVector>(x: V) -> V {
    let (quarter, near, is_near) = quarter_expm1(clamp(x, V::Scalar::EXPM1_LEAST, V::Scalar::EXP_MOST));
    // Preserves the sign, also of zeros.
    V::select(is_near, near, quarter * V::from_f64(4.0)).copysign(x)
}

/// 1/(1 + e^-x), within 3.1 ulp; small results are as exact as others.
#[inline(always)]
pub fn sigmoid<V: FloatVector>(x: V) -> V {
    // The bound keeps the power finite.
    let power = exp(V::from_f64(60.0).raw_min(x));
    power / (V::from_f64(1.0) + power)
}

/// The hyperbolic tangent, within 1.5 ulp.
#[inline(always)]
pub fn tanh<V: FloatVector>(x: V) -> V {
    if let Some(tables) = tables::<V>() {
        // From here on the result rounds to 1, which the polynomials do not reach.
        let most = V::from_f64(9.1);
        let size = most.raw_min(x.abs());
        // Five bits that number the parts: the last two of the exponent, the first three of the mantissa.
        let place = size.mul_add(V::from_f64(1.0 / 0.305), V::from_f64(2.0)).bits().shr(V::Scalar::MANTISSA - 3);
        let rest = size - V::look_up(&tables.tanh_center, place);
        return V::select(most.le(x.abs()), V::from_f64(1.0), piece(&tables.tanh, place, rest)).copysign(x);
    }
    let size = constant::<V>(V::Scalar::TANH_MOST).raw_min(x.abs());
    let square = size * size;
    let near = polynomial(square, V::Scalar::TANH).mul_add(size * square, size);
    // 1 - 2/(e^2x + 1).
    let two = V::from_f64(2.0);
    let far = V::from_f64(1.0) - two / (exp_normal(size + size) + V::from_f64(1.0));
    V::select(constant::<V>(V::Scalar::TANH_NEAR).lt(size), far, near).copysign(x)
}

/// The hyperbolic sine, within 3 ulp.
#[inline(always)]
pub fn sinh<V: FloatVector>(x: V) -> V {
    // With p = e^x - 1: (p + p/(p + 1))/2.
    let most = constant::<V>(V::Scalar::EXP_MOST) + V::from_f64(0.6);
    let (quarter, near, is_near) = quarter_expm1(most.raw_min(x.abs()));
    let half = V::select(is_near, near * V::from_f64(0.5), quarter + quarter);
    // The fraction approaches 1/2; the bound avoids NaN.
    let bounded = V::from_f64(1e20).raw_min(half);
    let far = half + bounded / (bounded + bounded + V::from_f64(1.0));
    // So small that half of it may be rounded.
    let size = x.abs();
    let tiny = size.lt(constant::<V>(V::Scalar::NORMAL_LEAST) * V::from_f64(2.0));
    // The sign comes last: LLVM 22 miscompiles a choice between a number and another with its sign (a masked vpternlogd).
    V::select(tiny, size, far).copysign(x)
}

/// The hyperbolic cosine, within 2 ulp.
#[inline(always)]
pub fn cosh<V: FloatVector>(x: V) -> V {
    let most = constant::<V>(V::Scalar::EXP_MOST) + V::from_f64(0.6);
    let (n, r) = reduce(most.raw_min(x.abs()));
    let half = mantissa(r).ldexp(n - V::from_f64(1.0));
    half + V::from_f64(0.25) / half
}
