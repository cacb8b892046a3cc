//! Vectors of 512 bits: AVX-512 F, BW, CD, DQ and VL. Masks are registers of bits.
//!
//! The intrinsics are unsafe where their instructions may be missing. Here they are available: the token of this level
//! cannot be named outside of `simd`, so its vectors are only reached through the `S` that `run` passes.

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

macro_rules! masks {
    ($($name:ident($register:ident, $bits:ident, $lanes:expr);)*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl BitAnd for $name {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                $name(self.0 & other.0)
            }
        }

        impl BitOr for $name {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, other: Self) -> Self {
                $name(self.0 | other.0)
            }
        }

        impl BitXor for $name {
            type Output = Self;
            #[inline(always)]
            fn bitxor(self, other: Self) -> Self {
                $name(self.0 ^ other.0)
            }
        }

        impl Not for $name {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                $name(!self.0)
            }
        }

        impl Mask for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn from_bits(bits: u32) -> Self {
                $name(bits as $bits)
            }

            #[inline(always)]
            fn to_bits(self) -> u32 {
                u32::from(self.0)
            }

            #[inline(always)]
            unsafe fn load(source: *const u8) -> Self {
                let lanes: u16 = x86! { _mm_test_epi8_mask(_mm_set1_epi8(-1), $name::bytes(source)) };
                $name(lanes as $bits)
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut u8) {
                let bytes: [u8; 16] = x86! { std::mem::transmute(_mm_maskz_set1_epi8(u16::from(self.0), 1)) };
                // SAFETY: the caller guarantees as many writable bytes as the mask has lanes; `bytes` has at least that
                // many.
                unsafe { target.cast::<[u8; $lanes]>().write(*bytes.first_chunk().unwrap_unchecked()) }
            }
        }

        impl $name {
            #[inline(always)]
            unsafe fn bytes(source: *const u8) -> __m128i {
                let mut bytes = [0; 16];
                // SAFETY: the caller guarantees as many readable bytes as the mask has lanes; the transmute is from 16
                // bytes to 16 bytes.
                unsafe {
                    *bytes.first_chunk_mut().unwrap_unchecked() = source.cast::<[u8; $lanes]>().read();
                    std::mem::transmute(bytes)
                }
            }
        }
    )*};
}

masks! {
    M32(__mmask16, u16, 16);
    M64(__mmask8, u8, 8);
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
    F32: Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps;
    F64: Add add _mm512_add_pd, Sub sub _mm512_sub_pd, Mul mul _mm512_mul_pd, Div div _mm512_div_pd;
    I32: Add add _mm512_add_epi32, Sub sub _mm512_sub_epi32, BitAnd bitand _mm512_and_si512, BitOr bitor _mm512_or_si512,
        BitXor bitxor _mm512_xor_si512;
    I64: Add add _mm512_add_epi64, Sub sub _mm512_sub_epi64, BitAnd bitand _mm512_and_si512, BitOr bitor _mm512_or_si512,
        BitXor bitxor _mm512_xor_si512;
}

macro_rules! integers {
    ($($name:ident($scalar:ident, $mask:ident, $lanes:expr) {
        set $set:ident, shl $shl:ident, shr $shr:ident, sar $sar:ident, eq $eq:ident, lt $lt:ident, blend $blend:ident, wide $wide:expr
    })*) => {$(
        #[derive(Clone, Copy)]
        pub struct $name(__m512i);

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
                x86! { $name(_mm512_loadu_si512(source.cast())) }
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut $scalar) {
                x86! { _mm512_storeu_si512(target.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn store_wide(self, target: *mut i64) {
                let wide = $wide;
                for (at, part) in wide(self.0).into_iter().enumerate() {
                    x86! { _mm512_storeu_si512(target.add(at * 8).cast(), part) }
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
                x86! { $name($sar(self.0, _mm_cvtsi32_si128(bits as i32))) }
            }

            #[inline(always)]
            fn eq(self, other: Self) -> $mask {
                x86! { $mask($eq(self.0, other.0)) }
            }

            #[inline(always)]
            fn lt(self, other: Self) -> $mask {
                x86! { $mask($lt(self.0, other.0)) }
            }

            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                x86! { $name($blend(mask.0, no.0, yes.0)) }
            }
        }
    )*};
}

integers! {
    I32(i32, M32, 16) {
        set _mm512_set1_epi32, shl _mm512_sll_epi32, shr _mm512_srl_epi32, sar _mm512_sra_epi32,
        eq _mm512_cmpeq_epi32_mask, lt _mm512_cmplt_epi32_mask, blend _mm512_mask_blend_epi32,
        wide |value| x86! { [_mm512_cvtepi32_epi64(_mm512_castsi512_si256(value)), _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(value))] }
    }
    I64(i64, M64, 8) {
        set _mm512_set1_epi64, shl _mm512_sll_epi64, shr _mm512_srl_epi64, sar _mm512_sra_epi64,
        eq _mm512_cmpeq_epi64_mask, lt _mm512_cmplt_epi64_mask, blend _mm512_mask_blend_epi64,
        wide |value| [value]
    }
}

macro_rules! floats {
    ($($name:ident($scalar:ident, $register:ident, $int:ident, $mask:ident, $lanes:expr) {
        set $set:ident, load $load:ident, store $store:ident, stream $stream:ident,
        load_partial $load_partial:ident, store_partial $store_partial:ident,
        mul_add $mul_add:ident, permute $permute:ident, sqrt $sqrt:ident, abs $abs:ident, min $min:ident, max $max:ident, round $round:ident,
        compare $compare:ident, blend $blend:ident, bits $bits:ident, from_bits $from_bits:ident,
        to_int $to_int:ident, from_int $from_int:ident, scale $scale:ident, exponent $exponent:ident, mantissa $mantissa:ident,
        limit $limit:ident, look_up $($look_up:ident)?, first $first:ident,
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
                x86! { $name($load_partial($mask::first(count).0, source)) }
            }

            #[inline(always)]
            unsafe fn store_partial(self, target: *mut $scalar, count: usize) {
                x86! { $store_partial(target, $mask::first(count).0, self.0) }
            }

            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                x86! { $name($mul_add(self.0, factor.0, term.0)) }
            }

            #[inline(always)]
            fn evens(self, next: Self) -> Self {
                let places: [<$int as IntVector>::Scalar; $lanes] = std::array::from_fn(|lane| (2 * lane) as _);
                x86! { $name($permute(self.0, $int::load(places.as_ptr()).0, next.0)) }
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                x86! { $name($sqrt(self.0)) }
            }

            #[inline(always)]
            fn abs(self) -> Self {
                x86! { $name($abs(self.0)) }
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
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                x86! { $name($blend(mask.0, no.0, yes.0)) }
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
                x86! { $int($to_int(self.0)) }
            }

            #[inline(always)]
            fn from_int(value: $int) -> Self {
                x86! { $name($from_int(value.0)) }
            }

            #[inline(always)]
            fn ldexp(self, exponent: Self) -> Self {
                x86! { $name($scale(self.0, exponent.0)) }
            }

            #[inline(always)]
            fn scale_by(self, exponent: Self) -> Self {
                self.ldexp(exponent)
            }

            // Two: the lesser in size, with the first operand's sign. Of a NaN and a number, the number.
            #[inline(always)]
            fn limit(self, most: Self) -> Self {
                x86! { $name($limit::<2>(self.0, most.0)) }
            }

            $(
                const LOOKUP: bool = true;

                #[inline(always)]
                fn look_up(table: &'static [$scalar; 32], at: $int) -> Self {
                    let [low, high] = [0, $lanes].map(|first| x86! { Self::load(table.as_ptr().add(first)) });
                    x86! { $name($look_up(low.0, at.0, high.0)) }
                }
            )?

            #[inline(always)]
            fn decompose(self) -> Option<(Self, Self)> {
                // From 1 to 2, and NaN for numbers below zero.
                x86! { Some(($name($exponent(self.0)), $name($mantissa::<0, 2>(self.0)))) }
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

floats! {
    F32(f32, __m512, I32, M32, 16) {
        set _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps, stream _mm512_stream_ps,
        load_partial _mm512_maskz_loadu_ps, store_partial _mm512_mask_storeu_ps,
        mul_add _mm512_fmadd_ps, permute _mm512_permutex2var_ps, sqrt _mm512_sqrt_ps, abs _mm512_abs_ps, min _mm512_min_ps, max _mm512_max_ps,
        round _mm512_roundscale_ps, compare _mm512_cmp_ps_mask, blend _mm512_mask_blend_ps,
        bits _mm512_castps_si512, from_bits _mm512_castsi512_ps,
        to_int _mm512_cvtps_epi32, from_int _mm512_cvtepi32_ps, scale _mm512_scalef_ps, exponent _mm512_getexp_ps, mantissa _mm512_getmant_ps,
        limit _mm512_range_ps, look_up _mm512_permutex2var_ps, first _mm512_cvtss_f32,
        fold _mm512_shuffle_f32x4::<0x4e> _mm512_shuffle_f32x4::<0xb1> _mm512_shuffle_ps::<0x4e> _mm512_shuffle_ps::<0xb1>
    }
    F64(f64, __m512d, I64, M64, 8) {
        set _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd, stream _mm512_stream_pd,
        load_partial _mm512_maskz_loadu_pd, store_partial _mm512_mask_storeu_pd,
        mul_add _mm512_fmadd_pd, permute _mm512_permutex2var_pd, sqrt _mm512_sqrt_pd, abs _mm512_abs_pd, min _mm512_min_pd, max _mm512_max_pd,
        round _mm512_roundscale_pd, compare _mm512_cmp_pd_mask, blend _mm512_mask_blend_pd,
        bits _mm512_castpd_si512, from_bits _mm512_castsi512_pd,
        to_int _mm512_cvtpd_epi64, from_int _mm512_cvtepi64_pd, scale _mm512_scalef_pd, exponent _mm512_getexp_pd, mantissa _mm512_getmant_pd,
        limit _mm512_range_pd, look_up, first _mm512_cvtsd_f64,
        fold _mm512_shuffle_f64x2::<0x4e> _mm512_shuffle_f64x2::<0xb1> _mm512_shuffle_pd::<0x55>
    }
}

impl HalfVector for F32 {
    #[inline(always)]
    unsafe fn load_u16(source: *const u16) -> I32 {
        x86! { I32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(source.cast()))) }
    }

    #[inline(always)]
    unsafe fn store_u16(value: I32, target: *mut u16) {
        x86! { _mm256_storeu_si256(target.cast(), _mm512_cvtepi32_epi16(value.0)) }
    }

    #[inline(always)]
    unsafe fn load_f16(source: *const f16) -> F32 {
        x86! { F32(_mm512_cvtph_ps(_mm256_loadu_si256(source.cast()))) }
    }

    #[inline(always)]
    unsafe fn store_f16(self, target: *mut f16) {
        // The instruction would preserve a part of a NaN's payload.
        let plain = F32::splat(f32::NAN).abs().copysign(self);
        let value = F32::select(self.is_nan(), plain, self);
        x86! { _mm256_storeu_si256(target.cast(), _mm512_cvtps_ph::<8>(value.0)) }
    }
}
