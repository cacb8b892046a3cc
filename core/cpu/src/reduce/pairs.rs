//! Norms of the differences of pairs of rows: each by itself, or Euclidean ones by a matrix product.

use super::fold::{FloatFold, FloatFolding};
use super::norms::{LargestSize, Powers, Set, Sizes, Squares};
use crate::array::Array;
use crate::gemm::{Epilogue, gemm_with};
use crate::math;
use crate::pointwise::{LIGHT, Loop};
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Mask, Simd};
use rushlight_base::list::filled;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DimVec, Element, Result, Scalar, ensure};

#[cfg(test)]
use super::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// From this many elements on, a second thread pays.
const GRAIN: usize = 1 << 14;

/// The fold of a norm, and the final function of its result.
trait Norm: FloatFold {
    #[inline(always)]
    fn root<V: FloatVector>(self, total: V) -> V {
        total
    }
}

impl Norm for Set {}
impl Norm for Sizes {}
impl Norm for LargestSize {}

impl Norm for Squares {
    #[inline(always)]
    fn root<V: FloatVector>(self, total: V) -> V {
        total.sqrt()
    }
}

impl Norm for Powers {
    #[inline(always)]
    fn root<V: FloatVector>(self, total: V) -> V {
        math::pow(total, V::from_f64(1.0 / self.0))
    }
}

/// The distances of one row from `count` others.
struct Row<T, F> {
    fold: F,
    a: *const T,
    b: *const T,
    out: *mut T,
    /// Elements from one to the next, along the rows.
    steps: [isize; 2],
    len: usize,
    /// From one row of `b` to the next, and from one result to the next.
    between: [isize; 2],
    count: usize,
}

impl<T: Float, F: Norm> Kernel for Row<T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Row { fold, a, b, out, steps, len, between, count } = self;
        let (lanes, empty) = (T::Vector::<S>::LANES, T::Vector::<S>::from_f64(F::EMPTY));
        // SAFETY: the kernel was created for rows of this length, with an output element for each.
        let read = |at: *const T, step: isize, first: usize, lanes: usize| unsafe {
            let at = at.offset(first as isize * step);
            match step {
                1 => T::load_partial::<S>(at, lanes),
                _ => T::load_strided::<S>(at, step * size_of::<T>() as isize, lanes),
            }
        };
        for nth in 0..count as isize {
            let b = b.wrapping_offset(nth * between[0]);
            let mut total = empty;
            for first in (0..len).step_by(lanes) {
                let lanes = lanes.min(len - first);
                let away = read(a, steps[0], first, lanes) - read(b, steps[1], first, lanes);
                let size = T::Vector::<S>::select(Mask::first(lanes), fold.lift(away), empty);
                total = fold.merge(total, size);
            }
            let total = T::Vector::<S>::splat(total.fold(|a, b| fold.merge(a, b)));
            // SAFETY: the kernel was created with an output element for each row.
            unsafe { T::store_partial::<S>(fold.root(total), out.wrapping_offset(nth * between[1]), 1) };
        }
    }
}

/// Offset of row `nth` of an array, for the dimensions of `sizes` before the last.
fn start(mut nth: usize, sizes: &[i64], strides: &[i64]) -> isize {
    let mut offset = 0;
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        offset += (nth % size as usize) as isize * stride as isize;
        nth /= size as usize;
    }
    offset
}

/// `out[..., i, j]` = the norm of order `p`, which is not negative, of `a[..., i, :] - b[..., j, :]`.
pub fn distances(out: &Array, a: &Array, b: &Array, p: f64) -> Result<()> {
    let rank = out.ndim();
    let fits = |array: &&Array| array.ndim() == rank && array.dtype() == out.dtype();
    ensure!(
        rank >= 2 && [a, b].iter().all(fits) && a.size(rank - 1) == b.size(rank - 1),
        Internal,
        "the distance kernel got arrays of mismatched sizes"
    );
    dispatch!(a.dtype(), "cdist", half float, T => match p {
        0.0 => each::<T>(out, a, b, Set),
        1.0 => each::<T>(out, a, b, Sizes),
        2.0 => each::<T>(out, a, b, Squares),
        f64::INFINITY => each::<T>(out, a, b, LargestSize),
        _ => each::<T>(out, a, b, Powers(p)),
    })
}

fn each<T: Float + Element>(out: &Array, a: &Array, b: &Array, fold: impl Norm) -> Result<()> {
    let last = out.ndim() - 1;
    let (len, count) = (a.size(last), out.size(last));
    let steps = [a.stride(last), b.stride(last)];
    let between = [b.stride(last - 1), out.stride(last)];
    each_row(out, a, b, &|[out, a, b]| {
        let (out, a, b) = (out.cast::<T>(), a.cast(), b.cast());
        run(Row { fold, a, b, out, steps, len, between, count });
    })
}

/// Calls `visit` with the addresses of a row of results, a row of `a` and the first of the rows of `b` that it meets.
fn each_row(out: &Array, a: &Array, b: &Array, visit: &(dyn Fn([*mut u8; 3]) + Sync)) -> Result<()> {
    let rank = out.ndim();
    let (len, count, rows) = (a.size(rank - 1), out.size(rank - 1), out.numel() / out.size(rank - 1).max(1));
    // The rows of `b` are the same for each of `a`.
    let mut still = DimVec::from_slice(b.strides());
    still[rank - 2] = 0;
    let (sizes, strides) = (out.sizes(), [out.strides(), a.strides(), &still].map(|strides| &strides[..rank - 1]));
    let (at, size) = ([out, a, b].map(|array| Shared::new(array.start())), a.dtype().size() as isize);
    parallel_chunks(rows, (GRAIN / (len * count).max(1)).max(1), &|range| {
        for row in range {
            visit(std::array::from_fn(|nth| {
                at[nth].get().wrapping_offset(start(row, &sizes[..rank - 1], strides[nth]) * size)
            }));
        }
    })
}

/// `out[..., i, j]` = the square root of `|a_i|^2 + |b_j|^2 - 2 a_i b_j`, not below zero: the distance of two rows by a
/// matrix product. Rounded where rows are close to each other. For `f32` and `f64`.
pub fn distances_by_product(out: &Array, a: &Array, b: &Array) -> Result<()> {
    let rank = out.ndim();
    let (m, n, k) = (out.size(rank - 2) as i64, out.size(rank - 1) as i64, a.size(rank - 1) as i64);
    let batches = &out.sizes()[..rank - 2];
    let matrix = |array: &Array, nth: usize| {
        let offset = start(nth, batches, &array.strides()[..rank - 2]) * array.dtype().size() as isize;
        array.start().wrapping_offset(offset)
    };
    let step = |array: &Array| [array.stride(rank - 2) as i64, array.stride(rank - 1) as i64];
    let [to, left, right] = [out, a, b].map(step);
    let [of_out, of_left, of_right, of_turned] = [[m, n], [m, k], [n, k], [k, n]];
    let (across, columns) = ([right[1], right[0]], [[m, 1], [n, 1], [1, n]]);
    dispatch!(out.dtype(), "cdist", float, T => {
        let (mut of_a, mut of_b) = (filled(m as usize, T::default())?, filled(n as usize, T::default())?);
        for nth in 0..batches.iter().product::<i64>() as usize {
            let part = |array: &Array, sizes, strides| {
                // SAFETY: the matrices of a batch are parts of the array, whose elements its creator guarantees.
                unsafe { Array::new(matrix(array, nth), T::DTYPE, sizes, strides) }
            };
            let (out, a) = (part(out, &of_out, &to), part(a, &of_left, &left));
            let (b, turned) = (part(b, &of_right, &right), part(b, &of_turned, &across));
            // SAFETY: each list has an element for each row.
            let [of_rows, of_columns, row] = unsafe {
                let of_b = of_b.as_mut_ptr().cast::<u8>();
                [
                    Array::new(of_a.as_mut_ptr().cast(), T::DTYPE, &columns[0], &[1, 1]),
                    Array::new(of_b, T::DTYPE, &columns[1], &[1, 1]),
                    Array::new(of_b, T::DTYPE, &columns[2], &[1, 1]),
                ]
            };
            for (norms, rows) in [(&of_rows, &a), (&of_columns, &b)] {
                super::reduce_into(norms, rows, FloatFolding::<_, T>::new(Squares), |sum| sum)?;
            }
            let two = Epilogue { alpha: Scalar::Int(-2), add: Some((&row, Scalar::Int(1))), ..Epilogue::default() };
            gemm_with(&out, &a, &turned, &two)?;
            Loop::new([out.clone(), out, of_rows])?.map::<T, T, T>(LIGHT, |products, square| {
                let sum = products + square;
                (if sum < 0.0 { 0.0 } else { sum }).sqrt()
            })?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn products_and_differences_give_the_same_distances() {
        let (batch, m, n, k) = (2, 30, 7, 19);
        let number = |i: usize| ((i * 7919 % 1000) as f64 - 500.0) / 250.0;
        let mut a: Vec<f64> = (0..batch * m * k).map(number).collect();
        let mut b: Vec<f64> = (0..n * k).map(|i| number(i + 77)).collect();
        let mut outs = [vec![0f64; batch * m * n], vec![0f64; batch * m * n]];
        let sizes = [[batch, m, n], [batch, m, k], [batch, n, k]].map(|sizes| sizes.map(|size| size as i64));
        let strides = [[m * n, n, 1], [k, batch * k, 1], [0, 1, n]].map(|strides| strides.map(|step| step as i64));
        let [direct, product] = outs.each_mut().map(|out| out.as_mut_ptr().cast::<u8>());
        // SAFETY: the lists hold as many elements as the sizes and strides require.
        let array = |at, nth: usize| unsafe { Array::new(at, DType::F64, &sizes[nth], &strides[nth]) };
        let (a, b) = (array(a.as_mut_ptr().cast(), 1), array(b.as_mut_ptr().cast(), 2));
        distances(&array(direct, 0), &a, &b, 2.0).unwrap();
        distances_by_product(&array(product, 0), &a, &b).unwrap();
        let [direct, product] = outs;
        assert!(direct.iter().all(|&distance| distance > 1.0));
        for (at, (direct, product)) in direct.iter().zip(product).enumerate() {
            assert!((direct - product).abs() < 1e-13 * direct, "{product} instead of {direct} at {at}");
        }
    }
}
