//! Matrix multiplication, one plain blocked loop for every dtype.
//!
//! Both operands are packed into wide elements ([`NR`] columns of the right one and [`MR`] rows of the left
//! one side by side), so that transposed operands cost nothing extra and halves are widened once; a tile of
//! [`MR`] x [`NR`] sums stays in registers. Products of one output element are added in order of k, in the wide type.

use crate::array::Array;
use crate::number::{Number, Wide};
use crate::room::filled;
use rushlight_base::{Result, Scalar, ensure};

/// Rows of a tile.
const MR: usize = 4;
/// Columns of a tile.
const NR: usize = 16;
/// Products added up before they join the total: keeps sums of long rows accurate.
const KC: usize = 256;

/// A matrix by pointer and steps.
#[derive(Clone, Copy)]
struct Matrix<T> {
    at: *mut T,
    row: isize,
    column: isize,
}

impl<T: Number> Matrix<T> {
    fn of(array: &Array) -> Matrix<T> {
        Matrix { at: array.as_ptr(), row: array.stride(0), column: array.stride(1) }
    }

    /// # Safety
    /// `row` and `column` must be within the matrix.
    #[inline(always)]
    unsafe fn get(&self, row: usize, column: usize) -> T::Wide {
        // SAFETY: within the matrix, says the caller.
        unsafe { self.at.offset(row as isize * self.row + column as isize * self.column).read().widen() }
    }

    /// # Safety
    /// As for `get`.
    #[inline(always)]
    unsafe fn set(&self, row: usize, column: usize, value: T::Wide) {
        // SAFETY: within the matrix, says the caller.
        unsafe { self.at.offset(row as isize * self.row + column as isize * self.column).write(T::narrow(value)) }
    }
}

/// out = beta c + alpha a b, for matrices of one dtype; `c` is broadcast to the shape of `out`, and not
/// read if beta is 0. `out` must not overlap `a` or `b`; it may be `c`.
pub fn gemm(out: &Array, a: &Array, b: &Array, c: Option<(&Array, Scalar)>, alpha: Scalar) -> Result<()> {
    dispatch!(out.dtype(), "addmm_impl_cpu_", integer half float complex chalf, T => multiply::<T>(out, a, b, c, alpha))
}

fn multiply<T: Number>(out: &Array, a: &Array, b: &Array, c: Option<(&Array, Scalar)>, alpha: Scalar) -> Result<()> {
    let (m, k, n) = (a.size(0), a.size(1), b.size(1));
    let fits = out.sizes() == [m as i64, n as i64] && b.size(0) == k && a.ndim() == 2 && b.ndim() == 2;
    ensure!(fits, Internal, "gemm got matrices of other shapes");
    let alpha = T::Wide::from_scalar(alpha);
    let addend = match c {
        Some((c, beta)) if T::Wide::from_scalar(beta) != T::Wide::ZERO => {
            let strides = c.broadcast_strides(out.sizes())?;
            let c = Matrix::<T> { at: c.as_ptr(), row: strides[0] as isize, column: strides[1] as isize };
            Some((c, T::Wide::from_scalar(beta)))
        }
        _ => None,
    };
    let (out, a, b) = (Matrix::<T>::of(out), Matrix::<T>::of(a), Matrix::<T>::of(b));
    let finish = |row: usize, column: usize, sum: T::Wide| {
        let product = if alpha == T::Wide::ONE { sum } else { alpha.mul(sum) };
        // SAFETY: row < m and column < n, the sizes of `out` that `c` was broadcast to.
        unsafe {
            let value = match &addend {
                None => product,
                Some((c, beta)) if *beta == T::Wide::ONE => c.get(row, column).add(product),
                Some((c, beta)) => beta.mul(c.get(row, column)).add(product),
            };
            out.set(row, column, value);
        }
    };
    let (b, rows_of_b) = (pack_columns(&b, k, n)?, k * NR);
    let mut left = filled(k * MR, T::Wide::ZERO)?;
    for first_row in (0..m).step_by(MR) {
        let height = MR.min(m - first_row);
        for (p, packed) in left.chunks_exact_mut(MR).enumerate() {
            for (row, packed) in packed.iter_mut().take(height).enumerate() {
                // SAFETY: first_row + row < m and p < k.
                *packed = unsafe { a.get(first_row + row, p) };
            }
        }
        for (panel, first_column) in (0..n).step_by(NR).enumerate() {
            let columns = NR.min(n - first_column);
            let mut tile = [[T::Wide::ZERO; NR]; MR];
            let right = &b[panel * rows_of_b..][..rows_of_b];
            for (right, left) in right.chunks(KC * NR).zip(left.chunks(KC * MR)) {
                let sums = tile_product(right, left);
                for (total, sums) in tile.iter_mut().flatten().zip(sums.iter().flatten()) {
                    *total = total.add(*sums);
                }
            }
            for (row, sums) in tile.iter().enumerate().take(height) {
                for (column, &sum) in sums.iter().enumerate().take(columns) {
                    finish(first_row + row, first_column + column, sum);
                }
            }
        }
    }
    Ok(())
}

/// The right operand in panels of [`NR`] columns, one after another, each row by row; the last is filled up
/// with zeros.
fn pack_columns<T: Number>(b: &Matrix<T>, k: usize, n: usize) -> Result<Vec<T::Wide>> {
    let mut packed = filled(k * n.next_multiple_of(NR), T::Wide::ZERO)?;
    if k == 0 {
        return Ok(packed);
    }
    for (panel, first_column) in packed.chunks_exact_mut(k * NR).zip((0..n).step_by(NR)) {
        let columns = NR.min(n - first_column);
        for (row, packed) in panel.chunks_exact_mut(NR).enumerate() {
            for (column, packed) in packed.iter_mut().take(columns).enumerate() {
                // SAFETY: row < k and first_column + column < n.
                *packed = unsafe { b.get(row, first_column + column) };
            }
        }
    }
    Ok(packed)
}

/// The products of a packed panel (rows of [`NR`]) and packed rows of the left operand (columns of [`MR`]),
/// with wider registers where the processor has them. Products are rounded before they are added, at every
/// width: the result is the same to the bit.
fn tile_product<W: Wide>(panel: &[W], rows: &[W]) -> [[W; NR]; MR] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature.
        return unsafe { tile_product_avx2(panel, rows) };
    }
    tile_product_portable(panel, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn tile_product_avx2<W: Wide>(panel: &[W], rows: &[W]) -> [[W; NR]; MR] {
    tile_product_portable(panel, rows)
}

#[inline(always)]
fn tile_product_portable<W: Wide>(panel: &[W], rows: &[W]) -> [[W; NR]; MR] {
    let mut sums = [[W::ZERO; NR]; MR];
    for (right, left) in panel.as_chunks::<NR>().0.iter().zip(rows.as_chunks::<MR>().0) {
        for (sums, &left) in sums.iter_mut().zip(left) {
            for (sum, &right) in sums.iter_mut().zip(right) {
                *sum = sum.add(left.mul(right));
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn a_transposed_operand_and_an_accumulated_output() {
        // [[1 2 3] [4 5 6]] times the transpose of [[1 0 2] [0 1 1]], plus 10 times ones.
        let (mut a, mut b, mut out) = ([1, 2, 3, 4, 5, 6i64], [1, 0, 2, 0, 1, 1i64], [1i64; 4]);
        // SAFETY: the arrays hold as many elements as the sizes say.
        let (a, b, o) = unsafe {
            (
                Array::new(a.as_mut_ptr().cast(), DType::I64, &[2, 3], &[3, 1]),
                Array::new(b.as_mut_ptr().cast(), DType::I64, &[3, 2], &[1, 3]),
                Array::new(out.as_mut_ptr().cast(), DType::I64, &[2, 2], &[2, 1]),
            )
        };
        gemm(&o, &a, &b, Some((&o, Scalar::Int(10))), Scalar::Int(1)).unwrap();
        assert_eq!(out, [17, 15, 26, 21]);
    }

    #[test]
    fn sizes_beyond_one_tile_and_one_panel() {
        let (m, k, n) = (5, 300, 11);
        let mut a: Vec<f64> = (0..m * k).map(|i| (i % 7) as f64).collect();
        let mut b: Vec<f64> = (0..k * n).map(|i| (i % 5) as f64).collect();
        let mut out = vec![0.0f64; m * n];
        let expected: Vec<f64> =
            (0..m * n).map(|at| (0..k).map(|p| a[at / n * k + p] * b[p * n + at % n]).sum()).collect();
        let (sa, sb, so) = ([5, 300], [300, 11], [5, 11]);
        // SAFETY: the vectors hold as many elements as the sizes say.
        let (a, b, o) = unsafe {
            (
                Array::new(a.as_mut_ptr().cast(), DType::F64, &sa, &[300, 1]),
                Array::new(b.as_mut_ptr().cast(), DType::F64, &sb, &[11, 1]),
                Array::new(out.as_mut_ptr().cast(), DType::F64, &so, &[11, 1]),
            )
        };
        gemm(&o, &a, &b, None, Scalar::Int(1)).unwrap();
        assert_eq!(out, expected);
    }
}
