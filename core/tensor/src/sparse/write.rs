//! In-place forms: the components of the target are replaced.

use super::coo::Coo;
use super::record;
use crate::dense::check_cast;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, bail, ensure};

/// Stores `result` in `target`.
pub(super) fn replace(target: &Tensor, result: &Tensor) -> Result<()> {
    if !target.is_any_sparse() {
        let strided = if result.is_any_sparse() { ops::to_dense(result, None, None)? } else { result.clone() };
        return ops::copy_(target, &strided, false);
    }
    ensure!(
        result.layout() == target.layout(),
        Runtime,
        "a result of layout {} cannot be stored in a tensor of layout {} in place",
        result.layout().name(),
        target.layout().name()
    );
    check_cast(result.dtype(), target.dtype())?;
    let result = if result.dtype() == target.dtype() {
        result.clone()
    } else {
        ops::to_dtype(result, target.dtype(), false, false, None)?
    };
    target.replace_components(&result)?;
    if result.requires_grad() { record::rebase(target, &result) } else { Ok(()) }
}

fn target(args: &Args<'_>) -> Result<Tensor> {
    let target = args.tensor(0)?;
    args.check_in_place(target)?;
    Ok(target.clone())
}

/// `zero_`: without specified elements.
pub(super) fn zero_(args: &Args<'_>) -> Result<Value> {
    let target = target(args)?;
    let coo = Coo::of(&target)?;
    let empty = Coo::empty(&coo.sizes, coo.sparse_dim(), target.dtype())?;
    replace(&target, &super::in_layout_of(&target, empty)?)?;
    Ok(Value::None)
}

/// `sparse_resize_`: other sizes, the elements stay.
pub(super) fn sparse_resize_(args: &Args<'_>) -> Result<Value> {
    resized("sparse_resize_", args, false)
}

/// `sparse_resize_and_clear_`: other sizes without elements.
pub(super) fn sparse_resize_and_clear_(args: &Args<'_>) -> Result<Value> {
    resized("sparse_resize_and_clear_", args, true)
}

/// `resize_as_sparse_`
pub(super) fn resize_as_sparse_(args: &Args<'_>) -> Result<Value> {
    let (target, like) = (target(args)?, super::expect_coo("resize_as_sparse_", args.tensor(1)?)?);
    let coo = super::expect_coo("resize_as_sparse_", &target)?;
    if coo.sizes != like.sizes || coo.sparse_dim() != like.sparse_dim() {
        let next = resize(coo, &like.sizes, like.sparse_dim())?;
        replace(&target, &next.into_tensor()?)?;
    }
    Ok(Value::None)
}

fn resized(name: &str, args: &Args<'_>, clear: bool) -> Result<Value> {
    let (target, sizes, sparse_dim, dense_dim) = (target(args)?, args.ints(1)?, args.int(2)?, args.int(3)?);
    let coo = super::expect_coo(name, &target)?;
    ensure!(
        sparse_dim >= 0 && dense_dim >= 0 && sparse_dim + dense_dim == sizes.len() as i64,
        Runtime,
        "number of dimensions must be sparse_dim ({sparse_dim}) + dense_dim ({dense_dim}), but got {}",
        sizes.len()
    );
    let next = if clear {
        Coo::empty(&sizes, sparse_dim as usize, target.dtype())?
    } else {
        resize(coo, &sizes, sparse_dim as usize)?
    };
    replace(&target, &next.into_tensor()?)?;
    Ok(Value::None)
}

/// The same elements in larger sizes; smaller ones only without elements.
fn resize(coo: Coo, sizes: &[i64], sparse_dim: usize) -> Result<Coo> {
    let dtype = coo.values.dtype();
    if coo.nnz() == 0 {
        return Coo::empty(sizes, sparse_dim, dtype);
    }
    let hint = "You may want to use `sparse_resize_and_clear_` or \"the constructor of a new tensor\".";
    ensure!(
        sparse_dim == coo.sparse_dim(),
        Runtime,
        "changing the number of sparse dimensions (from {} to {sparse_dim}) on a non-empty sparse tensor is not supported. {hint}",
        coo.sparse_dim()
    );
    ensure!(
        sizes.len() == coo.sizes.len(),
        Runtime,
        "changing the number of dense dimensions (from {} to {}) on a non-empty sparse tensor is not supported. {hint}",
        coo.dense_dim(),
        sizes.len() - sparse_dim
    );
    let (before, after) = (&coo.sizes[..sparse_dim], &sizes[..sparse_dim]);
    ensure!(
        before.iter().zip(after).all(|(before, after)| after >= before),
        Runtime,
        "shrinking the size of sparse dimensions (from {} to {}) on a non-empty sparse tensor is not supported. {hint}",
        rushlight_base::format_sizes(before),
        rushlight_base::format_sizes(after)
    );
    let (before, after) = (&coo.sizes[sparse_dim..], &sizes[sparse_dim..]);
    ensure!(
        before.iter().zip(after).all(|(before, after)| after >= before),
        Runtime,
        "shrinking the size of dense dimensions (from {} to {}) on a non-empty sparse tensor is not supported. {hint}",
        rushlight_base::format_sizes(before),
        rushlight_base::format_sizes(after)
    );
    rushlight_base::numel(sizes)?;
    let mut values = coo.values.clone();
    for (dim, (&before, &after)) in before.iter().zip(after).enumerate() {
        if after > before {
            let mut added = values.sizes();
            added[dim + 1] = after - before;
            let zeros = ops::zeros(&added, values.options())?;
            values = ops::cat(&[&values, &zeros], dim as i64 + 1)?;
        }
    }
    Ok(Coo { sizes: DimVec::from_slice(sizes), values, ..coo })
}

/// `copy_` and `copy_sparse_to_sparse_` of one sparse tensor to another.
pub(super) fn copy_(args: &Args<'_>) -> Result<Value> {
    let (target, source) = (target(args)?, args.tensor(1)?);
    if target.is_any_sparse() != source.is_any_sparse() {
        bail!(
            Runtime,
            "copy_() between dense and sparse Tensors is not implemented! Found self type = {} and src type = {}",
            target.layout().name(),
            source.layout().name()
        );
    }
    ensure!(
        target.sizes() == source.sizes() || target.layout() == rushlight_base::Layout::Sparse,
        Runtime,
        "copy of sparse compressed tensors having different sizes is not supported"
    );
    let source = if source.dtype() == target.dtype() {
        ops::clone(source, None)?
    } else {
        ops::to_dtype(source, target.dtype(), false, false, None)?
    };
    replace(&target, &source)?;
    Ok(Value::None)
}

/// `_coalesced_`: sets the mark.
pub(super) fn coalesced_(args: &Args<'_>) -> Result<Value> {
    let (target, coalesced) = (args.tensor(0)?, args.bool(1)?);
    let coo = super::expect_coo("_coalesced_", target)?;
    if coalesced {
        let numbers = coo.numbers()?;
        ensure!(
            numbers.windows(2).all(|pair| pair[0] < pair[1]),
            Runtime,
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
        );
    }
    target.replace_components(&Coo { coalesced, ..coo }.into_tensor()?)?;
    Ok(Value::None)
}
