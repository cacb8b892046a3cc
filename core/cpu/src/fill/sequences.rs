//! The element that all others are copies of, and sequences.

use crate::array::Array;
use crate::complex::ComplexFunctions;
use crate::convert::{Target, caster};
use crate::device;
use crate::number::{Analytic, Number, Wide};
use crate::pointwise::Loop;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, run_rare};
use rushlight_base::list::filled;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Complex128, DType, Element, Result, Scalar};
use std::ops::Range;

/// The first element of `from`, which must not be empty, as an element of `dtype`.
pub fn element_of(from: &Array, dtype: DType) -> Result<[u64; 2]> {
    let mut bytes = [0u64; 2];
    let to = bytes.as_mut_ptr().cast::<u8>();
    // SAFETY: both places hold an element of their dtypes.
    unsafe {
        if from.dtype() == dtype {
            to.copy_from_nonoverlapping(from.start(), dtype.size());
        } else {
            caster(from.dtype(), dtype)?(from.start(), to, 1);
        }
    }
    Ok(bytes)
}

/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 14;

/// An index, as the first one of its part and the distance to that: conversions of 32 bits exist for vectors.
#[derive(Clone, Copy)]
struct Index {
    first: usize,
    after: u32,
}

impl Index {
    #[inline(always)]
    fn get(self) -> usize {
        self.first + self.after as usize
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.first as f64 + f64::from(self.after as i32)
    }
}

/// out_i = f(i), for a one-dimensional output.
fn numbered<T: Element>(out: &Array, f: impl Fn(Index) -> T + Copy + Sync) -> Result<()> {
    struct Part<T, F> {
        to: *mut T,
        step: isize,
        range: Range<usize>,
        f: F,
    }
    impl<T: Element, F: Fn(Index) -> T> Kernel for Part<T, F> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, _: S) {
            let Part { to, step, range, f } = self;
            for first in range.clone().step_by(GRAIN) {
                let count = GRAIN.min(range.end - first) as u32;
                let to = to.wrapping_offset(first as isize * step);
                let write = |after: u32, at: isize| {
                    // SAFETY: the index is below the number of elements, all of which `Array::new` guarantees.
                    unsafe { to.offset(at).write(f(Index { first, after })) }
                };
                match step {
                    1 => (0..count).for_each(|after| write(after, after as isize)),
                    _ => (0..count).for_each(|after| write(after, after as isize * step)),
                }
            }
        }
    }
    let (to, step) = (Shared::new(out.as_ptr::<T>()), if out.ndim() == 0 { 1 } else { out.stride(0) });
    parallel_chunks(out.numel(), GRAIN, &|range| {
        run_rare::<T, _>(Part { to: to.get(), step, range, f });
    })
}

/// Computes an output of a device in memory of the host, and copies it.
fn sent(out: &Array, compute: impl FnOnce(&Array) -> Result<()>) -> Result<()> {
    let numel = out.numel();
    let mut elements = filled(numel * out.dtype().size().div_ceil(8).max(1), 0u64)?;
    let (sizes, strides) = ([numel as i64], [1]);
    // SAFETY: the list has 8 bytes or more for each element, is aligned for every dtype and outlives the array.
    let host = unsafe { Array::new(elements.as_mut_ptr().cast(), out.dtype(), &sizes, &strides) };
    compute(&host)?;
    device::send(out, &host)
}

/// out_i = start + i step, for a one-dimensional output.
///
/// Integers count in `i64`; floating dtypes compute each element from its index in `f64` (also `f32` and half
/// precision: PyTorch's accumulation type on the CPU), so that errors do not accumulate.
pub fn arange(out: &Array, start: Scalar, step: Scalar) -> Result<()> {
    if !out.is_on_host() {
        return sent(out, |out| arange(out, start, step));
    }
    if matches!(out.dtype(), DType::Bool) || out.dtype().is_complex() {
        return Err(crate::dispatch::unsupported("arange_cpu", out.dtype()));
    }
    if out.dtype().is_integral(false) {
        let (start, step) = (start.to_i64(), step.to_i64());
        return dispatch!(out.dtype(), "arange_cpu", integer unsigned, T => {
            numbered::<T>(out, move |at| T::cast(start.wrapping_add((at.get() as i64).wrapping_mul(step))))
        });
    }
    let (start, step) = (start.to_f64(), step.to_f64());
    dispatch!(out.dtype(), "arange_cpu", half float, T => {
        numbered::<T>(out, move |at| T::cast(start + at.to_f64() * step))
    })
}

/// out = the next of `values` at each element, for a one-dimensional output.
pub fn integers(out: &Array, values: &mut dyn Iterator<Item = i64>) -> Result<()> {
    if !out.is_on_host() {
        return sent(out, |out| integers(out, values));
    }
    let walk = Loop::new([out.clone()])?;
    dispatch!(out.dtype(), "indices_cpu", integer unsigned half float, T => {
        walk.generate::<T>(|| T::cast(values.next().unwrap_or_default()))?;
        Ok(())
    })
}

/// `first, first + step, ..., last`: computed from the nearer end, so that both ends are exact.
fn spaced<W: Analytic>(first: W, last: W, count: usize) -> impl Fn(Index) -> W + Copy + Sync {
    let intervals = count.saturating_sub(1);
    // One element is the first, whatever the last is.
    let step = if intervals == 0 { W::ZERO } else { last.sub(first).div(W::from_f64(intervals as f64)) };
    move |at| {
        let from_first = first.add(step.mul(W::from_f64(at.to_f64())));
        let from_last = last.sub(step.mul(W::from_f64(intervals as f64 - at.to_f64())));
        if at.get() < count / 2 || count == 1 { from_first } else { from_last }
    }
}

/// out = evenly spaced from start to end, for a one-dimensional output. Integers are computed in `f64` and truncated.
pub fn linspace(out: &Array, start: Scalar, end: Scalar) -> Result<()> {
    if !out.is_on_host() {
        return sent(out, |out| linspace(out, start, end));
    }
    let count = out.numel();
    if out.dtype().is_integral(false) {
        let (first, last) = (start.to_i64(), end.to_i64());
        let step = (last as f64 - first as f64) / count.saturating_sub(1).max(1) as f64;
        return dispatch!(out.dtype(), "linspace_cpu", integer, T => {
            numbered::<T>(out, move |at| {
                let at = at.get();
                let nearer = at < count / 2 || count == 1;
                let steps = if nearer { at } else { count - at - 1 } as f64;
                let value = if nearer { first as f64 + step * steps } else { last as f64 - step * steps };
                T::cast(value as i64)
            })
        });
    }
    dispatch!(out.dtype(), "linspace_cpu", half float complex, T => {
        type W = <T as Number>::Wide;
        let value = spaced(W::from_scalar(start), W::from_scalar(end), count);
        numbered::<T>(out, move |at| T::narrow(value(at)))
    })
}

/// out = powers of base with evenly spaced exponents, for a one-dimensional output. The exponents are counted, and the
/// powers taken, in doubles, which a base is in any case.
pub fn logspace(out: &Array, start: Scalar, end: Scalar, base: f64) -> Result<()> {
    if !out.is_on_host() {
        return sent(out, |out| logspace(out, start, end, base));
    }
    let count = out.numel();
    if out.dtype().is_complex() {
        let base = Complex128::new(base, 0.0);
        let exponent = spaced(Complex128::from_scalar(start), Complex128::from_scalar(end), count);
        return dispatch!(out.dtype(), "logspace_cpu", complex, T => {
            numbered::<T>(out, move |at| T::cast(ComplexFunctions::pow(base, exponent(at))))
        });
    }
    // Bounds are cut to the dtype before anything is computed.
    let bound = |value: Scalar| if out.dtype().is_integral(false) { value.to_i64() as f64 } else { value.to_f64() };
    let exponent = spaced(bound(start), bound(end), count);
    dispatch!(out.dtype(), "logspace_cpu", integer half float, T => {
        numbered::<T>(out, move |at| T::cast(base.powf(exponent(at))))
    })
}
