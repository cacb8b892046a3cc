//! Circular functions: x = n pi/2 + r with `n` whole and `|r| <= pi/4`, and their inverses.

use super::coefficients::{Coefficients, TWO_OVER_PI_BITS};
use super::exp::rounder;
use super::pair::{two_product, two_sum};
use super::{Huge, constant, polynomial};
use crate::simd::{FloatVector, IntVector, MAX_LANES, Mask};

/// The last bits of `n`, and `r` as a sum of two.
#[inline(always)]
fn reduce<V: FloatVector>(x: V) -> (V::Int, V, V) {
    let n = (x * constant(V::Scalar::TWO_OVER_PI)).round();
    // The first step is exact: all terms are multiples of pi's last bit here, and small. The rounding error of the
    // second is kept.
    let (first, second) = (constant::<V>(V::Scalar::PI_2), constant::<V>(V::Scalar::PI_2_REST));
    let near = if V::FUSED {
        (-n).mul_add(first, x)
    } else {
        let (product, rest) = two_product(n, first);
        (x - product) - rest
    };
    let (product, rest) = two_product(n, second);
    let (r, lost) = two_sum(near, -product);
    let lost = lost - rest;
    let lost = (-n).mul_add(constant(V::Scalar::PI_2_LAST), lost);
    let huge = constant::<V>(V::Scalar::REDUCTION_MOST).lt(x.abs());
    if huge.any() { reduce_huge(x, huge, n, r, lost) } else { (n.to_int(), r, lost) }
}

/// Recomputes the lanes where `huge` is true. The function called for them is passed numbers only: it does not use the
/// instructions of a level.
#[inline(always)]
fn reduce_huge<V: FloatVector>(x: V, huge: V::Mask, n: V, r: V, lost: V) -> (V::Int, V, V) {
    let mut buffers = [[0u64; MAX_LANES]; 4];
    let [numbers, quadrants, remainders, rests] =
        buffers.each_mut().map(|buffer| buffer.as_mut_ptr().cast::<V::Scalar>());
    // SAFETY: the buffers hold the largest vector.
    unsafe {
        x.store(numbers);
        n.store(quadrants);
        r.store(remainders);
        lost.store(rests);
        reduce_lanes(huge.to_bits(), numbers, [quadrants, remainders, rests]);
        (V::load(quadrants).to_int(), V::load(remainders), V::load(rests))
    }
}

/// The quadrants, remainders and rests of the lanes that have a bit, one after the other.
///
/// # Safety
/// The arrays have an element for each lane.
#[cold]
#[inline(never)]
unsafe fn reduce_lanes<T: Huge>(bits: u32, numbers: *const T, [quadrants, remainders, rests]: [*mut T; 3]) {
    for lane in (0..32).filter(|lane| bits >> lane & 1 != 0) {
        // SAFETY: the caller guarantees that the arrays have an element for each lane.
        unsafe {
            let (quadrant, remainder, rest) = (*numbers.add(lane)).huge_remainder();
            *quadrants.add(lane) = quadrant;
            *remainders.add(lane) = remainder;
            *rests.add(lane) = rest;
        }
    }
}

/// `number * 2^exponent` modulo pi/2 in fixed point, by the method of Payne and Hanek: the last two bits of the
/// quotient; whether the remainder is negative; its magnitude as `result * 2^shift` with at least 60 bits.
pub(super) fn fixed_remainder(number: u64, exponent: i32) -> (u8, bool, u128, i32) {
    // Bits of 2/pi that make multiples of 4 are left out, and 190 follow.
    let start = exponent - 2;
    let word = |offset: i32| {
        let at = start + offset;
        let whole = |index: i32| if (0..20).contains(&index) { TWO_OVER_PI_BITS[index as usize] } else { 0 };
        let (index, bit) = (at.div_euclid(64), at.rem_euclid(64) as u32);
        whole(index) << bit | whole(index + 1).checked_shr(64 - bit).unwrap_or(0)
    };
    let wide = |word: u64| u128::from(number) * u128::from(word);
    let low = wide(word(128));
    let middle = wide(word(64)) + (low >> 64);
    let high = wide(word(0)) + (middle >> 64);
    let (high, middle, low) = (high as u64, middle as u64, low as u64);
    // To the nearest quotient: a fraction from 1/2 on is negative.
    let negative = high >> 61 & 1 != 0;
    let quotient = ((high >> 62) + u64::from(negative)) as u8 & 3;
    let mut fraction = [high << 2 | middle >> 62, middle << 2 | low >> 62, low << 2];
    if negative {
        fraction = fraction.map(|word| !word);
    }
    let skipped = fraction.iter().take_while(|&&word| word == 0).count().min(1);
    let shift = fraction[skipped].leading_zeros();
    let next = fraction[skipped + 1].checked_shr(64 - shift).unwrap_or(0);
    let normal = fraction[skipped] << shift | next;
    // pi/2 * 2^63.
    let product = u128::from(normal) * 0xc90f_daa2_2168_c235;
    (quotient, negative, product >> 2, -125 - shift as i32 - 64 * skipped as i32)
}

/// sin and cos of `r + lost`.
#[inline(always)]
fn sin_cos<V: FloatVector>(r: V, lost: V) -> (V, V) {
    let square = r * r;
    let sin = r + polynomial(square, V::Scalar::SIN).mul_add(r * square, lost);
    let (one, half) = (V::from_f64(1.0), square * V::from_f64(0.5));
    let near = one - half;
    let rest = polynomial(square, V::Scalar::COS).mul_add(square * square, -(r * lost));
    (sin, near + (((one - near) - half) + rest))
}

/// The sine of quadrant `n`.
#[inline(always)]
fn quadrant<V: FloatVector>(n: V::Int, sin: V, cos: V) -> V {
    let constant = V::Int::from_i64;
    let is_even = (n & constant(1)).eq(constant(0));
    let is_first = (n & constant(2)).eq(constant(0));
    let value = V::select(is_even, sin, cos);
    V::select(is_first, value, -value)
}

/// The sine of `size - n pi/2`, with the sign of an odd quotient by pi: the last bit of `shifted`, which counts steps of pi.
#[inline(always)]
fn sin_of_half_turn<V: FloatVector>(size: V, n: V, shifted: V) -> V {
    let (first, second) = (constant::<V>(V::Scalar::PI_2), constant::<V>(V::Scalar::PI_2_REST));
    let third = constant::<V>(V::Scalar::PI_2_LAST);
    let r = if V::FUSED {
        // The first step is exact: all is a multiple of pi's last bit here, and small.
        (-n).mul_add(third, (-n).mul_add(second, (-n).mul_add(first, size)))
    } else {
        let (product, rest) = two_product(n, first);
        let near = (size - product) - rest;
        let (product, rest) = two_product(n, second);
        let (r, lost) = two_sum(near, -product);
        r + ((lost - rest) - n * third)
    };
    let square = r * r;
    let sin = polynomial(square, V::Scalar::SIN_HALF).mul_add(r * square, r);
    V::from_bits(sin.bits() ^ shifted.bits().shl(if V::Scalar::MANTISSA == 23 { 31 } else { 63 }))
}

/// `near`, except for lanes that are too large for it: the sine of those, `quarters` quarters of a turn further.
#[inline(always)]
fn or_sin_of_huge<V: FloatVector>(x: V, near: V, quarters: i64) -> V {
    let huge = constant::<V>(V::Scalar::REDUCTION_MOST).lt(x.abs());
    if !huge.any() {
        return near;
    }
    let (n, r, lost) = reduce(x);
    let (sin, cos) = sin_cos(r, lost);
    V::select(huge, quadrant(n + V::Int::from_i64(quarters), sin, cos), near)
}

/// The sine, within 2 ulp.
#[inline(always)]
pub fn sin<V: FloatVector>(x: V) -> V {
    let (size, rounder) = (x.abs(), rounder::<V>() + rounder());
    let shifted = size.mul_add(constant(V::Scalar::TWO_OVER_PI), rounder);
    let sin = sin_of_half_turn(size, shifted - rounder, shifted);
    or_sin_of_huge(x, V::from_bits(sin.bits() ^ (x.bits() & V::from_f64(-0.0).bits())), 0)
}

/// The cosine, within 2 ulp.
#[inline(always)]
pub fn cos<V: FloatVector>(x: V) -> V {
    let (size, rounder, one) = (x.abs(), rounder::<V>() + rounder(), V::from_f64(1.0));
    // cos(x) = -sin(x - n pi/2) for an odd n; (n - 1)/2 decides about the sign.
    let shifted = size.mul_add(constant(V::Scalar::TWO_OVER_PI), -one) + rounder;
    let cos = -sin_of_half_turn(size, (shifted - rounder) + one, shifted);
    // The cosine is 1 for 0, and for arguments whose squares are negligible.
    let near_zero = (size * V::from_f64(-0.5)).mul_add(size, one).eq(one);
    or_sin_of_huge(x, V::select(near_zero, one, cos), 1)
}

/// The tangent, within 3 ulp.
#[inline(always)]
pub fn tan<V: FloatVector>(x: V) -> V {
    let (n, r, lost) = reduce(x);
    let (sin, cos) = sin_cos(r, lost);
    let is_even = (n & V::Int::from_i64(1)).eq(V::Int::from_i64(0));
    let result = V::select(is_even, sin, -cos) / V::select(is_even, cos, sin);
    V::select(x.eq(V::from_f64(0.0)), x, result)
}

/// The inverse tangent, within 1.5 ulp.
#[inline(always)]
pub fn atan<V: FloatVector>(x: V) -> V {
    let size = x.abs();
    let one = V::from_f64(1.0);
    let large = one.lt(size);
    // pi/2 - atan(1/x) beyond 1.
    let t = V::select(large, one / size, size);
    let square = t * t;
    let rest = polynomial(square, V::Scalar::ATAN) * (t * square);
    let far = constant::<V>(V::Scalar::PI_2) - (t - (constant::<V>(V::Scalar::PI_2_REST) - rest));
    V::select(large, far, t + rest).copysign(x)
}

/// asin(t) - t for t in 0..=1/2.
#[inline(always)]
fn asin_rest<V: FloatVector>(t: V, square: V) -> V {
    polynomial(square, V::Scalar::ASIN) * (t * square)
}

/// The common part of asin and acos: whether `|x|` is large; then sqrt((1 - |x|)/2), else `|x|`, as a sum of two; and
/// asin of that without its first term.
#[inline(always)]
fn asin_parts<V: FloatVector>(x: V) -> (V::Mask, V, V, V) {
    let (size, half) = (x.abs(), V::from_f64(0.5));
    let large = half.lt(size);
    let square = V::select(large, (V::from_f64(1.0) - size) * half, size * size);
    let root = square.sqrt();
    // The rounding error of the root.
    let (product, lost) = two_product(root, root);
    let rest = ((square - product) - lost) / (root + root);
    let zero = V::from_f64(0.0);
    let rest = V::select(large & zero.lt(root), rest, zero);
    let t = V::select(large, root, size);
    (large, t, rest, asin_rest(t, square))
}

/// The inverse sine, within 2 ulp; NaN beyond 1.
#[inline(always)]
pub fn asin<V: FloatVector>(x: V) -> V {
    let (large, t, lost, rest) = asin_parts(x);
    let two = V::from_f64(2.0);
    let far = constant::<V>(V::Scalar::PI_2) - (two * t - (constant::<V>(V::Scalar::PI_2_REST) - two * (rest + lost)));
    V::select(large, far, t + rest).copysign(x)
}

/// The inverse cosine, within 2 ulp; NaN beyond 1.
#[inline(always)]
pub fn acos<V: FloatVector>(x: V) -> V {
    let (large, t, lost, rest) = asin_parts(x);
    let (two, zero) = (V::from_f64(2.0), V::from_f64(0.0));
    let (right, right_low) = (constant::<V>(V::Scalar::PI_2), constant::<V>(V::Scalar::PI_2_REST));
    let far = two * (t + (rest + lost));
    let negative = x.lt(zero);
    let far = V::select(negative, two * right - (far - two * right_low), far);
    let near = right - (t.copysign(x) - (right_low - rest.copysign(x)));
    V::select(large, far, near)
}
