//! Norms of the differences of pairs of rows: each by itself, or Euclidean ones by a matrix product.

use super::fold::{FloatFold, FloatFolding};
use super::norms::{LargestSize, Powers, Set, Sizes, Squares};
use crate::array::Array;
use crate::convert;
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
                1 => T::load_some::<S>(at, lanes),
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

/// Elements of a row up to which distances are computed for a vector of rows at a time; a long row fills vectors itself.
const SHORT: usize = 64;

/// The distances of one row from `count` others, a vector of them at a time. The elements of the others with one index
/// are adjacent.
struct Columns<T, F> {
    fold: F,
    a: *const T,
    /// From one element of the row to the next.
    step: isize,
    others: *const T,
    /// From the others' elements with one index to those with the next.
    across: usize,
    out: *mut T,
    /// From one result to the next.
    between: isize,
    len: usize,
    count: usize,
}

impl<T: Float, F: Norm> Kernel for Columns<T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Columns { fold, a, step, others, across, out, between, len, count } = self;
        let lanes = T::Vector::<S>::LANES;
        for first in (0..count).step_by(lanes) {
            let lanes = lanes.min(count - first);
            let mut total = T::Vector::<S>::from_f64(F::EMPTY);
            for nth in 0..len {
                // SAFETY: the kernel was created for rows of this length, of which there are `count` others.
                let away = unsafe {
                    let element = a.offset(nth as isize * step).read().wide();
                    T::Vector::<S>::splat(element) - T::load_some::<S>(others.add(nth * across + first), lanes)
                };
                total = fold.merge(total, fold.lift(away));
            }
            let out = out.wrapping_offset(first as isize * between);
            // SAFETY: the kernel was created with an output element for each of the others.
            unsafe {
                match between {
                    1 => T::store_some::<S>(fold.root(total), out, lanes),
                    _ => T::store_strided::<S>(fold.root(total), out, between * size_of::<T>() as isize, lanes),
                }
            }
        }
    }
}

/// The elements of a matrix, column by column.
fn columns<T: Float + Element>(matrix: &Array) -> Result<Vec<T>> {
    let columns = filled(matrix.numel(), T::default())?;
    let (sizes, strides) = (matrix.sizes(), [1, matrix.size(0) as i64]);
    // SAFETY: the list has as many elements as the matrix.
    let to = unsafe { Array::new(columns.as_ptr().cast_mut().cast(), T::DTYPE, sizes, &strides) };
    convert::copy(&Loop::new([to, matrix.clone()])?)?;
    Ok(columns)
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

/// A function of the arrays for the norm of order `p`.
macro_rules! of_order {
    ($function:ident($($array:expr),+), $dtype:expr, $p:expr) => {
        dispatch!($dtype, "cdist", half float, T => match $p {
            0.0 => $function::<T>($($array,)+ Set),
            1.0 => $function::<T>($($array,)+ Sizes),
            2.0 => $function::<T>($($array,)+ Squares),
            f64::INFINITY => $function::<T>($($array,)+ LargestSize),
            _ => $function::<T>($($array,)+ Powers($p)),
        })
    };
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
    of_order!(each(out, a, b), a.dtype(), p)
}

/// out = the norms of order `p`, which is not negative, of `a[i, :] - a[j, :]` for i < j, in row-major order of (i, j).
pub fn pair_distances(out: &Array, a: &Array, p: f64) -> Result<()> {
    let rows = if a.ndim() == 2 { a.size(0) } else { 0 };
    let fits = a.ndim() == 2 && out.ndim() == 1 && out.numel() == pairs_before(rows, rows) && a.dtype() == out.dtype();
    ensure!(fits, Internal, "the distance kernel got arrays of mismatched sizes");
    of_order!(each_pair(out, a), a.dtype(), p)
}

/// The pairs whose first row is one of the `first` first of `rows`.
fn pairs_before(first: usize, rows: usize) -> usize {
    first * rows - first * (first + 1) / 2
}

fn each_pair<T: Float + Element>(out: &Array, a: &Array, fold: impl Norm) -> Result<()> {
    let (rows, len, step, strides) = (a.size(0), a.size(1), out.stride(0), [a.stride(0), a.stride(1)]);
    let (to, from) = (Shared::new(out.as_ptr::<T>()), Shared::new(a.as_ptr::<T>()));
    let columns = if len <= SHORT { columns::<T>(a)? } else { Vec::new() };
    let columns = columns.as_slice();
    parallel_chunks(rows, (GRAIN / (len * rows).max(1)).max(1), &|part| {
        for row in part {
            let a_row = from.get().wrapping_offset(row as isize * strides[0]);
            let out = to.get().wrapping_offset(pairs_before(row, rows) as isize * step);
            if len <= SHORT {
                let (others, count) = (columns.as_ptr().wrapping_add(row + 1), rows - 1 - row);
                let (step, between) = (strides[1], step);
                run(Columns { fold, a: a_row, step, others, across: rows, out, between, len, count });
                continue;
            }
            let (b, steps, between) = (a_row.wrapping_offset(strides[0]), [strides[1]; 2], [strides[0], step]);
            run(Row { fold, a: a_row, b, out, steps, len, between, count: rows - 1 - row });
        }
    })
}

fn each<T: Float + Element>(out: &Array, a: &Array, b: &Array, fold: impl Norm) -> Result<()> {
    let last = out.ndim() - 1;
    let (len, count) = (a.size(last), out.size(last));
    let steps = [a.stride(last), b.stride(last)];
    let between = [b.stride(last - 1), out.stride(last)];
    if len <= SHORT && last == 1 {
        let columns = columns::<T>(b)?;
        let others = Shared::new(columns.as_ptr().cast_mut());
        return each_row(out, a, b, &|[out, a, _]| {
            let (out, a, others) = (out.cast::<T>(), a.cast(), others.get().cast_const());
            run(Columns { fold, a, step: steps[0], others, across: count, out, between: between[1], len, count });
        });
    }
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
    fn distances_of_short_and_long_rows_are_those_of_a_plain_loop() {
        let rows = 37usize;
        for len in [1, 5, SHORT, SHORT + 1] {
            let values: Vec<f64> = (0..rows * len).map(|i| (i * 7919 % 613) as f64 * 0.02 - 6.0).collect();
            let [of_rows, row_steps, of_all, all_steps] =
                [[rows, len], [len, 1], [rows, rows], [rows, 1]].map(|list| list.map(|size| size as i64));
            // SAFETY: the list has a row of `len` elements for each of the sizes.
            let a = unsafe { Array::new(values.as_ptr().cast_mut().cast(), DType::F64, &of_rows, &row_steps) };
            for p in [0.0, 1.0, 2.0, 3.0, f64::INFINITY] {
                let distance = |i: usize, j: usize| {
                    let away = (0..len).map(|k| (values[i * len + k] - values[j * len + k]).abs());
                    match p {
                        0.0 => away.filter(|&size| size != 0.0).count() as f64,
                        f64::INFINITY => away.fold(0.0, f64::max),
                        _ => away.map(|size| size.powf(p)).sum::<f64>().powf(1.0 / p),
                    }
                };
                let near = |found: f64, i: usize, j: usize| {
                    let wanted = distance(i, j);
                    assert!((found - wanted).abs() <= 1e-12 * wanted.max(1.0), "{len} {p}: {found} {wanted}");
                };
                let (mut all, mut pairs) = (vec![0f64; rows * rows], vec![0f64; rows * (rows - 1) / 2]);
                let (to, pair_sizes) = (all.as_mut_ptr().cast(), [pairs.len() as i64]);
                // SAFETY: the lists have an element for each pair of rows, and for each pair of different ones.
                let [matrix, list] = unsafe {
                    [
                        Array::new(to, DType::F64, &of_all, &all_steps),
                        Array::new(pairs.as_mut_ptr().cast(), DType::F64, &pair_sizes, &[1]),
                    ]
                };
                distances(&matrix, &a, &a, p).unwrap();
                pair_distances(&list, &a, p).unwrap();
                let mut nth = 0;
                for i in 0..rows {
                    (0..rows).for_each(|j| near(all[i * rows + j], i, j));
                    for j in i + 1..rows {
                        near(pairs[nth], i, j);
                        nth += 1;
                    }
                }
            }
        }
    }

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
