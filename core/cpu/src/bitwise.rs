//! Bitwise operators on integers; bools are one bit.

use crate::number::Flag;
use crate::pointwise::{LIGHT, Loop};
use rushlight_base::{DType, Result};

/// The number itself.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn bits(number: u32) -> u32 {
    number
}

#[cfg(target_arch = "nvptx64")]
use crate::base::hidden as bits;

/// Kernels of two operands.
macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident($kernel:literal): |$a:ident, $b:ident| $value:expr;)*) => {$(
        kernels! { "bitwise";
            $(#[$doc])*
            pub fn $name(walk: &Loop<3>) -> Result<()> {
                if walk.common() == DType::Bool {
                    return walk.map::<Flag, Flag, Flag>(LIGHT, |$a, $b| $value);
                }
                dispatch!(walk.common(), $kernel, integer, T => walk.map::<T, T, T>(LIGHT, |$a, $b| $value))
            }
        }
    )*};
}

bitwise! {
    /// out = bitwise AND
    bitwise_and("bitwise_and_cpu"): |a, b| a & b;
    /// out = bitwise OR
    bitwise_or("bitwise_or_cpu"): |a, b| a | b;
    /// out = bitwise XOR
    bitwise_xor("bitwise_xor_cpu"): |a, b| a ^ b;
}

kernels! { "bitwise";
    /// out = bitwise NOT
    pub fn bitwise_not(walk: &Loop<2>) -> Result<()> {
        if walk.common() == DType::Bool {
            return walk.map::<Flag, Flag>(LIGHT, |a| !a);
        }
        dispatch!(walk.common(), "bitwise_not_cpu", integer, T => walk.map::<T, T>(LIGHT, |a| !a))
    }

    /// out = a 2^b; 0 where b is not a valid number of bits for a
    pub fn left_shift(walk: &Loop<3>) -> Result<()> {
        dispatch!(walk.common(), "lshift_cpu", integer, T => walk.map::<T, T, T>(LIGHT, |a, b| {
            // A negative number of bits is a large unsigned number.
            if (b as u64) < u64::from(T::BITS) { a.wrapping_shl(bits(b as u32)) } else { 0 }
        }))
    }

    /// out = a / 2^b, rounded down: 0 or -1 where b is not a valid number of bits for a
    pub fn right_shift(walk: &Loop<3>) -> Result<()> {
        dispatch!(walk.common(), "rshift_cpu", integer, T => {
            // True only for signed types: unsigned numbers are never below zero.
            #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
            walk.map::<T, T, T>(LIGHT, |a, b| {
                if (b as u64) < u64::from(T::BITS) { a.wrapping_shr(b as u32) } else { (0 as T).wrapping_sub((a < 0) as T) }
            })
        })
    }
}
