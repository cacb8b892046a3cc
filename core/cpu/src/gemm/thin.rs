//! Products of few rows, which are limited by memory bandwidth.
//!
//! A row times a matrix streams the matrix once, in place. If its rows are adjacent in memory, they are accumulated, a
//! few at a time, into a chunk of sums that stays in the cache ([`add_rows`]); if its columns run along k, products are
//! summed in the lanes of registers ([`dots`]), for a few rows at once. The first adds in the order of the tiles,
//! bitwise; the second in its own order. Everything else uses `driver`.

use super::blocking::{Depth, SHARES, worthwhile};
use super::driver::{Operand, Problem, each};
use super::epilogue::Finish;
use super::lanes::{Stream, Vector};
use super::pack::Source;
use super::ways::Ways;
use crate::scratch::Shortage;
use crate::shared::Shared;
use crate::simd::{Level, prefetch};
use rushlight_base::runtime::{FirstError, check_cancelled, num_threads};
use rushlight_base::{DType, Result, Storage};
#[cfg(target_arch = "x86_64")]
use rushlight_base::{bf16, f16};
use std::mem::MaybeUninit;
use std::ops::Range;

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::x86;

/// The most rows of a product that is thin where both operands run along k.
const ROWS: usize = 128;
/// With more rows than this, summing in lanes only pays for a long k whose rows stay in the second-level cache.
const FEW_ROWS: usize = 16;
const LONG: usize = 256;
const ROWS_BYTES: usize = 768 << 10;
/// The most products that are added up between two checks whether the call is cancelled.
const LONGEST: usize = 1 << 26;
/// Bytes of rows that stay in the first-level cache.
const LEFT_BYTES: usize = 24 << 10;
/// Columns that are computed together where they are neighbours, and where they run along k.
const COLUMNS: usize = 2048;
const DOT_COLUMNS: usize = 32;

/// One block of k of a row times a matrix of neighbouring columns.
struct Rows {
    vector: *const u8,
    /// Elements from one element of the vector to the next.
    vector_step: isize,
    matrix: *const u8,
    /// Elements from one row of the matrix to the next.
    matrix_step: isize,
    depth: usize,
    columns: usize,
    /// Buffer for the sums.
    sums: *mut u8,
}

/// Rows of sums, the first of which becomes the sum of all, added in their order.
struct Blocks {
    sums: *mut u8,
    /// Sums from one row to the next.
    step: usize,
    count: usize,
    columns: usize,
}

/// Rows times columns, all of which run along k.
struct Dots {
    left: *const u8,
    /// Elements from one row to the next.
    left_step: isize,
    rows: usize,
    right: *const u8,
    /// Elements from one column to the next.
    right_step: isize,
    columns: usize,
    /// The part of k that is added up: whole blocks, the first of which overwrites the sums.
    depth: Range<usize>,
    /// Row after row of `DOT_COLUMNS`.
    sums: *mut u8,
}

/// The functions of a dtype at a level.
#[derive(Clone, Copy)]
pub(super) struct Thin {
    rows: unsafe fn(&Rows),
    join: unsafe fn(&Blocks),
    dots: unsafe fn(&Dots),
}

macro_rules! compiled {
    ($(#[$meta:meta])* $rows:ident, $join:ident, $dots:ident, tiles of $tall:literal and $low:literal rows) => {
        /// # Safety
        /// The contract of [`add_rows`].
        $(#[$meta])*
        unsafe fn $rows<V: Stream<T>, T>(rows: &Rows) {
            // SAFETY: the caller guarantees the pointers and sizes in `rows` and the instruction set; both functions
            // have the same contract.
            unsafe { add_rows::<V, T>(rows) }
        }

        /// # Safety
        /// The contract of [`add_blocks`].
        $(#[$meta])*
        unsafe fn $join<V: Vector>(blocks: &Blocks) {
            // SAFETY: the caller guarantees the pointers and sizes in `blocks` and the instruction set; both functions
            // have the same contract.
            unsafe { add_blocks::<V>(blocks) }
        }

        /// # Safety
        /// The contract of [`dots`].
        $(#[$meta])*
        unsafe fn $dots<V: Stream<T>, T>(arguments: &Dots) {
            // SAFETY: the caller guarantees the pointers and sizes in `arguments` and the instruction set; both
            // functions have the same contract.
            unsafe { dots::<V, T, $tall, $low>(arguments) }
        }
    };
}

compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
    rows_avx512, join_avx512, dots_avx512, tiles of 6 and 4 rows
}
compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    rows_avx2, join_avx2, dots_avx2, tiles of 2 and 2 rows
}
compiled! {
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon")]
    rows_neon, join_neon, dots_neon, tiles of 4 and 2 rows
}

impl Thin {
    /// The functions for `dtype` at `level`, if there are any.
    pub fn of(dtype: DType, level: Level) -> Option<Thin> {
        macro_rules! thin {
            ($rows:ident, $join:ident, $dots:ident, $vector:ty, $of:ty) => {
                Some(Thin { rows: $rows::<$vector, $of>, join: $join::<$vector>, dots: $dots::<$vector, $of> })
            };
        }
        match (level, dtype) {
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, DType::F32) => thin!(rows_avx512, join_avx512, dots_avx512, x86::F32x16, f32),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, DType::BF16) => thin!(rows_avx512, join_avx512, dots_avx512, x86::F32x16, bf16),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, DType::F16) => thin!(rows_avx512, join_avx512, dots_avx512, x86::F32x16, f16),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx512, DType::F64) => thin!(rows_avx512, join_avx512, dots_avx512, x86::F64x8, f64),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2, DType::F32) => thin!(rows_avx2, join_avx2, dots_avx2, x86::F32x8, f32),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2, DType::BF16) => thin!(rows_avx2, join_avx2, dots_avx2, x86::F32x8, bf16),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2, DType::F16) => thin!(rows_avx2, join_avx2, dots_avx2, x86::F32x8, f16),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2, DType::F64) => thin!(rows_avx2, join_avx2, dots_avx2, x86::F64x4, f64),
            #[cfg(target_arch = "aarch64")]
            (Level::Neon, DType::F32) => thin!(rows_neon, join_neon, dots_neon, neon::F32x4, f32),
            #[cfg(target_arch = "aarch64")]
            (Level::Neon, DType::F64) => thin!(rows_neon, join_neon, dots_neon, neon::F64x2, f64),
            _ => None,
        }
    }
}

/// # Safety
/// The processor has the vector's instructions; the pointers are good for the sizes.
#[inline(always)]
unsafe fn add_rows<V: Stream<T>, T>(rows: &Rows) {
    let (vector, matrix) = (rows.vector.cast::<T>(), rows.matrix.cast::<T>());
    let block = rows.sums.cast::<V::Sum>();
    let full = rows.columns - rows.columns % V::LANES;
    // SAFETY: every access has p < depth and column < columns, for which the caller guarantees elements.
    unsafe {
        let mut p = 0;
        while p < rows.depth {
            let count = if p + 8 <= rows.depth { 8 } else { 1 };
            let x = vector.offset(p as isize * rows.vector_step);
            let from = matrix.offset(p as isize * rows.matrix_step);
            if count == 8 {
                let mut factors = [V::repeat(x); 8];
                for (i, factor) in factors.iter_mut().enumerate() {
                    *factor = V::repeat(x.offset(i as isize * rows.vector_step));
                }
                for column in (0..full).step_by(V::LANES) {
                    add_eight::<V, T>(rows, &factors, from, block, p == 0, column, V::LANES);
                }
                if full < rows.columns {
                    add_eight::<V, T>(rows, &factors, from, block, p == 0, full, rows.columns - full);
                }
            } else {
                let factor = V::repeat(x);
                for column in (0..rows.columns).step_by(V::LANES) {
                    let count = V::LANES.min(rows.columns - column);
                    let sums = if p == 0 { V::zero() } else { V::resume(block.add(column), count) };
                    let sums = sums.mul_add(factor, V::stream(from.add(column), count));
                    V::write(sums.total(), block.add(column), count);
                }
            }
            p += count;
        }
    }
}

/// # Safety
/// The processor has the vector's instructions; the pointer is good for the sizes.
#[inline(always)]
unsafe fn add_blocks<V: Vector>(blocks: &Blocks) {
    let sums = blocks.sums.cast::<V::Sum>();
    for column in (0..blocks.columns).step_by(V::LANES) {
        let count = V::LANES.min(blocks.columns - column);
        // SAFETY: every access has column + count <= columns and block < count, for which the caller guarantees
        // elements.
        unsafe {
            let mut total = V::read(sums.add(column), count);
            for block in 1..blocks.count {
                total = V::add(total, V::read(sums.add(block * blocks.step + column), count));
            }
            V::write(total, sums.add(column), count);
        }
    }
}

/// Eight rows' share of a vector of sums.
///
/// # Safety
/// The contract of [`add_rows`].
#[inline(always)]
unsafe fn add_eight<V: Stream<T>, T>(
    rows: &Rows,
    factors: &[V::Left; 8],
    from: *const T,
    block: *mut V::Sum,
    first: bool,
    column: usize,
    count: usize,
) {
    // SAFETY: every access has column + count <= columns, for which the caller guarantees elements.
    unsafe {
        let mut sums = if first { V::zero() } else { V::resume(block.add(column), count) };
        for (i, &factor) in factors.iter().enumerate() {
            let row = from.offset(i as isize * rows.matrix_step).add(column);
            // Prefetches the next rows, not the next columns of these: rows are short, and processors predict those.
            prefetch(row.wrapping_offset(8 * rows.matrix_step).cast());
            sums = sums.mul_add(factor, V::stream(row, count));
        }
        V::write(sums.total(), block.add(column), count);
    }
}

/// # Safety
/// The contract of [`add_rows`].
#[inline(always)]
unsafe fn dots<V: Stream<T>, T, const TALL: usize, const LOW: usize>(d: &Dots) {
    // Either all rows stay in the first-level cache while columns pass by, or a tile's share of k of them does.
    let stay = d.rows <= TALL || d.rows * d.depth.len() * size_of::<T>() <= LEFT_BYTES;
    let block = if stay { d.depth.len() } else { LEFT_BYTES / TALL / size_of::<T>() }.max(1);
    let (full, together) = (d.columns - d.columns % 4, if stay { 4 } else { d.columns });
    // SAFETY: rows, columns and k stay below the sizes in `d`, for which the caller guarantees elements.
    unsafe {
        for start in d.depth.clone().step_by(block) {
            let depth = start..d.depth.end.min(start + block);
            for first in (0..full).step_by(together.max(1)) {
                dot_rows::<V, T, TALL, LOW>(d, &depth, first..full.min(first + together));
            }
            for column in full..d.columns {
                for row in 0..d.rows {
                    dot_tile::<V, T, 1, 1>(d, &depth, row, column);
                }
            }
        }
    }
}

/// All rows times fours of columns, a tile's rows after the other.
///
/// # Safety
/// The contract of [`add_rows`].
#[inline(always)]
unsafe fn dot_rows<V: Stream<T>, T, const TALL: usize, const LOW: usize>(
    d: &Dots,
    depth: &Range<usize>,
    columns: Range<usize>,
) {
    let mut row = 0;
    while row < d.rows {
        let left = d.rows - row;
        // Not the tallest tile if two lower ones leave fewer single rows.
        let height = if left >= TALL && left / 2 != LOW {
            TALL
        } else if left >= LOW {
            LOW
        } else {
            1
        };
        for column in columns.clone().step_by(4) {
            // SAFETY: row + height <= rows and column + 4 <= columns, for which the caller guarantees elements.
            unsafe {
                if height == TALL {
                    dot_tile::<V, T, TALL, 4>(d, depth, row, column);
                } else if height == LOW {
                    dot_tile::<V, T, LOW, 4>(d, depth, row, column);
                } else {
                    dot_tile::<V, T, 1, 4>(d, depth, row, column);
                }
            }
        }
        row += height;
    }
}

/// `M` rows times `N` columns, along a block of k: the first block's sums are written, others' added.
///
/// # Safety
/// The contract of [`add_rows`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
unsafe fn dot_tile<V: Stream<T>, T, const M: usize, const N: usize>(
    d: &Dots,
    depth: &Range<usize>,
    first: usize,
    column: usize,
) {
    // SAFETY: first + M <= rows, column + N <= columns and the depth is within d.depth, for which the caller guarantees
    // elements.
    unsafe {
        let left = d.left.cast::<T>().offset(first as isize * d.left_step).add(depth.start);
        let right = d.right.cast::<T>().offset(column as isize * d.right_step).add(depth.start);
        let mut sums = [[[V::zero(); N]; M]; 2];
        let mut p = 0;
        if M * N <= 4 {
            // Two sets of sums: with one, each addition would wait for the previous one.
            while p + 2 * V::LANES <= depth.len() {
                dot_step::<V, T, M, N>(&mut sums[0], d, left.add(p), right.add(p), V::LANES);
                let next = p + V::LANES;
                dot_step::<V, T, M, N>(&mut sums[1], d, left.add(next), right.add(next), V::LANES);
                p += 2 * V::LANES;
            }
        }
        while p + V::LANES <= depth.len() {
            dot_step::<V, T, M, N>(&mut sums[0], d, left.add(p), right.add(p), V::LANES);
            p += V::LANES;
        }
        if p < depth.len() {
            dot_step::<V, T, M, N>(&mut sums[0], d, left.add(p), right.add(p), depth.len() - p);
        }
        for i in 0..M {
            let mut row = sums[0][i];
            if M * N <= 4 {
                for j in 0..N {
                    row[j] = row[j].join(sums[1][i][j]);
                }
            }
            let out = d.sums.cast::<V::Sum>().add((first + i) * DOT_COLUMNS + column);
            // The sums of the previous blocks; a register may be shorter than a row of the tile.
            let mut before = [V::zero().total(); N];
            if depth.start > 0 {
                for j in (0..N).step_by(V::LANES) {
                    before[j] = V::read(out.add(j), V::LANES.min(N - j));
                }
            }
            if N == 4 {
                V::across_four([row[0], row[1 % N], row[2 % N], row[3 % N]], out);
            } else {
                for j in 0..N {
                    out.add(j).write(row[j].across());
                }
            }
            if depth.start > 0 {
                for j in (0..N).step_by(V::LANES) {
                    let count = V::LANES.min(N - j);
                    V::write(V::add(before[j], V::read(out.add(j), count)), out.add(j), count);
                }
            }
        }
    }
}

/// One vector's worth of k, for every sum of a tile.
///
/// # Safety
/// The contract of [`add_rows`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
unsafe fn dot_step<V: Stream<T>, T, const M: usize, const N: usize>(
    sums: &mut [[V; N]; M],
    d: &Dots,
    left: *const T,
    right: *const T,
    count: usize,
) {
    // SAFETY: the caller guarantees one vector at each of the `M` and `N` addresses.
    unsafe {
        let mut columns = [V::stream(right, 0); N];
        for j in 0..N {
            columns[j] = V::stream(right.offset(j as isize * d.right_step), count);
        }
        for i in 0..M {
            let row = V::left(V::stream(left.offset(i as isize * d.left_step), count));
            for j in 0..N {
                sums[i][j] = sums[i][j].mul_add(row, columns[j]);
            }
        }
    }
}

/// The method of a thin product.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// The rows of the matrix are added up.
    Sums,
    /// Products are summed in the lanes; of the problem, or of its transpose.
    Dots { transposed: bool },
}

/// The method of a product, if it is thin. Shapes and strides decide, not addresses.
pub(super) fn kind(p: &Problem<'_>, ways: &Ways) -> Option<Kind> {
    let (Some(_), Operand::Strided(left), Operand::Strided(right)) = (ways.thin, p.left, p.right) else {
        return None;
    };
    if p.m == 1 && right.lane == 1 && p.n > 1 {
        return Some(Kind::Sums);
    }
    let along = right.depth == 1 && (left.depth == 1 || p.m == 1);
    let rows = p.m.min(p.n);
    // Types that are multiplied in groups or have to be converted are faster in tiles.
    let simple = ways.kernels.group == 1 && ways.kernels.in_bytes == ways.element;
    let worthwhile = match rows <= FEW_ROWS {
        true => p.k >= 8,
        false => simple && rows <= ROWS && p.k >= LONG && rows * p.k * ways.element <= ROWS_BYTES,
    };
    (along && worthwhile).then_some(Kind::Dots { transposed: p.m > p.n && left.depth == 1 })
}

/// Computes `p` if it is thin, on this thread only if `serial`. Returns whether it was computed.
pub(super) fn multiply(p: &Problem<'_>, ways: &Ways, serial: bool) -> Result<bool> {
    let (Some(kind), Some(thin)) = (kind(p, ways), ways.thin) else { return Ok(false) };
    let (Operand::Strided(left), Operand::Strided(right)) = (p.left, p.right) else { return Ok(false) };
    let threads = if serial { 1 } else { worthwhile(p.m.saturating_mul(p.n).saturating_mul(p.k), num_threads()) };
    match kind {
        Kind::Sums => add_up(p, ways, &thin, left, right, threads)?,
        Kind::Dots { transposed: false } => dot_products(p, ways, &thin, left, right, threads)?,
        Kind::Dots { transposed: true } => {
            let mut turned = *p;
            (turned.left, turned.right) = (Operand::Strided(right), Operand::Strided(left));
            (turned.m, turned.n) = (p.n, p.m);
            (turned.out_row, turned.out_column) = (p.out_column, p.out_row);
            (turned.add_row, turned.add_column) = (p.add_column, p.add_row);
            dot_products(&turned, ways, &thin, right, left, threads)?;
        }
    }
    Ok(true)
}

/// Buffer for sums, on the stack.
#[repr(C, align(64))]
struct Buffer<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

fn add_up(p: &Problem<'_>, ways: &Ways, thin: &Thin, left: Source, right: Source, threads: usize) -> Result<()> {
    let (depth, sum_bytes) = (Depth::new(ways.kernels, p.k), ways.kernels.sum_bytes);
    let pieces = if threads == 1 { 1 } else { (SHARES * threads).div_ceil(depth.blocks) };
    let together = p.n.div_ceil(pieces).next_multiple_of(32).min(COLUMNS);
    let chunks = p.n.div_ceil(together);
    let columns = |chunk: usize| chunk * together..p.n.min((chunk + 1) * together);
    // Each block has a row of sums, so that blocks may run concurrently and are added in order.
    let sums = Storage::allocate(depth.blocks * p.n * sum_bytes)?;
    if p.k == 0 {
        // SAFETY: the buffer holds `p.n` sums, and all-zero bytes are a valid sum.
        unsafe { sums.data().write_bytes(0, p.n * sum_bytes) };
    }
    let sums = Shared::new(sums.data());
    each(depth.blocks * chunks, threads, &|share| {
        let (index, columns) = (share / chunks, columns(share % chunks));
        let range = depth.range(index, p.k);
        let rows = Rows {
            vector: left.offset(range.start as isize * left.depth, ways.element),
            vector_step: left.depth,
            matrix: right.offset(range.start as isize * right.depth + columns.start as isize, ways.element),
            matrix_step: right.depth,
            depth: range.len(),
            columns: columns.len(),
            sums: sums.get().wrapping_add((index * p.n + columns.start) * sum_bytes),
        };
        // SAFETY: columns and range are inside the operands; the buffer holds the block's columns.
        unsafe { (thin.rows)(&rows) };
    })?;
    let blocks = Blocks { sums: sums.get(), step: p.n, count: depth.blocks, columns: p.n };
    if depth.blocks > 1 {
        // SAFETY: the buffer holds a row of sums for each block.
        unsafe { (thin.join)(&blocks) };
    }
    store(p, ways, (sums.get(), p.n), 1, 0, p.n);
    Ok(())
}

fn dot_products(p: &Problem<'_>, ways: &Ways, thin: &Thin, left: Source, right: Source, threads: usize) -> Result<()> {
    // A single row with gaps is copied first, because it is read for every column.
    let mut gathered = None;
    let mut from = left;
    if left.depth != 1 {
        let row = Storage::allocate(p.k * ways.element)?;
        for k in 0..p.k {
            let element = left.offset(k as isize * left.depth, ways.element);
            // SAFETY: k is within the row, and within the buffer.
            unsafe { element.copy_to_nonoverlapping(row.data().add(k * ways.element), ways.element) };
        }
        from = Source { at: row.data(), lane: 0, depth: 1 };
        gathered = Some(row);
    }
    // A few shares for each thread, each some cache lines wide.
    let together = match threads {
        1 => DOT_COLUMNS,
        _ => p.n.div_ceil(SHARES * threads).next_multiple_of(DOT_COLUMNS / 2).min(DOT_COLUMNS),
    };
    let (sum_bytes, shortage, failed) = (p.m * DOT_COLUMNS * 8, Shortage::new(), FirstError::default());
    each(p.n.div_ceil(together), threads, &|share| {
        let column = share * together;
        let columns = together.min(p.n - column);
        let mut on_stack = MaybeUninit::<Buffer<{ DOT_COLUMNS * FEW_ROWS * 8 }>>::uninit();
        let scratch;
        let sums: *mut u8 = if sum_bytes <= size_of_val(&on_stack) {
            on_stack.as_mut_ptr().cast()
        } else {
            let Some(block) = shortage.scratch(sum_bytes) else { return };
            scratch = block;
            scratch.start()
        };
        let mut dots = Dots {
            left: from.offset(0, 1),
            left_step: from.lane,
            rows: p.m,
            right: right.offset(column as isize * right.lane, ways.element),
            right_step: right.lane,
            columns,
            depth: 0..p.k.min(LONGEST),
            sums,
        };
        loop {
            // SAFETY: the columns are inside the operand, the depth is within k; the buffer holds a share's sums.
            unsafe { (thin.dots)(&dots) };
            if dots.depth.end == p.k {
                return store(p, ways, (sums, DOT_COLUMNS), p.m, column, columns);
            }
            if let Err(error) = check_cancelled() {
                return failed.note(Err(error));
            }
            dots.depth = dots.depth.end..p.k.min(dots.depth.end + LONGEST);
        }
    })?;
    drop(gathered);
    shortage.check()?;
    failed.result()
}

/// Finishes rows of sums at this distance.
fn store(p: &Problem<'_>, ways: &Ways, (sums, step): (*mut u8, usize), rows: usize, column: usize, columns: usize) {
    let bytes = ways.out_bytes as isize;
    let add = match p.add.is_null() {
        true => p.add,
        false => p.add.wrapping_offset(column as isize * p.add_column * bytes),
    };
    let finish = Finish {
        sums,
        sums_row: step,
        out: p.out.wrapping_offset(column as isize * p.out_column * bytes),
        out_row: p.out_row,
        out_column: p.out_column,
        add,
        add_row: p.add_row,
        add_column: p.add_column,
        rows,
        columns,
        alpha: p.alpha,
        beta: p.beta,
    };
    // SAFETY: the columns are inside the output, and the buffer holds their sums.
    unsafe { (ways.finish)(&finish) }
}
