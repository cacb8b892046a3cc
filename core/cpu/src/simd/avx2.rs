//! Vectors of 256 bits: AVX2 with FMA and F16C. A mask has all bits of a lane set or none.
//!
//! The intrinsics are unsafe where their instructions may be missing. Here they are available: the token of this level
//! cannot be named outside of `simd`, so its vectors are only reached through the `S` that `run` passes.

use super::parts::{store_doubles, store_floats};
use super::vector::{FloatVector, HalfVector, IntVector, Mask};
use rushlight_base::f16;
use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// Calls intrinsics.
macro_rules! x86 {
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
                x86! { $type($intrinsic(self.0, other.0)) }
            }
        }
    )*)*};
}

operators! {
    F32: Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps;
    F64: Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd, Div div _mm256_div_pd;
    I32: Add add _mm256_add_epi32, Sub sub _mm256_sub_epi32, BitAnd bitand _mm256_and_si256, BitOr bitor _mm256_or_si256,
        BitXor bitxor _mm256_xor_si256;
    I64: Add add _mm256_add_epi64, Sub sub _mm256_sub_epi64, BitAnd bitand _mm256_and_si256, BitOr bitor _mm256_or_si256,
        BitXor bitxor _mm256_xor_si256;
    M32: BitAnd bitand _mm256_and_ps, BitOr bitor _mm256_or_ps, BitXor bitxor _mm256_xor_ps;
    M64: BitAnd bitand _mm256_and_pd, BitOr bitor _mm256_or_pd, BitXor bitxor _mm256_xor_pd;
}

macro_rules! masks {
    ($($name:ident($register:ident, $int:ident, $scalar:ident, $lanes:expr) {
        to_bits $to_bits:ident, from_int $from_int:ident
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Not for $name {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self ^ x86! { $name($from_int(_mm256_set1_epi32(-1))) }
            }
        }

        impl Mask for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn from_bits(bits: u32) -> Self {
                let places: [$scalar; $lanes] = std::array::from_fn(|lane| 1 << lane);
                let places = x86! { $int::load(places.as_ptr()) };
                ($int::from_i64(i64::from(bits)) & places).eq(places)
            }

            #[inline(always)]
            fn to_bits(self) -> u32 {
                x86! { $to_bits(self.0) as u32 }
            }

            #[inline(always)]
            unsafe fn load(source: *const u8) -> Self {
                // SAFETY: the caller guarantees as many readable bytes as the mask has lanes.
                let bytes = unsafe { source.cast::<[u8; $lanes]>().read() };
                let lanes = bytes.map(|byte| byte as $scalar);
                !x86! { $int::load(lanes.as_ptr()) }.eq($int::splat(0))
            }
        }
    )*};
}

masks! {
    M32(__m256, I32, i32, 8) { to_bits _mm256_movemask_ps, from_int _mm256_castsi256_ps }
    M64(__m256d, I64, i64, 4) { to_bits _mm256_movemask_pd, from_int _mm256_castsi256_pd }
}

macro_rules! integers {
    ($($name:ident($scalar:ident, $mask:ident, $lanes:expr) {
        set $set:ident, shl $shl:ident, shr $shr:ident, sar $sar:expr, eq $eq:ident, gt $gt:ident,
        blend $blend:ident, bits $bits:ident, from_bits $from_bits:ident, wide $wide:expr
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name(__m256i);

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
                x86! { $name($set(value)) }
            }

            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                Self::splat(value as $scalar)
            }

            #[inline(always)]
            unsafe fn load(source: *const $scalar) -> Self {
                x86! { $name(_mm256_loadu_si256(source.cast())) }
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $scalar) {
                x86! { _mm256_storeu_si256(target.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn store_wide(self, target: *mut i64) {
                let wide = $wide;
                for (at, part) in wide(self.0).into_iter().enumerate() {
                    x86! { _mm256_storeu_si256(target.add(at * 4).cast(), part) }
                }
            }

            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                x86! { $name($shl(self.0, _mm_cvtsi32_si128(bits as i32))) }
            }

            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                x86! { $name($shr(self.0, _mm_cvtsi32_si128(bits as i32))) }
            }

            #[inline(always)]
            fn sar(self, bits: u32) -> Self {
                $sar(self, bits)
            }

            #[inline(always)]
            fn eq(self, other: Self) -> $mask {
                x86! { $mask($from_bits($eq(self.0, other.0))) }
            }

            #[inline(always)]
            fn lt(self, other: Self) -> $mask {
                x86! { $mask($from_bits($gt(other.0, self.0))) }
            }

            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                x86! { $name($bits($blend($from_bits(no.0), $from_bits(yes.0), mask.0))) }
            }
        }
    )*};
}

integers! {
    I32(i32, M32, 8) {
        set _mm256_set1_epi32, shl _mm256_sll_epi32, shr _mm256_srl_epi32,
        sar |value: I32, bits| x86! { I32(_mm256_sra_epi32(value.0, _mm_cvtsi32_si128(bits as i32))) },
        eq _mm256_cmpeq_epi32, gt _mm256_cmpgt_epi32, blend _mm256_blendv_ps,
        bits _mm256_castps_si256, from_bits _mm256_castsi256_ps,
        wide |value| x86! { [_mm256_cvtepi32_epi64(_mm256_castsi256_si128(value)), _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(value))] }
    }
    I64(i64, M64, 4) {
        set _mm256_set1_epi64x, shl _mm256_sll_epi64, shr _mm256_srl_epi64,
        // There is no such instruction: flips the bits of negative numbers, there and back.
        sar |value: I64, bits| {
            let sign = x86! { I64(_mm256_cmpgt_epi64(_mm256_setzero_si256(), value.0)) };
            (value ^ sign).shr(bits) ^ sign
        },
        eq _mm256_cmpeq_epi64, gt _mm256_cmpgt_epi64, blend _mm256_blendv_pd,
        bits _mm256_castpd_si256, from_bits _mm256_castsi256_pd,
        wide |value| [value]
    }
}

/// `count` lanes of ones, then zeros: a window into this.
static WINDOW: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

macro_rules! floats {
    ($($name:ident($scalar:ident, $register:ident, $int:ident, $mask:ident, $lanes:expr) {
        set $set:ident, load $load:ident, store $store:ident, stream $stream:ident,
        load_partial $load_partial:ident, store_partial $store_partial:ident,
        mul_add $mul_add:ident, sqrt $sqrt:ident, min $min:ident, max $max:ident, round $round:ident,
        compare $compare:ident, blend $blend:ident, bits $bits:ident, from_bits $from_bits:ident,
        to_int $to_int:expr, from_int $from_int:expr, mantissa $mantissa:expr, bias $bias:expr, first $first:ident,
        fold $($shuffle:ident::<$order:literal>)*
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::from_bits(self.bits() ^ Self::splat(-0.0).bits())
            }
        }

        impl $name {
            /// All bits set in the first `count` lanes.
            #[inline(always)]
            fn window(count: usize) -> __m256i {
                let ones = WINDOW.as_ptr().cast::<$scalar>();
                // The window starts inside of the table for any `count`.
                x86! { _mm256_loadu_si256(ones.add($lanes - count.min($lanes)).cast()) }
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
                x86! { $name($set(value)) }
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Self::splat(value as $scalar)
            }

            #[inline(always)]
            fn iota() -> Self {
                let numbers: [$scalar; $lanes] = std::array::from_fn(|lane| lane as $scalar);
                x86! { Self::load(numbers.as_ptr()) }
            }

            #[inline(always)]
            unsafe fn load(source: *const $scalar) -> Self {
                x86! { $name($load(source)) }
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $scalar) {
                x86! { $store(target, self.0) }
            }

            #[inline(always)]
            unsafe fn stream(self, target: *mut $scalar) {
                x86! { $stream(target, self.0) }
            }

            #[inline(always)]
            unsafe fn load_partial(source: *const $scalar, count: usize) -> Self {
                x86! { $name($load_partial(source, Self::window(count))) }
            }

            #[inline(always)]
            unsafe fn store_partial(self, target: *mut $scalar, count: usize) {
                x86! { $store_partial(target, self.0, count) }
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                x86! { $name($mul_add(self.0, factor.0, term.0)) }
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                x86! { $name($sqrt(self.0)) }
            }

            #[inline(always)]
            fn abs(self) -> Self {
                Self::from_bits(self.bits() & !Self::splat(-0.0).bits())
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
                x86! { $name($min(self.0, other.0)) }
            }

            #[inline(always)]
            fn raw_max(self, other: Self) -> Self {
                x86! { $name($max(self.0, other.0)) }
            }

            // Eight: without exceptions.
            #[inline(always)]
            fn round(self) -> Self {
                x86! { $name($round::<8>(self.0)) }
            }

            #[inline(always)]
            fn floor(self) -> Self {
                x86! { $name($round::<9>(self.0)) }
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                x86! { $name($round::<10>(self.0)) }
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                x86! { $name($round::<11>(self.0)) }
            }

            #[inline(always)]
            fn eq(self, other: Self) -> $mask {
                x86! { $mask($compare::<_CMP_EQ_OQ>(self.0, other.0)) }
            }

            #[inline(always)]
            fn lt(self, other: Self) -> $mask {
                x86! { $mask($compare::<_CMP_LT_OQ>(self.0, other.0)) }
            }

            #[inline(always)]
            fn le(self, other: Self) -> $mask {
                x86! { $mask($compare::<_CMP_LE_OQ>(self.0, other.0)) }
            }

            #[inline(always)]
            fn ne(self, other: Self) -> $mask {
                x86! { $mask($compare::<_CMP_NEQ_UQ>(self.0, other.0)) }
            }

            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                x86! { $name($blend(no.0, yes.0, mask.0)) }
            }

            #[inline(always)]
            fn bits(self) -> $int {
                x86! { $int($bits(self.0)) }
            }

            #[inline(always)]
            fn from_bits(bits: $int) -> Self {
                x86! { $name($from_bits(bits.0)) }
            }

            #[inline(always)]
            fn to_int(self) -> $int {
                $to_int(self)
            }

            #[inline(always)]
            fn from_int(value: $int) -> Self {
                $from_int(value)
            }

            #[inline(always)]
            fn ldexp(self, exponent: Self) -> Self {
                // In two steps, the first of them exact.
                let half = (exponent * Self::splat(0.5)).floor();
                let factor = |power: Self| Self::from_bits((power.to_int() + $int::splat($bias)).shl($mantissa));
                self * factor(half) * factor(exponent - half)
            }

            #[inline(always)]
            fn fold(self, combine: impl Fn(Self, Self) -> Self) -> $scalar {
                let folded = self;
                $(let folded = x86! { combine(folded, $name($shuffle::<$order>(folded.0, folded.0))) };)*
                x86! { $first(folded.0) }
            }
        }
    )*};
}

/// At this magnitude the last bit of an `f64` is worth 1, and the bits below the exponent count up from the number
/// itself.
const ANCHOR: f64 = 6755399441055744.0;

floats! {
    F32(f32, __m256, I32, M32, 8) {
        set _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps, stream _mm256_stream_ps,
        load_partial _mm256_maskload_ps, store_partial store_floats,
        mul_add _mm256_fmadd_ps, sqrt _mm256_sqrt_ps, min _mm256_min_ps, max _mm256_max_ps,
        round _mm256_round_ps, compare _mm256_cmp_ps, blend _mm256_blendv_ps,
        bits _mm256_castps_si256, from_bits _mm256_castsi256_ps,
        to_int |value: F32| x86! { I32(_mm256_cvtps_epi32(value.0)) },
        from_int |value: I32| x86! { F32(_mm256_cvtepi32_ps(value.0)) },
        mantissa 23, bias 127, first _mm256_cvtss_f32,
        fold _mm256_permute2f128_ps::<1> _mm256_shuffle_ps::<0x4e> _mm256_shuffle_ps::<0xb1>
    }
    F64(f64, __m256d, I64, M64, 4) {
        set _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd, stream _mm256_stream_pd,
        load_partial _mm256_maskload_pd, store_partial store_doubles,
        mul_add _mm256_fmadd_pd, sqrt _mm256_sqrt_pd, min _mm256_min_pd, max _mm256_max_pd,
        round _mm256_round_pd, compare _mm256_cmp_pd, blend _mm256_blendv_pd,
        bits _mm256_castpd_si256, from_bits _mm256_castsi256_pd,
        to_int |value: F64| (value + F64::splat(ANCHOR)).bits() - F64::splat(ANCHOR).bits(),
        from_int |value: I64| F64::from_bits(value + F64::splat(ANCHOR).bits()) - F64::splat(ANCHOR),
        mantissa 52, bias 1023, first _mm256_cvtsd_f64,
        fold _mm256_permute2f128_pd::<1> _mm256_shuffle_pd::<5>
    }
}

impl HalfVector for F32 {
    #[inline(always)]
    unsafe fn load_u16(source: *const u16) -> I32 {
        x86! { I32(_mm256_cvtepu16_epi32(_mm_loadu_si128(source.cast()))) }
    }

    #[inline(always)]
    unsafe fn store_u16(value: I32, target: *mut u16) {
        x86! {
            let packed = _mm256_packus_epi32(value.0, value.0);
            let halves = _mm256_permute4x64_epi64::<0x08>(packed);
            _mm_storeu_si128(target.cast(), _mm256_castsi256_si128(halves));
        }
    }

    #[inline(always)]
    unsafe fn load_f16(source: *const f16) -> F32 {
        x86! { F32(_mm256_cvtph_ps(_mm_loadu_si128(source.cast()))) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, target: *mut f16) {
        // The instruction would preserve a part of a NaN's payload.
        let plain = F32::splat(f32::NAN).abs().copysign(self);
        let value = F32::select(self.is_nan(), plain, self);
        x86! { _mm_storeu_si128(target.cast(), _mm256_cvtps_ph::<0>(value.0)) }
    }
}
