//! Composite operators: copies of views.

use crate::dispatch;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{MemoryFormat, Result, ensure};

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

/// Copies of parts of a size.
pub fn split_copy(self_: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    copies(ops::split_tensor(self_, split_size, dim)?)
}

/// Checks that there is a tensor for each of these views.
fn check_outs(name: &str, views: &[Tensor], outs: &[&Tensor]) -> Result<()> {
    let (wanted, given) = (views.len(), outs.len());
    ensure!(wanted == given, Runtime, "{name} expected an out= argument of size {wanted}, got size {given}");
    Ok(())
}

/// Copies each view into a tensor of its shape.
fn copy_to(name: &str, views: &[Tensor], outs: &[&Tensor]) -> Result<()> {
    check_outs(name, views, outs)?;
    views.iter().zip(outs).try_for_each(|(view, out)| ops::copy_(out, view, false))
}

/// Like `split_copy`, written to `out`.
pub fn split_copy_out(self_: &Tensor, split_size: i64, dim: i64, out: &[&Tensor]) -> Result<()> {
    copy_to("split_copy_Tensor_out()", &ops::split_tensor(self_, split_size, dim)?, out)
}

/// Like `unbind_copy`, written to `out`.
pub fn unbind_copy_out(self_: &Tensor, dim: i64, out: &[&Tensor]) -> Result<()> {
    copy_to("unbind_copy_int_out", &ops::unbind_int(self_, dim)?, out)
}

/// Like `split_with_sizes_copy`, written to `out`, each resized if needed.
pub fn split_with_sizes_copy_out(self_: &Tensor, split_sizes: &[i64], dim: i64, out: &[&Tensor]) -> Result<()> {
    let views = ops::split_with_sizes(self_, split_sizes, dim)?;
    check_outs("split_with_sizes_copy_out", &views, out)?;
    for (view, out) in views.iter().zip(out) {
        dispatch::write_own_result(view, out)?;
    }
    Ok(())
}
