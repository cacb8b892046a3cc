//! Operators that create or expect nested tensors. Calls with a nested tensor do not arrive here: the layer of nested
//! tensors calls their kernels.

use crate::nested;
use crate::{Options, Tensor};
use rushlight_base::{DType, Device, Error, Layout, Result, ensure, err};

/// A nested tensor of the rows that a mask selects
pub fn nested_tensor_from_mask(t: &Tensor, mask: &Tensor, mask_check: bool) -> Result<Tensor> {
    nested::from_mask(t, mask, mask_check)
}

/// Whether the ones of a mask come first
pub fn nested_tensor_from_mask_left_aligned(t: &Tensor, mask: &Tensor) -> Result<bool> {
    nested::is_left_aligned(t, mask)
}

/// A nested tensor with copies of tensors
pub fn nested_tensor_from_tensor_list(
    list: &[&Tensor],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    ensure!(
        matches!(layout, None | Some(Layout::Strided)),
        NotImplemented,
        "a nested tensor of another layout than strided is not implemented"
    );
    nested::from_tensors(list, Options { dtype, layout, device, pin_memory })
}

#[cold]
fn not_nested(operator: &str) -> Error {
    err!(
        NotImplemented,
        "Could not run 'aten::{operator}' with arguments from the 'CPU' backend: the tensor is not nested"
    )
}

/// The sizes of nested tensors
pub fn nested_tensor_size(_: &Tensor) -> Result<Tensor> {
    Err(not_nested("_nested_tensor_size"))
}

/// A dense tensor of nested ones
pub fn to_padded_tensor(_: &Tensor, _: f64, _: Option<&[i64]>) -> Result<Tensor> {
    Err(not_nested("to_padded_tensor"))
}
