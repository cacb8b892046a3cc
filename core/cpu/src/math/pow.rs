//! Powers: e^(y log x), with the logarithm as a sum of two numbers, so that large exponents do not magnify its error.

use super::coefficients::Coefficients;
use super::exp::{exp_by_table, exp_of_pair};
use super::log::{part, split};
use super::pair::{fast_two_sum, two_product};
use super::tables::Tables;
use super::{constant, polynomial, tables};
use crate::simd::{FloatVector, Mask};

/// log(x) as a sum of two, for a finite `x > 0`.
#[inline(always)]
fn log_pair<V: FloatVector>(x: V) -> (V, V) {
    let (k, f) = split(x);
    // log(1 + f) = 2 atanh(s) with s = f/(2 + f): division by a reciprocal, and a correction by its remainder.
    let (divisor, divisor_low) = fast_two_sum(V::from_f64(2.0), f);
    let inverse = V::from_f64(1.0) / divisor;
    let s = f * inverse;
    let (product, lost) = two_product(s, divisor);
    let s_low = (((f - product) - lost) - s * divisor_low) * inverse;
    let (square, square_low) = two_product(s, s);
    let square_low = (s + s).mul_add(s_low, square_low);
    // 2s + s^3 (2/3 + s^2 p(s^2)), in pairs but for p.
    let (factor, factor_low) =
        fast_two_sum(constant(V::Scalar::TWO_THIRDS), square * polynomial(square, V::Scalar::ATANH));
    let factor_low = factor_low + constant(V::Scalar::TWO_THIRDS_REST);
    let (cube, cube_low) = two_product(square, factor);
    let cube_low = square.mul_add(factor_low, square_low.mul_add(factor, cube_low));
    let (rest, rest_low) = two_product(s, cube);
    let rest_low = s.mul_add(cube_low, s_low.mul_add(cube, rest_low));
    let (near, near_low) = fast_two_sum(s + s, rest);
    let near_low = near_low + (s_low + s_low + rest_low);
    let (high, low) = fast_two_sum(k * constant(V::Scalar::LN2_HIGH), near);
    let low = low + k.mul_add(constant(V::Scalar::LN2_LOW), near_low);
    fast_two_sum(high, low)
}

/// The logarithm of 2^k m, with `1 <= m < 2`, as a sum of two.
#[inline(always)]
fn log_pair_by_table<V: FloatVector>(tables: &'static Tables<V::Scalar>, k: V, m: V) -> (V, V) {
    let (part, half) = (part(m), V::from_f64(0.5));
    let k = k + V::look_up(&tables.carry, part);
    // Exact, as is the sum of multiples of 2^-16 below.
    let f = m.mul_add(V::look_up(&tables.short_inverse, part), V::from_f64(-1.0));
    let far = k.mul_add(constant(V::Scalar::LN2_HIGH), V::look_up(&tables.short_log[0], part));
    let far_low = k.mul_add(constant(V::Scalar::LN2_LOW), V::look_up(&tables.short_log[1], part));
    let (square, square_low) = two_product(f, f);
    let (near, lost) = fast_two_sum(f, square * -half);
    let rest = (f * square).mul_add(polynomial(f, &tables.log_rest), square_low.mul_add(-half, lost));
    let (high, lost) = fast_two_sum(far, near);
    (high, lost + (far_low + rest))
}

/// 2^k m for this `k` and `m` is `x` to the power `y`, for a finite `x > 0` and a finite `y`.
#[inline(always)]
fn regular<V: FloatVector>(x: V, y: V) -> V {
    if let (Some(tables), Some((k, m))) = (tables::<V>(), x.decompose()) {
        let (log, log_low) = log_pair_by_table(tables, k, m);
        let (product, lost) = two_product(y, log);
        let (n, mantissa) = exp_by_table(tables, product, y.mul_add(log_low, lost));
        return mantissa.scale_by(n);
    }
    let (log, log_low) = log_pair(x);
    let (product, lost) = two_product(y, log);
    let low = y.mul_add(log_low, lost);
    // Beyond this, the product may be infinite and the rest NaN.
    let inside = product.abs().lt(V::from_f64(1.5) * constant(V::Scalar::EXP_MOST));
    let (n, mantissa) = exp_of_pair(product, V::select(inside, low, V::from_f64(0.0)));
    mantissa.ldexp(n)
}

/// `x` to the power `y`, within 2 ulp. As in C: 1 if `x` is 1 or `y` is 0, for any other operand; NaN if `x` is
/// negative and `y` not an integer.
#[inline(always)]
pub fn pow<V: FloatVector>(x: V, y: V) -> V {
    let (zero, one, infinity) = (V::from_f64(0.0), V::from_f64(1.0), V::from_f64(f64::INFINITY));
    let size = x.abs();
    let result = regular(size, y);
    if (zero.lt(x) & x.lt(infinity) & y.abs().lt(infinity)).all() {
        return result;
    }
    // Zero and infinity to a power are zero or infinite, as is a power with the sign of y.
    let limit = size.eq(zero) | size.eq(infinity);
    let grows = size.eq(zero) ^ zero.lt(y);
    let result = V::select(limit, V::select(grows, infinity, zero), result);
    let result = V::select(size.eq(one), one, result);
    // The sign of a negative number stays in odd powers.
    let half = y * V::from_f64(0.5);
    let whole = y.eq(y.floor());
    let odd = whole & half.ne(half.floor());
    let result = V::select(odd, result.copysign(x), result);
    let undefined = x.lt(zero) & !whole & size.lt(infinity);
    let result = V::select(undefined, V::from_f64(f64::NAN), result);
    let result = V::select(x.is_nan() | y.is_nan(), x + y, result);
    V::select(x.eq(one) | y.eq(zero), one, result)
}
