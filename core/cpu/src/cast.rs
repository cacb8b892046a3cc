//! The cast of one element, from any type to any type.

use crate::number::{Flag, bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use rushlight_base::{Complex32, Complex64, Complex128, Element, bf16, f16};

/// An element as each kind of value that a cast may start from.
pub(crate) trait Source: Element {
    /// As a signed integer: truncated, the least one for what is out of range; `u64` keeps its bits.
    fn to_i64(self) -> i64;
    /// As an integer whose lowest bits are those of a smaller one: a float that is no `i32` is the least one, as on
    /// x86-64 in PyTorch.
    #[inline(always)]
    fn lowest_bits(self) -> i32 {
        self.to_i64() as i32
    }
    /// As an unsigned integer: from 2^64 on 0.
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self.to_i64() as u64
    }
    /// Like `f32`, rounded once.
    fn to_f32(self) -> f32;
    /// Like `f64`.
    fn to_f64(self) -> f64;
    /// Imaginary part, as `f64`; exact.
    fn imaginary(self) -> f64;
    /// Whether it differs from zero.
    fn truth(self) -> bool;
    /// Whether the truncated float is an `i32`.
    #[inline(always)]
    fn fits_i32(self) -> bool {
        false
    }
    /// The truncated float.
    ///
    /// # Safety
    /// It is an `i32`.
    #[inline(always)]
    unsafe fn to_i32(self) -> i32 {
        self.to_i64() as i32
    }
}

/// An element that any other can be cast to.
pub(crate) trait Target: Element {
    /// The cast.
    fn cast<A: Source>(a: A) -> Self;
    /// The cast of an integer, if this is an integer type that [`Source::lowest_bits`] do not suffice for.
    const FROM_I32: Option<fn(i32) -> Self> = None;
}

macro_rules! integer_cast {
    ($($type:ty: $bits:ident, $from_i32:expr;)*) => {$(
        impl Source for $type {
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn imaginary(self) -> f64 {
                0.0
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self != 0
            }
        }
        impl Target for $type {
            #[inline(always)]
            fn cast<A: Source>(a: A) -> $type {
                a.$bits() as $type
            }
            const FROM_I32: Option<fn(i32) -> $type> = $from_i32;
        }
    )*};
}

integer_cast! {
    u8: lowest_bits, None;
    i8: lowest_bits, None;
    i16: lowest_bits, None;
    i32: lowest_bits, None;
    i64: to_i64, Some(|a| a.into());
    u16: lowest_bits, None;
    u32: to_i64, Some(|a| a as u32);
    u64: to_u64, Some(|a| a as u64);
}

macro_rules! float_cast {
    ($($type:ty: $to_f32:expr, $to_f64:expr, $cast:expr;)*) => {$(
        impl Source for $type {
            #[inline(always)]
            fn to_i64(self) -> i64 {
                let wide: f64 = $to_f64(self);
                if wide.abs() < 9_223_372_036_854_775_808.0 { wide as i64 } else { i64::MIN }
            }
            #[inline(always)]
            fn lowest_bits(self) -> i32 {
                let fits = self.fits_i32();
                let number = if fits { self } else { <$type>::default() };
                // SAFETY: the truncated number is an `i32`, as 0 is. Without a branch, loops are vectorized.
                let bits = unsafe { number.to_i32() };
                if fits { bits } else { i32::MIN }
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                let wide: f64 = $to_f64(self);
                if wide < 9_223_372_036_854_775_808.0 || wide.is_nan() {
                    return self.to_i64() as u64;
                }
                if wide < 18_446_744_073_709_551_616.0 { wide as u64 } else { 0 }
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                $to_f32(self)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
            #[inline(always)]
            fn imaginary(self) -> f64 {
                0.0
            }
            #[inline(always)]
            fn truth(self) -> bool {
                let wide: f64 = $to_f64(self);
                wide != 0.0
            }
            #[inline(always)]
            fn fits_i32(self) -> bool {
                crate::number::Number::wide(self).abs() < 2_147_483_648.0
            }
            #[inline(always)]
            unsafe fn to_i32(self) -> i32 {
                // SAFETY: the caller guarantees that the truncated number is an `i32`.
                unsafe { crate::number::Number::wide(self).to_int_unchecked() }
            }
        }
        impl Target for $type {
            #[inline(always)]
            fn cast<A: Source>(a: A) -> $type {
                $cast(a)
            }
        }
    )*};
}

// A double is converted to half precision through float, as in PyTorch.
float_cast! {
    f16: f16_to_f32, |x| f16_to_f32(x).into(), |a: A| f16_from_f32(a.to_f32());
    bf16: bf16_to_f32, |x| bf16_to_f32(x).into(), |a: A| bf16_from_f32(a.to_f32());
    f32: |x: f32| x, f64::from, |a: A| a.to_f32();
    f64: |x: f64| x as f32, |x: f64| x, |a: A| a.to_f64();
}

macro_rules! complex_cast {
    ($($type:ty: $part:ty;)*) => {$(
        impl Source for $type {
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self.re.to_i64()
            }
            #[inline(always)]
            fn lowest_bits(self) -> i32 {
                self.re.lowest_bits()
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                self.re.to_u64()
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self.re.to_f32()
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                Source::to_f64(self.re)
            }
            #[inline(always)]
            fn imaginary(self) -> f64 {
                Source::to_f64(self.im)
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self.re.truth() || self.im.truth()
            }
        }
        impl Target for $type {
            #[inline(always)]
            fn cast<A: Source>(a: A) -> $type {
                <$type>::new(<$part>::cast(a), <$part>::cast(a.imaginary()))
            }
        }
    )*};
}

complex_cast! {
    Complex32: f16;
    Complex64: f32;
    Complex128: f64;
}

impl Source for Flag {
    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(self.0 != 0)
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from(u8::from(self.0 != 0))
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self.0 != 0))
    }
    #[inline(always)]
    fn imaginary(self) -> f64 {
        0.0
    }
    #[inline(always)]
    fn truth(self) -> bool {
        self.0 != 0
    }
}

impl Target for Flag {
    #[inline(always)]
    fn cast<A: Source>(a: A) -> Flag {
        Flag(u8::from(a.truth()))
    }
}
