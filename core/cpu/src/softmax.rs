//! Softmax and its logarithm along a dimension, with their gradients.
//!
//! Every row is shifted by its maximum first, so that no exponential overflows.

use crate::array::Array;
use crate::number::{Number, Real, Wide};
use rushlight_base::plan::Plan;
use rushlight_base::{Element, Result, ensure};

/// One row: `len` elements, `step` apart.
#[derive(Clone, Copy)]
struct Row<T> {
    at: *mut T,
    step: isize,
    len: usize,
}

impl<T: Number> Row<T> {
    #[inline(always)]
    fn get(&self, i: usize) -> T::Wide {
        debug_assert!(i < self.len);
        // SAFETY: rows are made by `rows`, from arrays that hold `len` elements along the dimension, and
        // every loop below runs to `len`.
        unsafe { self.at.offset(i as isize * self.step).read().widen() }
    }

    #[inline(always)]
    fn set(&self, i: usize, value: T::Wide) {
        debug_assert!(i < self.len);
        // SAFETY: as for `get`.
        unsafe { self.at.offset(i as isize * self.step).write(T::narrow(value)) }
    }

    fn sum(&self, f: impl Fn(usize, T::Wide) -> T::Wide) -> T::Wide {
        (0..self.len).fold(T::Wide::ZERO, |sum, i| sum.add(f(i, self.get(i))))
    }
}

/// Calls `each` with the rows along `dim` of arrays of one shape and dtype.
fn rows<T: Element, const N: usize>(arrays: [&Array; N], dim: usize, each: &mut dyn FnMut([Row<T>; N])) -> Result<()> {
    let len = arrays[0].size(dim);
    ensure!(
        arrays.iter().all(|array| array.sizes() == arrays[0].sizes()),
        Internal,
        "a row kernel got arrays of different shapes"
    );
    let parts = arrays.map(|array| array.without(dim));
    let plan = Plan::<N>::new(&parts[0].0, std::array::from_fn(|operand| parts[operand].1.as_slice()));
    if len > 0 {
        plan.elements(&mut |offsets: [isize; N]| {
            each(std::array::from_fn(|operand| {
                // The plan stays within all dimensions but `dim`.
                let at = arrays[operand].as_ptr::<T>().wrapping_offset(offsets[operand]);
                Row { at, step: arrays[operand].stride(dim), len }
            }));
        });
    }
    Ok(())
}

fn max_of<T: Number<Wide: Real>>(row: &Row<T>) -> T::Wide {
    (1..row.len).fold(row.get(0), |best, i| crate::arithmetic::max_nan(best, row.get(i)))
}

/// out = a - ln sum e^a along `dim`
///
/// Along the last dimension PyTorch keeps the sum and its logarithm in the dtype of the row, which shows in
/// halves; so do we, so that models give the losses they gave there.
pub fn log_softmax(out: &Array, a: &Array, dim: usize) -> Result<()> {
    let rounds = dim + 1 == a.ndim();
    dispatch!(a.dtype(), "log_softmax_lastdim_kernel_impl", half float, T => {
        let kept = |value: <T as Number>::Wide| if rounds { T::narrow(value).widen() } else { value };
        rows::<T, 2>([out, a], dim, &mut |[out, a]| {
            let max = max_of(&a);
            let log_sum = kept(kept(a.sum(|_, x| (x - max).exp())).ln());
            (0..a.len).for_each(|i| out.set(i, a.get(i) - max - log_sum));
        })
    })
}

/// grad_in = grad - e^out sum grad along `dim`; `out` is what the forward gave.
pub fn log_softmax_backward(grad_in: &Array, grad: &Array, out: &Array, dim: usize) -> Result<()> {
    dispatch!(grad.dtype(), "log_softmax_backward_lastdim_kernel_impl", half float, T => {
        rows::<T, 3>([grad_in, grad, out], dim, &mut |[grad_in, grad, out]| {
            let sum = grad.sum(|_, g| g);
            (0..grad.len).for_each(|i| grad_in.set(i, grad.get(i) - out.get(i).exp() * sum));
        })
    })
}

/// out = e^a / sum e^a along `dim`
pub fn softmax(out: &Array, a: &Array, dim: usize) -> Result<()> {
    dispatch!(a.dtype(), "softmax_lastdim_kernel_impl", half float, T => {
        rows::<T, 2>([out, a], dim, &mut |[out, a]| {
            let max = max_of(&a);
            let sum = a.sum(|_, x| (x - max).exp());
            (0..a.len).for_each(|i| out.set(i, (a.get(i) - max).exp() / sum));
        })
    })
}

/// grad_in = out (grad - sum grad out) along `dim`; `out` is what the forward gave.
pub fn softmax_backward(grad_in: &Array, grad: &Array, out: &Array, dim: usize) -> Result<()> {
    dispatch!(grad.dtype(), "softmax_backward_lastdim_kernel_impl", half float, T => {
        rows::<T, 3>([grad_in, grad, out], dim, &mut |[grad_in, grad, out]| {
            let sum = grad.sum(|i, g| g * out.get(i));
            (0..grad.len).for_each(|i| grad_in.set(i, (grad.get(i) - sum) * out.get(i)));
        })
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
}
