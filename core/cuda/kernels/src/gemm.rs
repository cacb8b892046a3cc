//! Products of matrices: out = beta add + alpha a b, from any strides.
//!
//! A block of 256 threads computes a tile of the output. It copies columns of `a` and rows of `b` to shared memory,
//! [`GEMM_DEPTH`] at a time, and reads the next ones while it multiplies. Each thread keeps two by two pieces of 16
//! bytes of the rows and columns in registers. Half precision is multiplied and added in `f32`, integers of up to 32 bits
//! in 32 bits, which gives the lower bits that a narrower result keeps.

use crate::memory::{load, store};
use crate::number::{Flag, Number};
use crate::simt::{Word, barrier, block, block_z, blocks, blocks_z, opaque, shared, shared_read16, thread, threads};
use crate::{Complex, Complex32, Complex64, Complex128, bf16, f16};

use crate::parameters::{GEMM_DEPTH, GEMM_ROW, Gemm, Parts, gemm_tile};

/// The type of a sum.
pub(crate) trait Sum: Copy {
    const ZERO: Self;
    /// self + other
    fn add(self, other: Self) -> Self;
    /// self + a b
    fn plus(self, a: Self, b: Self) -> Self;
    /// The sum with factors and addend.
    fn finished(self, p: &Gemm, add: impl FnOnce() -> Self) -> Self;
    /// # Safety
    /// As [`Word::put`].
    unsafe fn put(self, at: u32);
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Sum for $type {
            const ZERO: $type = 0.0;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn plus(self, a: $type, b: $type) -> $type {
                crate::floats::$type::mul_add(a, b, self)
            }
            #[inline(always)]
            fn finished(self, p: &Gemm, add: impl FnOnce() -> $type) -> $type {
                let mut value = self;
                if p.ones & 1 == 0 {
                    value = p.factors[0][0] as $type * value;
                }
                if p.at[3] != 0 {
                    let add = add();
                    value = if p.ones & 2 != 0 { add } else { p.factors[1][0] as $type * add } + value;
                }
                value
            }
            #[inline(always)]
            unsafe fn put(self, at: u32) {
                // SAFETY: the caller makes the same promises.
                unsafe { Word::put(self, at) }
            }
        }

        impl Sum for Complex<$type> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Complex::new(self.re + other.re, self.im + other.im)
            }
            #[inline(always)]
            fn plus(self, a: Self, b: Self) -> Self {
                let fma = crate::floats::$type::mul_add;
                Complex::new(
                    fma(-a.im, b.im, fma(a.re, b.re, self.re)),
                    fma(a.im, b.re, fma(a.re, b.im, self.im)),
                )
            }
            #[inline(always)]
            fn finished(self, p: &Gemm, add: impl FnOnce() -> Self) -> Self {
                let factor = |of: usize| Complex::new(p.factors[of][0] as $type, p.factors[of][1] as $type);
                let mut value = self;
                if p.ones & 1 == 0 {
                    value = Self::ZERO.plus(factor(0), value);
                }
                if p.at[3] != 0 {
                    let add = add();
                    let add = if p.ones & 2 != 0 { add } else { Self::ZERO.plus(factor(1), add) };
                    value = Complex::new(add.re + value.re, add.im + value.im);
                }
                value
            }
            #[inline(always)]
            unsafe fn put(self, at: u32) {
                // SAFETY: the caller makes the same promises for both parts.
                unsafe {
                    Word::put(self.re, at);
                    Word::put(self.im, at + size_of::<$type>() as u32);
                }
            }
        }
    )*};
}

floats!(f32 f64);

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Sum for $type {
            const ZERO: $type = 0;
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn plus(self, a: $type, b: $type) -> $type {
                self.wrapping_add(a.wrapping_mul(b))
            }
            #[inline(always)]
            fn finished(self, p: &Gemm, add: impl FnOnce() -> $type) -> $type {
                let value = self.wrapping_mul(p.integers[0] as $type);
                if p.at[3] == 0 {
                    return value;
                }
                value.wrapping_add(add().wrapping_mul(p.integers[1] as $type))
            }
            #[inline(always)]
            unsafe fn put(self, at: u32) {
                // SAFETY: the caller makes the same promises.
                unsafe { Word::put(self, at) }
            }
        }
    )*};
}

integers!(i32 i64);

/// An element, and the type of its sums.
pub(crate) trait Factor: Copy {
    type Sum: Sum;
    fn wide(self) -> Self::Sum;
    fn narrow(sum: Self::Sum) -> Self;
    /// The alignment in memory.
    const ALIGNMENT: usize;
}

macro_rules! factors {
    ($($type:ty as $sum:ty, $alignment:literal;)*) => {$(
        impl Factor for $type {
            type Sum = $sum;
            const ALIGNMENT: usize = $alignment;
            #[inline(always)]
            fn wide(self) -> $sum {
                <$type as Number>::wide(self) as $sum
            }
            #[inline(always)]
            fn narrow(sum: $sum) -> $type {
                <$type as Number>::narrow(sum as <$type as Number>::Wide)
            }
        }
    )*};
}

factors! {
    f32 as f32, 4;
    f64 as f64, 8;
    f16 as f32, 2;
    bf16 as f32, 2;
    u8 as i32, 1;
    i8 as i32, 1;
    i16 as i32, 2;
    i32 as i32, 4;
    i64 as i64, 8;
}

macro_rules! complex_factors {
    ($($type:ty as $sum:ty, $alignment:literal;)*) => {$(
        impl Factor for $type {
            type Sum = $sum;
            const ALIGNMENT: usize = $alignment;
            #[inline(always)]
            fn wide(self) -> $sum {
                <$type as Number>::wide(self)
            }
            #[inline(always)]
            fn narrow(sum: $sum) -> $type {
                <$type as Number>::narrow(sum)
            }
        }
    )*};
}

complex_factors! {
    Complex64 as Complex<f32>, 4;
    Complex128 as Complex<f64>, 8;
}

/// A matrix in memory.
#[derive(Clone, Copy)]
struct Matrix {
    at: u64,
    row: i64,
    column: i64,
    rows: u32,
    columns: u32,
}

/// An operand of a product, read one element at a time.
pub(crate) trait Source: Copy {
    /// The element of a row and a column, 0 outside.
    fn read<T: Factor>(&self, row: u32, column: u32) -> T::Sum;
    /// Whether neighbouring rows are nearer to each other in memory than neighbouring columns.
    fn rows_are_near(&self) -> bool;
}

impl Source for Matrix {
    #[inline(always)]
    fn read<T: Factor>(&self, row: u32, column: u32) -> T::Sum {
        if row >= self.rows || column >= self.columns {
            return T::Sum::ZERO;
        }
        // SAFETY: the element is inside the matrix, which the host describes.
        unsafe { load::<T, 1>(self.place(row, column, size_of::<T>()), T::ALIGNMENT)[0].wide() }
    }

    #[inline(always)]
    fn rows_are_near(&self) -> bool {
        self.row.unsigned_abs() < self.column.unsigned_abs()
    }
}

impl Matrix {
    #[inline(always)]
    fn of(p: &Gemm, which: usize, batch: u32, rows: u32, columns: u32, size: usize) -> Matrix {
        let [stack, row, column] = p.strides[which];
        let at = p.at[which].wrapping_add((i64::from(batch) * stack * size as i64) as u64);
        Matrix { at, row, column, rows, columns }
    }

    #[inline(always)]
    fn place(&self, row: u32, column: u32, size: usize) -> u64 {
        self.at.wrapping_add(((i64::from(row) * self.row + i64::from(column) * self.column) * size as i64) as u64)
    }
}

/// Runs the body with `$i` a constant from 0 to 7, as far as it is below `$count`: register arrays need constant indices.
macro_rules! unrolled {
    ($i:ident < $count:expr, $body:block) => {
        unrolled!(@ $i $count, $body; 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident $count:expr, $body:block; $($value:literal)*) => {$(
        if $value < $count {
            const $i: usize = $value;
            $body
        }
    )*};
}

/// Calls `visit` with row, column and value of each sum of this thread in a tile.
#[inline(always)]
pub(crate) fn each_sum<S: Sum, const PER: usize>(
    sums: [[S; 8]; 8],
    (row0, column0): (u32, u32),
    (rows, columns): (u32, u32),
    visit: impl Fn(u32, u32, S),
) {
    let (ty, tx) = (thread() / 16, thread() % 16);
    let place = |i: usize, t: u32| ((i / PER) * 16 * PER + i % PER) as u32 + t * PER as u32;
    unrolled!(I < 2 * PER, {
        // One row after the other: addresses of all elements at once would not fit into the registers.
        let row = row0 + opaque(place(I, ty));
        unrolled!(J < 2 * PER, {
            let column = column0 + opaque(place(J, tx));
            if row < rows && column < columns {
                visit(row, column, sums[I][J]);
            }
        });
    });
}

/// Computes the tiles of this block. `PER` is the number of sums in 16 bytes.
#[inline(always)]
fn product<T: Factor, const PER: usize>(p: &Gemm) {
    let tile = gemm_tile(size_of::<T::Sum>() as u32);
    let [m, k, n] = p.sizes;
    let across = n.div_ceil(tile);
    let start = (block() / across * tile, block() % across * tile);
    let mut batch = block_z();
    while batch < p.batch {
        let size = size_of::<T>();
        let (a, b) = (Matrix::of(p, 1, batch, m, k, size), Matrix::of(p, 2, batch, k, n, size));
        let sums = tile_of::<T, PER>(a, b, start, (0, k));
        let (out, add) = (Matrix::of(p, 0, batch, m, n, size), Matrix::of(p, 3, batch, m, n, size));
        each_sum::<_, PER>(sums, start, (m, n), |row, column, sum| {
            let value = sum.finished(p, || add.read::<T>(row, column));
            // SAFETY: the element is inside the output, which the host describes.
            unsafe { store(out.place(row, column, size), T::ALIGNMENT, [T::narrow(value)]) }
        });
        batch += blocks_z();
    }
}

/// The elements of a strip of an operand that this thread copies to shared memory: `along` counts the rows of `a` or the
/// columns of `b`, and `depth` the dimension of the sum.
#[inline(always)]
fn share(index: u32, along_is_fast: bool, tile: u32) -> (u32, u32) {
    if along_is_fast { (index % tile, index / tile) } else { (index / GEMM_DEPTH, index % GEMM_DEPTH) }
}

/// The sums of this thread: of the tile that begins at a row of `a` and a column of `b`, over the range of the dimension
/// of the sum.
#[inline(always)]
pub(crate) fn tile_of<T: Factor, const PER: usize>(
    a: impl Source,
    b: impl Source,
    (row0, column0): (u32, u32),
    (begin, end): (u32, u32),
) -> [[T::Sum; 8]; 8] {
    let tile = gemm_tile(size_of::<T::Sum>() as u32);
    let (ty, tx) = (thread() / 16, thread() % 16);
    let bytes = size_of::<T::Sum>() as u32;
    let half = GEMM_DEPTH * GEMM_ROW;
    // Neighbouring threads read neighbouring elements.
    let (a_fast, b_fast) = (a.rows_are_near(), !b.rows_are_near());
    let mut sums = [[T::Sum::ZERO; 8]; 8];
    let read = #[inline(always)]
    |k0: u32| {
        let (mut left, mut right) = ([T::Sum::ZERO; 8], [T::Sum::ZERO; 8]);
        unrolled!(L < PER, {
            let index = thread() + L as u32 * 256;
            let (row, depth) = share(index, a_fast, tile);
            left[L] = if k0 + depth < end { a.read::<T>(row0 + row, k0 + depth) } else { T::Sum::ZERO };
            let (column, depth) = share(index, b_fast, tile);
            right[L] = if k0 + depth < end { b.read::<T>(k0 + depth, column0 + column) } else { T::Sum::ZERO };
        });
        (left, right)
    };
    let write = #[inline(always)]
    |buffer: u32, (left, right): ([T::Sum; 8], [T::Sum; 8])| {
        unrolled!(L < PER, {
            let index = thread() + L as u32 * 256;
            // SAFETY: the host gives the block both tiles, twice; indices are inside them.
            unsafe {
                let (row, depth) = share(index, a_fast, tile);
                left[L].put(buffer + depth * GEMM_ROW + row * bytes);
                let (column, depth) = share(index, b_fast, tile);
                right[L].put(buffer + half + depth * GEMM_ROW + column * bytes);
            }
        });
    };
    // The blocks of an earlier matrix of the stack may still be read.
    barrier();
    write(shared(), read(begin));
    barrier();
    let mut buffer = 0;
    let mut k0 = begin;
    while k0 < end {
        let next = k0 + GEMM_DEPTH;
        let ahead = if next < end { Some(read(next)) } else { None };
        let from = shared() + buffer * 2 * half;
        let mut depth = 0;
        while depth < GEMM_DEPTH {
            let piece = #[inline(always)]
            |at: u32| -> [T::Sum; PER] {
                // SAFETY: the pieces are inside the tile and aligned to 16 bytes; a sum is valid for all bits.
                unsafe { core::mem::transmute_copy(&shared_read16(at)) }
            };
            let (rows, columns) = (from + depth * GEMM_ROW + ty * 16, from + half + depth * GEMM_ROW + tx * 16);
            let (left, right) = ([piece(rows), piece(rows + 256)], [piece(columns), piece(columns + 256)]);
            unrolled!(I < 2 * PER, {
                unrolled!(J < 2 * PER, {
                    sums[I][J] = sums[I][J].plus(left[I / PER][I % PER], right[J / PER][J % PER]);
                });
            });
            depth += 1;
        }
        if let Some(ahead) = ahead {
            write(shared() + (1 - buffer) * 2 * half, ahead);
        }
        barrier();
        buffer = 1 - buffer;
        k0 = next;
    }
    sums
}

/// The sum of the parts of a sum, which different blocks have computed.
#[inline(always)]
fn combine<T: Factor>(p: &Parts) {
    let size = size_of::<T::Sum>();
    let mut index = u64::from(block()) * u64::from(threads()) + u64::from(thread());
    while index < p.count {
        let (mut sum, mut part) = (T::Sum::ZERO, 0);
        while part < p.parts {
            let at = p.at[1] + (part * p.count + index) * size as u64;
            // SAFETY: the host describes the parts.
            sum = sum.add(unsafe { load::<T::Sum, 1>(at, 4)[0] });
            part += 1;
        }
        // SAFETY: the host describes the result.
        unsafe { store(p.at[0] + index * size_of::<T>() as u64, T::ALIGNMENT, [T::narrow(sum)]) }
        index += u64::from(blocks()) * u64::from(threads());
    }
}

macro_rules! entries {
    ($($dtype:ident $type:ty, $per:literal;)*) => {$(
        entry! { "gemm" "gemm", $dtype, (p: Gemm) => product::<$type, $per> }
        entry! { "gemm" "combine", $dtype, (p: Parts) => combine::<$type> }
    )*};
}

entries! {
    F32 f32, 4;
    F64 f64, 2;
    F16 f16, 4;
    BF16 bf16, 4;
    U8 u8, 4;
    I8 i8, 4;
    I16 i16, 4;
    I32 i32, 4;
    I64 i64, 2;
    C64 Complex64, 2;
    C128 Complex128, 1;
}
