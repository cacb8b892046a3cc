//! Sizes of nested tensors, and their parts.

use super::Nested;
use super::convert::of_tensors;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Device, Result, bail, ensure, list, wrap_dim};

fn first(name: &str, args: &Args<'_>) -> Result<Nested> {
    Nested::of(name, args.tensor(0)?)
}

fn one(value: impl Into<Value>) -> Result<Vec<Value>> {
    Ok(vec![value.into()])
}

pub(super) fn dim(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(args.tensor(0)?.ndim() as i64)
}

pub(super) fn numel(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(args.tensor(0)?.numel())
}

pub(super) fn is_contiguous(_: &str, _: &Args<'_>) -> Result<Vec<Value>> {
    one(true)
}

pub(super) fn is_floating_point(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(args.tensor(0)?.dtype().is_floating())
}

pub(super) fn device(_: &str, _: &Args<'_>) -> Result<Vec<Value>> {
    one(Value::Device(Device::CPU))
}

pub(super) fn dtype(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    one(Value::DType(args.tensor(0)?.dtype()))
}

pub(super) fn size(_: &str, _: &Args<'_>) -> Result<Vec<Value>> {
    bail!(
        Runtime,
        "a nested tensor does not have sizes: those of its tensors may differ (_nested_tensor_size has them)"
    )
}

pub(super) fn stride(_: &str, _: &Args<'_>) -> Result<Vec<Value>> {
    bail!(Runtime, "a nested tensor does not have strides: those of its tensors may differ")
}

pub(super) fn size_int(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = first(name, args)?;
    let dim = wrap_dim(args.int(1)?, nested.inner_dims() + 1)?;
    if dim == 0 {
        return one(nested.sizes.len() as i64);
    }
    match nested.regular(dim - 1) {
        Some(size) => one(size),
        None => bail!(Runtime, "Given dimension {dim} is irregular and does not have a size."),
    }
}

/// The sizes as a matrix with a row for each tensor.
pub(super) fn sizes(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = first(name, args)?;
    let flat: Vec<i64> = list::collect(nested.sizes.iter().flat_map(|sizes| sizes.iter().copied()))?;
    one(Tensor::from_slice(&flat, &[nested.sizes.len() as i64, nested.inner_dims() as i64])?)
}

pub(super) fn unbind(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = first(name, args)?;
    let dim = wrap_dim(args.int(1)?, nested.inner_dims() + 1)?;
    ensure!(dim == 0, Runtime, "unbind of a nested tensor is only implemented for dim=0, got {dim}");
    one(nested.parts()?)
}

pub(super) fn select(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = first(name, args)?;
    let (dim, index) = (wrap_dim(args.int(1)?, nested.inner_dims() + 1)?, args.int(2)?);
    ensure!(dim == 0, Runtime, "select of a nested tensor is only implemented for dim=0, got {dim}");
    let count = nested.sizes.len() as i64;
    ensure!(
        (-count..count).contains(&index),
        Index,
        "index {index} is out of bounds for dimension 0 with size {count}"
    );
    let mut parts = nested.parts()?;
    one(parts.swap_remove(if index < 0 { index + count } else { index } as usize))
}

pub(super) fn transpose(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = first(name, args)?;
    let dims = nested.inner_dims() + 1;
    let (from, to) = (wrap_dim(args.int(1)?, dims)?, wrap_dim(args.int(2)?, dims)?);
    if from == to {
        return one(args.tensor(0)?.clone());
    }
    ensure!(from > 0 && to > 0, Runtime, "Nested tensor dimension 0 cannot be transposed");
    let turned = nested.parts()?.into_iter().map(|part| ops::transpose_int(&part, from as i64 - 1, to as i64 - 1));
    one(of_tensors(&list::try_collect(turned)?)?)
}
