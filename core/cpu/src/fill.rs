//! Constants and sequences.

use crate::array::Array;
use crate::convert::{Target, caster};
use crate::number::{Number, Wide};
use crate::pointwise::Loop;
use rushlight_base::{DType, Result, Scalar};

/// out = value
pub fn fill(walk: &Loop<1>, value: Scalar) -> Result<()> {
    walk.fill(element(value, walk.dtype(0))?)
}

/// `value` as an element of `dtype`: its bytes, at the start of the room of the largest element.
#[inline]
pub fn element(value: Scalar, dtype: DType) -> Result<[u64; 2]> {
    dispatch!(dtype, "fill_cpu", integer unsigned half float complex chalf bool, T => {
        let mut bytes = [0; 2];
        // SAFETY: 16 bytes hold one element of any dtype, aligned for it.
        unsafe { bytes.as_mut_ptr().cast::<T>().write(T::narrow(<T as Number>::Wide::from_scalar(value))) };
        Ok(bytes)
    })
}

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
