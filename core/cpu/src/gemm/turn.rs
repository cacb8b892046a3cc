//! Squares transposed in registers of x86-64, for packing operands that run along k.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every block is instructions, which the callers promise to be there, on squares that they promise to be whole"
)]

use std::arch::x86_64::*;

/// Writes the square of `rows` transposed: `lanes` units in each of 16 rows, `width` apart.
///
/// # Safety
/// The processor has AVX-512; the square is whole and the rows have room.
#[inline(always)]
pub(super) unsafe fn square32_avx512(rows: &[*const u8; 16], lanes: usize, to: *mut u32, width: usize) {
    unsafe {
        let mut r = [_mm512_setzero_si512(); 16];
        // Four rows of quarters: row i holds columns 0..4 of lanes i, i + 4, i + 8, i + 12 after this.
        for quarter in 0..4 {
            for i in 0..4 {
                let at = |lane: usize| _mm_loadu_si128(rows[lane].add(quarter * 16).cast());
                let row = _mm512_castsi128_si512(at(i));
                let row = _mm512_inserti32x4::<1>(row, at(i + 4));
                let row = _mm512_inserti32x4::<2>(row, at(i + 8));
                r[quarter * 4 + i] = _mm512_inserti32x4::<3>(row, at(i + 12));
            }
        }
        let mask = if lanes >= 16 { 0xffff } else { (1u16 << lanes).wrapping_sub(1) };
        for quarter in 0..4 {
            let [a, b, c, d] = [r[quarter * 4], r[quarter * 4 + 1], r[quarter * 4 + 2], r[quarter * 4 + 3]];
            let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
            let rows = [
                _mm512_unpacklo_epi64(ab_low, cd_low),
                _mm512_unpackhi_epi64(ab_low, cd_low),
                _mm512_unpacklo_epi64(ab_high, cd_high),
                _mm512_unpackhi_epi64(ab_high, cd_high),
            ];
            for (i, row) in rows.into_iter().enumerate() {
                _mm512_mask_storeu_epi32(to.add((quarter * 4 + i) * width).cast(), mask, row);
            }
        }
    }
}

/// As above, for units of 64 bits.
///
/// # Safety
/// As above.
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
                let row = |i: usize| {
                    let row = _mm512_castsi128_si512(at(i));
                    let row = _mm512_inserti64x2::<1>(row, at(i + 2));
                    let row = _mm512_inserti64x2::<2>(row, at(i + 4));
                    _mm512_inserti64x2::<3>(row, at(i + 6))
                };
                let (even, odd) = (row(0), row(1));
                let to = to.add(pair * 2 * width + first).cast::<i64>();
                _mm512_mask_storeu_epi64(to, mask, _mm512_unpacklo_epi64(even, odd));
                _mm512_mask_storeu_epi64(to.add(width), mask, _mm512_unpackhi_epi64(even, odd));
            }
        }
    }
}

/// As for AVX-512, with AVX2.
///
/// # Safety
/// The processor has AVX2; the square is whole and the rows have room.
#[inline(always)]
pub(super) unsafe fn square32_avx2(rows: &[*const u8; 16], lanes: usize, to: *mut u32, width: usize) {
    unsafe {
        for first in [0, 8] {
            if first >= lanes {
                break;
            }
            let count = (lanes - first).min(8);
            let order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), order);
            for quarter in 0..4 {
                let at = |lane: usize| _mm_loadu_si128(rows[first + lane].add(quarter * 16).cast());
                let row = |i: usize| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(at(i)), at(i + 4));
                let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
                let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                let rows = [
                    _mm256_unpacklo_epi64(ab_low, cd_low),
                    _mm256_unpackhi_epi64(ab_low, cd_low),
                    _mm256_unpacklo_epi64(ab_high, cd_high),
                    _mm256_unpackhi_epi64(ab_high, cd_high),
                ];
                for (i, row) in rows.into_iter().enumerate() {
                    let to = to.add((quarter * 4 + i) * width + first).cast::<i32>();
                    if count == 8 {
                        _mm256_storeu_si256(to.cast(), row);
                    } else {
                        _mm256_maskstore_epi32(to, mask, row);
                    }
                }
            }
        }
    }
}
