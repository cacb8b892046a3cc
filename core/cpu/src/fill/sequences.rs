//! The element that all others are copies of, and sequences.

use crate::array::Array;
use crate::complex::ComplexFunctions;
use crate::convert::{Target, caster};
use crate::number::{Analytic, Number, Wide};
use crate::pointwise::Loop;
use rushlight_base::{Complex128, DType, Result, Scalar};

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

/// out_i = start + i step, for a one-dimensional output.
///
/// Integers count in `i64`; floating dtypes compute each element from its index in `f64` (also `f32` and half
/// precision: PyTorch's accumulation type on the CPU), so that errors do not accumulate.
pub fn arange(out: &Array, start: Scalar, step: Scalar) -> Result<()> {
    let walk = Loop::new([out.clone()])?;
    if matches!(out.dtype(), DType::Bool) || out.dtype().is_complex() {
        return Err(crate::dispatch::unsupported("arange_cpu", out.dtype()));
    }
    if out.dtype().is_integral(false) {
        let (mut next, step) = (start.to_i64(), step.to_i64());
        return dispatch!(out.dtype(), "arange_cpu", integer unsigned, T => {
            walk.generate::<T>(|| {
                let value = next;
                next = next.wrapping_add(step);
                T::cast(value)
            })?;
            Ok(())
        });
    }
    let (start, step, mut index) = (start.to_f64(), step.to_f64(), 0.0);
    dispatch!(out.dtype(), "arange_cpu", half float, T => {
        walk.generate::<T>(|| {
            let value = start + index * step;
            index += 1.0;
            T::cast(value)
        })?;
        Ok(())
    })
}

/// out = the next of `values` at each element, for a one-dimensional output.
pub fn integers(out: &Array, values: &mut dyn Iterator<Item = i64>) -> Result<()> {
    let walk = Loop::new([out.clone()])?;
    dispatch!(out.dtype(), "indices_cpu", integer unsigned half float, T => {
        walk.generate::<T>(|| T::cast(values.next().unwrap_or_default()))?;
        Ok(())
    })
}

/// `first, first + step, ..., last`: computed from the nearer end, so that both ends are exact.
fn spaced<W: Analytic>(first: W, last: W, count: usize) -> impl FnMut() -> W {
    let intervals = count.saturating_sub(1);
    let step = last.sub(first).div(W::from_f64(intervals.max(1) as f64));
    let mut at = 0;
    move || {
        let nearer = at < count / 2 || count == 1;
        let value = if nearer {
            first.add(step.mul(W::from_f64(at as f64)))
        } else {
            last.sub(step.mul(W::from_f64((intervals - at) as f64)))
        };
        at += 1;
        value
    }
}

/// out = evenly spaced from start to end, for a one-dimensional output. Integers are computed in `f64` and truncated.
pub fn linspace(out: &Array, start: Scalar, end: Scalar) -> Result<()> {
    let walk = Loop::new([out.clone()])?;
    let count = out.numel();
    if out.dtype().is_integral(false) {
        let (first, last) = (start.to_i64(), end.to_i64());
        let step = (last as f64 - first as f64) / count.saturating_sub(1).max(1) as f64;
        let mut at = 0;
        return dispatch!(out.dtype(), "linspace_cpu", integer, T => {
            walk.generate::<T>(|| {
                let nearer = at < count / 2 || count == 1;
                let steps = if nearer { at } else { count - at - 1 } as f64;
                let value = if nearer { first as f64 + step * steps } else { last as f64 - step * steps };
                at += 1;
                T::cast(value as i64)
            })?;
            Ok(())
        });
    }
    dispatch!(out.dtype(), "linspace_cpu", half float complex, T => {
        type W = <T as Number>::Wide;
        let mut next = spaced(W::from_scalar(start), W::from_scalar(end), count);
        walk.generate::<T>(|| T::narrow(next()))?;
        Ok(())
    })
}

/// out = powers of base with evenly spaced exponents, for a one-dimensional output. The exponents are counted, and the
/// powers taken, in doubles, which a base is in any case.
pub fn logspace(out: &Array, start: Scalar, end: Scalar, base: f64) -> Result<()> {
    let walk = Loop::new([out.clone()])?;
    let count = out.numel();
    if out.dtype().is_complex() {
        let base = Complex128::new(base, 0.0);
        let mut next = spaced(Complex128::from_scalar(start), Complex128::from_scalar(end), count);
        return dispatch!(out.dtype(), "logspace_cpu", complex, T => {
            walk.generate::<T>(|| T::cast(ComplexFunctions::pow(base, next())))?;
            Ok(())
        });
    }
    // Bounds are cut to the dtype before anything is computed.
    let bound = |value: Scalar| if out.dtype().is_integral(false) { value.to_i64() as f64 } else { value.to_f64() };
    let mut next = spaced(bound(start), bound(end), count);
    dispatch!(out.dtype(), "logspace_cpu", integer half float, T => {
        walk.generate::<T>(|| T::cast(base.powf(next())))?;
        Ok(())
    })
}
