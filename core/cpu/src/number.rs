//! Element types: the operations of loops, the stored types, and the wide types in which they compute.
//!
//! `f16` and `bf16` are stored, and computed in `f32`; `complex32` in `Complex<f32>`; every other type is its own wide
//! type. Integers wrap, as in C; on `bool`, addition is "or" and multiplication "and".

use num_complex::Complex;
use rushlight_base::{Complex32, Complex64, Complex128, DType, Element, Scalar, bf16, f16};

/// A stored `bool`: a byte that is false when 0, for any other value true.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Flag(pub u8);

impl PartialEq for Flag {
    fn eq(&self, other: &Flag) -> bool {
        (self.0 != 0) == (other.0 != 0)
    }
}

impl std::fmt::Debug for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0 != 0)
    }
}

// SAFETY: one byte, for which every bit pattern is valid.
unsafe impl Element for Flag {
    const DTYPE: DType = DType::Bool;
}

/// A stored element type with its wide type.
pub trait Number: Element {
    /// The computation type.
    type Wide: Wide;
    /// Into the wide type; exact.
    fn wide(self) -> Self::Wide;
    /// Back, rounding to nearest even.
    fn narrow(wide: Self::Wide) -> Self;
}

/// Arithmetic of a wide type.
pub trait Wide: Copy + PartialEq + Send + Sync + 'static {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// The scalar in this type, as a C cast would convert it.
    fn from_scalar(scalar: Scalar) -> Self;
    /// Whether it is NaN. Never, for integers.
    fn is_nan(self) -> bool;
    /// The complex conjugate; a real number is its own conjugate.
    #[inline(always)]
    fn conjugate(self) -> Self {
        self
    }
}

/// A wide type with an order.
pub trait Ordered: Wide + PartialOrd {}

/// A wide type closed under division and the elementary functions.
pub trait Analytic: Wide {
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// e to this power.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Principal square root.
    fn sqrt(self) -> Self;
    /// A real constant.
    fn from_f64(value: f64) -> Self;
}

/// `f32` or `f64`.
pub trait Real: Analytic + Ordered {
    /// The remainder of the quotient truncated to a whole number, exact, with the sign of `self`.
    fn rest(self, other: Self) -> Self;
}

/// A function of `num_complex`. Devices have their own.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! complex {
    ($name:ident($argument:expr)) => {
        Complex::$name($argument)
    };
}

/// The remainder of the quotient truncated to a whole number. Devices have their own.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! remainder {
    ($a:ident, $b:ident) => {
        $a % $b
    };
}
#[cfg(target_arch = "nvptx64")]
macro_rules! remainder {
    ($a:ident, $b:ident) => {
        Rest::rest($a, $b)
    };
}

#[cfg(target_arch = "nvptx64")]
use crate::floats::{Rest, complex_exp, complex_sqrt};

macro_rules! own_wide {
    ($($type:ty),*) => {$(
        impl Number for $type {
            type Wide = $type;
            #[inline(always)]
            fn wide(self) -> $type {
                self
            }
            #[inline(always)]
            fn narrow(wide: $type) -> $type {
                wide
            }
        }
    )*};
}

own_wide!(u8, i8, i16, i32, i64, u16, u32, u64, f32, f64, Complex64, Complex128);

/// Half precision to `f32`: the exponent is adjusted by a multiplication, which also normalizes subnormal numbers.
/// Without branches, so that loops are vectorized.
#[inline(always)]
pub(crate) fn f16_to_f32(half: f16) -> f32 {
    let bits = u32::from(half.to_bits());
    let (sign, rest) = ((bits & 0x8000) << 16, bits & 0x7fff);
    // 2^112: the difference of the exponents' biases.
    let moved = (f32::from_bits(rest << 13) * f32::from_bits(0x7780_0000)).to_bits();
    // NaN is quiet, as with the processor's conversion.
    let special = if rest > 0x7c00 { 0x7fc0_0000 } else { 0x7f80_0000 };
    let special = if rest >= 0x7c00 { special } else { 0 };
    f32::from_bits(sign | moved | special)
}

/// `f32` to half precision, to nearest, ties to even.
#[inline(always)]
pub(crate) fn f16_from_f32(value: f32) -> f16 {
    let bits = value.to_bits();
    let (sign, rest) = ((bits & 0x8000_0000) >> 16, bits & 0x7fff_ffff);
    let special = if rest > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    // Adding 1/2 puts the last bit of a subnormal half-precision number where `f32` rounds.
    let subnormal = (f32::from_bits(rest) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    // Rounds up by carrying into the kept bits; the exponent's bias changes from 127 to 15.
    let normal = rest.wrapping_add(0xc800_0fff).wrapping_add((rest >> 13) & 1) >> 13;
    let finite = if rest < 0x3880_0000 { subnormal } else { normal };
    f16::from_bits((sign | if rest >= 0x4780_0000 { special } else { finite }) as u16)
}

/// `f32` as a brain float, to nearest, ties to even.
#[inline(always)]
pub(crate) fn bf16_from_f32(value: f32) -> bf16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff).wrapping_add((bits >> 16) & 1) >> 16;
    // Compared as an integer: loops over this become vector code.
    bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0 } else { rounded } as u16)
}

/// bfloat16 to `f32`: its bits are the upper half.
#[inline(always)]
pub(crate) fn bf16_to_f32(half: bf16) -> f32 {
    f32::from_bits(u32::from(half.to_bits()) << 16)
}

impl Number for f16 {
    type Wide = f32;
    #[inline(always)]
    fn wide(self) -> f32 {
        f16_to_f32(self)
    }
    #[inline(always)]
    fn narrow(wide: f32) -> f16 {
        f16_from_f32(wide)
    }
}

impl Number for bf16 {
    type Wide = f32;
    #[inline(always)]
    fn wide(self) -> f32 {
        bf16_to_f32(self)
    }
    #[inline(always)]
    fn narrow(wide: f32) -> bf16 {
        bf16_from_f32(wide)
    }
}

impl Number for Complex32 {
    type Wide = Complex<f32>;
    #[inline(always)]
    fn wide(self) -> Complex<f32> {
        Complex::new(f16_to_f32(self.re), f16_to_f32(self.im))
    }
    #[inline(always)]
    fn narrow(wide: Complex<f32>) -> Complex32 {
        Complex::new(f16_from_f32(wide.re), f16_from_f32(wide.im))
    }
}

impl Number for Flag {
    type Wide = bool;
    #[inline(always)]
    fn wide(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn narrow(wide: bool) -> Flag {
        Flag(wide as u8)
    }
}

macro_rules! integer_wide {
    ($($type:ty),*) => {$(
        impl Wide for $type {
            const ZERO: $type = 0;
            const ONE: $type = 1;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
            fn from_scalar(scalar: Scalar) -> $type {
                match scalar {
                    Scalar::UInt(value) => value as $type,
                    other => other.to_i64() as $type,
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
        impl Ordered for $type {}
    )*};
}

integer_wide!(u8, i8, i16, i32, i64, u16, u32, u64);

impl Wide for bool {
    const ZERO: bool = false;
    const ONE: bool = true;
    #[inline(always)]
    fn add(self, other: bool) -> bool {
        self | other
    }
    #[inline(always)]
    fn sub(self, other: bool) -> bool {
        self ^ other
    }
    #[inline(always)]
    fn mul(self, other: bool) -> bool {
        self & other
    }
    fn from_scalar(scalar: Scalar) -> bool {
        scalar.to_bool()
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

impl Ordered for bool {}

macro_rules! float_wide {
    ($($type:ident),*) => {$(
        impl Wide for $type {
            const ZERO: $type = 0.0;
            const ONE: $type = 1.0;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self * other
            }
            fn from_scalar(scalar: Scalar) -> $type {
                match scalar {
                    Scalar::Int(value) => value as $type,
                    Scalar::UInt(value) => value as $type,
                    other => other.to_f64() as $type,
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }
        }
        impl Ordered for $type {}
        impl Analytic for $type {
            #[inline(always)]
            fn div(self, other: $type) -> $type {
                self / other
            }
            #[inline(always)]
            fn exp(self) -> $type {
                standard!($type::exp(self))
            }
            #[inline(always)]
            fn ln(self) -> $type {
                standard!($type::ln(self))
            }
            #[inline(always)]
            fn sqrt(self) -> $type {
                standard!($type::sqrt(self))
            }
            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                value as $type
            }
        }
        impl Real for $type {
            #[inline(always)]
            fn rest(self, other: $type) -> $type {
                remainder!(self, other)
            }
        }
        impl Wide for Complex<$type> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn from_scalar(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Complex(value) => Complex::new(value.re as $type, value.im as $type),
                    other => Complex::new($type::from_scalar(other), 0.0),
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                self.conj()
            }
        }
        impl Analytic for Complex<$type> {
            /// Smith's method: scales by the larger part, so that squares neither overflow nor underflow.
            #[inline]
            fn div(self, other: Self) -> Self {
                if other.re == 0.0 && other.im == 0.0 {
                    return Complex::new(self.re / other.re.abs(), self.im / other.re.abs());
                }
                if other.re.abs() >= other.im.abs() {
                    let ratio = other.im / other.re;
                    let scale = 1.0 / (other.re + other.im * ratio);
                    Complex::new((self.re + self.im * ratio) * scale, (self.im - self.re * ratio) * scale)
                } else {
                    let ratio = other.re / other.im;
                    let scale = 1.0 / (other.re * ratio + other.im);
                    Complex::new((self.re * ratio + self.im) * scale, (self.im * ratio - self.re) * scale)
                }
            }
            #[inline]
            fn exp(self) -> Self {
                // Also of an infinite power, which times the sine would be NaN.
                if self.im == 0.0 {
                    return Complex::new(standard!($type::exp(self.re)), self.im);
                }
                complex!(exp(self))
            }
            #[inline]
            fn ln(self) -> Self {
                let size = standard!($type::hypot(self.re, self.im));
                Complex::new(size.ln(), standard!($type::atan2(self.im, self.re)))
            }
            #[inline]
            fn sqrt(self) -> Self {
                // The angle of a number with an infinite part is not that of its root's finite part.
                if self.im.is_infinite() {
                    return Complex::new($type::INFINITY, self.im);
                }
                if self.re.is_infinite() {
                    let nan_or_0 = if self.im.is_nan() { self.im } else { 0.0 };
                    return if self.re > 0.0 {
                        Complex::new(self.re, nan_or_0.copysign(self.im))
                    } else {
                        Complex::new(nan_or_0, $type::INFINITY.copysign(self.im))
                    };
                }
                complex!(sqrt(self))
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Complex::new(value as $type, 0.0)
            }
        }
    )*};
}

float_wide!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_converts_as_the_reference_does() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(f16_to_f32(half) == half.to_f32() || half.is_nan() && f16_to_f32(half).is_nan(), "{bits:#x}");
            assert!(bf16_to_f32(brain) == brain.to_f32() || brain.is_nan() && bf16_to_f32(brain).is_nan(), "{bits:#x}");
        }
    }

    #[test]
    fn floats_round_to_half_precision_like_the_reference() {
        // Every pattern of the upper bits, with lower bits below, at and above the ties.
        for upper in 0..=u16::MAX {
            for lower in [0u32, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let value = f32::from_bits(u32::from(upper) << 16 | lower);
                if value.is_nan() {
                    assert!(f16_from_f32(value).is_nan() && bf16_from_f32(value).is_nan());
                    continue;
                }
                assert_eq!(f16_from_f32(value).to_bits(), f16::from_f32(value).to_bits(), "{value:e}");
                assert_eq!(bf16_from_f32(value).to_bits(), bf16::from_f32(value).to_bits(), "{value:e}");
            }
        }
    }
}
