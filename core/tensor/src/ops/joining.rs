//! Kernels of concatenation and reversal.

use super::access::{array, sub_array};
use super::views;
use crate::dense::Dense;
use rushlight_base::{Result, wrap_dim};
use rushlight_cpu::{Loop, convert};

/// out = tensors, each a slice of dim
pub fn stack(out: &Dense, tensors: &[Dense], dim: i64) -> Result<()> {
    for (at, tensor) in tensors.iter().enumerate() {
        let slice = views::select(out, dim, at as i64)?;
        convert::copy(&Loop::new([sub_array(out, &slice), array(tensor)])?)?;
    }
    Ok(())
}

/// out = self with dims reversed
pub fn flip(out: &Dense, self_: &Dense, dims: &[i64]) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    // Read backwards: from the last element on, with negative strides.
    let mut geometry = self_.geometry.clone();
    for &dim in dims {
        if let Some(stride) = geometry.strides.get_mut(wrap_dim(dim, self_.ndim())?) {
            *stride = -*stride;
        }
    }
    for (size, stride) in geometry.sizes.iter().zip(&geometry.strides) {
        geometry.offset -= (size - 1) * stride.min(&0);
    }
    convert::copy(&Loop::new([array(out), sub_array(self_, &geometry)])?)
}
