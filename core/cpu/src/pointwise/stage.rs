//! Moves tiles of strided elements, of any element size: into a block, out of one, or between operands.

#[cfg(target_arch = "x86_64")]
use crate::simd::Level;
use crate::simd::{self, Kernel, Simd};
use std::marker::PhantomData;

/// One side of a move: the first element, and the steps, in elements, along a row and from row to row.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) at: *mut u8,
    pub(crate) step: isize,
    pub(crate) across: isize,
}

impl Side {
    /// Rows of `len` elements, one after the other.
    pub(crate) fn block(at: *mut u8, len: usize) -> Side {
        Side { at, step: 1, across: len as isize }
    }
}

/// Copies `rows` rows of `len` elements of `size` bytes from one side to the other.
///
/// # Safety
/// Both sides have that many elements in live memory, and no element written is one that is read.
pub(crate) unsafe fn move_tile(size: usize, to: Side, from: Side, len: usize, rows: usize) {
    match size {
        1 => simd::run(Move::<u8> { to, from, len, rows, element: PhantomData }),
        2 => simd::run(Move::<u16> { to, from, len, rows, element: PhantomData }),
        4 => simd::run(Move::<u32> { to, from, len, rows, element: PhantomData }),
        8 => simd::run(Move::<u64> { to, from, len, rows, element: PhantomData }),
        _ => simd::run(Move::<[u64; 2]> { to, from, len, rows, element: PhantomData }),
    }
}

struct Move<T> {
    to: Side,
    from: Side,
    len: usize,
    rows: usize,
    element: PhantomData<T>,
}

impl<T: Copy> Kernel for Move<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Move { to, from, len, rows, element: _ } = self;
        let (out, a) = (to.at.cast::<T>(), from.at.cast::<T>());
        let row = |row: usize| {
            // SAFETY: `row` is below `rows`, and the caller of `move_tile` guarantees that many rows on both sides.
            unsafe { (out.offset(row as isize * to.across), a.offset(row as isize * from.across)) }
        };
        // SAFETY (of all blocks below): every index is below `len` and `rows`, for which the caller of `move_tile`
        // guarantees elements. They are aligned for their dtype, which may be less than for `T`; all accesses are
        // unaligned.
        if to.step == 1 && from.step == 1 {
            for (out, a) in (0..rows).map(row) {
                if len * size_of::<T>() >= 64 {
                    // SAFETY: the caller of `move_tile` guarantees `len` elements in each row on both sides; both steps
                    // are 1 here.
                    unsafe { std::ptr::copy_nonoverlapping(a.cast::<u8>(), out.cast::<u8>(), len * size_of::<T>()) }
                } else {
                    for i in 0..len {
                        // SAFETY: `i` is below `len`; the caller of `move_tile` guarantees `len` elements in each row
                        // on both sides.
                        unsafe { out.add(i).write_unaligned(a.add(i).read_unaligned()) }
                    }
                }
            }
        } else if to.step == 1 && from.step == 0 {
            for (out, a) in (0..rows).map(row) {
                // SAFETY: the caller of `move_tile` guarantees an element at the start of each row.
                let value = unsafe { a.read_unaligned() };
                for i in 0..len {
                    // SAFETY: `i` is below `len`; the caller of `move_tile` guarantees `len` elements in each row of
                    // the output.
                    unsafe { out.add(i).write_unaligned(value) }
                }
            }
        } else if to.step == 1 && from.step == -1 {
            // With a constant step, the compiler reverses vectors (0.3 of the time).
            for (out, a) in (0..rows).map(row) {
                for i in 0..len {
                    // SAFETY: `i` is below `len`; the caller of `move_tile` guarantees `len` elements in each row on
                    // both sides.
                    unsafe { out.add(i).write_unaligned(a.sub(i).read_unaligned()) }
                }
            }
        } else if to.step == 1 && from.across == 1 && rows >= SIDE && len >= SIDE {
            transpose::<S, T>(out, to.across, a, from.step, len, rows);
        } else {
            for (out, a) in (0..rows).map(row) {
                for i in 0..len as isize {
                    // SAFETY: `i` is below `len`; the caller of `move_tile` guarantees `len` elements in each row on
                    // both sides.
                    unsafe { out.offset(i * to.step).write_unaligned(a.offset(i * from.step).read_unaligned()) }
                }
            }
        }
    }
}

/// Elements along each side of the squares that are transposed in registers.
const SIDE: usize = 8;

/// `out[row][i] = a[i][row]`: `out` has steps (`across`, 1), `a` has (1, `step`).
#[inline(always)]
fn transpose<S: Simd, T: Copy>(out: *mut T, across: isize, a: *const T, step: isize, len: usize, rows: usize) {
    let mut top = 0;
    while top < rows {
        // The last square overlaps the one before it.
        top = top.min(rows - SIDE);
        let mut left = 0;
        #[cfg(target_arch = "x86_64")]
        if matches!(S::LEVEL, Level::Avx512) && size_of::<T>() == 4 {
            while left + 2 * SIDE <= len {
                // SAFETY: the squares are inside the tile, whose elements the caller of `move_tile` guarantees; the
                // level has AVX-512.
                unsafe {
                    let from = a.offset(left as isize * step).add(top);
                    let to = out.offset(top as isize * across).add(left);
                    x86::two_squares_of_4_bytes(to.cast(), across * 4, from.cast(), step * 4);
                }
                left += 2 * SIDE;
            }
        }
        while left < len {
            left = left.min(len - SIDE);
            // SAFETY: the squares are inside the tile, whose elements the caller of `move_tile` guarantees.
            unsafe {
                let from = a.offset(left as isize * step).add(top);
                let to = out.offset(top as isize * across).add(left);
                square::<S, T>(to, across, from, step);
            }
            left += SIDE;
        }
        top += SIDE;
    }
}

/// Transposes one square.
///
/// # Safety
/// Both squares are in live memory.
#[inline(always)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(clippy::extra_unused_type_parameters, reason = "one way for all levels")
)]
unsafe fn square<S: Simd, T: Copy>(to: *mut T, across: isize, from: *const T, step: isize) {
    #[cfg(target_arch = "x86_64")]
    if matches!(S::LEVEL, Level::Avx2 | Level::Avx512) {
        let line = size_of::<T>() as isize;
        // SAFETY: the level has AVX2; the caller guarantees a square of elements at both addresses.
        unsafe {
            match size_of::<T>() {
                4 => return x86::square_of_4_bytes(to.cast(), across * line, from.cast(), step * line),
                8 => return x86::square_of_8_bytes(to.cast(), across * line, from.cast(), step * line),
                _ => {}
            }
        }
    }
    // SAFETY: the caller guarantees a square of `SIDE` x `SIDE` elements at both addresses.
    unsafe {
        let mut square = [[from.read_unaligned(); SIDE]; SIDE];
        for (i, line) in square.iter_mut().enumerate() {
            *line = from.offset(i as isize * step).cast::<[T; SIDE]>().read_unaligned();
        }
        let lines: [[T; SIDE]; SIDE] = std::array::from_fn(|row| std::array::from_fn(|i| square[i][row]));
        for (row, line) in lines.into_iter().enumerate() {
            to.offset(row as isize * across).cast::<[T; SIDE]>().write_unaligned(line);
        }
    }
}

/// Squares in registers: the compiler does not find these shuffles by itself.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// # Safety
    /// Eight lines of eight elements, `across` and `step` bytes apart, are in live memory.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn square_of_4_bytes(to: *mut u8, across: isize, from: *const u8, step: isize) {
        // SAFETY: the caller guarantees: eight lines of eight elements, `across` and `step` bytes apart, are in live
        // memory.
        let line = |i: isize| unsafe { _mm256_loadu_ps(from.offset(i * step).cast()) };
        let pairs = |i: isize| {
            let (a, b) = (line(i), line(i + 1));
            (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b))
        };
        let fours = |i: isize| {
            let ((a, b), (c, d)) = (pairs(i), pairs(i + 2));
            [
                _mm256_shuffle_ps::<0x44>(a, c),
                _mm256_shuffle_ps::<0xee>(a, c),
                _mm256_shuffle_ps::<0x44>(b, d),
                _mm256_shuffle_ps::<0xee>(b, d),
            ]
        };
        let (upper, lower) = (fours(0), fours(4));
        for i in 0..4 {
            let at = to.wrapping_offset(i as isize * across);
            // SAFETY: the caller guarantees: eight lines of eight elements, `across` and `step` bytes apart, are in
            // live memory.
            unsafe {
                _mm256_storeu_ps(at.cast(), _mm256_permute2f128_ps::<0x20>(upper[i], lower[i]));
                let at = at.wrapping_offset(4 * across);
                _mm256_storeu_ps(at.cast(), _mm256_permute2f128_ps::<0x31>(upper[i], lower[i]));
            }
        }
    }

    /// Two squares, the second below the first where they are read and beside it where they are written.
    ///
    /// # Safety
    /// Eight lines of sixteen elements that are written and sixteen lines of eight that are read, `across` and `step`
    /// bytes apart, are in live memory.
    #[inline]
    #[target_feature(enable = "avx2,avx512f,avx512dq")]
    pub(crate) unsafe fn two_squares_of_4_bytes(to: *mut u8, across: isize, from: *const u8, step: isize) {
        // SAFETY: the caller guarantees sixteen lines of eight elements, `step` bytes apart, at `from`.
        let line = |i: isize| unsafe { _mm256_loadu_ps(from.offset(i * step).cast()) };
        let lines = |i: isize| _mm512_insertf32x8::<1>(_mm512_castps256_ps512(line(i)), line(i + 4));
        // Of lines i.. and i + 4..: in each quarter of a register four elements of one column.
        let fours = |i: isize| {
            let (a, b, c, d) = (lines(i), lines(i + 1), lines(i + 2), lines(i + 3));
            let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
            [
                _mm512_shuffle_ps::<0x44>(ab_low, cd_low),
                _mm512_shuffle_ps::<0xee>(ab_low, cd_low),
                _mm512_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm512_shuffle_ps::<0xee>(ab_high, cd_high),
            ]
        };
        let (upper, lower) = (fours(0), fours(8));
        for i in 0..4 {
            let at = to.wrapping_offset(i as isize * across);
            // SAFETY: the caller guarantees eight lines of sixteen elements, `across` bytes apart, at `to`.
            unsafe {
                _mm512_storeu_ps(at.cast(), _mm512_shuffle_f32x4::<0x88>(upper[i], lower[i]));
                let at = at.wrapping_offset(4 * across);
                _mm512_storeu_ps(at.cast(), _mm512_shuffle_f32x4::<0xdd>(upper[i], lower[i]));
            }
        }
    }

    /// # Safety
    /// The contract of the function above.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn square_of_8_bytes(to: *mut u8, across: isize, from: *const u8, step: isize) {
        for (top, left) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
            let from = from.wrapping_offset(left * step + top * 8);
            let to = to.wrapping_offset(top * across + left * 8);
            // SAFETY: the caller guarantees squares of elements at both addresses, with lines `across` and `step` bytes
            // apart.
            unsafe {
                let line = |i: isize| _mm256_loadu_pd(from.offset(i * step).cast());
                let (a, b, c, d) = (line(0), line(1), line(2), line(3));
                let (low, high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                let (low2, high2) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
                let store = |row: isize, line| _mm256_storeu_pd(to.offset(row * across).cast(), line);
                store(0, _mm256_permute2f128_pd::<0x20>(low, low2));
                store(1, _mm256_permute2f128_pd::<0x20>(high, high2));
                store(2, _mm256_permute2f128_pd::<0x31>(low, low2));
                store(3, _mm256_permute2f128_pd::<0x31>(high, high2));
            }
        }
    }
}

/// Writes `value`, of which `size` bytes count, to `len` elements.
///
/// # Safety
/// `to` has that many elements in live memory.
pub(crate) unsafe fn fill(size: usize, to: *mut u8, value: [u64; 2], len: usize) {
    let from = Side { at: (&raw const value).cast_mut().cast(), step: 0, across: 0 };
    // SAFETY: the caller guarantees `len` writable elements at `to`; the value is a local variable that outlives the
    // call.
    unsafe { move_tile(size, Side::block(to, len), from, len, 1) }
}
