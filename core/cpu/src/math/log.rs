//! Logarithms: x = 2^k m with `k` whole and `m` between the roots of 1/2 and 2.

use super::coefficients::Coefficients;
use super::pair::{fast_two_sum, two_product, two_sum};
use super::tables::Tables;
use super::{Huge, constant, polynomial, tables};
use crate::simd::{FloatVector, IntVector};

/// `k` and `m - 1`, which is exact, of a finite `x > 0`.
#[inline(always)]
pub(super) fn split<V: FloatVector>(x: V) -> (V, V) {
    if let Some((k, m)) = x.decompose() {
        let (one, large) = (V::from_f64(1.0), constant::<V>(V::Scalar::SQRT_HALF) * V::from_f64(2.0));
        let above = large.le(m);
        let k = V::select(above, k + one, k);
        return (k, V::select(above, m * V::from_f64(0.5), m) - one);
    }
    let subnormal = x.lt(constant(V::Scalar::NORMAL_LEAST));
    let bits = V::select(subnormal, x * constant(V::Scalar::SUBNORMAL_SCALE), x).bits();
    let k = (bits - constant::<V>(V::Scalar::SQRT_HALF).bits()).sar(V::Scalar::MANTISSA);
    let m = V::from_bits(bits - k.shl(V::Scalar::MANTISSA));
    let shift = V::select(subnormal, constant(V::Scalar::SUBNORMAL_SHIFT), V::from_f64(0.0));
    (V::from_int(k) - shift, m - V::from_f64(1.0))
}

/// `result` where `x` is finite and positive, else the common value of all logarithms.
#[inline(always)]
fn with_limits<V: FloatVector>(x: V, result: V) -> V {
    let (zero, infinity) = (V::from_f64(0.0), V::from_f64(f64::INFINITY));
    let special = V::select(x.lt(zero), V::from_f64(f64::NAN), x);
    let special = V::select(x.eq(zero), -infinity, special);
    V::select(zero.lt(x) & x.lt(infinity), result, special)
}

/// log(1 + f) - f + f^2/2.
#[inline(always)]
fn beyond_square<V: FloatVector>(f: V, square: V) -> V {
    if V::Scalar::LOG.is_empty() {
        // By 2 atanh(s) with s = f/(2 + f), where f = 2s + s f: a division is cheaper than more terms.
        let s = f / (V::from_f64(2.0) + f);
        let z = s * s;
        let rest = polynomial(z, V::Scalar::ATANH).mul_add(z, constant(V::Scalar::TWO_THIRDS)) * z;
        return s * square.mul_add(V::from_f64(0.5), rest);
    }
    polynomial(f, V::Scalar::LOG) * (f * square)
}

/// k ln(2) + log(1 + f).
#[inline(always)]
fn sum<V: FloatVector>(k: V, f: V) -> V {
    let square = f * f;
    let rest = k.mul_add(constant(V::Scalar::LN2_LOW), beyond_square(f, square));
    let near = f + square.mul_add(V::from_f64(-0.5), rest);
    k.mul_add(constant(V::Scalar::LN2_HIGH), near)
}

/// The number of the part of 1..2 that `m` is in: its last five bits.
#[inline(always)]
pub(super) fn part<V: FloatVector>(m: V) -> V::Int {
    m.bits().shr(V::Scalar::MANTISSA - 5)
}

/// The logarithm of 2^k m, with `1 <= m < 2`.
#[inline(always)]
fn log_by_table<V: FloatVector>(tables: &'static Tables<V::Scalar>, k: V, m: V) -> V {
    let part = part(m);
    let k = k + V::look_up(&tables.carry, part);
    let f = m.mul_add(V::look_up(&tables.inverse, part), V::from_f64(-1.0));
    let near = (f * f).mul_add(polynomial(f, &tables.log_near), f);
    let rest = k.mul_add(constant(V::Scalar::LN2_LOW), near) + V::look_up(&tables.log, part);
    k.mul_add(constant(V::Scalar::LN2_HIGH), rest)
}

/// The natural logarithm, within 1 ulp.
#[inline(always)]
pub fn log<V: FloatVector>(x: V) -> V {
    if let (Some(tables), Some((k, m))) = (tables::<V>(), x.decompose()) {
        return log_by_table(tables, k, m);
    }
    let (k, f) = split(x);
    let result = sum(k, f);
    if x.decompose().is_none() {
        return with_limits(x, result);
    }
    // An infinite `k` is the result; in f64 the two parts of ln(2) have different signs, and their products cancel.
    if V::Scalar::LOG.is_empty() {
        return V::select(k.abs().lt(V::from_f64(f64::INFINITY)), result, k + f);
    }
    result
}

/// log(1 + x), within 2 ulp.
#[inline(always)]
pub fn log1p<V: FloatVector>(x: V) -> V {
    let (u, lost) = two_sum(V::from_f64(1.0), x);
    let (k, f) = split(u);
    // If the power would not be normal, `lost` is 0.
    let lost = lost * super::exp::power_of_two(-V::from_f64(100.0).raw_min(k));
    V::select(x.eq(V::from_f64(0.0)), x, with_limits(u, sum(k, f + lost)))
}

/// `k`, and log(m) as a sum of two.
#[inline(always)]
fn parts<V: FloatVector>(x: V) -> (V, V, V) {
    let (k, f) = split(x);
    let half = V::from_f64(0.5);
    let (square, lost) = two_product(f, f);
    let (high, low) = fast_two_sum(f, square * -half);
    let low = low + lost.mul_add(-half, beyond_square(f, square));
    let (high, low) = fast_two_sum(high, low);
    (k, high, low)
}

/// The binary logarithm, within 1 ulp; powers of two are exact.
#[inline(always)]
pub fn log2<V: FloatVector>(x: V) -> V {
    let (k, high, low) = parts(x);
    let factor = constant::<V>(V::Scalar::LOG2_E);
    let (near, lost) = two_product(high, factor);
    let lost = lost + high.mul_add(constant(V::Scalar::LOG2_E_REST), low * factor);
    let (near, carried) = fast_two_sum(k, near);
    with_limits(x, near + (carried + lost))
}

/// The decimal logarithm, within 1 ulp.
#[inline(always)]
pub fn log10<V: FloatVector>(x: V) -> V {
    let (k, high, low) = parts(x);
    let factor = constant::<V>(V::Scalar::LOG10_E);
    let (near, lost) = two_product(high, factor);
    let lost = lost + high.mul_add(constant(V::Scalar::LOG10_E_REST), low * factor);
    let (far, far_lost) = two_product(k, constant(V::Scalar::LOG10_2));
    let far_lost = k.mul_add(constant(V::Scalar::LOG10_2_REST), far_lost);
    let (near, carried) = fast_two_sum(far, near);
    with_limits(x, near + (carried + (lost + far_lost)))
}

/// The inverse hyperbolic tangent, within 3 ulp.
#[inline(always)]
pub fn atanh<V: FloatVector>(x: V) -> V {
    let size = x.abs();
    let one = V::from_f64(1.0);
    let result = log1p((size + size) / (one - size)) * V::from_f64(0.5);
    // So small that half of it may be rounded.
    let tiny = size.lt(constant::<V>(V::Scalar::NORMAL_LEAST) * V::from_f64(2.0));
    V::select(tiny, size, result).copysign(x)
}

/// The inverse hyperbolic sine, within 3 ulp.
#[inline(always)]
pub fn asinh<V: FloatVector>(x: V) -> V {
    let size = x.abs();
    let one = V::from_f64(1.0);
    let large = V::from_f64(1e9).lt(size);
    let square = size * size;
    let near = size + square / (one + (one + square).sqrt());
    let result = log1p(V::select(large, size - one, near));
    let ln2 = constant::<V>(V::Scalar::LN2_HIGH) + constant(V::Scalar::LN2_LOW);
    V::select(large, result + ln2, result).copysign(x)
}

/// The inverse hyperbolic cosine, within 3 ulp; NaN below 1.
#[inline(always)]
pub fn acosh<V: FloatVector>(x: V) -> V {
    let large = V::from_f64(1e9).lt(x);
    let above = x - V::from_f64(1.0);
    let near = above + (above + above + above * above).sqrt();
    let result = log1p(V::select(above.lt(V::from_f64(0.0)), V::from_f64(f64::NAN), V::select(large, above, near)));
    let ln2 = constant::<V>(V::Scalar::LN2_HIGH) + constant(V::Scalar::LN2_LOW);
    V::select(large, result + ln2, result)
}
