//! Squares transposed in registers of x86-64, for packing operands that run along k.
//!
//! Instructions beyond SSE2 are used in loops, not in closures: closures do not inherit the target features of the
//! function that all of this is inlined into, so that each instruction would become a call.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every block is instructions, which the callers promise to be there, on squares that they promise to be whole"
)]

use crate::simd::parts::store_floats;
use std::arch::x86_64::*;

/// Writes the square of `rows` transposed: `lanes` units in each of 16 rows, `width` apart.
///
/// # Safety
/// The processor has AVX-512; the square is whole and the rows have space for it.
#[inline(always)]
pub(super) unsafe fn square32_avx512(rows: &[*const u8; 16], lanes: usize, to: *mut u32, width: usize) {
    unsafe {
        // Each row with one load: rows that are a page apart map to one set of the first-level cache, which does not
        // hold all of them at once.
        let mut r = [_mm512_setzero_si512(); 16];
        for (row, &at) in r.iter_mut().zip(rows) {
            *row = _mm512_loadu_si512(at.cast());
        }
        // In quarters of a register: squares of 4 units, turned.
        for four in r.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *four;
            let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            *four = [
                _mm512_unpacklo_epi64(ab_low, cd_low),
                _mm512_unpackhi_epi64(ab_low, cd_low),
                _mm512_unpacklo_epi64(ab_high, cd_high),
                _mm512_unpackhi_epi64(ab_high, cd_high),
            ];
        }
        let mask = if lanes >= 16 { 0xffff } else { (1u16 << lanes).wrapping_sub(1) };
        // Register i of each four has columns i, i + 4, i + 8 and i + 12 of four lanes in its quarters: those are
        // transposed as well.
        for i in 0..4 {
            let [a, b, c, d] = [r[i], r[i + 4], r[i + 8], r[i + 12]];
            let (ab_even, ab_odd) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
            let (cd_even, cd_odd) = (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
            let columns = [
                _mm512_shuffle_i32x4::<0x88>(ab_even, cd_even),
                _mm512_shuffle_i32x4::<0x88>(ab_odd, cd_odd),
                _mm512_shuffle_i32x4::<0xdd>(ab_even, cd_even),
                _mm512_shuffle_i32x4::<0xdd>(ab_odd, cd_odd),
            ];
            for (quarter, column) in columns.into_iter().enumerate() {
                _mm512_mask_storeu_epi32(to.add((quarter * 4 + i) * width).cast(), mask, column);
            }
        }
    }
}

/// Like the function above, for units of 64 bits.
///
/// # Safety
/// The contract of the function above.
#[inline(always)]
pub(super) unsafe fn square64_avx512(rows: &[*const u8; 16], lanes: usize, to: *mut u64, width: usize) {
    unsafe {
        for first in [0, 8] {
            if first >= lanes {
                break;
            }
            let count = lanes - first;
            let mask = if count >= 8 { 0xff } else { (1u8 << count).wrapping_sub(1) };
            for pair in 0..8 {
                // Columns 2 pair and 2 pair + 1: rows of lanes 0, 2, 4, 6 and of 1, 3, 5, 7.
                let at = |lane: usize| _mm_loadu_si128(rows[first + lane].add(pair * 16).cast());
                let mut sides = [_mm512_setzero_si512(); 2];
                for (i, side) in sides.iter_mut().enumerate() {
                    let row = _mm512_castsi128_si512(at(i));
                    let row = _mm512_inserti64x2::<1>(row, at(i + 2));
                    let row = _mm512_inserti64x2::<2>(row, at(i + 4));
                    *side = _mm512_inserti64x2::<3>(row, at(i + 6));
                }
                let [even, odd] = sides;
                let to = to.add(pair * 2 * width + first).cast::<i64>();
                _mm512_mask_storeu_epi64(to, mask, _mm512_unpacklo_epi64(even, odd));
                _mm512_mask_storeu_epi64(to.add(width), mask, _mm512_unpackhi_epi64(even, odd));
            }
        }
    }
}

/// Like the function for AVX-512, with AVX2.
///
/// # Safety
/// The processor has AVX2; the square is whole and the rows have space for it.
#[inline(always)]
pub(super) unsafe fn square32_avx2(rows: &[*const u8; 16], lanes: usize, to: *mut u32, width: usize) {
    unsafe {
        for first in [0, 8] {
            if first >= lanes {
                break;
            }
            let count = (lanes - first).min(8);
            for quarter in 0..4 {
                let at = |lane: usize| _mm_loadu_si128(rows[first + lane].add(quarter * 16).cast());
                let mut r = [_mm256_setzero_si256(); 4];
                for (i, row) in r.iter_mut().enumerate() {
                    *row = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(at(i)), at(i + 4));
                }
                let [a, b, c, d] = r;
                let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                let rows = [
                    _mm256_unpacklo_epi64(ab_low, cd_low),
                    _mm256_unpackhi_epi64(ab_low, cd_low),
                    _mm256_unpacklo_epi64(ab_high, cd_high),
                    _mm256_unpackhi_epi64(ab_high, cd_high),
                ];
                for (i, row) in rows.into_iter().enumerate() {
                    let to = to.add((quarter * 4 + i) * width + first).cast::<f32>();
                    store_floats(to, _mm256_castsi256_ps(row), count);
                }
            }
        }
    }
}
