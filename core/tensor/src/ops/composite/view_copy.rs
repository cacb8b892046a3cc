//! Operators made of operators: parts of a tensor as copies.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{MemoryFormat, Result};

fn copies(views: Vec<Tensor>) -> Result<Vec<Tensor>> {
    views.iter().map(|view| ops::clone(view, Some(MemoryFormat::Contiguous))).collect()
}

/// Copies of parts of the given sizes.
pub fn split_with_sizes_copy(self_: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    copies(ops::split_with_sizes(self_, split_sizes, dim)?)
}

/// Copies of the slices of a dimension.
pub fn unbind_copy(self_: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    copies(ops::unbind_int(self_, dim)?)
}
