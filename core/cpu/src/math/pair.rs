//! Double-word arithmetic: numbers as unevaluated sums of two, for values needed with more bits than one number has.
//! Every function here is exact, unless something overflows or underflows.

use super::coefficients::Coefficients;
use super::constant;
use crate::simd::FloatVector;

/// `left + right` and the rounding error, where `|left| >= |right|` or `left` is zero.
#[inline(always)]
pub fn fast_two_sum<V: FloatVector>(left: V, right: V) -> (V, V) {
    let sum = left + right;
    (sum, right - (sum - left))
}

/// `left + right` and the rounding error.
#[inline(always)]
pub fn two_sum<V: FloatVector>(left: V, right: V) -> (V, V) {
    let sum = left + right;
    let from_right = sum - left;
    (sum, (left - (sum - from_right)) + (right - from_right))
}

/// `left * right` and the rounding error.
#[inline(always)]
pub fn two_product<V: FloatVector>(left: V, right: V) -> (V, V) {
    let product = left * right;
    if V::FUSED {
        return (product, left.mul_add(right, -product));
    }
    // Halves of the bits, whose products are exact.
    let halves = |value: V| {
        let scaled = value * constant(V::Scalar::SPLITTER);
        let high = scaled - (scaled - value);
        (high, value - high)
    };
    let ((left_high, left_low), (right_high, right_low)) = (halves(left), halves(right));
    let rest =
        left_low * right_low - (((product - left_high * right_high) - left_low * right_high) - left_high * right_low);
    (product, rest)
}
