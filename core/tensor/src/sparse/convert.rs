//! Conversion between layouts and dtypes, and access to components.

use super::compressed::Compressed;
use super::coo::{Coo, coordinates_of, gather};
use super::record::Context;
use crate::components::Components;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Layout, Result, bail, ensure, err, list};

/// The tensor in a sparse layout.
pub(super) fn to_layout(coo: Coo, layout: Layout) -> Result<Tensor> {
    match layout {
        Layout::Sparse => coo.into_tensor(),
        Layout::SparseCsr | Layout::SparseCsc => Compressed::from_coo(coo, layout)?.into_tensor(),
        other => Err(err!(NotImplemented, "tensors of layout {} are not supported", other.name())),
    }
}

/// A gradient of any layout in that of the input: the elements at its coordinates.
pub(super) fn masked(grad: &Tensor, input: &Tensor) -> Result<Tensor> {
    ops::sparse_mask(grad, input)
}

// ---- Components ----

fn components(tensor: &Tensor) -> Result<std::sync::Arc<Components>> {
    tensor.components().ok_or_else(|| err!(Internal, "the tensor has no components"))
}

/// `_indices`
pub(super) fn raw_indices(args: &Args<'_>) -> Result<Value> {
    Ok(super::expect_coo("_indices", args.tensor(0)?)?.indices.alias().into())
}

/// `_values`
pub(super) fn raw_values(args: &Args<'_>) -> Result<Value> {
    Ok(super::expect_coo("_values", args.tensor(0)?)?.values.alias().into())
}

/// `indices`
pub(super) fn indices(args: &Args<'_>) -> Result<Value> {
    let coo = super::expect_coo("indices", args.tensor(0)?)?;
    ensure!(coo.coalesced, Runtime, "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
    Ok(coo.indices.alias().into())
}

/// `values`
pub(super) fn values(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    ensure!(tensor.is_any_sparse(), Runtime, "values expected sparse tensor layout but got Strided");
    let components = components(tensor)?;
    ensure!(
        components.is_coalesced(),
        Runtime,
        "Cannot get values on an uncoalesced tensor, please call .coalesce() first"
    );
    Ok(part(components.values())?.alias().into())
}

/// The gradient of `values`: the same pattern with these values.
pub(super) fn values_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    with_values(&call.tensor(0)?, grad)
}

/// The pattern of `like` with other values.
pub(super) fn with_values(like: &Tensor, values: &Tensor) -> Result<Tensor> {
    match &*components(like)? {
        Components::Coo { indices, .. } => {
            let coalesced = components(like)?.is_coalesced();
            ops::_sparse_coo_tensor_unsafe(indices, values, &like.sizes(), values.options(), Some(coalesced))
        }
        Components::Compressed { layout, compressed, plain, .. } => {
            let options = crate::Options { layout: Some(*layout), ..values.options() };
            ops::_sparse_compressed_tensor_unsafe(compressed, plain, values, &like.sizes(), options)
        }
        _ => bail!(Internal, "the tensor is not sparse"),
    }
}

/// A part that sparse tensors have.
fn part(part: Option<&Tensor>) -> Result<&Tensor> {
    part.ok_or_else(|| err!(Internal, "the tensor has no values"))
}

macro_rules! compressed_parts {
    ($($name:ident $operator:literal $kind:literal $layout:ident $field:ident;)*) => {$(
        #[doc = concat!("`", $operator, "`")]
        pub(super) fn $name(args: &Args<'_>) -> Result<Value> {
            let tensor = args.tensor(0)?;
            ensure!(
                tensor.layout() == Layout::$layout,
                Runtime,
                concat!($operator, " expected sparse ", $kind, " compressed tensor layout but got {}"),
                tensor.layout().name()
            );
            Ok(Compressed::of(tensor)?.$field.alias().into())
        }
    )*};
}

compressed_parts! {
    crow_indices "crow_indices" "row" SparseCsr compressed;
    col_indices "col_indices" "row" SparseCsr plain;
    ccol_indices "ccol_indices" "column" SparseCsc compressed;
    row_indices "row_indices" "column" SparseCsc plain;
}

/// `_nnz`
pub(super) fn nnz(args: &Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.nnz()?.into())
}

/// `sparse_dim`
pub(super) fn sparse_dim(args: &Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.sparse_dim().into())
}

/// `dense_dim`
pub(super) fn dense_dim(args: &Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.dense_dim().into())
}

/// `is_coalesced`
pub(super) fn is_coalesced(args: &Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.is_coalesced()?.into())
}

/// `coalesce`, `_coalesce`
pub(super) fn coalesce(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let coo = super::expect_coo("coalesce", tensor)?;
    if coo.coalesced {
        return Ok(tensor.clone().into());
    }
    Ok(coo.coalesce()?.into_tensor()?.into())
}

/// The gradient passes unchanged.
pub(super) fn same_back(_: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    Ok(grad.clone())
}

// ---- Strided and sparse ----

/// `to_dense`, `_to_dense`
pub(super) fn to_dense(args: &Args<'_>) -> Result<Value> {
    let (tensor, dtype) = (args.tensor(0)?, args.dtype_opt(1)?);
    if !tensor.is_any_sparse() {
        return Ok(match dtype {
            None => tensor.clone(),
            Some(dtype) => ops::to_dtype(tensor, dtype, false, false, None)?,
        }
        .into());
    }
    let coo = Coo::of(tensor)?;
    let strided = ops::reshape(&coo.spread()?, &coo.sizes)?;
    Ok(match dtype {
        None => strided,
        Some(dtype) => ops::to_dtype(&strided, dtype, false, false, None)?,
    }
    .into())
}

/// The gradient of `to_dense`, at the specified elements unless `masked_grad` is false.
pub(super) fn to_dense_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    if call.layout(0) == Layout::Strided {
        return Ok(grad.clone());
    }
    dense_back(grad, &call.tensor(0)?, call.args().bool_opt(2)?)
}

/// `to_dense_backward`
pub(super) fn to_dense_backward(args: &Args<'_>) -> Result<Value> {
    Ok(dense_back(args.tensor(0)?, args.tensor(1)?, args.bool_opt(2)?)?.into())
}

fn dense_back(grad: &Tensor, input: &Tensor, masked_grad: Option<bool>) -> Result<Tensor> {
    if !input.is_any_sparse() {
        return ops::to_dtype(grad, input.dtype(), false, false, None);
    }
    if masked_grad == Some(false) {
        return match input.layout() {
            Layout::SparseCsr => ops::to_sparse_csr(grad, None),
            Layout::SparseCsc => ops::to_sparse_csc(grad, None),
            _ => ops::to_sparse_sparse_dim(grad, input.sparse_dim()),
        };
    }
    if input.layout() == Layout::Sparse { masked(grad, &ops::coalesce(input)?) } else { masked(grad, input) }
}

/// `to_sparse.sparse_dim`
pub(super) fn to_sparse_dim(args: &Args<'_>) -> Result<Value> {
    let (tensor, sparse_dim) = (args.tensor(0)?, args.int(1)?);
    if tensor.is_any_sparse() {
        let coo = Coo::of(tensor)?;
        ensure!(
            sparse_dim == coo.sparse_dim() as i64,
            Runtime,
            "to_sparse: conversion from {} to Sparse with sparse_dim argument !=self.sparse_dim() is not supported",
            tensor.layout().name()
        );
        return Ok(coo.into_tensor()?.into());
    }
    Ok(specified(tensor, sparse_dim)?.into_tensor()?.into())
}

/// The elements of a strided tensor that are not 0.
fn specified(tensor: &Tensor, sparse_dim: i64) -> Result<Coo> {
    let sizes = tensor.sizes();
    let ndim = sizes.len() as i64;
    if ndim > 0 {
        ensure!(sparse_dim > 0, Runtime, "sparse_dim must be >0 if dimensionality > 0");
    }
    ensure!(
        (0..=ndim).contains(&sparse_dim),
        Runtime,
        "sparse_dim must be less than or equal to self.dim(), but got {sparse_dim} for {ndim} dimensions"
    );
    let (sparse, dense) = sizes.split_at(sparse_dim as usize);
    let mut flat = vec![rushlight_base::numel(sparse)?];
    flat.extend_from_slice(dense);
    let flat = ops::reshape(tensor, &flat)?;
    let mut set = ops::ne_scalar(&flat, 0.into())?;
    if !dense.is_empty() {
        let (rows, width) = (rushlight_base::numel(sparse)?, rushlight_base::numel(dense)?);
        set = ops::any_dim(&ops::reshape(&set, &[rows, width])?, 1, false)?;
    }
    let numbers = ops::reshape(&ops::nonzero(&set)?, &[-1])?;
    let values = ops::index_select(&flat, 0, &numbers)?;
    let indices = coordinates_of(&super::coo::longs(&numbers)?, sparse)?;
    Ok(Coo { sizes: sizes.clone(), indices, values, coalesced: true })
}

/// `to_sparse`
pub(super) fn to_sparse(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let layout = args.layout_opt(1)?.unwrap_or(Layout::Sparse);
    ensure!(
        args.0.get(2).is_none_or(Value::is_none),
        NotImplemented,
        "to_sparse: blocksize is an argument of block sparse layouts, which are not supported"
    );
    convert_to("to_sparse", tensor, layout, args.int_opt(3)?)
}

/// `to_sparse_csr`
pub(super) fn to_sparse_csr(args: &Args<'_>) -> Result<Value> {
    convert_to("to_sparse_csr", args.tensor(0)?, Layout::SparseCsr, args.int_opt(1)?)
}

/// `to_sparse_csc`
pub(super) fn to_sparse_csc(args: &Args<'_>) -> Result<Value> {
    convert_to("to_sparse_csc", args.tensor(0)?, Layout::SparseCsc, args.int_opt(1)?)
}

fn convert_to(operator: &str, tensor: &Tensor, layout: Layout, dense_dim: Option<i64>) -> Result<Value> {
    let dense_dim = dense_dim.unwrap_or(0);
    ensure!(
        dense_dim == 0 || layout == Layout::Sparse,
        NotImplemented,
        "{operator}: compressed tensors with dense dimensions are not supported"
    );
    if layout == tensor.layout() {
        if layout == Layout::Strided {
            bail!(Runtime, "{operator}: conversion from Strided to Strided is not supported");
        }
        return Ok(tensor.clone().into());
    }
    if layout.is_compressed() {
        ensure!(
            tensor.ndim() == 2,
            Runtime,
            "{operator}: conversion from {} to {} expects a matrix, but got {} dimensions",
            tensor.layout().name(),
            layout.name(),
            tensor.ndim()
        );
    }
    let coo =
        if tensor.is_any_sparse() { Coo::of(tensor)? } else { specified(tensor, tensor.ndim() as i64 - dense_dim)? };
    Ok(to_layout(coo, layout)?.into())
}

/// The gradient of a conversion, in the layout of the input.
pub(super) fn to_sparse_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    match call.layout(0) {
        Layout::Strided if grad.is_any_sparse() => ops::to_dense(grad, None, None),
        Layout::Strided => Ok(grad.clone()),
        layout if grad.is_any_sparse() => ops::to_sparse(grad, Some(layout), None, None),
        _ => Ok(grad.clone()),
    }
}

/// `sparse_mask`
pub(super) fn sparse_mask(args: &Args<'_>) -> Result<Value> {
    let (tensor, mask) = (args.tensor(0)?, args.tensor(1)?);
    ensure!(
        tensor.sizes() == mask.sizes(),
        Runtime,
        "sparse_mask(): operands have incompatible sizes; self has size {} but mask has size {}",
        rushlight_base::format_sizes(&tensor.sizes()),
        rushlight_base::format_sizes(&mask.sizes())
    );
    ensure!(mask.is_any_sparse(), Runtime, "sparse_mask(): expected a sparse mask, but got layout Strided");
    if mask.layout().is_compressed() {
        let pattern = Compressed::of(mask)?;
        let coo = matching(tensor, &Coo { coalesced: false, ..as_listed(&pattern)? })?;
        return Ok(pattern.with_values(coo).into_tensor()?.into());
    }
    let pattern = Coo::of(mask)?;
    let values = matching(tensor, &pattern)?;
    Ok(pattern.with_values(values).into_tensor()?.into())
}

/// `_sparse_mask_projection`: the elements that the mask specifies, 0 at the other specified ones
pub(super) fn mask_projection(args: &Args<'_>) -> Result<Value> {
    let (tensor, mask, accumulate) = (args.tensor(0)?, args.tensor(1)?, args.bool(2)?);
    let name = "_sparse_mask_projection";
    let (coo, mask) = (super::expect_coo(name, tensor)?, super::expect_coo(name, mask)?);
    ensure!(
        coo.sizes == mask.sizes && coo.sparse_dim() == mask.sparse_dim(),
        Runtime,
        "{name}(): operands have incompatible sizes; self has size {} but mask has size {}",
        rushlight_base::format_sizes(&coo.sizes),
        rushlight_base::format_sizes(&mask.sizes)
    );
    let mut specified = mask.numbers()?;
    specified.sort_unstable();
    let matches = coo.numbers()?.into_iter().map(|number| {
        let count =
            specified.partition_point(|&other| other <= number) - specified.partition_point(|&other| other < number);
        if accumulate { count as i64 } else { i64::from(count > 0) }
    });
    let mut sizes = vec![1; coo.values.ndim()];
    sizes[0] = -1;
    let factors = ops::to_dtype(&super::coo::long_tensor(matches)?, coo.values.dtype(), false, false, None)?;
    let values = ops::mul_tensor(&coo.values, &ops::reshape(&factors, &sizes)?)?;
    Ok(coo.with_values(values).into_tensor()?.into())
}

/// A compressed matrix in coordinate format, values in their order.
pub(super) fn as_listed(matrix: &Compressed) -> Result<Coo> {
    let (major, minor) = (matrix.expanded()?, super::coo::longs(&matrix.plain)?);
    let nnz = minor.len() as i64;
    let (mut rows, columns) = if matrix.layout == Layout::SparseCsr { (major, minor) } else { (minor, major) };
    list::reserve(&mut rows, columns.len())?;
    rows.extend_from_slice(&columns);
    let indices = Tensor::from_slice(&rows, &[2, nnz])?;
    let coalesced = matrix.layout == Layout::SparseCsr;
    Ok(Coo { sizes: matrix.sizes.clone(), indices, values: matrix.values.clone(), coalesced })
}

/// The element of `tensor` at each coordinate of `pattern`; 0 where a sparse one has none.
fn matching(tensor: &Tensor, pattern: &Coo) -> Result<Tensor> {
    if !tensor.is_any_sparse() {
        pattern.numbers()?;
        return gather(tensor, &pattern.indices);
    }
    let from = Coo::of(tensor)?;
    ensure!(
        from.sparse_dim() == pattern.sparse_dim(),
        Runtime,
        "sparse_mask(): the number of sparse dimensions in mask {} and self {} must be equal",
        pattern.sparse_dim(),
        from.sparse_dim()
    );
    at_coordinates(from, pattern)
}

/// The value of `from` at each coordinate of `pattern`; 0 where it has none.
pub(super) fn at_coordinates(from: Coo, pattern: &Coo) -> Result<Tensor> {
    let from = from.coalesce()?;
    let (numbers, wanted) = (from.numbers()?, pattern.numbers()?);
    let mut entries = Vec::new();
    let mut places = Vec::new();
    for (place, number) in wanted.iter().enumerate() {
        if let Ok(entry) = numbers.binary_search(number) {
            list::push(&mut entries, entry as i64)?;
            list::push(&mut places, place as i64)?;
        }
    }
    let rows = ops::index_select(&from.values, 0, &super::coo::long_tensor(entries)?)?;
    super::coo::added(wanted.len(), &[(&places, &rows)])
}

/// The gradient of `sparse_mask`: that of the elements in the mask, in the layout of the input.
pub(super) fn sparse_mask_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    if call.layout(0) == Layout::Strided && grad.is_any_sparse() {
        return ops::to_dense(grad, None, None);
    }
    if !grad.is_any_sparse() {
        let mask = call.tensor(1)?;
        let masked = masked(grad, &mask)?;
        return if call.layout(0) == Layout::Strided { ops::to_dense(&masked, None, None) } else { Ok(masked) };
    }
    Ok(grad.clone())
}

// ---- Copies ----

/// `clone`
pub(super) fn clone(args: &Args<'_>) -> Result<Value> {
    copied(args.tensor(0)?, None)
}

/// A copy, in another dtype if one is given.
fn copied(tensor: &Tensor, dtype: Option<DType>) -> Result<Value> {
    let cast = |values: &Tensor| match dtype {
        Some(dtype) if dtype != values.dtype() => ops::to_dtype(values, dtype, false, false, None),
        _ => ops::clone(values, None),
    };
    let copy = |indices: &Tensor| ops::clone(indices, None);
    if tensor.layout().is_compressed() {
        let matrix = Compressed::of(tensor)?;
        let values = cast(&matrix.values)?;
        let (compressed, plain) = (copy(&matrix.compressed)?, copy(&matrix.plain)?);
        return Ok(Compressed { compressed, plain, values, ..matrix }.into_tensor()?.into());
    }
    let coo = Coo::of(tensor)?;
    let (indices, values) = (copy(&coo.indices)?, cast(&coo.values)?);
    Ok(Coo { indices, values, ..coo }.into_tensor()?.into())
}

/// `detach`, `alias`
pub(super) fn detach(args: &Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.alias().into())
}

/// `_to_copy`
pub(super) fn to_copy(args: &Args<'_>) -> Result<Value> {
    let (tensor, options) = (args.tensor(0)?, args.options(1)?);
    let layout = options.layout.unwrap_or(tensor.layout());
    check_device(tensor, options.device)?;
    if layout == tensor.layout() && tensor.is_any_sparse() {
        return copied(tensor, options.dtype);
    }
    let converted = if layout == Layout::Strided {
        ops::to_dense(tensor, options.dtype, None)?
    } else {
        ops::to_sparse(tensor, Some(layout), None, None)?
    };
    match options.dtype {
        Some(dtype) if dtype != converted.dtype() => Ok(ops::to_dtype(&converted, dtype, false, false, None)?.into()),
        _ => Ok(converted.into()),
    }
}

fn check_device(tensor: &Tensor, device: Option<rushlight_base::Device>) -> Result<()> {
    ensure!(
        device.is_none_or(|device| device.kind == tensor.device().kind),
        NotImplemented,
        "sparse tensors are supported on the CPU only"
    );
    Ok(())
}

/// The tensor itself if nothing has to change, else a copy.
fn converted(tensor: &Tensor, options: crate::Options, copy: bool) -> Result<Value> {
    check_device(tensor, options.device)?;
    let same_dtype = options.dtype.is_none_or(|dtype| dtype == tensor.dtype());
    let same_layout = options.layout.is_none_or(|layout| layout == tensor.layout());
    if same_dtype && same_layout && !copy {
        return Ok(tensor.clone().into());
    }
    Ok(ops::_to_copy(tensor, options, false, None)?.into())
}

/// `to.dtype`
pub(super) fn to_dtype(args: &Args<'_>) -> Result<Value> {
    converted(args.tensor(0)?, crate::Options::of(args.dtype(1)?), args.bool(3)?)
}

/// `to.device`
pub(super) fn to_device(args: &Args<'_>) -> Result<Value> {
    converted(args.tensor(0)?, crate::Options::of(args.dtype(2)?).on(args.device(1)?), args.bool(4)?)
}

/// `to.other`
pub(super) fn to_other(args: &Args<'_>) -> Result<Value> {
    converted(args.tensor(0)?, args.tensor(1)?.options(), args.bool(3)?)
}

/// `to.dtype_layout`
pub(super) fn to_dtype_layout(args: &Args<'_>) -> Result<Value> {
    converted(args.tensor(0)?, args.options(1)?, args.bool(6)?)
}
