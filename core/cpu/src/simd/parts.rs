//! Stores of the first elements of an AVX2 register, in parts. Masked stores take 12 cycles and more on AMD processors before
//! Zen 4; on others the parts take about as long.

use std::arch::x86_64::*;

/// Writes the first `count` elements, or all 8.
///
/// # Safety
/// The processor has AVX, and the elements can be written.
#[inline(always)]
pub(crate) unsafe fn store_floats(to: *mut f32, values: __m256, count: usize) {
    // SAFETY: the caller guarantees the instructions and `count` elements; each part is inside them.
    unsafe {
        if count >= 8 {
            return _mm256_storeu_ps(to, values);
        }
        let (mut to, mut rest) = (to, _mm256_castps256_ps128(values));
        if count & 4 != 0 {
            _mm_storeu_ps(to, rest);
            (to, rest) = (to.add(4), _mm256_extractf128_ps::<1>(values));
        }
        if count & 2 != 0 {
            _mm_storel_pd(to.cast(), _mm_castps_pd(rest));
            (to, rest) = (to.add(2), _mm_movehl_ps(rest, rest));
        }
        if count & 1 != 0 {
            _mm_store_ss(to, rest);
        }
    }
}

/// Writes the first `count` elements, or all 4.
///
/// # Safety
/// The processor has AVX, and the elements can be written.
#[inline(always)]
pub(crate) unsafe fn store_doubles(to: *mut f64, values: __m256d, count: usize) {
    // SAFETY: the caller guarantees the instructions and `count` elements; each part is inside them.
    unsafe {
        if count >= 4 {
            return _mm256_storeu_pd(to, values);
        }
        let (mut to, mut rest) = (to, _mm256_castpd256_pd128(values));
        if count & 2 != 0 {
            _mm_storeu_pd(to, rest);
            (to, rest) = (to.add(2), _mm256_extractf128_pd::<1>(values));
        }
        if count & 1 != 0 {
            _mm_store_sd(to, rest);
        }
    }
}
