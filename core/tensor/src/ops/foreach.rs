//! Operators over lists of tensors (`_foreach_add` and similar): an element-wise operator at each index of the lists.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DeviceType, MemoryFormat, Result, Scalar, ensure, list};

/// The results of `call` for each index of the lists.
pub fn map(
    lists: &[&[&Tensor]],
    numbers: Option<&[Scalar]>,
    singles: &[&Tensor],
    call: impl FnMut(usize) -> Result<Tensor>,
) -> Result<Vec<Tensor>> {
    let count = checked_length(lists, numbers, singles)?;
    list::check_memory(count)?;
    list::try_collect((0..count).map(call))
}

/// Calls `call`, which writes in place, for each index of the lists.
pub fn write(
    lists: &[&[&Tensor]],
    numbers: Option<&[Scalar]>,
    singles: &[&Tensor],
    call: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    (0..checked_length(lists, numbers, singles)?).try_for_each(call)
}

/// The length of the lists, which must be the same and not 0. Single tensors stand for a number: they are 0-dim.
fn checked_length(lists: &[&[&Tensor]], numbers: Option<&[Scalar]>, singles: &[&Tensor]) -> Result<usize> {
    for single in singles {
        let (ndim, numel) = (single.ndim(), single.numel());
        ensure!(
            ndim == 0,
            Runtime,
            "scalar tensor expected to be 0 dim but it has {ndim} dimensions and {numel} elements."
        );
    }
    let count = lists.first().map_or(0, |first| first.len());
    for other in lists {
        ensure!(
            other.len() == count,
            Runtime,
            "Tensor lists must have the same number of tensors, got {count} and {}",
            other.len()
        );
    }
    ensure!(count > 0, Runtime, "Tensor list must have at least one tensor.");
    if let Some(numbers) = numbers {
        let (given, several) = (numbers.len(), lists.len() > 1);
        let counts = if several { format!(", got {count} and {given}") } else { ".".to_string() };
        ensure!(given == count, Runtime, "Tensor list must have same number of elements as scalar list{counts}");
    }
    Ok(count)
}

/// The elements of a tensor of `count` numbers.
fn numbers(scalars: &Tensor, count: usize) -> Result<Vec<Scalar>> {
    let device = scalars.device();
    ensure!(
        device.kind == DeviceType::Cpu,
        Runtime,
        "Expected scalars to be on CPU, got {} instead.",
        device.kind.name()
    );
    ensure!(scalars.is_contiguous(MemoryFormat::Contiguous), Runtime, "Expected scalars to be contiguous.");
    let ndim = scalars.ndim();
    ensure!(ndim == 1, Runtime, "Expected packed scalar Tensor to be of dimension 1. Got {ndim} instead.");
    let given = scalars.numel();
    ensure!(
        given == count as i64,
        Runtime,
        "Expected length of scalars to match input of length {count} but got {given} instead."
    );
    list::try_collect((0..given).map(|at| ops::select_int(scalars, 0, at)?.item()))
}

/// `_foreach_addcmul.Tensor`
pub fn addcmul_tensor(
    self_: &[&Tensor],
    tensor1: &[&Tensor],
    tensor2: &[&Tensor],
    scalars: &Tensor,
) -> Result<Vec<Tensor>> {
    ops::_foreach_addcmul_scalarlist(self_, tensor1, tensor2, &numbers(scalars, self_.len())?)
}

/// `_foreach_addcmul_.Tensor`
pub fn addcmul_tensor_(self_: &[&Tensor], tensor1: &[&Tensor], tensor2: &[&Tensor], scalars: &Tensor) -> Result<()> {
    ops::_foreach_addcmul_scalarlist_(self_, tensor1, tensor2, &numbers(scalars, self_.len())?)
}

/// `_foreach_addcdiv.Tensor`
pub fn addcdiv_tensor(
    self_: &[&Tensor],
    tensor1: &[&Tensor],
    tensor2: &[&Tensor],
    scalars: &Tensor,
) -> Result<Vec<Tensor>> {
    ops::_foreach_addcdiv_scalarlist(self_, tensor1, tensor2, &numbers(scalars, self_.len())?)
}

/// `_foreach_addcdiv_.Tensor`
pub fn addcdiv_tensor_(self_: &[&Tensor], tensor1: &[&Tensor], tensor2: &[&Tensor], scalars: &Tensor) -> Result<()> {
    ops::_foreach_addcdiv_scalarlist_(self_, tensor1, tensor2, &numbers(scalars, self_.len())?)
}
