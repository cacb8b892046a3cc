//! Constants and sequences.

use crate::number::{Number, Wide};
use crate::pointwise::Loop;
use rushlight_base::{DType, Result, Scalar};

#[cfg(not(target_arch = "nvptx64"))]
mod sequences;
#[cfg(not(target_arch = "nvptx64"))]
pub use sequences::{arange, element_of, integers, linspace, logspace};

kernels! { "fill";
    /// out = value
    pub fn fill(walk: &Loop<1>, value: Scalar) -> Result<()> {
        walk.fill(element(value, walk.dtype(0))?)
    }
}

/// `value` as an element of `dtype`: its bytes, at the start of a buffer for the largest element.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[cfg_attr(not(target_arch = "nvptx64"), inline)]
pub fn element(value: Scalar, dtype: DType) -> Result<[u64; 2]> {
    dispatch!(dtype, "fill_cpu", integer unsigned half float complex chalf bool, T => {
        let mut bytes = [0; 2];
        // SAFETY: 16 bytes hold one element of any dtype, aligned for it.
        unsafe { bytes.as_mut_ptr().cast::<T>().write(T::narrow(<T as Number>::Wide::from_scalar(value))) };
        Ok(bytes)
    })
}
