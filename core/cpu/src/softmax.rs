//! Softmax and its logarithm along a dimension, with their gradients.
//!
//! Every row is shifted by its maximum first, so that no exponential overflows. A [`RowOp`] is written once for rows along
//! memory and, as strips of neighbours, across it.

use crate::array::Array;
use crate::math;
use crate::number::{Analytic, Real};
use crate::reduce::driver::Shared;
use crate::rows::Strip;
use crate::simd::{Float, FloatVector, Kernel, Simd};
use rushlight_base::reduction::Walk;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, ensure};

#[cfg(test)]
use crate::reduce::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// Elements of a row operator worth another thread: it reads them several times, and takes exponentials.
const GRAIN: usize = 4096;
/// Neighbouring rows that are handed to a kernel together.
const ACROSS: usize = 64;

/// What is done to the rows of `N` arrays; the first is the output.
trait RowOp<T: Float, const N: usize>: Copy + Send + Sync {
    /// The work on one strip.
    fn apply<S: Simd>(self, strip: &Strip<T, N>);
}

/// Rows of a [`RowOp`]: a single one, or neighbours that are `width` in number.
struct Rows<O, T, const N: usize> {
    op: O,
    at: [*mut T; N],
    /// Steps along the rows.
    steps: [isize; N],
    len: usize,
    /// 0: a single row.
    width: usize,
}

impl<T: Float, O: RowOp<T, N>, const N: usize> Kernel for Rows<O, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Rows { op, at, steps, len, width } = self;
        let lanes = T::Vector::<S>::LANES;
        if width == 0 {
            op.apply::<S>(&Strip::along::<S>(at, steps, len));
            return;
        }
        for first in (0..width).step_by(lanes) {
            let rest = lanes.min(width - first);
            let full = if rest == lanes { len } else { 0 };
            let at = at.map(|at| at.wrapping_add(first));
            op.apply::<S>(&Strip::across(at, steps, full, len, rest));
        }
    }
}

/// Applies `op` to the rows along `dim` of arrays of one shape and dtype.
fn along<T: Float, const N: usize>(arrays: [&Array; N], dim: usize, op: impl RowOp<T, N>) -> Result<()> {
    let len = arrays[0].size(dim);
    ensure!(
        arrays.iter().all(|array| array.sizes() == arrays[0].sizes()),
        Internal,
        "a row kernel got arrays of different shapes"
    );
    let at = arrays.map(|array| Shared(array.as_ptr::<T>()));
    let steps = arrays.map(|array| array.stride(dim));
    let parts = arrays.map(|array| array.without(dim));
    let walk = Walk::<N>::over(&parts[0].0, std::array::from_fn(|operand| parts[operand].1.as_slice()));
    let rows = walk.numel();
    if len == 0 || rows == 0 {
        return Ok(());
    }
    let (neighbours, neighbour_steps) = walk.inner();
    if steps != [1; N] && neighbour_steps == [1; N] && neighbours >= 4 {
        let blocks = neighbours.div_ceil(ACROSS);
        return parallel_chunks(blocks * walk.outer(), (GRAIN / (len * ACROSS)).max(1), &|chunk| {
            let mut nth = chunk.start;
            walk.rows(chunk.start / blocks..chunk.end.div_ceil(blocks), |offsets| {
                let end = chunk.end.min((nth / blocks + 1) * blocks);
                while nth < end {
                    let first = nth % blocks * ACROSS;
                    let at = std::array::from_fn(|n| at[n].get().wrapping_offset(offsets[n] + first as isize));
                    run(Rows { op, at, steps, len, width: ACROSS.min(neighbours - first) });
                    nth += 1;
                }
            });
        });
    }
    parallel_chunks(rows, (GRAIN / len).max(1), &|chunk| {
        walk.places(chunk, |offsets| {
            let at = std::array::from_fn(|n| at[n].get().wrapping_offset(offsets[n]));
            run(Rows { op, at, steps, len, width: 0 });
        });
    })
}

/// The largest element of array 1 of each row.
#[inline(always)]
fn max_of<S: Simd, T: Float, const N: usize>(strip: &Strip<T, N>) -> T::Vector<S> {
    strip.fold::<S>(f64::NEG_INFINITY, |a, b| a.max(b), |i, count| strip.load::<S>(1, i, count))
}

#[derive(Clone, Copy)]
struct LogSoftmax {
    /// Is the sum kept in the dtype of the row?
    rounds: bool,
}

impl<T: Float<Wide: Real>> RowOp<T, 2> for LogSoftmax {
    #[inline(always)]
    fn apply<S: Simd>(self, strip: &Strip<T, 2>) {
        let max = max_of::<S, T, 2>(strip);
        let sum = strip.sum::<S>(|i, count| math::exp(strip.load::<S>(1, i, count) - max));
        let log_sum = if self.rounds {
            let kept = |value: T::Wide| T::narrow(value).widen();
            sum.map(|sum| kept(kept(sum).ln()))
        } else {
            math::log(sum)
        };
        strip.each::<S>(|i, count| strip.store::<S>(0, i, count, strip.load::<S>(1, i, count) - max - log_sum));
    }
}

/// out = a - ln sum e^a along `dim`
///
/// Along the last dimension PyTorch keeps the sum and its logarithm in the dtype of the row, which shows in
/// halves; so do we, so that models give the losses they gave there.
pub fn log_softmax(out: &Array, a: &Array, dim: usize) -> Result<()> {
    let rounds = dim + 1 == a.ndim();
    dispatch!(a.dtype(), "log_softmax_lastdim_kernel_impl", half float, T => {
        along::<T, 2>([out, a], dim, LogSoftmax { rounds: rounds && size_of::<T>() < 4 })
    })
}

#[derive(Clone, Copy)]
struct LogSoftmaxBackward;

impl<T: Float> RowOp<T, 3> for LogSoftmaxBackward {
    #[inline(always)]
    fn apply<S: Simd>(self, strip: &Strip<T, 3>) {
        let sum = strip.sum::<S>(|i, count| strip.load::<S>(1, i, count));
        strip.each::<S>(|i, count| {
            let (grad, out) = (strip.load::<S>(1, i, count), strip.load::<S>(2, i, count));
            strip.store::<S>(0, i, count, grad - math::exp(out) * sum);
        });
    }
}

/// grad_in = grad - e^out sum grad along `dim`; `out` is what the forward gave.
pub fn log_softmax_backward(grad_in: &Array, grad: &Array, out: &Array, dim: usize) -> Result<()> {
    dispatch!(grad.dtype(), "log_softmax_backward_lastdim_kernel_impl", half float, T => {
        along::<T, 3>([grad_in, grad, out], dim, LogSoftmaxBackward)
    })
}

#[derive(Clone, Copy)]
struct Softmax;

impl<T: Float> RowOp<T, 2> for Softmax {
    #[inline(always)]
    fn apply<S: Simd>(self, strip: &Strip<T, 2>) {
        let max = max_of::<S, T, 2>(strip);
        let power = |i: usize, count: usize| math::exp(strip.load::<S>(1, i, count) - max);
        let one = T::Vector::<S>::from_f64(1.0);
        if size_of::<T>() == size_of::<T::Wide>() {
            // The output has room for the powers, so that they are taken once.
            let sum = strip.sum::<S>(|i, count| {
                let power = power(i, count);
                strip.store::<S>(0, i, count, power);
                power
            });
            let scale = one / sum;
            strip.each::<S>(|i, count| strip.store::<S>(0, i, count, strip.load::<S>(0, i, count) * scale));
        } else {
            let scale = one / strip.sum::<S>(power);
            strip.each::<S>(|i, count| strip.store::<S>(0, i, count, power(i, count) * scale));
        }
    }
}

/// out = e^a / sum e^a along `dim`
pub fn softmax(out: &Array, a: &Array, dim: usize) -> Result<()> {
    dispatch!(a.dtype(), "softmax_lastdim_kernel_impl", half float, T => along::<T, 2>([out, a], dim, Softmax))
}

#[derive(Clone, Copy)]
struct SoftmaxBackward;

impl<T: Float> RowOp<T, 3> for SoftmaxBackward {
    #[inline(always)]
    fn apply<S: Simd>(self, strip: &Strip<T, 3>) {
        let sum = strip.sum::<S>(|i, count| strip.load::<S>(1, i, count) * strip.load::<S>(2, i, count));
        strip.each::<S>(|i, count| {
            let (grad, out) = (strip.load::<S>(1, i, count), strip.load::<S>(2, i, count));
            strip.store::<S>(0, i, count, (grad - sum) * out);
        });
    }
}

/// grad_in = out (grad - sum grad out) along `dim`; `out` is what the forward gave.
pub fn softmax_backward(grad_in: &Array, grad: &Array, out: &Array, dim: usize) -> Result<()> {
    dispatch!(grad.dtype(), "softmax_backward_lastdim_kernel_impl", half float, T => {
        along::<T, 3>([grad_in, grad, out], dim, SoftmaxBackward)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn large_inputs_do_not_overflow() {
        let mut a = [1000.0f32, 1000.0, 0.0];
        let mut out = [0.0f32; 3];
        // SAFETY: three elements each.
        let (a, o) = unsafe {
            (
                Array::new(a.as_mut_ptr().cast(), DType::F32, &[3], &[1]),
                Array::new(out.as_mut_ptr().cast(), DType::F32, &[3], &[1]),
            )
        };
        log_softmax(&o, &a, 0).unwrap();
        assert!((out[0] + std::f32::consts::LN_2).abs() < 1e-6 && (out[2] + 1000.6931).abs() < 1e-3, "{out:?}");
        softmax(&o, &a, 0).unwrap();
        assert_eq!(out, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn rows_along_and_across_memory_agree_with_plain_loops() {
        for (rows, len) in [(1usize, 1usize), (3, 7), (5, 40), (70, 33), (130, 9), (2, 3000)] {
            let values: Vec<f32> = (0..rows * len).map(|i| (i * 7919 % 613) as f32 * 0.02 - 6.0).collect();
            let weights: Vec<f32> = (0..rows * len).map(|i| (i * 31 % 17) as f32 * 0.1 - 0.7).collect();
            // Row-major: softmax along the last dimension; column-major: across.
            for strides in [[len as i64, 1], [1, rows as i64]] {
                let at = |row: usize, i: usize| row * strides[0] as usize + i * strides[1] as usize;
                let sizes = [rows as i64, len as i64];
                // SAFETY: every array has so many values, in either order.
                let array = |at: *mut f32| unsafe { Array::new(at.cast(), DType::F32, &sizes, &strides) };
                let [mut soft, mut log, mut soft_grad, mut log_grad] = [(); 4].map(|()| vec![0.0f32; rows * len]);
                let (x, grad) = (array(values.as_ptr().cast_mut()), array(weights.as_ptr().cast_mut()));
                let (p, q) = (array(soft.as_mut_ptr()), array(log.as_mut_ptr()));
                softmax(&p, &x, 1).unwrap();
                log_softmax(&q, &x, 1).unwrap();
                softmax_backward(&array(soft_grad.as_mut_ptr()), &grad, &p, 1).unwrap();
                log_softmax_backward(&array(log_grad.as_mut_ptr()), &grad, &q, 1).unwrap();
                for row in 0..rows {
                    let row_of = |values: &[f32]| (0..len).map(|i| f64::from(values[at(row, i)])).collect::<Vec<_>>();
                    let (x, grad) = (row_of(&values), row_of(&weights));
                    let sum: f64 = x.iter().map(|x| x.exp()).sum();
                    let soft_dot: f64 = x.iter().zip(&grad).map(|(x, grad)| grad * x.exp() / sum).sum();
                    let total: f64 = grad.iter().sum();
                    for i in 0..len {
                        let p = x[i].exp() / sum;
                        for (found, expected) in [
                            (soft[at(row, i)], p),
                            (log[at(row, i)], x[i] - sum.ln()),
                            (soft_grad[at(row, i)], (grad[i] - soft_dot) * p),
                            (log_grad[at(row, i)], grad[i] - p * total),
                        ] {
                            let error = (f64::from(found) - expected).abs();
                            assert!(
                                error <= 3e-6 * expected.abs().max(1.0),
                                "{rows} {len} {strides:?}: {found} {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}
