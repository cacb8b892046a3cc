//! Rules of concatenation and reversal.

use super::promotion::common_dtype;
use crate::dense::{Dense, Spec};
use rushlight_base::{DimVec, Result, ensure, format_sizes, wrap_dim};

/// The inputs along a new dimension.
pub fn stack(tensors: &[Dense], dim: i64) -> Result<Spec> {
    ensure!(!tensors.is_empty(), Runtime, "stack expects a non-empty TensorList");
    let first = &tensors[0];
    let dim = wrap_dim(dim, first.ndim() + 1)?;
    for (at, tensor) in tensors.iter().enumerate() {
        ensure!(
            tensor.sizes() == first.sizes(),
            Runtime,
            "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {at}",
            format_sizes(first.sizes()),
            format_sizes(tensor.sizes())
        );
    }
    let mut sizes = DimVec::from_slice(first.sizes());
    sizes.insert(dim, tensors.len() as i64);
    let inputs: Vec<&Dense> = tensors.iter().collect();
    Ok(Spec::new(&sizes, common_dtype(&inputs)?, first.device))
}

/// Dimensions reversed.
pub fn flip(self_: &Dense, dims: &[i64]) -> Result<Spec> {
    let mut seen = DimVec::new();
    for &dim in dims {
        let dim = wrap_dim(dim, self_.ndim())? as i64;
        ensure!(!seen.contains(&dim), Runtime, "dim {dim} appears multiple times in the list of dims");
        seen.push(dim);
    }
    super::like(self_)
}
