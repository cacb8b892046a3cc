//! One direction of a recurrent layer over packed sequences, and its gradient: a product with the weights of the state
//! and a pass over the gates for each step. A padded batch is one whose sequences all have the same length.
//!
//! The gates of an element are one block of the hidden size after another, as in the weights.

pub mod gru;
pub mod lstm;

use crate::array::Array;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, ensure};

/// Elements of the state worth another thread: each takes five exponentials.
const GRAIN: usize = 2048;

/// The number of sequences of each step, which does not grow from one to the next; and whether the last step is
/// computed first. Rows of a packed sequence are those of its steps, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// For each step.
    pub sizes: &'a [i64],
    /// Whether the direction is reversed.
    pub reversed: bool,
}

impl Steps<'_> {
    /// Calls `visit` with the first row and the number of rows of each step: in the order of the computation, or in
    /// that of the gradient, which is the opposite one.
    fn each(&self, gradient: bool, mut visit: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        if self.reversed == gradient {
            let mut first = 0;
            for &size in self.sizes {
                visit(first, size as usize)?;
                first += size as usize;
            }
        } else {
            let mut end = self.sizes.iter().sum::<i64>() as usize;
            for &size in self.sizes.iter().rev() {
                end -= size as usize;
                visit(end, size as usize)?;
            }
        }
        Ok(())
    }
}

/// Calls `visit` with each of the `size` sequences of a step, on several threads if their states are large.
fn each_sequence(size: usize, hidden: usize, visit: impl Fn(usize) + Sync) -> Result<()> {
    parallel_chunks(size, GRAIN / hidden.max(1), &|sequences| sequences.for_each(&visit))
}

/// Checks that arrays are contiguous matrices of these shapes, and returns the hidden size.
fn check(
    gates: i64,
    by_gates: &[&Array],
    by_rows: &[&Array],
    by_batch: &[&Array],
    weight: &Array,
    steps: Steps,
) -> Result<usize> {
    let (hidden, dtype) = (weight.size(1) as i64, weight.dtype());
    let (rows, batch) = (steps.sizes.iter().sum::<i64>(), steps.sizes.iter().max().copied().unwrap_or(0));
    let is = |array: &Array, sizes: [i64; 2]| array.sizes() == sizes && array.is_contiguous() && array.dtype() == dtype;
    ensure!(
        is(weight, [gates * hidden, hidden])
            && by_gates.iter().all(|array| is(array, [rows, gates * hidden]))
            && by_rows.iter().all(|array| is(array, [rows, hidden]))
            && by_batch.iter().all(|array| is(array, [batch, hidden])),
        Internal,
        "a recurrent layer got arrays of mismatched sizes, strides or dtypes"
    );
    Ok(hidden as usize)
}

/// `count` rows from `first` on.
fn rows_of<'a>(array: &Array<'a>, first: usize, sizes: &'a [i64; 2]) -> Array<'a> {
    let width = sizes[1] as usize * array.dtype().size();
    // SAFETY: the caller passes rows that the contiguous array has.
    unsafe { Array::new(array.first_byte().wrapping_add(first * width), array.dtype(), sizes, array.strides()) }
}

/// The matrix with rows and columns exchanged.
fn turned<'a>(array: &Array<'_>, sizes: &'a mut [i64; 2], strides: &'a mut [i64; 2]) -> Array<'a> {
    *sizes = [array.size(1) as i64, array.size(0) as i64];
    *strides = [1, array.size(1) as i64];
    // SAFETY: these are the elements of a contiguous matrix.
    unsafe { Array::new(array.first_byte(), array.dtype(), sizes, strides) }
}
