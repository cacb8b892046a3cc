//! Composite operators: masked indices into several dimensions that may be out of range.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar};

/// Like `index`: indices are always checked.
pub fn _unsafe_index(self_: &Tensor, indices: &[Option<&Tensor>]) -> Result<Tensor> {
    ops::index_tensor(self_, indices)
}

/// Like `index_put`: indices are always checked.
pub fn _unsafe_index_put(
    self_: &Tensor,
    indices: &[Option<&Tensor>],
    values: &Tensor,
    accumulate: bool,
) -> Result<Tensor> {
    ops::index_put(self_, indices, values, accumulate)
}

/// Indices clamped to the valid range.
fn clamped(self_: &Tensor, indices: &[Option<&Tensor>]) -> Result<Vec<Option<Tensor>>> {
    let clamp = |(index, &size): (&Option<&Tensor>, &i64)| {
        let clamp = |index: &Tensor| ops::clamp(index, Some(Scalar::Int(-size)), Some(Scalar::Int(size - 1)));
        index.map(clamp).transpose()
    };
    indices.iter().zip(&self_.sizes()).map(clamp).collect()
}

fn refs(indices: &[Option<Tensor>]) -> Vec<Option<&Tensor>> {
    indices.iter().map(Option::as_ref).collect()
}

/// The elements that indices lead to where the mask is true, else one value.
pub fn _unsafe_masked_index(
    self_: &Tensor,
    mask: &Tensor,
    indices: &[Option<&Tensor>],
    fill: Scalar,
) -> Result<Tensor> {
    let outside = ops::logical_not(mask)?;
    if self_.numel() == 0 {
        let nothing = ops::zeros(&mask.sizes(), self_.options())?;
        return ops::masked_fill_scalar(&nothing, &outside, fill);
    }
    let found = ops::index_tensor(self_, &refs(&clamped(self_, indices)?))?;
    ops::masked_fill_scalar(&found, &outside, fill)
}

/// `values` added where indices lead to and the mask is true.
pub fn _unsafe_masked_index_put_accumulate(
    self_: &Tensor,
    mask: &Tensor,
    indices: &[Option<&Tensor>],
    values: &Tensor,
) -> Result<Tensor> {
    if self_.numel() == 0 {
        return ops::clone(self_, None);
    }
    let values = ops::masked_fill_scalar(values, &ops::logical_not(mask)?, Scalar::Int(0))?;
    ops::index_put(self_, &refs(&clamped(self_, indices)?), &values, true)
}
