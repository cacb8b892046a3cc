//! Elementary functions over vectors: written once for `f32` and `f64` and every level of [`simd`](crate::simd).
//!
//! Lane-wise pure and without branches, except for the rare arguments of sin, cos and tan that are too large for the
//! fast reduction. Infinities, NaN, signed zeros and subnormal numbers, also as results, follow the C standard. Each
//! function states its maximum error in units in the last place; the tests measure it at every level. One file per
//! family; `coefficients.rs` and `tables.rs` are written by `tests/oracle/math_coefficients.py`, the origin of their
//! numbers.

mod coefficients;
mod erf;
mod exp;
mod fmod;
mod log;
mod pair;
mod pow;
mod tables;
mod trig;

#[cfg(test)]
mod tests;

pub use erf::{erf, erfc, phi};
pub use exp::{cosh, exp, exp2, expm1, sigmoid, sinh, tanh};
pub use fmod::fmod;
pub use log::{acosh, asinh, atanh, log, log1p, log2, log10};
pub use pow::pow;
pub use trig::{acos, asin, atan, cos, sin, tan};

use crate::number::Real;
use crate::simd::FloatVector;
use tables::Tables;

/// `f32` and `f64`: the scalars that these functions exist for.
pub trait Elementary: coefficients::Coefficients + Huge + Real {
    /// The tables that some functions use where vectors look numbers up in one instruction.
    const TABLES: Option<&'static Tables<Self>>;
}

impl Elementary for f32 {
    const TABLES: Option<&'static Tables<f32>> = Some(&tables::SINGLE);
}
impl Elementary for f64 {
    const TABLES: Option<&'static Tables<f64>> = None;
}

/// The tables, if they make a function of `V` faster.
#[inline(always)]
fn tables<V: FloatVector>() -> Option<&'static Tables<V::Scalar>> {
    if V::LOOKUP { V::Scalar::TABLES } else { None }
}

/// Arguments that are too large for the fast reduction by pi/2.
pub trait Huge: Copy {
    /// The number of bits that store the mantissa.
    const MANTISSA: u32;

    /// The last two bits of the quotient by pi/2, and the remainder as a sum of two; NaN if not finite.
    fn huge_remainder(self) -> (Self, Self, Self);
}

/// A number below 2^127, rounded, and what that is off by, rounded.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! high_and_low {
    ($size:ident, $type:ident) => {{
        let high = $size as $type;
        (high, ($size as i128 - high as i128) as $type)
    }};
}

/// The same in pieces of 64 bits: devices convert no larger integers.
#[cfg(target_arch = "nvptx64")]
macro_rules! high_and_low {
    ($size:ident, $type:ident) => {{
        // The upper 64 bits, of which the last says whether there are more, round like all bits.
        let rounded = |number: u128| {
            let shift = 64u32.saturating_sub(number.leading_zeros());
            let upper = (number >> shift) as u64 | u64::from(number & ((1u128 << shift) - 1) != 0);
            // 2^shift, for a shift of at most 64: a normal number.
            let power = (1u64 << (shift / 2)) as $type * (1u64 << (shift - shift / 2)) as $type;
            upper as $type * power
        };
        let high: $type = rounded($size);
        let bits = high.to_bits() as u64;
        let exponent =
            (bits >> <$type as Huge>::MANTISSA) as i32 - ($type::MAX_EXP - 1) - <$type as Huge>::MANTISSA as i32;
        let mantissa = u128::from((bits & ((1 << <$type as Huge>::MANTISSA) - 1)) | 1 << <$type as Huge>::MANTISSA);
        let whole = if exponent < 0 { mantissa >> -exponent } else { mantissa << exponent };
        let low: $type = if whole > $size { -rounded(whole - $size) } else { rounded($size - whole) };
        (high, low)
    }};
}

macro_rules! huge {
    ($($type:ident, $unsigned:ident, mantissa $mantissa:expr, bias $bias:expr;)*) => {$(
        impl Huge for $type {
            const MANTISSA: u32 = $mantissa;

            fn huge_remainder(self) -> ($type, $type, $type) {
                if !self.is_finite() {
                    return ($type::NAN, $type::NAN, $type::NAN);
                }
                let bits = self.abs().to_bits() as u64;
                let number = (bits & ((1 << $mantissa) - 1)) | 1 << $mantissa;
                let exponent = (bits >> $mantissa) as i32 - $bias - $mantissa;
                let (quotient, negative, size, shift) = trig::fixed_remainder(number, exponent);
                let (high, low) = high_and_low!(size, $type);
                // 2^shift, in two steps: each of them is a normal number.
                let power = |shift: i32| $type::from_bits((($bias + shift) as $unsigned) << $mantissa);
                let (first, second) = (power(shift / 2), power(shift - shift / 2));
                let sign: $type = if negative != self.is_sign_negative() { -1.0 } else { 1.0 };
                let quotient = if self.is_sign_negative() { 4 - quotient } else { quotient };
                (quotient as $type, sign * high * first * second, sign * low * first * second)
            }
        }
    )*};
}

huge! {
    f32, u32, mantissa 23, bias 127;
    f64, u64, mantissa 52, bias 1023;
}

/// The same in all lanes.
#[inline(always)]
fn constant<V: FloatVector>(value: V::Scalar) -> V {
    V::splat(value)
}

/// The polynomial of these coefficients, lowest first, by Horner's rule.
#[inline(always)]
fn polynomial<V: FloatVector>(x: V, coefficients: &'static [V::Scalar]) -> V {
    let mut sum = V::splat(coefficients[coefficients.len() - 1]);
    for &coefficient in coefficients[..coefficients.len() - 1].iter().rev() {
        sum = sum.mul_add(x, V::splat(coefficient));
    }
    sum
}

/// The polynomials of these coefficients, lowest first, selected by `place`.
#[inline(always)]
fn piece<V: FloatVector>(coefficients: &'static [[V::Scalar; 32]], place: V::Int, x: V) -> V {
    let mut sum = V::look_up(&coefficients[coefficients.len() - 1], place);
    for coefficients in coefficients[..coefficients.len() - 1].iter().rev() {
        sum = sum.mul_add(x, V::look_up(coefficients, place));
    }
    sum
}
