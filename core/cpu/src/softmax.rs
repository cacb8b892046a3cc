//! Softmax and its logarithm along a dimension, with their gradients.
//!
//! Every row is shifted by its maximum first, so that no exponential overflows. `rows.rs` has the passes.

use crate::array::Array;
use crate::device;
use crate::math;
use crate::reduce::fold::{FloatSum, LargestNumber};
use crate::rows::{RowOp, Strip, apply, terms};
use crate::simd::{Float, FloatVector, MAX_LANES, Simd};
use rushlight_base::Result;

terms! {
    First(): |at| at.read(1);
    #[heavy]
    Powers(max): |at| math::exp(at.read(1) - max);
    Scaled(scale): |at| at.read(0) * scale;
    #[heavy]
    ScaledPowers(max, scale): |at| math::exp(at.read(1) - max) * scale;
    LogShares(max, log_sum): |at| at.read(1) - max - log_sum;
    Product(): |at| at.read(1) * at.read(2);
    SoftmaxGradient(sum): |at| (at.read(1) - sum) * at.read(2);
    #[heavy]
    LogSoftmaxGradient(sum): |at| at.read(1) - math::exp(at.read(2)) * sum;
}

#[derive(Clone, Copy)]
struct LogSoftmax {
    /// Whether the sum has the dtype of the row.
    rounds: bool,
}

/// Rounded as the element is.
#[inline(always)]
fn rounded<S: Simd, T: Float>(value: T::Vector<S>) -> T::Vector<S> {
    let mut buffer = [0u64; MAX_LANES];
    let buffer = buffer.as_mut_ptr().cast::<T>();
    // SAFETY: the buffer holds the largest vector.
    unsafe {
        T::store::<S>(value, buffer);
        T::load::<S>(buffer)
    }
}

impl<T: Float> RowOp<T, 2> for LogSoftmax {
    #[inline(always)]
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, 2, ALONG>, _: usize) {
        let max = strip.fold::<S>(LargestNumber, First([]));
        let mut log_sum = strip.fold::<S>(FloatSum, Powers([max]));
        if self.rounds {
            log_sum = rounded::<S, T>(math::log(rounded::<S, T>(log_sum)));
        } else {
            log_sum = math::log(log_sum);
        }
        strip.map::<S>(LogShares([max, log_sum]));
    }
}

/// out = a - ln sum e^a along `dim`
///
/// Along the last dimension PyTorch stores the sum and its logarithm in the dtype of the row, which affects
/// half-precision results; this function does the same, so that models have the same losses.
pub fn log_softmax(out: &Array, a: &Array, dim: usize) -> Result<()> {
    let last = dim + 1 == a.ndim();
    if !out.is_on_host() {
        let rounds = last && a.dtype().is_half();
        return device::rows("log_softmax", [out, a], dim, f64::from(u8::from(rounds)));
    }
    dispatch!(a.dtype(), "log_softmax_lastdim_kernel_impl", half float, T => {
        apply::<T, 2>([out, a], dim, LogSoftmax { rounds: last && size_of::<T>() < 4 })
    })
}

#[derive(Clone, Copy)]
struct LogSoftmaxBackward;

impl<T: Float> RowOp<T, 3> for LogSoftmaxBackward {
    #[inline(always)]
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, 3, ALONG>, _: usize) {
        let sum = strip.fold::<S>(FloatSum, First([]));
        strip.map::<S>(LogSoftmaxGradient([sum]));
    }
}

/// grad_in = grad - e^out sum grad along `dim`; `out` is the result of the forward.
pub fn log_softmax_backward(grad_in: &Array, grad: &Array, out: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::rows("log_softmax_backward", [grad_in, grad, out], dim, 0.0);
    }
    dispatch!(grad.dtype(), "log_softmax_backward_lastdim_kernel_impl", half float, T => {
        apply::<T, 3>([grad_in, grad, out], dim, LogSoftmaxBackward)
    })
}

#[derive(Clone, Copy)]
struct Softmax;

impl<T: Float> RowOp<T, 2> for Softmax {
    #[inline(always)]
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, 2, ALONG>, _: usize) {
        let max = strip.fold::<S>(LargestNumber, First([]));
        let one = T::Vector::<S>::from_f64(1.0);
        if size_of::<T>() == size_of::<T::Wide>() {
            // The powers are stored in the output, so that they are computed once.
            let scale = one / strip.map_and_fold::<S>(FloatSum, Powers([max]));
            strip.map::<S>(Scaled([scale]));
        } else {
            let scale = one / strip.fold::<S>(FloatSum, Powers([max]));
            strip.map::<S>(ScaledPowers([max, scale]));
        }
    }
}

/// out = e^a / sum e^a along `dim`
pub fn softmax(out: &Array, a: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::rows("softmax", [out, a], dim, 0.0);
    }
    dispatch!(a.dtype(), "softmax_lastdim_kernel_impl", half float, T => apply::<T, 2>([out, a], dim, Softmax))
}

#[derive(Clone, Copy)]
struct SoftmaxBackward;

impl<T: Float> RowOp<T, 3> for SoftmaxBackward {
    #[inline(always)]
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, 3, ALONG>, _: usize) {
        let sum = strip.fold::<S>(FloatSum, Product([]));
        strip.map::<S>(SoftmaxGradient([sum]));
    }
}

/// grad_in = out (grad - sum grad out) along `dim`; `out` is the result of the forward.
pub fn softmax_backward(grad_in: &Array, grad: &Array, out: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::rows("softmax_backward", [grad_in, grad, out], dim, 0.0);
    }
    dispatch!(grad.dtype(), "softmax_backward_lastdim_kernel_impl", half float, T => {
        apply::<T, 3>([grad_in, grad, out], dim, SoftmaxBackward)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::Source;
    use crate::number::Analytic;
    use crate::reduce::tests::at_every_level;
    use rushlight_base::{DType, bf16};

    #[test]
    fn large_inputs_do_not_overflow() {
        let mut a = [1000.0f32, 1000.0, 0.0];
        let mut out = [0.0f32; 3];
        // SAFETY: each array has three elements.
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

    /// The four functions on rows of `len`, whose elements are `step` apart and whose neighbours are `row_step`.
    fn check<T: Float<Wide: Analytic> + Source>(rows: usize, len: usize, strides: [i64; 2], tolerance: f64) {
        let at = |row: usize, i: usize| row * strides[0] as usize + i * strides[1] as usize;
        let length = at(rows - 1, len - 1) + 1;
        let number = |value: f64| T::narrow(T::Wide::from_f64(value));
        let values: Vec<T> = (0..length).map(|i| number((i * 7919 % 613) as f64 * 0.02 - 6.0)).collect();
        let weights: Vec<T> = (0..length).map(|i| number((i * 31 % 17) as f64 * 0.1 - 0.7)).collect();
        let sizes = [rows as i64, len as i64];
        // SAFETY: every array has as many values as the strides require.
        let array = |at: *const T| unsafe { Array::new(at.cast_mut().cast(), T::DTYPE, &sizes, &strides) };
        let [soft, log, soft_grad, log_grad] = [(); 4].map(|()| vec![number(0.0); length]);
        let (x, grad, p, q) =
            (array(values.as_ptr()), array(weights.as_ptr()), array(soft.as_ptr()), array(log.as_ptr()));
        softmax(&p, &x, 1).unwrap();
        log_softmax(&q, &x, 1).unwrap();
        softmax_backward(&array(soft_grad.as_ptr()), &grad, &p, 1).unwrap();
        log_softmax_backward(&array(log_grad.as_ptr()), &grad, &q, 1).unwrap();
        for row in 0..rows {
            let row_of = |values: &[T]| (0..len).map(|i| values[at(row, i)].to_f64()).collect::<Vec<_>>();
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
                    let error = (found.to_f64() - expected).abs();
                    let allowed = tolerance * expected.abs().max(1.0);
                    assert!(error <= allowed, "{rows} {len} {strides:?}: {} {expected}", found.to_f64());
                }
            }
        }
    }

    #[test]
    fn rows_along_and_across_memory_agree_with_plain_loops() {
        at_every_level(|| {
            for (rows, len) in [(1usize, 1usize), (3, 7), (5, 40), (70, 33), (130, 9), (2, 3000), (2, 20_000)] {
                // Row-major, column-major, with gaps along the rows.
                for strides in [[len as i64, 1], [1, rows as i64], [2 * len as i64, 2]] {
                    check::<f32>(rows, len, strides, 4e-6);
                    check::<f64>(rows, len, strides, 1e-14);
                    if len <= 40 {
                        // The gradients of longer rows are those of the rounded values.
                        check::<bf16>(rows, len, strides, 2e-2);
                    }
                }
            }
        });
    }

    #[test]
    fn inputs_with_other_strides_than_the_output_give_the_same_bits() {
        let (rows, len) = (40i64, 33i64);
        let values: Vec<f32> = (0..rows * len).map(|i| (i * 7919 % 613) as f32 * 0.02 - 6.0).collect();
        let turned: Vec<f32> = (0..rows * len).map(|i| values[(i % rows * len + i / rows) as usize]).collect();
        let sizes = [rows, len];
        for dim in [0, 1] {
            let [wanted, got] = [(&values, [len, 1]), (&turned, [1, rows])].map(|(values, strides)| {
                let (mut out, mut grad) = (vec![0f32; values.len()], vec![0f32; values.len()]);
                // SAFETY: every vector has as many elements as the sizes and strides require.
                let array =
                    |at: *const f32, strides| unsafe { Array::new(at.cast_mut().cast(), DType::F32, &sizes, strides) };
                let (a, row_major) = (array(values.as_ptr(), &strides), [len, 1]);
                softmax(&array(out.as_mut_ptr(), &row_major), &a, dim).unwrap();
                let (p, out_grad) = (array(out.as_ptr(), &row_major), array(grad.as_mut_ptr(), &row_major));
                softmax_backward(&out_grad, &a, &p, dim).unwrap();
                (out, grad)
            });
            assert_eq!(wanted, got, "{dim}");
        }
    }

    /// PyTorch sums rows shorter than a vector from the left. Scores of detections that are 1 up to rounding are equal or
    /// not depending on that order, and equal scores decide which boxes are kept.
    #[test]
    fn short_rows_are_summed_from_the_left() {
        // e^-16.8 is less than half the distance of the numbers after 1; twice as much is more.
        let small = -16.8f32;
        at_every_level(|| {
            for (mut values, place, is_one) in [([0.0, small, small], 0, true), ([small, small, 0.0], 2, false)] {
                let mut out = [0.0f32; 3];
                // SAFETY: each array has three elements.
                let [a, o] = [&mut values, &mut out]
                    .map(|values| unsafe { Array::new(values.as_mut_ptr().cast(), DType::F32, &[3], &[1]) });
                softmax(&o, &a, 0).unwrap();
                assert_eq!(out[place] == 1.0, is_one, "{out:?}");
            }
        });
    }

    #[test]
    fn nan_spreads_over_its_row_and_infinity_takes_it() {
        for (input, soft, log) in
            [(f32::NAN, [f32::NAN; 2], [f32::NAN; 2]), (f32::NEG_INFINITY, [0.0, 1.0], [f32::NEG_INFINITY, 0.0])]
        {
            for place in 0..40 {
                let mut values = [1.0f32; 40];
                values[place] = input;
                let mut out = [9.0f32; 40];
                // SAFETY: each array has forty elements.
                let [a, o] = [&mut values, &mut out]
                    .map(|values| unsafe { Array::new(values.as_mut_ptr().cast(), DType::F32, &[40], &[1]) });
                softmax(&o, &a, 0).unwrap();
                let others = soft[1] / 39.0;
                for (i, &p) in out.iter().enumerate() {
                    let expected = if i == place { soft[0] } else { others };
                    assert!(p.is_nan() == expected.is_nan() && (p.is_nan() || (p - expected).abs() < 1e-6), "{p}");
                }
                log_softmax(&o, &a, 0).unwrap();
                assert!(out[place].is_nan() == log[0].is_nan() && (log[0].is_nan() || out[place] == log[0]));
            }
        }
    }
}
