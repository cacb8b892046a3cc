//! Vectors of x86-64: AVX-512 (with BF16 and VNNI where the processor has them) and AVX2 with FMA.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every block is one instruction, which the callers of the trait's functions promise to be there"
)]

use super::lanes::{Stream, Vector, Widen};
use crate::number::{bf16_to_f32, f16_to_f32};
use crate::simd::parts::{store_doubles, store_floats};
use num_complex::Complex;
use rushlight_base::{bf16, f16};
use std::arch::x86_64::*;

#[inline(always)]
fn mask16(count: usize) -> __mmask16 {
    if count >= 16 { 0xffff } else { (1u16 << count).wrapping_sub(1) }
}

#[inline(always)]
fn mask8(count: usize) -> __mmask8 {
    if count >= 8 { 0xff } else { (1u8 << count).wrapping_sub(1) }
}

/// A mask for the first `count` of 8 lanes of 32 bits, in the form that AVX2 uses.
#[inline(always)]
unsafe fn lanes32(count: usize) -> __m256i {
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count.min(8) as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

/// A mask for the first `count` of 4 lanes of 64 bits, in the form that AVX2 uses.
#[inline(always)]
unsafe fn lanes64(count: usize) -> __m256i {
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(count.min(4) as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

/// A vector of numbers in one register: its operations as expressions.
macro_rules! register {
    ($(#[$meta:meta])* $name:ident: $lanes:expr, $of:ty, $register:ty;
     zero $zero:expr; splat($at:ident) $splat:expr; load($load_at:ident) $load:expr;
     load_first($first_at:ident, $first_count:ident) $load_first:expr;
     mul_add($sum:ident, $left:ident, $right:ident) $mul_add:expr; add($a:ident, $b:ident) $add:expr;
     store($store_at:ident, $stored:ident) $store:expr;
     store_first($part_at:ident, $part:ident, $part_count:ident) $store_first:expr;
     $(clamp($clamped:ident, $low:ident, $high:ident) $clamp:expr;)?) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(super) struct $name($register);

        impl Vector for $name {
            type In = $of;
            type Sum = $of;
            type Left = $register;
            type Right = $register;
            type Total = $register;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $name($zero) }
            }
            #[inline(always)]
            unsafe fn load($load_at: *const $of) -> $register {
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn load_first($first_at: *const $of, $first_count: usize) -> $register {
                unsafe { $load_first }
            }
            #[inline(always)]
            unsafe fn splat($at: *const $of) -> $register {
                unsafe { $splat }
            }
            #[inline(always)]
            unsafe fn mul_add(self, $left: $register, $right: $register) -> Self {
                let $sum = self.0;
                unsafe { $name($mul_add) }
            }
            #[inline(always)]
            unsafe fn total(self) -> $register {
                self.0
            }
            #[inline(always)]
            unsafe fn read(at: *const $of, count: usize) -> $register {
                unsafe { if count >= $lanes { Self::load(at) } else { Self::load_first(at, count) } }
            }
            #[inline(always)]
            unsafe fn add($a: $register, $b: $register) -> $register {
                unsafe { $add }
            }
            $(
                const CLAMPS: bool = true;
                #[inline(always)]
                unsafe fn clamp($clamped: $register, [$low, $high]: [f32; 2]) -> $register {
                    // The instructions return their second operand if one of the two is NaN.
                    unsafe { $clamp }
                }
            )?
            #[inline(always)]
            unsafe fn write($stored: $register, $store_at: *mut $of, count: usize) {
                if count >= $lanes {
                    unsafe { $store };
                } else {
                    let ($part_at, $part, $part_count) = ($store_at, $stored, count);
                    unsafe { $store_first };
                }
            }
        }
    };
}

register! {
    /// 16 floats.
    F32x16: 16, f32, __m512;
    zero _mm512_setzero_ps();
    splat(at) _mm512_set1_ps(*at);
    load(at) _mm512_loadu_ps(at);
    load_first(at, count) _mm512_maskz_loadu_ps(mask16(count), at);
    mul_add(sum, left, right) _mm512_fmadd_ps(left, right, sum);
    add(a, b) _mm512_add_ps(a, b);
    store(at, values) _mm512_storeu_ps(at, values);
    store_first(at, values, count) _mm512_mask_storeu_ps(at, mask16(count), values);
    clamp(values, low, high) _mm512_min_ps(_mm512_set1_ps(high), _mm512_max_ps(_mm512_set1_ps(low), values));
}

register! {
    /// 8 doubles.
    F64x8: 8, f64, __m512d;
    zero _mm512_setzero_pd();
    splat(at) _mm512_set1_pd(*at);
    load(at) _mm512_loadu_pd(at);
    load_first(at, count) _mm512_maskz_loadu_pd(mask8(count), at);
    mul_add(sum, left, right) _mm512_fmadd_pd(left, right, sum);
    add(a, b) _mm512_add_pd(a, b);
    store(at, values) _mm512_storeu_pd(at, values);
    store_first(at, values, count) _mm512_mask_storeu_pd(at, mask8(count), values);
}

register! {
    /// 16 integers of 32 bits.
    I32x16: 16, i32, __m512i;
    zero _mm512_setzero_si512();
    splat(at) _mm512_set1_epi32(*at);
    load(at) _mm512_loadu_si512(at.cast());
    load_first(at, count) _mm512_maskz_loadu_epi32(mask16(count), at);
    mul_add(sum, left, right) _mm512_add_epi32(sum, _mm512_mullo_epi32(left, right));
    add(a, b) _mm512_add_epi32(a, b);
    store(at, values) _mm512_storeu_si512(at.cast(), values);
    store_first(at, values, count) _mm512_mask_storeu_epi32(at, mask16(count), values);
}

register! {
    /// 8 integers of 64 bits.
    I64x8: 8, i64, __m512i;
    zero _mm512_setzero_si512();
    splat(at) _mm512_set1_epi64(*at);
    load(at) _mm512_loadu_si512(at.cast());
    load_first(at, count) _mm512_maskz_loadu_epi64(mask8(count), at);
    mul_add(sum, left, right) _mm512_add_epi64(sum, _mm512_mullo_epi64(left, right));
    add(a, b) _mm512_add_epi64(a, b);
    store(at, values) _mm512_storeu_si512(at.cast(), values);
    store_first(at, values, count) _mm512_mask_storeu_epi64(at, mask8(count), values);
}

register! {
    /// 8 floats.
    F32x8: 8, f32, __m256;
    zero _mm256_setzero_ps();
    splat(at) _mm256_set1_ps(*at);
    load(at) _mm256_loadu_ps(at);
    load_first(at, count) _mm256_maskload_ps(at, lanes32(count));
    mul_add(sum, left, right) _mm256_fmadd_ps(left, right, sum);
    add(a, b) _mm256_add_ps(a, b);
    store(at, values) _mm256_storeu_ps(at, values);
    store_first(at, values, count) store_floats(at, values, count);
    clamp(values, low, high) _mm256_min_ps(_mm256_set1_ps(high), _mm256_max_ps(_mm256_set1_ps(low), values));
}

register! {
    /// 4 doubles.
    F64x4: 4, f64, __m256d;
    zero _mm256_setzero_pd();
    splat(at) _mm256_set1_pd(*at);
    load(at) _mm256_loadu_pd(at);
    load_first(at, count) _mm256_maskload_pd(at, lanes64(count));
    mul_add(sum, left, right) _mm256_fmadd_pd(left, right, sum);
    add(a, b) _mm256_add_pd(a, b);
    store(at, values) _mm256_storeu_pd(at, values);
    store_first(at, values, count) store_doubles(at, values, count);
}

register! {
    /// 8 integers of 32 bits.
    I32x8: 8, i32, __m256i;
    zero _mm256_setzero_si256();
    splat(at) _mm256_set1_epi32(*at);
    load(at) _mm256_loadu_si256(at.cast());
    load_first(at, count) _mm256_maskload_epi32(at, lanes32(count));
    mul_add(sum, left, right) _mm256_add_epi32(sum, _mm256_mullo_epi32(left, right));
    add(a, b) _mm256_add_epi32(a, b);
    store(at, values) _mm256_storeu_si256(at.cast(), values);
    store_first(at, values, count) store_floats(at.cast(), _mm256_castsi256_ps(values), count);
}

register! {
    /// 4 integers of 64 bits.
    I64x4: 4, i64, __m256i;
    zero _mm256_setzero_si256();
    splat(at) _mm256_set1_epi64x(*at);
    load(at) _mm256_loadu_si256(at.cast());
    load_first(at, count) _mm256_maskload_epi64(at, lanes64(count));
    mul_add(sum, left, right) _mm256_add_epi64(sum, multiply64(left, right));
    add(a, b) _mm256_add_epi64(a, b);
    store(at, values) _mm256_storeu_si256(at.cast(), values);
    store_first(at, values, count) store_doubles(at.cast(), _mm256_castsi256_pd(values), count);
}

/// The low halves of 64-bit products, from 32-bit products.
#[inline(always)]
unsafe fn multiply64(a: __m256i, b: __m256i) -> __m256i {
    unsafe {
        let cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32::<0b10_11_00_01>(b));
        let cross = _mm256_add_epi32(cross, _mm256_srli_epi64::<32>(cross));
        _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
    }
}

/// Contiguous complex numbers. Each product is finished before it is added to the sum: separate sums of the products
/// with the real and the imaginary parts would be one instruction cheaper.
macro_rules! complex {
    ($(#[$meta:meta])* $name:ident: $lanes:expr, $of:ty, $register:ty;
     zero $zero:expr; splat($at:ident) $splat:expr; load($load_at:ident) $load:expr;
     load_first($first_at:ident, $first_count:ident) $load_first:expr;
     product($re:ident, $im:ident, $right:ident) $product:expr; add($a:ident, $b:ident) $add:expr;
     store($store_at:ident, $stored:ident) $store:expr;
     store_first($part_at:ident, $part:ident, $part_count:ident) $store_first:expr;) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(super) struct $name($register);

        impl Vector for $name {
            type In = Complex<$of>;
            type Sum = Complex<$of>;
            type Left = ($register, $register);
            type Right = $register;
            type Total = $register;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $name($zero) }
            }
            #[inline(always)]
            unsafe fn load(at: *const Self::In) -> $register {
                let $load_at = at.cast::<$of>();
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn load_first(at: *const Self::In, count: usize) -> $register {
                let ($first_at, $first_count) = (at.cast::<$of>(), 2 * count);
                unsafe { $load_first }
            }
            #[inline(always)]
            unsafe fn splat(at: *const Self::In) -> ($register, $register) {
                let part = |$at: *const $of| unsafe { $splat };
                unsafe { (part(at.cast()), part(at.cast::<$of>().add(1))) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, left: ($register, $register), $right: $register) -> Self {
                let ($re, $im) = left;
                unsafe { $name(Self::add(self.0, $product)) }
            }
            #[inline(always)]
            unsafe fn total(self) -> $register {
                self.0
            }
            #[inline(always)]
            unsafe fn read(at: *const Self::In, count: usize) -> $register {
                unsafe { if count >= $lanes { Self::load(at) } else { Self::load_first(at, count) } }
            }
            #[inline(always)]
            unsafe fn add($a: $register, $b: $register) -> $register {
                unsafe { $add }
            }
            #[inline(always)]
            unsafe fn write($stored: $register, at: *mut Self::In, count: usize) {
                let $store_at = at.cast::<$of>();
                if count >= $lanes {
                    unsafe { $store };
                } else {
                    let ($part_at, $part, $part_count) = ($store_at, $stored, 2 * count);
                    unsafe { $store_first };
                }
            }
        }
    };
}

complex! {
    /// 8 pairs of floats.
    C64x8: 8, f32, __m512;
    zero _mm512_setzero_ps();
    splat(at) _mm512_set1_ps(*at);
    load(at) _mm512_loadu_ps(at);
    load_first(at, count) _mm512_maskz_loadu_ps(mask16(count), at);
    product(re, im, right) _mm512_fmaddsub_ps(re, right, _mm512_mul_ps(im, _mm512_permute_ps::<0b10_11_00_01>(right)));
    add(a, b) _mm512_add_ps(a, b);
    store(at, values) _mm512_storeu_ps(at, values);
    store_first(at, values, count) _mm512_mask_storeu_ps(at, mask16(count), values);
}

complex! {
    /// 4 pairs of doubles.
    C128x4: 4, f64, __m512d;
    zero _mm512_setzero_pd();
    splat(at) _mm512_set1_pd(*at);
    load(at) _mm512_loadu_pd(at);
    load_first(at, count) _mm512_maskz_loadu_pd(mask8(count), at);
    product(re, im, right) _mm512_fmaddsub_pd(re, right, _mm512_mul_pd(im, _mm512_permute_pd::<0b0101_0101>(right)));
    add(a, b) _mm512_add_pd(a, b);
    store(at, values) _mm512_storeu_pd(at, values);
    store_first(at, values, count) _mm512_mask_storeu_pd(at, mask8(count), values);
}

complex! {
    /// 4 pairs of floats.
    C64x4: 4, f32, __m256;
    zero _mm256_setzero_ps();
    splat(at) _mm256_set1_ps(*at);
    load(at) _mm256_loadu_ps(at);
    load_first(at, count) _mm256_maskload_ps(at, lanes32(count));
    product(re, im, right) _mm256_fmaddsub_ps(re, right, _mm256_mul_ps(im, _mm256_permute_ps::<0b10_11_00_01>(right)));
    add(a, b) _mm256_add_ps(a, b);
    store(at, values) _mm256_storeu_ps(at, values);
    store_first(at, values, count) store_floats(at, values, count);
}

complex! {
    /// 2 pairs of doubles.
    C128x2: 2, f64, __m256d;
    zero _mm256_setzero_pd();
    splat(at) _mm256_set1_pd(*at);
    load(at) _mm256_loadu_pd(at);
    load_first(at, count) _mm256_maskload_pd(at, lanes64(count));
    product(re, im, right) _mm256_fmaddsub_pd(re, right, _mm256_mul_pd(im, _mm256_permute_pd::<0b0101>(right)));
    add(a, b) _mm256_add_pd(a, b);
    store(at, values) _mm256_storeu_pd(at, values);
    store_first(at, values, count) store_doubles(at, values, count);
}

/// Products of groups of small numbers, summed in lanes of 32 bits.
macro_rules! grouped {
    ($(#[$meta:meta])* $name:ident: $group:expr, $in:ty, $plain:ident, $sum:ty, $register:ty, $operand:ty;
     head $head:expr; splat($at:ident) $splat:expr; load($load_at:ident) $load:expr;
     mul_add($acc:ident, $left:ident, $right:ident) $mul_add:expr;) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(super) struct $name($register);

        impl Vector for $name {
            type In = $in;
            type Sum = $sum;
            type Left = $operand;
            type Right = $operand;
            type Total = $register;
            const LANES: usize = $plain::LANES;
            const GROUP: usize = $group;
            const HEAD: bool = $head;
            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $name($plain::zero().0) }
            }
            #[inline(always)]
            unsafe fn start(at: *const $sum) -> Self {
                unsafe { $name($plain::load(at)) }
            }
            #[inline(always)]
            unsafe fn load($load_at: *const $in) -> $operand {
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn load_first(at: *const $in, _: usize) -> $operand {
                // Panels are packed to full vectors.
                unsafe { Self::load(at) }
            }
            #[inline(always)]
            unsafe fn splat($at: *const $in) -> $operand {
                unsafe { $splat }
            }
            #[inline(always)]
            unsafe fn mul_add(self, $left: $operand, $right: $operand) -> Self {
                let $acc = self.0;
                unsafe { $name($mul_add) }
            }
            #[inline(always)]
            unsafe fn total(self) -> $register {
                self.0
            }
            #[inline(always)]
            unsafe fn read(at: *const $sum, count: usize) -> $register {
                unsafe { $plain::read(at, count) }
            }
            #[inline(always)]
            unsafe fn add(a: $register, b: $register) -> $register {
                unsafe { $plain::add(a, b) }
            }
            #[inline(always)]
            unsafe fn write(total: $register, at: *mut $sum, count: usize) {
                unsafe { $plain::write(total, at, count) }
            }
        }
    };
}

grouped! {
    /// Pairs of brain floats.
    BF16x2x16: 2, u16, F32x16, f32, __m512, __m512i;
    head false;
    splat(at) _mm512_set1_epi32(at.cast::<i32>().read_unaligned());
    load(at) _mm512_loadu_si512(at.cast());
    mul_add(sum, left, right) _mm512_dpbf16_ps(sum, std::mem::transmute::<__m512i, __m512bh>(left), std::mem::transmute::<__m512i, __m512bh>(right));
}

grouped! {
    /// Fours of bytes, unsigned (raised by 128) on the left and signed on the right.
    I8x4x16: 4, i8, I32x16, i32, __m512i, __m512i;
    head true;
    splat(at) _mm512_set1_epi32(at.cast::<i32>().read_unaligned());
    load(at) _mm512_loadu_si512(at.cast());
    mul_add(sum, left, right) _mm512_dpbusd_epi32(sum, left, right);
}

grouped! {
    /// Pairs of integers of 16 bits.
    I16x2x16: 2, i16, I32x16, i32, __m512i, __m512i;
    head false;
    splat(at) _mm512_set1_epi32(at.cast::<i32>().read_unaligned());
    load(at) _mm512_loadu_si512(at.cast());
    mul_add(sum, left, right) _mm512_add_epi32(sum, _mm512_madd_epi16(left, right));
}

grouped! {
    /// Pairs of integers of 16 bits.
    I16x2x8: 2, i16, I32x8, i32, __m256i, __m256i;
    head false;
    splat(at) _mm256_set1_epi32(at.cast::<i32>().read_unaligned());
    load(at) _mm256_loadu_si256(at.cast());
    mul_add(sum, left, right) _mm256_add_epi32(sum, _mm256_madd_epi16(left, right));
}

/// The sums of four vectors, whose lanes are added pair by pair until each has one left.
#[inline(always)]
unsafe fn four_f32x16([a, b, c, d]: [__m512; 4], at: *mut f32) {
    unsafe {
        let ab = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)));
        let cd = _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d)));
        let all =
            _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)), _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
        let half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps::<1>(all));
        _mm_storeu_ps(at, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps::<1>(half)));
    }
}

/// Adds pairs of lanes of floats in the same way.
#[inline(always)]
unsafe fn four_f64x8([a, b, c, d]: [__m512d; 4], at: *mut f64) {
    unsafe {
        let ab = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let cd = _mm512_add_pd(_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        let ab = _mm256_add_pd(_mm512_castpd512_pd256(ab), _mm512_extractf64x4_pd::<1>(ab));
        let cd = _mm256_add_pd(_mm512_castpd512_pd256(cd), _mm512_extractf64x4_pd::<1>(cd));
        halves_f64(ab, cd, at);
    }
}

/// Adds pairs of lanes in the same order as the wider vectors.
#[inline(always)]
unsafe fn four_f32x8([a, b, c, d]: [__m256; 4], at: *mut f32) {
    unsafe {
        let ab = _mm256_castps_pd(_mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)));
        let cd = _mm256_castps_pd(_mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d)));
        let all =
            _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
        _mm_storeu_ps(at, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all)));
    }
}

/// Adds pairs of lanes in the same order as the wider vectors.
#[inline(always)]
unsafe fn four_f64x4([a, b, c, d]: [__m256d; 4], at: *mut f64) {
    unsafe {
        let ab = _mm256_add_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let cd = _mm256_add_pd(_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        halves_f64(ab, cd, at);
    }
}

/// The sums of the halves of two vectors.
#[inline(always)]
unsafe fn halves_f64(ab: __m256d, cd: __m256d, at: *mut f64) {
    unsafe {
        let (low, high) = (_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd));
        _mm256_storeu_pd(at, _mm256_add_pd(low, high));
    }
}

/// Loads stored elements into a vector.
macro_rules! stream {
    ($name:ident from $of:ty: all($all_at:ident) $all:expr; first($at:ident, $count:ident) $first:expr;
     one($one:ident) $to_sum:expr; across($values:ident) $across:expr; four $four:ident;) => {
        impl Stream<$of> for $name {
            #[inline(always)]
            unsafe fn stream(at: *const $of, count: usize) -> Self::Right {
                if count >= Self::LANES {
                    let $all_at = at;
                    unsafe { $all }
                } else {
                    let ($at, $count) = (at, count);
                    unsafe { $first }
                }
            }
            #[inline(always)]
            unsafe fn repeat(at: *const $of) -> Self::Left {
                let $one = unsafe { at.read() };
                let value: Self::Sum = $to_sum;
                unsafe { Self::splat(&value) }
            }
            #[inline(always)]
            unsafe fn left(right: Self::Right) -> Self::Left {
                right
            }
            #[inline(always)]
            unsafe fn resume(at: *const Self::Sum, count: usize) -> Self {
                $name(unsafe { Self::read(at, count) })
            }
            #[inline(always)]
            unsafe fn join(self, other: Self) -> Self {
                $name(unsafe { Self::add(self.0, other.0) })
            }
            #[inline(always)]
            unsafe fn across(self) -> Self::Sum {
                let $values = self.0;
                unsafe { $across }
            }
            #[inline(always)]
            unsafe fn across_four(four: [Self; 4], at: *mut Self::Sum) {
                unsafe { $four(four.map(|one| one.0), at) }
            }
        }
    };
}

/// Up to 8 half-precision numbers, the rest zeros.
#[inline(always)]
unsafe fn halves8(at: *const u16, count: usize) -> __m128i {
    let mut lanes = [0u16; 8];
    for (lane, value) in lanes.iter_mut().enumerate().take(count) {
        *value = unsafe { at.add(lane).read() };
    }
    unsafe { _mm_loadu_si128(lanes.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn brain16(halves: __m256i) -> __m512 {
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves))) }
}

#[inline(always)]
unsafe fn brain8(halves: __m128i) -> __m256 {
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(halves))) }
}

#[inline(always)]
unsafe fn across8(values: __m256) -> f32 {
    unsafe {
        let half = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps::<1>(values));
        let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
        _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
    }
}

#[inline(always)]
unsafe fn across4(values: __m256d) -> f64 {
    unsafe {
        let half = _mm_add_pd(_mm256_castpd256_pd128(values), _mm256_extractf128_pd::<1>(values));
        _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)))
    }
}

stream! {
    F32x16 from f32:
    all(at) Self::load(at);
    first(at, count) Self::load_first(at, count);
    one(value) value;
    across(values) _mm512_reduce_add_ps(values);
    four four_f32x16;
}

stream! {
    F32x16 from bf16:
    all(at) brain16(_mm256_loadu_si256(at.cast()));
    first(at, count) brain16(_mm256_maskz_loadu_epi16(mask16(count), at.cast()));
    one(value) bf16_to_f32(value);
    across(values) _mm512_reduce_add_ps(values);
    four four_f32x16;
}

stream! {
    F32x16 from f16:
    all(at) _mm512_cvtph_ps(_mm256_loadu_si256(at.cast()));
    first(at, count) _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask16(count), at.cast()));
    one(value) f16_to_f32(value);
    across(values) _mm512_reduce_add_ps(values);
    four four_f32x16;
}

stream! {
    F64x8 from f64:
    all(at) Self::load(at);
    first(at, count) Self::load_first(at, count);
    one(value) value;
    across(values) _mm512_reduce_add_pd(values);
    four four_f64x8;
}

stream! {
    F32x8 from f32:
    all(at) Self::load(at);
    first(at, count) Self::load_first(at, count);
    one(value) value;
    across(values) across8(values);
    four four_f32x8;
}

stream! {
    F32x8 from bf16:
    all(at) brain8(_mm_loadu_si128(at.cast()));
    first(at, count) brain8(halves8(at.cast(), count));
    one(value) bf16_to_f32(value);
    across(values) across8(values);
    four four_f32x8;
}

stream! {
    F32x8 from f16:
    all(at) _mm256_cvtph_ps(_mm_loadu_si128(at.cast()));
    first(at, count) _mm256_cvtph_ps(halves8(at.cast(), count));
    one(value) f16_to_f32(value);
    across(values) across8(values);
    four four_f32x8;
}

stream! {
    F64x4 from f64:
    all(at) Self::load(at);
    first(at, count) Self::load_first(at, count);
    one(value) value;
    across(values) across4(values);
    four four_f64x4;
}

/// Narrow elements in the lanes of a vector of floats.
macro_rules! widen {
    ($name:ident from $of:ty as $register:ty: all($at:ident) $all:expr; scale($total:ident, $by:ident) $scale:expr;) => {
        impl Widen<$of> for $name {
            #[inline(always)]
            unsafe fn widen($at: *const $of) -> $register {
                unsafe { $all }
            }
            #[inline(always)]
            unsafe fn scale($total: $register, $by: *const f32) -> $register {
                unsafe { $scale }
            }
            #[inline(always)]
            unsafe fn total_of(right: $register) -> $register {
                right
            }
        }
    };
}

widen! {
    F32x16 from bf16 as __m512:
    all(at) brain16(_mm256_loadu_si256(at.cast()));
    scale(total, by) _mm512_mul_ps(total, _mm512_loadu_ps(by));
}

widen! {
    F32x16 from i8 as __m512:
    all(at) _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(at.cast())));
    scale(total, by) _mm512_mul_ps(total, _mm512_loadu_ps(by));
}

widen! {
    F32x8 from bf16 as __m256:
    all(at) brain8(_mm_loadu_si128(at.cast()));
    scale(total, by) _mm256_mul_ps(total, _mm256_loadu_ps(by));
}

widen! {
    F32x8 from i8 as __m256:
    all(at) _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(at.cast())));
    scale(total, by) _mm256_mul_ps(total, _mm256_loadu_ps(by));
}
