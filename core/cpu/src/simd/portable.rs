//! Vectors as arrays, in plain Rust: four `f32` or two `f64` where there is no better level, else single numbers.

use super::vector::{FloatVector, HalfVector, IntVector, Mask};
#[cfg(target_arch = "nvptx64")]
use crate::floats::Roots;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// `N` numbers. A fused multiply-add would be a slow call of a library: `mul_add` multiplies and adds.
#[derive(Clone, Copy)]
pub struct Lanes<T, const N: usize>([T; N]);

/// `N` booleans.
#[derive(Clone, Copy)]
pub struct LaneMask<const N: usize>([bool; N]);

impl<T: Copy, const N: usize> Lanes<T, N> {
    #[inline(always)]
    fn make(lane: impl FnMut(usize) -> T) -> Self {
        Lanes(std::array::from_fn(lane))
    }

    #[inline(always)]
    fn each<R: Copy>(self, function: impl Fn(T) -> R) -> Lanes<R, N> {
        Lanes::make(|lane| function(self.0[lane]))
    }

    #[inline(always)]
    fn zip<R: Copy>(self, other: Self, function: impl Fn(T, T) -> R) -> Lanes<R, N> {
        Lanes::make(|lane| function(self.0[lane], other.0[lane]))
    }

    #[inline(always)]
    fn compare(self, other: Self, function: impl Fn(&T, &T) -> bool) -> LaneMask<N> {
        LaneMask(std::array::from_fn(|lane| function(&self.0[lane], &other.0[lane])))
    }
}

macro_rules! operators {
    ($($type:ty: $($trait:ident $method:ident),*;)*) => {$($(
        impl<const N: usize> $trait for Lanes<$type, N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |left, right| left.$method(right))
            }
        }
    )*)*};
}

operators! {
    f32: Add add, Sub sub, Mul mul, Div div;
    f64: Add add, Sub sub, Mul mul, Div div;
    i32: BitAnd bitand, BitOr bitor, BitXor bitxor;
    i64: BitAnd bitand, BitOr bitor, BitXor bitxor;
}

macro_rules! mask_operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<const N: usize> $trait for LaneMask<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                LaneMask(std::array::from_fn(|lane| self.0[lane].$method(other.0[lane])))
            }
        }
    )*};
}

mask_operators!(BitAnd bitand, BitOr bitor, BitXor bitxor);

impl<const N: usize> Not for LaneMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        LaneMask(self.0.map(|lane| !lane))
    }
}

impl<const N: usize> Mask for LaneMask<N> {
    const LANES: usize = N;

    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        LaneMask(std::array::from_fn(|lane| bits >> lane & 1 != 0))
    }

    #[inline(always)]
    fn to_bits(self) -> u32 {
        (0..N).fold(0, |bits, lane| bits | u32::from(self.0[lane]) << lane)
    }
}

macro_rules! integers {
    ($($type:ident, $unsigned:ident;)*) => {$(
        impl<const N: usize> Add for Lanes<$type, N> {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.zip(other, $type::wrapping_add)
            }
        }

        impl<const N: usize> Sub for Lanes<$type, N> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.zip(other, $type::wrapping_sub)
            }
        }

        impl<const N: usize> Not for Lanes<$type, N> {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self.each(|lane| !lane)
            }
        }

        impl<const N: usize> IntVector for Lanes<$type, N> {
            type Scalar = $type;
            type Mask = LaneMask<N>;
            const LANES: usize = N;

            #[inline(always)]
            fn splat(value: $type) -> Self {
                Self::make(|_| value)
            }

            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                Self::splat(value as $type)
            }

            #[inline(always)]
            unsafe fn load(source: *const $type) -> Self {
                // SAFETY: the caller guarantees `N` readable elements at `source`; unaligned access needs no alignment.
                Lanes(unsafe { source.cast::<[$type; N]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $type) {
                // SAFETY: the caller guarantees `N` writable elements at `target`; unaligned access needs no alignment.
                unsafe { target.cast::<[$type; N]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                self.each(|lane| lane.wrapping_shl(bits))
            }

            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                self.each(|lane| (lane as $unsigned).wrapping_shr(bits) as $type)
            }

            #[inline(always)]
            fn sar(self, bits: u32) -> Self {
                self.each(|lane| lane.wrapping_shr(bits))
            }

            #[inline(always)]
            fn eq(self, other: Self) -> LaneMask<N> {
                self.compare(other, $type::eq)
            }

            #[inline(always)]
            fn lt(self, other: Self) -> LaneMask<N> {
                self.compare(other, $type::lt)
            }

            #[inline(always)]
            fn select(mask: LaneMask<N>, yes: Self, no: Self) -> Self {
                Self::make(|lane| if mask.0[lane] { yes.0[lane] } else { no.0[lane] })
            }
        }
    )*};
}

integers! {
    i32, u32;
    i64, u64;
}

macro_rules! floats {
    ($($type:ident, $int:ident, $unsigned:ident, mantissa $mantissa:expr, bias $bias:expr;)*) => {$(
        impl<const N: usize> Neg for Lanes<$type, N> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.each(|lane| -lane)
            }
        }

        impl<const N: usize> Lanes<$type, N> {
            /// From here on every number is whole: adding it to a smaller number rounds that.
            const WHOLE: $type = ((1 as $unsigned) << $mantissa) as $type;
        }

        impl<const N: usize> FloatVector for Lanes<$type, N> {
            type Scalar = $type;
            type Int = Lanes<$int, N>;
            type Mask = LaneMask<N>;
            const LANES: usize = N;
            // Every GPU has the instruction.
            const FUSED: bool = cfg!(target_arch = "nvptx64");

            #[inline(always)]
            fn splat(value: $type) -> Self {
                Self::make(|_| value)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Self::splat(value as $type)
            }

            #[inline(always)]
            fn iota() -> Self {
                Self::make(|lane| lane as $type)
            }

            #[inline(always)]
            unsafe fn load(source: *const $type) -> Self {
                // SAFETY: the caller guarantees `N` readable elements at `source`; unaligned access needs no alignment.
                Lanes(unsafe { source.cast::<[$type; N]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $type) {
                // SAFETY: the caller guarantees `N` writable elements at `target`; unaligned access needs no alignment.
                unsafe { target.cast::<[$type; N]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                if Self::FUSED {
                    return Self::make(|lane| self.0[lane].mul_add(factor.0[lane], term.0[lane]));
                }
                self * factor + term
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.each($type::sqrt)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                self.each($type::abs)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self::select(self.is_nan(), self, self.raw_min(other))
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self::select(self.is_nan(), self, self.raw_max(other))
            }

            #[inline(always)]
            fn raw_min(self, other: Self) -> Self {
                self.zip(other, |left, right| if left < right { left } else { right })
            }

            #[inline(always)]
            fn raw_max(self, other: Self) -> Self {
                self.zip(other, |left, right| if left > right { left } else { right })
            }

            // By arithmetic: without instructions for it, the standard library's roundings are calls.
            #[inline(always)]
            fn round(self) -> Self {
                self.each(|lane| {
                    let size = lane.abs();
                    let whole = if size < Self::WHOLE { size + Self::WHOLE - Self::WHOLE } else { size };
                    whole.copysign(lane)
                })
            }

            #[inline(always)]
            fn floor(self) -> Self {
                self.zip(self.round(), |lane, whole| {
                    (if whole > lane { whole - 1.0 } else { whole }).copysign(lane)
                })
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                -(-self).floor()
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                self.abs().floor().copysign(self)
            }

            #[inline(always)]
            fn eq(self, other: Self) -> LaneMask<N> {
                self.compare(other, $type::eq)
            }

            #[inline(always)]
            fn lt(self, other: Self) -> LaneMask<N> {
                self.compare(other, $type::lt)
            }

            #[inline(always)]
            fn le(self, other: Self) -> LaneMask<N> {
                self.compare(other, $type::le)
            }

            #[inline(always)]
            fn select(mask: LaneMask<N>, yes: Self, no: Self) -> Self {
                Self::make(|lane| if mask.0[lane] { yes.0[lane] } else { no.0[lane] })
            }

            #[inline(always)]
            fn bits(self) -> Lanes<$int, N> {
                self.each(|lane| lane.to_bits() as $int)
            }

            #[inline(always)]
            fn from_bits(bits: Lanes<$int, N>) -> Self {
                bits.each(|lane| $type::from_bits(lane as $unsigned))
            }

            #[inline(always)]
            fn to_int(self) -> Lanes<$int, N> {
                // At this magnitude the last bit is worth 1, and the bits below the exponent count up from the number
                // itself.
                let anchor = Self::WHOLE + Self::WHOLE / 2.0;
                self.each(|lane| ((lane + anchor).to_bits() as $int).wrapping_sub(anchor.to_bits() as $int))
            }

            #[inline(always)]
            fn from_int(value: Lanes<$int, N>) -> Self {
                value.each(|lane| lane as $type)
            }

            #[inline(always)]
            fn ldexp(self, exponent: Self) -> Self {
                // In two steps, the first of them exact.
                let power = exponent.to_int();
                let half = power.sar(1);
                let bias = Lanes::<$int, N>::splat($bias);
                let factor = |power: Lanes<$int, N>| Self::from_bits((power + bias).shl($mantissa));
                self * factor(half) * factor(power - half)
            }

            #[inline(always)]
            fn fold(self, combine: impl Fn(Self, Self) -> Self) -> $type {
                let mut folded = self;
                let mut step = N / 2;
                while step > 0 {
                    folded = combine(folded, Self::make(|lane| folded.0[(lane + step) % N]));
                    step /= 2;
                }
                folded.0[0]
            }
        }
    )*};
}

floats! {
    f32, i32, u32, mantissa 23, bias 127;
    f64, i64, u64, mantissa 52, bias 1023;
}

impl<const N: usize> HalfVector for Lanes<f32, N> {
    #[inline(always)]
    unsafe fn load_u16(source: *const u16) -> Self::Int {
        // SAFETY: the caller guarantees `N` readable 16-bit numbers at `source`; unaligned access needs no alignment.
        let halves = unsafe { source.cast::<[u16; N]>().read_unaligned() };
        Lanes::make(|lane| i32::from(halves[lane]))
    }

    #[inline(always)]
    unsafe fn store_u16(value: Self::Int, target: *mut u16) {
        // SAFETY: the caller guarantees `N` writable 16-bit numbers at `target`; unaligned access needs no alignment.
        unsafe { target.cast::<[u16; N]>().write_unaligned(value.0.map(|lane| lane as u16)) }
    }
}
