//! Vectors of 128 bits: ARMv8 Advanced SIMD. A mask has all bits of a lane set or none.
//!
//! The intrinsics are unsafe where their instructions may be missing. Here they are available: the token of this level
//! cannot be named outside of `simd`, so its vectors are only reached through the `S` that `run` passes.

use super::vector::{FloatVector, HalfVector, IntVector, Mask};
use rushlight_base::f16;
use std::arch::aarch64::*;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// Calls intrinsics.
macro_rules! arm {
    ($($body:tt)*) => {
        // SAFETY: this code is reached only through `run`, on processors with the instructions; callers guarantee the
        // memory that the function's documentation names.
        unsafe { $($body)* }
    };
}

macro_rules! operators {
    ($($type:ident: $($trait:ident $method:ident $intrinsic:ident),*;)*) => {$($(
        impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                arm! { $type($intrinsic(self.0, other.0)) }
            }
        }
    )*)*};
}

operators! {
    F32: Add add vaddq_f32, Sub sub vsubq_f32, Mul mul vmulq_f32, Div div vdivq_f32;
    F64: Add add vaddq_f64, Sub sub vsubq_f64, Mul mul vmulq_f64, Div div vdivq_f64;
    I32: Add add vaddq_s32, Sub sub vsubq_s32, BitAnd bitand vandq_s32, BitOr bitor vorrq_s32, BitXor bitxor veorq_s32;
    I64: Add add vaddq_s64, Sub sub vsubq_s64, BitAnd bitand vandq_s64, BitOr bitor vorrq_s64, BitXor bitxor veorq_s64;
    M32: BitAnd bitand vandq_u32, BitOr bitor vorrq_u32, BitXor bitxor veorq_u32;
    M64: BitAnd bitand vandq_u64, BitOr bitor vorrq_u64, BitXor bitxor veorq_u64;
}

macro_rules! masks {
    ($($name:ident($register:ident, $unsigned:ident, $lanes:expr) {
        set $set:ident, load $load:ident, and $and:ident, eq $eq:ident, sum $sum:ident
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl $name {
            /// Bit `i` in lane `i`.
            #[inline(always)]
            fn places() -> $register {
                let places: [$unsigned; $lanes] = std::array::from_fn(|lane| 1 << lane);
                arm! { $load(places.as_ptr()) }
            }
        }

        impl Not for $name {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self ^ arm! { $name($set($unsigned::MAX)) }
            }
        }

        impl Mask for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn from_bits(bits: u32) -> Self {
                arm! { $name($eq($and($set($unsigned::from(bits)), Self::places()), Self::places())) }
            }

            #[inline(always)]
            fn to_bits(self) -> u32 {
                arm! { $sum($and(self.0, Self::places())) as u32 }
            }
        }
    )*};
}

masks! {
    M32(uint32x4_t, u32, 4) { set vdupq_n_u32, load vld1q_u32, and vandq_u32, eq vceqq_u32, sum vaddvq_u32 }
    M64(uint64x2_t, u64, 2) { set vdupq_n_u64, load vld1q_u64, and vandq_u64, eq vceqq_u64, sum vaddvq_u64 }
}

macro_rules! integers {
    ($($name:ident($scalar:ident, $register:ident, $mask:ident, $lanes:expr) {
        set $set:ident, load $load:ident, store $store:ident, shift $shift:ident, shift_unsigned $shift_unsigned:ident,
        signed $signed:ident, unsigned $unsigned:ident, eq $eq:ident, lt $lt:ident, blend $blend:ident
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Not for $name {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self ^ Self::splat(-1)
            }
        }

        impl IntVector for $name {
            type Scalar = $scalar;
            type Mask = $mask;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                arm! { $name($set(value)) }
            }

            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                Self::splat(value as $scalar)
            }

            #[inline(always)]
            unsafe fn load(source: *const $scalar) -> Self {
                arm! { $name($load(source)) }
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $scalar) {
                arm! { $store(target, self.0) }
            }

            // One instruction shifts either way, by the sign of the count.
            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                arm! { $name($shift(self.0, $set(bits as $scalar))) }
            }

            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                arm! { $name($signed($shift_unsigned($unsigned(self.0), $set(-(bits as $scalar))))) }
            }

            #[inline(always)]
            fn sar(self, bits: u32) -> Self {
                arm! { $name($shift(self.0, $set(-(bits as $scalar)))) }
            }

            #[inline(always)]
            fn eq(self, other: Self) -> $mask {
                arm! { $mask($eq(self.0, other.0)) }
            }

            #[inline(always)]
            fn lt(self, other: Self) -> $mask {
                arm! { $mask($lt(self.0, other.0)) }
            }

            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                arm! { $name($blend(mask.0, yes.0, no.0)) }
            }
        }
    )*};
}

integers! {
    I32(i32, int32x4_t, M32, 4) {
        set vdupq_n_s32, load vld1q_s32, store vst1q_s32, shift vshlq_s32, shift_unsigned vshlq_u32,
        signed vreinterpretq_s32_u32, unsigned vreinterpretq_u32_s32, eq vceqq_s32, lt vcltq_s32, blend vbslq_s32
    }
    I64(i64, int64x2_t, M64, 2) {
        set vdupq_n_s64, load vld1q_s64, store vst1q_s64, shift vshlq_s64, shift_unsigned vshlq_u64,
        signed vreinterpretq_s64_u64, unsigned vreinterpretq_u64_s64, eq vceqq_s64, lt vcltq_s64, blend vbslq_s64
    }
}

macro_rules! floats {
    ($($name:ident($scalar:ident, $register:ident, $int:ident, $mask:ident, $lanes:expr) {
        set $set:ident, load $load:ident, store $store:ident, neg $neg:ident, mul_add $mul_add:ident,
        sqrt $sqrt:ident, abs $abs:ident, round $round:ident, floor $floor:ident, ceil $ceil:ident, trunc $trunc:ident,
        eq $eq:ident, lt $lt:ident, le $le:ident, blend $blend:ident, bits $bits:ident, from_bits $from_bits:ident,
        to_int $to_int:ident, from_int $from_int:ident, mantissa $mantissa:expr, bias $bias:expr, first $first:ident,
        fold $($shuffle:ident::<$order:literal>)*
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                arm! { $name($neg(self.0)) }
            }
        }

        impl FloatVector for $name {
            type Scalar = $scalar;
            type Int = $int;
            type Mask = $mask;
            const LANES: usize = $lanes;
            const FUSED: bool = true;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                arm! { $name($set(value)) }
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Self::splat(value as $scalar)
            }

            #[inline(always)]
            fn iota() -> Self {
                let numbers: [$scalar; $lanes] = std::array::from_fn(|lane| lane as $scalar);
                arm! { Self::load(numbers.as_ptr()) }
            }

            #[inline(always)]
            unsafe fn load(source: *const $scalar) -> Self {
                arm! { $name($load(source)) }
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $scalar) {
                arm! { $store(target, self.0) }
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                arm! { $name($mul_add(term.0, self.0, factor.0)) }
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                arm! { $name($sqrt(self.0)) }
            }

            #[inline(always)]
            fn abs(self) -> Self {
                arm! { $name($abs(self.0)) }
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
                Self::select(self.lt(other), self, other)
            }

            #[inline(always)]
            fn raw_max(self, other: Self) -> Self {
                Self::select(other.lt(self), self, other)
            }

            #[inline(always)]
            fn round(self) -> Self {
                arm! { $name($round(self.0)) }
            }

            #[inline(always)]
            fn floor(self) -> Self {
                arm! { $name($floor(self.0)) }
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                arm! { $name($ceil(self.0)) }
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                arm! { $name($trunc(self.0)) }
            }

            #[inline(always)]
            fn eq(self, other: Self) -> $mask {
                arm! { $mask($eq(self.0, other.0)) }
            }

            #[inline(always)]
            fn lt(self, other: Self) -> $mask {
                arm! { $mask($lt(self.0, other.0)) }
            }

            #[inline(always)]
            fn le(self, other: Self) -> $mask {
                arm! { $mask($le(self.0, other.0)) }
            }

            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                arm! { $name($blend(mask.0, yes.0, no.0)) }
            }

            #[inline(always)]
            fn bits(self) -> $int {
                arm! { $int($bits(self.0)) }
            }

            #[inline(always)]
            fn from_bits(bits: $int) -> Self {
                arm! { $name($from_bits(bits.0)) }
            }

            #[inline(always)]
            fn to_int(self) -> $int {
                arm! { $int($to_int(self.0)) }
            }

            #[inline(always)]
            fn from_int(value: $int) -> Self {
                arm! { $name($from_int(value.0)) }
            }

            #[inline(always)]
            fn ldexp(self, exponent: Self) -> Self {
                // In two steps, the first of them exact.
                let power = exponent.to_int();
                let half = power.sar(1);
                let factor = |power: $int| Self::from_bits((power + $int::splat($bias)).shl($mantissa));
                self * factor(half) * factor(power - half)
            }

            #[inline(always)]
            fn fold(self, combine: impl Fn(Self, Self) -> Self) -> $scalar {
                let folded = self;
                $(let folded = arm! { combine(folded, $name($shuffle::<$order>(folded.0, folded.0))) };)*
                arm! { $first::<0>(folded.0) }
            }
        }
    )*};
}

floats! {
    F32(f32, float32x4_t, I32, M32, 4) {
        set vdupq_n_f32, load vld1q_f32, store vst1q_f32, neg vnegq_f32, mul_add vfmaq_f32,
        sqrt vsqrtq_f32, abs vabsq_f32, round vrndnq_f32, floor vrndmq_f32, ceil vrndpq_f32, trunc vrndq_f32,
        eq vceqq_f32, lt vcltq_f32, le vcleq_f32, blend vbslq_f32,
        bits vreinterpretq_s32_f32, from_bits vreinterpretq_f32_s32,
        to_int vcvtnq_s32_f32, from_int vcvtq_f32_s32, mantissa 23, bias 127, first vgetq_lane_f32,
        fold vextq_f32::<2> vextq_f32::<1>
    }
    F64(f64, float64x2_t, I64, M64, 2) {
        set vdupq_n_f64, load vld1q_f64, store vst1q_f64, neg vnegq_f64, mul_add vfmaq_f64,
        sqrt vsqrtq_f64, abs vabsq_f64, round vrndnq_f64, floor vrndmq_f64, ceil vrndpq_f64, trunc vrndq_f64,
        eq vceqq_f64, lt vcltq_f64, le vcleq_f64, blend vbslq_f64,
        bits vreinterpretq_s64_f64, from_bits vreinterpretq_f64_s64,
        to_int vcvtnq_s64_f64, from_int vcvtq_f64_s64, mantissa 52, bias 1023, first vgetq_lane_f64,
        fold vextq_f64::<1>
    }
}

impl HalfVector for F32 {
    #[inline(always)]
    unsafe fn load_u16(source: *const u16) -> I32 {
        arm! { I32(vreinterpretq_s32_u32(vmovl_u16(vld1_u16(source)))) }
    }

    #[inline(always)]
    unsafe fn store_u16(value: I32, target: *mut u16) {
        arm! { vst1_u16(target, vmovn_u32(vreinterpretq_u32_s32(value.0))) }
    }

    #[inline(always)]
    unsafe fn load_f16(source: *const f16) -> F32 {
        arm! { F32(vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(source.cast())))) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, target: *mut f16) {
        // The instruction would preserve a part of a NaN's payload.
        let plain = F32::splat(f32::NAN).abs().copysign(self);
        let value = F32::select(self.is_nan(), plain, self);
        arm! { vst1_u16(target.cast(), vreinterpret_u16_f16(vcvt_f16_f32(value.0))) }
    }
}
