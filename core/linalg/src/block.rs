//! [`Block`]: a part of a column-major matrix, owned exclusively. All kernels work on blocks; `batch` brings the
//! matrices of tensors into this form.

use crate::field::{Field, Real};
use rushlight_base::{Result, Scalar};
use rushlight_cpu::Array;
use rushlight_cpu::gemm::gemm;
use std::marker::PhantomData;
use std::ops::Deref;

/// A column-major matrix: the elements of a column are neighbors, columns are `step` elements apart.
pub struct Block<'a, T> {
    at: *mut T,
    rows: usize,
    columns: usize,
    step: usize,
    owns: PhantomData<&'a mut [T]>,
}

impl<'a, T: Field> Block<'a, T> {
    /// # Safety
    /// The elements `at[column * step + row]` must be valid and initialized, and nothing else may read or write them
    /// during `'a`; `step` is at least `rows`.
    pub unsafe fn from_raw(at: *mut T, rows: usize, columns: usize, step: usize) -> Block<'a, T> {
        debug_assert!(step >= rows || columns <= 1);
        Block { at, rows, columns, step, owns: PhantomData }
    }

    /// A matrix without gaps in `memory`, which must have at least as many elements.
    pub fn over(memory: &'a mut [T], rows: usize, columns: usize) -> Block<'a, T> {
        assert!(memory.len() >= rows * columns, "a matrix needs its memory");
        Block { at: memory.as_mut_ptr(), rows, columns, step: rows, owns: PhantomData }
    }

    /// Number of rows.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The first element, and the distance between columns.
    pub fn parts(&mut self) -> (*mut T, usize) {
        (self.at, self.step)
    }

    /// The same block for a shorter time.
    #[inline(always)]
    pub fn again(&mut self) -> Block<'_, T> {
        Block { at: self.at, rows: self.rows, columns: self.columns, step: self.step, owns: PhantomData }
    }

    /// The block, to read.
    #[inline(always)]
    pub fn view(&self) -> View<'_, T> {
        View(Block { at: self.at, rows: self.rows, columns: self.columns, step: self.step, owns: PhantomData })
    }

    /// A column.
    #[inline(always)]
    pub fn column(&self, column: usize) -> &[T] {
        assert!(column < self.columns);
        // SAFETY: the column is inside the block (asserted), whose elements are valid and owned by this block.
        unsafe { std::slice::from_raw_parts(self.at.add(column * self.step), self.rows) }
    }

    /// A column, to write.
    #[inline(always)]
    pub fn column_mut(&mut self, column: usize) -> &mut [T] {
        assert!(column < self.columns);
        // SAFETY: the column is inside the block (asserted), which is borrowed mutably and owns its elements.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(column * self.step), self.rows) }
    }

    /// One column to read, another one to write.
    #[inline(always)]
    pub fn pair(&mut self, read: usize, write: usize) -> (&[T], &mut [T]) {
        assert!(read < self.columns && write < self.columns && read != write);
        // SAFETY: both columns are inside the block and differ (asserted), so the slices are disjoint.
        unsafe {
            (
                std::slice::from_raw_parts(self.at.add(read * self.step), self.rows),
                std::slice::from_raw_parts_mut(self.at.add(write * self.step), self.rows),
            )
        }
    }

    /// An element.
    #[inline(always)]
    pub fn get(&self, row: usize, column: usize) -> T {
        self.column(column)[row]
    }

    /// Writes an element.
    #[inline(always)]
    pub fn set(&mut self, row: usize, column: usize, value: T) {
        self.column_mut(column)[row] = value;
    }

    /// The columns before `at`, and the others.
    pub fn split_columns(self, at: usize) -> (Block<'a, T>, Block<'a, T>) {
        assert!(at <= self.columns);
        // Without columns behind it, the second block's address is never used.
        let second = self.at.wrapping_add(at * self.step);
        (Block { columns: at, ..self }, Block { at: second, columns: self.columns - at, ..self })
    }

    /// The rows before `at`, and the others.
    pub fn split_rows(self, at: usize) -> (Block<'a, T>, Block<'a, T>) {
        assert!(at <= self.rows);
        (Block { rows: at, ..self }, Block { at: self.at.wrapping_add(at), rows: self.rows - at, ..self })
    }

    /// The blocks above left, above right, below left and below right of an element.
    pub fn quarters(self, row: usize, column: usize) -> [Block<'a, T>; 4] {
        let (left, right) = self.split_columns(column);
        let (top_left, bottom_left) = left.split_rows(row);
        let (top_right, bottom_right) = right.split_rows(row);
        [top_left, top_right, bottom_left, bottom_right]
    }

    /// Writes one value everywhere.
    pub fn fill(&mut self, value: T) {
        for column in 0..self.columns {
            self.column_mut(column).fill(value);
        }
    }

    /// Makes it the identity.
    pub fn set_identity(&mut self) {
        self.fill(T::ZERO);
        for at in 0..self.rows.min(self.columns) {
            self.set(at, at, T::ONE);
        }
    }

    /// Copies a block of the same shape.
    pub fn copy_from(&mut self, from: &Block<'_, T>) {
        for column in 0..self.columns {
            self.column_mut(column).copy_from_slice(from.column(column));
        }
    }

    /// Copies the conjugate transpose of a block.
    pub fn copy_adjoint(&mut self, from: &Block<'_, T>) {
        for column in 0..from.columns {
            for (row, &value) in from.column(column).iter().enumerate() {
                self.set(column, row, value.conj());
            }
        }
    }

    /// Writes 0 above the diagonal.
    pub fn clear_above(&mut self) {
        for column in 1..self.columns {
            let rows = column.min(self.rows);
            self.column_mut(column)[..rows].fill(T::ZERO);
        }
    }

    /// Whether no element is infinite or NaN.
    pub fn is_finite(&self) -> bool {
        let finite = |value: &T| value.re().is_finite() && value.im().is_finite();
        (0..self.columns).all(|column| self.column(column).iter().all(finite))
    }

    /// Conjugates the elements.
    pub fn conjugate(&mut self) {
        if T::IS_COMPLEX {
            for column in 0..self.columns {
                self.column_mut(column).iter_mut().for_each(|value| *value = value.conj());
            }
        }
    }

    /// Replaces a square matrix by its conjugate transpose.
    pub fn transpose_conjugate(&mut self) {
        for column in 0..self.columns {
            for row in 0..column {
                let (above, below) = (self.get(row, column), self.get(column, row));
                self.set(row, column, below.conj());
                self.set(column, row, above.conj());
            }
            let diagonal = self.get(column, column).conj();
            self.set(column, column, diagonal);
        }
    }

    /// Swaps two rows.
    #[inline]
    pub fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            for column in 0..self.columns {
                self.column_mut(column).swap(a, b);
            }
        }
    }
}

/// A block whose elements are only read.
pub struct View<'a, T>(Block<'a, T>);

impl<'a, T: Field> View<'a, T> {
    /// # Safety
    /// The elements `at[column * step + row]` must be valid and initialized, and nothing may write them during `'a`;
    /// `step` is at least `rows`.
    pub unsafe fn from_raw(at: *mut T, rows: usize, columns: usize, step: usize) -> View<'a, T> {
        // SAFETY: the elements are valid (the caller's guarantee), and the methods of a block that write them take it
        // mutably, which a view never gives out.
        View(unsafe { Block::from_raw(at, rows, columns, step) })
    }

    /// The blocks above left, above right, below left and below right of an element.
    pub fn quarters(&self, row: usize, column: usize) -> [View<'a, T>; 4] {
        let Block { at, rows, columns, step, owns } = self.0;
        Block { at, rows, columns, step, owns }.quarters(row, column).map(View)
    }
}

impl<'a, T> Deref for View<'a, T> {
    type Target = Block<'a, T>;

    fn deref(&self) -> &Block<'a, T> {
        &self.0
    }
}

/// out += alpha a b
///
/// The products of the library compute it, in parallel if the matrices are large and the pool is free.
pub fn add_product<T: Field>(out: &mut Block<'_, T>, alpha: f64, a: &Block<'_, T>, b: &Block<'_, T>) -> Result<()> {
    product(out, alpha, a, b, true)
}

/// out = alpha a b
pub fn set_product<T: Field>(out: &mut Block<'_, T>, alpha: f64, a: &Block<'_, T>, b: &Block<'_, T>) -> Result<()> {
    product(out, alpha, a, b, false)
}

fn product<T: Field>(out: &mut Block<'_, T>, alpha: f64, a: &Block<'_, T>, b: &Block<'_, T>, adds: bool) -> Result<()> {
    if out.rows == 0 || out.columns == 0 {
        return Ok(());
    }
    if a.columns == 0 {
        if !adds {
            out.fill(T::ZERO);
        }
        return Ok(());
    }
    let [out_shape, a_shape, b_shape] =
        [&*out, a, b].map(|block| ([block.rows as i64, block.columns as i64], [1, block.step as i64]));
    // SAFETY: a block's elements are valid; `out` is borrowed mutably, so that nothing else reads or writes it.
    let [out, a, b] = unsafe {
        [
            Array::new(out.at.cast(), T::DTYPE, &out_shape.0, &out_shape.1),
            Array::new(a.at.cast(), T::DTYPE, &a_shape.0, &a_shape.1),
            Array::new(b.at.cast(), T::DTYPE, &b_shape.0, &b_shape.1),
        ]
    };
    let add = adds.then_some((&out, Scalar::Int(1)));
    gemm(&out, &a, &b, add, Scalar::Float(alpha))
}
