//! Between stored elements, packed elements and sums.

use crate::number::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use num_complex::Complex;
use rushlight_base::{Complex32, Complex64, Complex128, bf16, f16};

/// A stored element that can be packed as an `I`.
pub(super) trait Convert<I>: Copy + 'static {
    /// The packed element.
    fn convert(self) -> I;
}

/// An element that sums of `S` are stored as.
pub(super) trait Stored<S>: Copy {
    /// Converts to the type of sums; exact.
    fn wide(self) -> S;
    /// Rounded to nearest even; integers wrap.
    fn narrow(sum: S) -> Self;
}

/// The same bits, for fours of bytes: raised by 128, as the unsigned left operand of a product.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Raised(i8);

impl Convert<i8> for Raised {
    #[inline(always)]
    fn convert(self) -> i8 {
        self.0 ^ i8::MIN
    }
}

/// The same bits, unconverted.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Bits16(u16);

impl Convert<u16> for Bits16 {
    #[inline(always)]
    fn convert(self) -> u16 {
        self.0
    }
}

// Out-of-line functions: inlined they would be large, and complex half precision is rare.
#[inline(never)]
fn complex32_to_complex64(value: Complex32) -> Complex64 {
    Complex::new(f16_to_f32(value.re), f16_to_f32(value.im))
}

#[inline(never)]
fn complex64_to_complex32(value: Complex64) -> Complex32 {
    Complex::new(f16_from_f32(value.re), f16_from_f32(value.im))
}

macro_rules! converts {
    ($($from:ty => $to:ty: |$value:ident| $convert:expr;)*) => {$(
        impl Convert<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                let $value = self;
                $convert
            }
        }
    )*};
}

converts! {
    u32 => u32: |value| value;
    u64 => u64: |value| value;
    f16 => f32: |value| f16_to_f32(value);
    bf16 => f32: |value| bf16_to_f32(value);
    i8 => i8: |value| value;
    u8 => i16: |value| i16::from(value);
    i8 => i16: |value| i16::from(value);
    i16 => i16: |value| value;
    u8 => i32: |value| i32::from(value);
    i8 => i32: |value| i32::from(value);
    i16 => i32: |value| i32::from(value);
    Complex128 => Complex128: |value| value;
    Complex32 => Complex64: |value| complex32_to_complex64(value);
}

macro_rules! stored {
    ($($of:ty as $sum:ty: |$value:ident| $widen:expr, |$result:ident| $narrow:expr;)*) => {$(
        impl Stored<$sum> for $of {
            #[inline(always)]
            fn wide(self) -> $sum {
                let $value = self;
                $widen
            }
            #[inline(always)]
            fn narrow($result: $sum) -> $of {
                $narrow
            }
        }
    )*};
}

stored! {
    f32 as f32: |value| value, |sum| sum;
    f64 as f64: |value| value, |sum| sum;
    f16 as f32: |value| f16_to_f32(value), |sum| f16_from_f32(sum);
    bf16 as f32: |value| bf16_to_f32(value), |sum| bf16_from_f32(sum);
    u8 as i32: |value| i32::from(value), |sum| sum as u8;
    i8 as i32: |value| i32::from(value), |sum| sum as i8;
    i16 as i32: |value| i32::from(value), |sum| sum as i16;
    i32 as i32: |value| value, |sum| sum;
    i64 as i64: |value| value, |sum| sum;
    Complex64 as Complex64: |value| value, |sum| sum;
    Complex128 as Complex128: |value| value, |sum| sum;
    Complex32 as Complex64: |value| complex32_to_complex64(value), |sum| complex64_to_complex32(sum);
}
