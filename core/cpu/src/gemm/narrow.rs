//! Right operands in less precision than the product: matrices of `f32` that are stored as bfloat16, or as int8 with a
//! scale for each column. Inputs and sums stay `f32`.
//!
//! Panels have the lanes of those of `f32`. Tiles of few rows convert elements in registers, so that a product whose time
//! is that of reading the matrix reads half or a quarter of the bytes. For more rows, panels are converted when `driver`
//! would pack them, once for all rows.

use super::blocking::Depth;
use super::driver::{Fill, Operand};
use super::lanes::{Plain, Widen};
use super::tile::{Kernels, Tile, TileFn};
use super::ways::{Ways, ways};
use super::{Epilogue, rows as rows_of, solve};
use crate::array::Array;
use crate::number::bf16_from_f32;
use crate::simd::{Level, level, prefetch};
use rushlight_base::{DType, Result, Storage, bail, bf16, ensure};
use std::ops::Range;

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::x86;

/// Tiles of rows up to which elements are converted in registers, once for each of these tiles.
const TILES: usize = 3;
/// The largest magnitude of an int8 element.
const LARGEST: f32 = 127.0;
/// Bytes by which panels are prefetched ahead.
const AHEAD: usize = 2048;

/// A stored element.
trait Kept: Copy + 'static {
    /// Whether columns have scales: a panel begins with those of its columns.
    const IS_SCALED: bool;
}

impl Kept for bf16 {
    const IS_SCALED: bool = false;
}

impl Kept for i8 {
    const IS_SCALED: bool = true;
}

/// A panel to convert.
struct Spread {
    panel: *const u8,
    depth: usize,
    to: *mut f32,
    /// Lanes that are converted: whole vectors.
    width: usize,
}

/// The functions of an element at a level.
#[derive(Clone, Copy)]
struct Narrow {
    /// Tiles of one row, and of each height that tiles of packed operands have.
    tiles: &'static [TileFn],
    spread: unsafe fn(&Spread),
}

/// The right operand of products of `f32`, in bfloat16 or int8.
pub struct NarrowB {
    panels: Storage,
    k: usize,
    n: usize,
    dtype: DType,
    level: Level,
    depth: Depth,
    head_bytes: usize,
    panel_bytes: usize,
    panels_per_block: usize,
    columns: usize,
    narrow: Narrow,
}

impl NarrowB {
    /// Rounds the matrix `b` of `f32`: to the nearest bfloat16 numbers, or to int8 numbers times a scale for each column,
    /// which is 1 / 127 of the largest magnitude in it. Ties go to even. `None`: int8 cannot represent infinity and NaN.
    pub fn new(b: &Array, dtype: DType) -> Result<Option<NarrowB>> {
        NarrowB::at(level(), b, dtype)
    }

    pub(super) fn at(level: Level, b: &Array, dtype: DType) -> Result<Option<NarrowB>> {
        ensure!(
            b.ndim() == 2 && b.dtype() == DType::F32,
            Internal,
            "only matrices of float32 are kept in less precision"
        );
        let kernels = ways(DType::F32, DType::F32, level)?.kernels;
        let Some(narrow) = narrow(dtype, level) else { bail!(Internal, "no matrix is kept as {dtype}") };
        let (k, n, columns) = (b.size(0), b.size(1), kernels.columns());
        let depth = Depth::new(kernels, k);
        let head_bytes = if dtype == DType::I8 { columns * size_of::<f32>() } else { 0 };
        let panel_bytes = (head_bytes + depth.block * columns * dtype.size()).next_multiple_of(64);
        let panels_per_block = n.div_ceil(columns);
        let panels = Storage::allocate(depth.blocks.saturating_mul(panels_per_block).saturating_mul(panel_bytes))?;
        // SAFETY: the storage has so many bytes, as its allocation did not fail.
        unsafe { panels.data().write_bytes(0, depth.blocks * panels_per_block * panel_bytes) };
        let packed =
            NarrowB { panels, k, n, dtype, level, depth, head_bytes, panel_bytes, panels_per_block, columns, narrow };
        for column in 0..n {
            if !packed.store(b, column) {
                return Ok(None);
            }
        }
        Ok(Some(packed))
    }

    /// Rounds a column into the panels. False: it has elements that cannot be represented.
    fn store(&self, b: &Array, column: usize) -> bool {
        let (panel, lane) = (column / self.columns, column % self.columns);
        let first = b.first_byte().cast::<f32>().wrapping_offset(column as isize * b.stride(1));
        // SAFETY: p is below k and the column below n: the matrix has this element.
        let element = |p: usize| unsafe { first.offset(p as isize * b.stride(0)).read() };
        let scale = match self.dtype {
            DType::I8 => {
                let mut largest = 0.0f32;
                for p in 0..self.k {
                    let magnitude = element(p).abs();
                    if !magnitude.is_finite() {
                        return false;
                    }
                    largest = largest.max(magnitude);
                }
                largest / LARGEST
            }
            _ => 1.0,
        };
        for index in 0..self.depth.blocks {
            let block = self.depth.range(index, self.k);
            let at = self.panel(index, panel).cast_mut();
            // SAFETY: a panel has a scale for each lane, if it has scales, and behind them the elements of each lane for
            // the elements along k of a block; heads are multiples of 4 bytes, and panels begin at multiples of 64.
            unsafe {
                if self.head_bytes > 0 {
                    at.cast::<f32>().add(lane).write(scale);
                }
                let to = at.add(self.head_bytes);
                for (row, p) in block.enumerate() {
                    let place = row * self.columns + lane;
                    match self.dtype {
                        DType::I8 => to.cast::<i8>().add(place).write(rounded(element(p), scale)),
                        _ => to.cast::<bf16>().add(place).write(bf16_from_f32(element(p))),
                    }
                }
            }
        }
        true
    }

    /// Rows and columns of the matrix.
    pub fn sizes(&self) -> [usize; 2] {
        [self.k, self.n]
    }

    /// The dtype of the stored elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The bytes of the stored elements.
    pub fn bytes(&self) -> usize {
        self.panels.bytes()
    }

    /// Bytes between panels.
    pub(super) fn panel_bytes(&self) -> usize {
        self.panel_bytes
    }

    /// Panel `panel` of block `block` of k.
    pub(super) fn panel(&self, block: usize, panel: usize) -> *const u8 {
        self.panels.data().wrapping_add((block * self.panels_per_block + panel) * self.panel_bytes)
    }

    /// The tile of `height` rows of a left operand that is packed in steps of `step` rows, or of 1 row.
    #[inline(always)]
    pub(super) fn tile(&self, height: usize, step: usize) -> TileFn {
        self.narrow.tiles[if step == 1 { 0 } else { height / step }]
    }

    fn ways(&self) -> Result<Ways> {
        ways(DType::F32, DType::F32, self.level)
    }
}

/// The int8 number that is nearest to a number in units of the scale.
fn rounded(value: f32, scale: f32) -> i8 {
    if scale == 0.0 { 0 } else { (value / scale).round_ties_even().clamp(-LARGEST, LARGEST) as i8 }
}

impl Fill for NarrowB {
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, to: *mut u8, width: usize) {
        let spread = Spread {
            panel: self.panel(depth.start / self.depth.block, lanes.start / self.columns),
            depth: depth.len(),
            to: to.cast(),
            width,
        };
        // SAFETY: the caller asks for whole blocks and panels of the tables of this level, for which the matrix was
        // packed, and provides a panel for them.
        unsafe { (self.narrow.spread)(&spread) }
    }
}

/// out = epilogue(a b) for matrices of `f32`, where `b` was rounded before. Equal to the product with the rounded
/// matrix, up to the rounding of the sums.
pub fn gemm_narrow(out: &Array, a: &Array, b: &NarrowB, epilogue: &Epilogue) -> Result<()> {
    let fits = a.dtype() == DType::F32 && out.dtype() == DType::F32;
    ensure!(fits, Internal, "gemm got operands of {} and {} with a matrix of float32", a.dtype(), out.dtype());
    let ways = b.ways()?;
    let right = match few(a.size(0), ways.kernels) {
        true => Operand::Narrow(b),
        false => Operand::Filled(b),
    };
    let sizes = [a.size(0), a.size(1), b.k, b.n];
    solve(&ways, out, sizes, a.ndim() == 2, Operand::Strided(rows_of(a)), right, epilogue)
}

/// Whether a product has so few rows that elements are converted in registers.
fn few(rows: usize, kernels: &Kernels) -> bool {
    rows <= TILES * kernels.rows
}

/// A tile of `M` rows and `N` vectors of a packed left operand and a panel of narrow elements, with `U` sets of sums, so
/// that additions do not wait for each other.
///
/// # Safety
/// The contract of [`TileFn`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
unsafe fn narrow_tile<V: Widen<T>, T: Kept, const M: usize, const N: usize, const U: usize>(tile: &Tile) {
    // SAFETY: the caller guarantees pointers that are valid for the sizes in `tile`; panels are full.
    unsafe {
        let scales = tile.right.cast::<f32>();
        let head = if T::IS_SCALED { N * V::LANES * size_of::<f32>() } else { 0 };
        let (mut left, mut right) = (tile.left.cast::<f32>(), tile.right.add(head).cast::<T>());
        let mut sums = [[[V::zero(); N]; M]; U];
        let mut rest = tile.depth;
        while rest >= U {
            for u in 0..U {
                add_products::<V, T, M, N>(&mut sums[u], left, right);
                left = left.add(M);
                right = right.add(N * V::LANES);
            }
            rest -= U;
        }
        for _ in 0..rest {
            add_products::<V, T, M, N>(&mut sums[0], left, right);
            left = left.add(M);
            right = right.add(N * V::LANES);
        }
        for row in 0..M {
            if row >= tile.rows {
                break;
            }
            let out = tile.out.offset(row as isize * tile.out_row).cast::<f32>();
            let add = tile.add.wrapping_offset(row as isize * tile.add_row).cast::<f32>();
            for v in 0..N {
                let count = tile.columns.saturating_sub(v * V::LANES).min(V::LANES);
                if count == 0 {
                    break;
                }
                let mut total = sums[0][row][v].total();
                for u in 1..U {
                    total = V::add(total, sums[u][row][v].total());
                }
                if T::IS_SCALED {
                    total = V::scale(total, scales.add(v * V::LANES));
                }
                if !tile.add.is_null() {
                    total = V::add(total, V::read(add.add(v * V::LANES), count));
                }
                V::write(total, out.add(v * V::LANES), count);
            }
        }
    }
}

/// The products of one k.
///
/// # Safety
/// The processor has the vector's instructions; there are `M` elements at `left` and `N` vectors of elements at `right`.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops by index are the ones that the compiler keeps in registers")]
unsafe fn add_products<V: Widen<T>, T, const M: usize, const N: usize>(
    sums: &mut [[V; N]; M],
    left: *const f32,
    right: *const T,
) {
    // SAFETY: the caller guarantees the elements at both addresses.
    unsafe {
        prefetch(right.cast::<u8>().wrapping_add(AHEAD));
        let mut columns = [V::widen(right); N];
        for v in 1..N {
            columns[v] = V::widen(right.add(v * V::LANES));
        }
        for row in 0..M {
            let element = V::splat(left.add(row));
            for v in 0..N {
                sums[row][v] = sums[row][v].mul_add(element, columns[v]);
            }
        }
    }
}

/// Converts a panel of `N` vectors to `f32`.
///
/// # Safety
/// The processor has the vector's instructions; the panel is full, and there is space for the width at each k.
#[inline(always)]
unsafe fn spread<V: Widen<T>, T: Kept, const N: usize>(spread: &Spread) {
    let vectors = spread.width / V::LANES;
    // SAFETY: k and vectors are below those of the panel, and the caller guarantees the space.
    unsafe {
        let scales = spread.panel.cast::<f32>();
        let head = if T::IS_SCALED { N * V::LANES * size_of::<f32>() } else { 0 };
        let from = spread.panel.add(head).cast::<T>();
        for p in 0..spread.depth {
            let (from, to) = (from.add(p * N * V::LANES), spread.to.add(p * spread.width));
            prefetch(from.cast::<u8>().wrapping_add(AHEAD));
            for v in 0..N.min(vectors) {
                let mut wide = V::total_of(V::widen(from.add(v * V::LANES)));
                if T::IS_SCALED {
                    wide = V::scale(wide, scales.add(v * V::LANES));
                }
                V::write(wide, to.add(v * V::LANES), V::LANES);
            }
        }
    }
}

macro_rules! compiled {
    ($(#[$meta:meta])* $tile:ident, $spread:ident) => {
        /// # Safety
        /// The contract of [`TileFn`].
        $(#[$meta])*
        unsafe fn $tile<V: Widen<T>, T: Kept, const M: usize, const N: usize, const U: usize>(tile: &Tile) {
            // SAFETY: the caller guarantees the tile and the instruction set; both functions have the same contract.
            unsafe { narrow_tile::<V, T, M, N, U>(tile) }
        }

        /// # Safety
        /// The contract of [`spread`].
        $(#[$meta])*
        unsafe fn $spread<V: Widen<T>, T: Kept, const N: usize>(arguments: &Spread) {
            // SAFETY: the caller guarantees the panel, the space and the instruction set; both functions have the same
            // contract.
            unsafe { spread::<V, T, N>(arguments) }
        }
    };
}

compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
    avx512, spread_avx512
}
compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    avx2, spread_avx2
}
compiled! {
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon")]
    on_neon, spread_neon
}
compiled!(portable, spread_portable);

/// The functions for an element, `None` if it is neither bfloat16 nor int8. Heights and vectors are those of the tiles of
/// `f32` at the level, and one row.
fn narrow(dtype: DType, level: Level) -> Option<Narrow> {
    macro_rules! narrow {
        ($tile:ident, $spread:ident, $vector:ty, $of:ty, $vectors:literal, [$($height:literal x $sets:literal)+]) => {{
            const TILES: &[TileFn] = &[$($tile::<$vector, $of, $height, $vectors, $sets>),+];
            Some(Narrow { tiles: TILES, spread: $spread::<$vector, $of, $vectors> })
        }};
    }
    macro_rules! at_level {
        ($of:ty) => {
            match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => {
                    narrow!(avx512, spread_avx512, x86::F32x16, $of, 2, [1 x 4 2 x 2 4 x 1 6 x 1 8 x 1 10 x 1 12 x 1])
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => narrow!(avx2, spread_avx2, x86::F32x8, $of, 2, [1 x 4 2 x 2 4 x 1 6 x 1]),
                #[cfg(target_arch = "aarch64")]
                Level::Neon => narrow!(on_neon, spread_neon, neon::F32x4, $of, 3, [1 x 2 2 x 1 4 x 1 6 x 1 8 x 1]),
                _ => narrow!(portable, spread_portable, Plain<f32, 4>, $of, 2, [1 x 2 2 x 1 4 x 1]),
            }
        };
    }
    match dtype {
        DType::BF16 => at_level!(bf16),
        DType::I8 => at_level!(i8),
        _ => None,
    }
}
