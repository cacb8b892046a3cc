//! Integers in the order of elements, so that sorting compares no floats. CUDA kernels include this file.

use crate::number::{Flag, Number};
use rushlight_base::{bf16, f16};

/// An element type with an order: NaN above everything, 0 and -0 equal.
pub(crate) trait Ranked: Number {
    /// Ranks are below 2 to this power.
    const BITS: u32;
    /// A number that is less where the element is.
    fn rank(self) -> u64;
}

macro_rules! ranked_integers {
    ($($type:ty, $unsigned:ty, $flip:expr;)*) => {$(
        impl Ranked for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline(always)]
            fn rank(self) -> u64 {
                // The sign bit inverted: negative numbers come first.
                u64::from(self as $unsigned ^ $flip)
            }
        }
    )*};
}

ranked_integers! {
    u8, u8, 0;
    i8, u8, 1 << 7;
    i16, u16, 1 << 15;
    i32, u32, 1 << 31;
    i64, u64, 1 << 63;
}

macro_rules! ranked_floats {
    ($($type:ty, $bits:literal;)*) => {$(
        impl Ranked for $type {
            const BITS: u32 = $bits;
            #[inline(always)]
            fn rank(self) -> u64 {
                let (bits, sign) = (u64::from(self.to_bits()), 1u64 << ($bits - 1));
                let size = bits & (sign - 1);
                if size > u64::from(<$type>::INFINITY.to_bits()) {
                    return sign | (sign - 1);
                }
                if bits & sign == 0 { sign + size } else { sign - size }
            }
        }
    )*};
}

ranked_floats! {
    f16, 16;
    bf16, 16;
    f32, 32;
    f64, 64;
}

impl Ranked for Flag {
    const BITS: u32 = 1;
    #[inline(always)]
    fn rank(self) -> u64 {
        u64::from(self.0 != 0)
    }
}
