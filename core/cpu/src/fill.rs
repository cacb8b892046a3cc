//! Constants and sequences.

use crate::array::{Array, Loop};
use crate::convert::Target;
use crate::number::{Number, Wide};
use rushlight_base::{DType, Result, Scalar};

/// out = value
pub fn fill(walk: &Loop<1>, value: Scalar) -> Result<()> {
    dispatch!(walk.dtype(0), "fill_cpu", integer unsigned half float complex chalf bool, T => {
        let value = T::narrow(<T as Number>::Wide::from_scalar(value));
        walk.generate::<T>(|| value);
        Ok(())
    })
}

/// out_i = start + i step, for a one-dimensional output.
///
/// Integers count in `i64`; floating dtypes compute each element from its index in `f64` (`f32` and
/// halves as well: PyTorch's accumulation type on the CPU), so that errors do not add up.
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
            });
            Ok(())
        });
    }
    let (start, step, mut index) = (start.to_f64(), step.to_f64(), 0.0);
    dispatch!(out.dtype(), "arange_cpu", half float, T => {
        walk.generate::<T>(|| {
            let value = start + index * step;
            index += 1.0;
            T::cast(value)
        });
        Ok(())
    })
}
