//! Batches of matrices in the strided memory of tensors, and the loop over them.
//!
//! The matrices of a batch are independent: shares of the batch run on the threads of the library's pool, and the
//! products inside a share then run on its thread. A single matrix runs on the calling thread, and its products use the
//! pool: no work is ever split twice.

use crate::block::{Block, View};
use crate::field::Field;
use rushlight_base::runtime::try_parallel_chunks;
use rushlight_base::{DimVec, Element, Result, Scratch, ensure};

use rushlight_cpu::Array;
use std::ops::Range;

/// Multiplications that justify a share of their own.
const GRAIN: usize = 20_000;

/// Rows and columns that are copied together between memory of different order.
const TILE: usize = 8;

/// A matrix, vector or number of a tensor.
#[derive(Clone, Copy)]
pub struct Strided<T> {
    at: *mut T,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    row_step: isize,
    column_step: isize,
}

impl<T: Field> Strided<T> {
    /// The matrix with rows and columns exchanged.
    pub fn transposed(self) -> Strided<T> {
        Strided {
            at: self.at,
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
        }
    }

    /// The matrix where it is, if it is column-major. It must be an input.
    pub fn view(&self) -> Option<View<'_, T>> {
        let dense = self.row_step == 1 && self.column_step >= self.rows.max(1) as isize;
        // SAFETY: `Batch::new` was given an array whose elements are valid, and which nobody writes, since it is an
        // input (the generated code copies inputs that an output overlaps); they are column-major (checked).
        dense.then(|| unsafe { View::from_raw(self.at, self.rows, self.columns, self.column_step as usize) })
    }

    /// Copies the matrix into a block of the same shape.
    pub fn load(self, to: &mut Block<'_, T>) {
        assert!(to.rows() == self.rows && to.columns() == self.columns, "a matrix of another shape");
        if self.row_step == 1 {
            for column in 0..self.columns {
                let from = self.at.wrapping_offset(column as isize * self.column_step);
                // SAFETY: `Batch::new` was given an array whose elements are valid: these are those of a column, which
                // are neighbors. `to` may be the same memory: `copy` allows that.
                unsafe { std::ptr::copy(from, to.column_mut(column).as_mut_ptr(), self.rows) };
            }
            return;
        }
        self.each_tile(|rows, column| {
            for (row, to) in rows.clone().zip(&mut to.column_mut(column)[rows]) {
                // SAFETY: `Batch::new` was given an array whose elements are valid, and the index is inside it.
                *to = unsafe { *self.element(row, column) };
            }
        });
    }

    /// The address of an element; valid if it is inside the matrix.
    #[inline(always)]
    fn element(self, row: usize, column: usize) -> *mut T {
        self.at.wrapping_offset(row as isize * self.row_step + column as isize * self.column_step)
    }

    /// Calls `visit` with a few rows and a column, tile by tile: a column of a matrix in rows has an element in each
    /// cache line that it touches, and the lines of a large matrix do not stay in the cache until the next column.
    /// 1024x1024 of float: 0.9 ms, and 6 ms column by column.
    #[inline(always)]
    fn each_tile(self, mut visit: impl FnMut(Range<usize>, usize)) {
        for column in (0..self.columns).step_by(TILE) {
            for row in (0..self.rows).step_by(TILE) {
                for column in column..self.columns.min(column + TILE) {
                    visit(row..self.rows.min(row + TILE), column);
                }
            }
        }
    }

    /// Copies the conjugate of the matrix into a block of the same shape.
    pub fn load_conjugate(self, to: &mut Block<'_, T>) {
        self.load(to);
        to.conjugate();
    }

    /// Copies the conjugate transpose of the matrix into a block.
    pub fn load_adjoint(self, to: &mut Block<'_, T>) {
        self.transposed().load_conjugate(to);
    }

    /// Copies a block of the same shape into the matrix.
    pub fn store(self, from: &Block<'_, T>) {
        assert!(from.rows() == self.rows && from.columns() == self.columns, "a matrix of another shape");
        self.each_tile(|rows, column| {
            for (row, &value) in rows.clone().zip(&from.column(column)[rows]) {
                // SAFETY: `Batch::new` was given an array whose elements are valid, and the index is inside it; the
                // array is an output, which nobody else accesses.
                unsafe { *self.element(row, column) = value };
            }
        });
    }

    /// Copies the conjugate transpose of a block into the matrix.
    pub fn store_adjoint(self, from: &mut Block<'_, T>) {
        from.conjugate();
        self.transposed().store(from);
    }
}

/// Copies matrices of one tensor, or of its transpose, into a vector for each element, column by column. Row `row` of lane
/// `lane` is row `origin(row, lane)` of its matrix.
#[inline(always)]
pub fn load_lanes<T: Field, const N: usize>(
    from: &[Strided<T>; N],
    to: &mut [[T; N]],
    origin: impl Fn(usize, usize) -> usize,
) {
    let Strided { rows, columns, row_step, column_step, .. } = from[0];
    assert!(to.len() >= rows * columns, "vectors of another shape");
    for row in 0..rows {
        let starts: [*const T; N] = std::array::from_fn(|lane| {
            let origin = origin(row, lane);
            assert!(origin < from[lane].rows, "a row outside a matrix");
            from[lane].at.wrapping_offset(origin as isize * row_step).cast_const()
        });
        for column in 0..columns {
            let offset = column as isize * column_step;
            // SAFETY: `Batch::new` was given an array whose elements are valid; the row is inside the matrix (asserted),
            // and so is the column, since matrices of one tensor have the same shape and steps.
            to[column * rows + row] = starts.map(|start| unsafe { *start.wrapping_offset(offset) });
        }
    }
}

/// Copies the first `count` lanes of the vectors into matrices of one tensor.
#[inline(always)]
pub fn store_lanes<T: Field, const N: usize>(from: &[[T; N]], to: &[Strided<T>; N], count: usize) {
    let Strided { rows, columns, row_step, column_step, .. } = to[0];
    assert!(from.len() >= rows * columns, "vectors of another shape");
    for column in 0..columns {
        for row in 0..rows {
            let (values, offset) =
                (&from[column * rows + row], row as isize * row_step + column as isize * column_step);
            for lane in 0..count.min(N) {
                // SAFETY: `Batch::new` was given an array whose elements are valid, and the index is inside it, since
                // matrices of one tensor have the same shape and steps; the array is an output, which nobody else
                // accesses.
                unsafe { *to[lane].at.wrapping_offset(offset) = values[lane] };
            }
        }
    }
}

impl<T: Copy> Strided<T> {
    /// Writes an element of a vector (a matrix of one column).
    pub fn put(self, row: usize, value: T) {
        assert!(row < self.rows, "an index outside a vector");
        // SAFETY: `Batch::new` was given an array whose elements are valid, the index is inside it (asserted), and the
        // array is an output, which nobody else accesses.
        unsafe { *self.at.wrapping_offset(row as isize * self.row_step) = value };
    }

    /// An element of the diagonal.
    pub fn diagonal(self, at: usize) -> T {
        assert!(at < self.rows.min(self.columns), "an index outside a matrix");
        // SAFETY: `Batch::new` was given an array whose elements are valid, and the index is inside it (asserted).
        unsafe { *self.at.wrapping_offset(at as isize * (self.row_step + self.column_step)) }
    }

    /// An element of a vector (a matrix of one column).
    pub fn take(self, row: usize) -> T {
        assert!(row < self.rows, "an index outside a vector");
        // SAFETY: `Batch::new` was given an array whose elements are valid, and the index is inside it (asserted).
        unsafe { *self.at.wrapping_offset(row as isize * self.row_step) }
    }
}

impl<T: Field> Strided<T> {
    /// Calls `compute` with a block whose elements end up in the matrix: its own memory if that is column-major, else
    /// a part of `spare`. Its elements are unspecified before.
    pub fn write<R>(self, spare: &mut [T], compute: impl FnOnce(&mut Block<'_, T>, &mut [T]) -> R) -> R {
        let dense = self.row_step == 1 && self.column_step >= self.rows.max(1) as isize;
        if dense || self.rows * self.columns == 0 {
            // SAFETY: the elements are valid (`Batch::new`) and column-major with a step of at least `rows`, or there
            // are none; the array is an output, which nobody else accesses while the block lives.
            let mut block = unsafe {
                Block::from_raw(self.at, self.rows, self.columns, self.column_step.max(self.rows as isize) as usize)
            };
            return compute(&mut block, spare);
        }
        let (own, rest) = spare.split_at_mut(self.rows * self.columns);
        let mut block = Block::over(own, self.rows, self.columns);
        let result = compute(&mut block, rest);
        self.store(&block);
        result
    }
}

/// The matrices of a tensor: its last two dimensions (vectors: its last one; numbers: none), the others are the batch.
pub struct Batch<T> {
    at: *mut T,
    sizes: DimVec,
    strides: DimVec,
    shape: [usize; 2],
    steps: [isize; 2],
}

// SAFETY: a batch is an address with a geometry. Shares of a loop access different matrices of an output, and only read
// the inputs.
unsafe impl<T: Send> Sync for Batch<T> {}

impl<T: Element> Batch<T> {
    /// The last `dims` (0 to 2) dimensions of `array` for each element of `batch`, which the others broadcast to.
    pub fn new(array: &Array<'_>, dims: usize, batch: &[i64]) -> Result<Batch<T>> {
        let lead = array.ndim().checked_sub(dims);
        ensure!(lead.is_some_and(|lead| lead <= batch.len()), Internal, "a batch of other dimensions");
        let lead = lead.unwrap_or(0);
        let new = batch.len() - lead;
        let mut strides = DimVec::from_elem(0, batch.len());
        for dim in 0..lead {
            let size = array.sizes()[dim];
            ensure!(size == batch[new + dim] || size == 1, Internal, "a batch of other sizes");
            strides[new + dim] = if size == 1 { 0 } else { array.strides()[dim] };
        }
        let (mut shape, mut steps) = ([1, 1], [1, 1]);
        for dim in 0..dims {
            shape[dim] = array.sizes()[lead + dim] as usize;
            steps[dim] = array.strides()[lead + dim] as isize;
        }
        Ok(Batch { at: array.as_ptr::<T>(), sizes: DimVec::from_slice(batch), strides, shape, steps })
    }

    /// Number of matrices.
    pub fn len(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// Matrix number `index`, in row-major order of the batch.
    pub fn matrix(&self, index: usize) -> Strided<T> {
        let (mut rest, mut offset) = (index as i64, 0);
        if let [stride] = self.strides[..] {
            // Most batches; without the divisions, which take as long as a small matrix.
            offset = rest * stride;
        } else {
            for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
                offset += rest % size * stride;
                rest /= size;
            }
        }
        let [rows, columns] = self.shape;
        let [row_step, column_step] = self.steps;
        // A single column has no step that matters.
        let column_step = if columns <= 1 { rows.max(1) as isize } else { column_step };
        let row_step = if rows <= 1 { 1 } else { row_step };
        Strided { at: self.at.wrapping_offset(offset as isize), rows, columns, row_step, column_step }
    }
}

/// Calls `body(matrices, memory)` with shares of `0..count`, on any threads; `memory` has `scratch` elements. `cost` is
/// the number of multiplications of a matrix. The first error of a share is the result.
pub fn each<T: Field>(
    count: usize,
    cost: usize,
    scratch: usize,
    body: &(impl Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    try_parallel_chunks(count, (GRAIN / cost.max(1)).max(1), &|mut range: Range<usize>| {
        let mut memory = Memory::new(scratch)?;
        let memory = memory.elements();
        range.try_for_each(|index| body(index, memory))
    })
}

/// Zeroed working memory.
pub struct Memory<T> {
    bytes: Scratch,
    count: usize,
    holds: std::marker::PhantomData<T>,
}

impl<T: Field> Memory<T> {
    /// Memory for `count` elements, or the error `OutOfMemory`.
    pub fn new(count: usize) -> Result<Memory<T>> {
        let bytes = Scratch::new(count.saturating_mul(size_of::<T>()).max(1))?;
        // SAFETY: the block has so many bytes.
        unsafe { bytes.start().write_bytes(0, count * size_of::<T>()) };
        Ok(Memory { bytes, count, holds: std::marker::PhantomData })
    }

    /// Its elements.
    pub fn elements(&mut self) -> &mut [T] {
        // SAFETY: the block is aligned for every element type, has `count` elements whose bytes were written (0 is a
        // valid number), and is borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.start().cast(), self.count) }
    }
}
