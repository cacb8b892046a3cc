//! Creation of sparse tensors, with the checks of PyTorch.

use super::compressed::{Compressed, inferred_sizes};
use super::coo::{Coo, gather};
use super::record::Context;
use crate::components::Components;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Layout, Result, bail, ensure, err, format_sizes};

/// PyTorch's limit of dimensions.
const MAX_DIMS: i64 = 64;

/// Checks of the options of a tensor of this layout.
fn check_options(options: Options, layout: Layout) -> Result<()> {
    if let Some(asked) = options.layout {
        // Options in C++ have the layout of strided tensors unless another one is given.
        ensure!(
            asked == layout || asked == Layout::Strided,
            Runtime,
            "expected layout {}, but got layout {}",
            layout.name(),
            asked.name()
        );
    }
    let device = options.device_or_cpu();
    ensure!(
        device.kind == rushlight_base::DeviceType::Cpu,
        NotImplemented,
        "sparse tensors are supported on the CPU only, not on {device}"
    );
    Options { layout: None, ..options }.check()
}

fn values_in(values: &Tensor, options: Options) -> Result<Tensor> {
    match options.dtype {
        Some(dtype) if dtype != values.dtype() => ops::to_dtype(values, dtype, false, false, None),
        _ => Ok(values.clone()),
    }
}

/// The indices as a matrix of int64.
fn checked_indices(indices: &Tensor) -> Result<Tensor> {
    ensure!(
        !indices.is_any_sparse(),
        Runtime,
        "expected indices to be a dense tensor, but got layout {}",
        indices.layout().name()
    );
    ensure!(
        indices.ndim() == 2,
        Runtime,
        "indices must be sparse_dim x nnz, but got: {}",
        format_sizes(&indices.sizes())
    );
    ensure!(
        indices.sizes()[0] <= MAX_DIMS,
        Runtime,
        "a sparse tensor has at most {MAX_DIMS} dimensions, but the indices have {}",
        indices.sizes()[0]
    );
    ensure!(
        indices.dtype() == DType::I64 || indices.dtype() == DType::I32,
        Runtime,
        "indices must be an int64 tensor, but got {}",
        indices.dtype()
    );
    if indices.dtype() == DType::I64 {
        Ok(indices.clone())
    } else {
        ops::to_dtype(indices, DType::I64, false, false, None)
    }
}

/// A tensor with these components, checked.
fn assembled(indices: &Tensor, values: &Tensor, sizes: &[i64], coalesced: bool) -> Result<Coo> {
    let indices = checked_indices(indices)?;
    ensure!(
        !values.is_any_sparse(),
        Runtime,
        "expected values to be a dense tensor, but got layout {}",
        values.layout().name()
    );
    let (shape, own) = (indices.sizes(), values.sizes());
    let (sparse, nnz) = (shape[0], shape[1]);
    ensure!(!own.is_empty(), Runtime, "values must have at least one dimension, got a 0-dim tensor");
    ensure!(
        sparse + own.len() as i64 - 1 == sizes.len() as i64,
        Runtime,
        "number of dimensions must be sparse_dim ({sparse}) + dense_dim ({}), but got {}",
        own.len() - 1,
        sizes.len()
    );
    ensure!(
        own[0] == nnz,
        Runtime,
        "indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: {}",
        own[0]
    );
    let mut expected = DimVec::from_slice(&[nnz]);
    expected.extend_from_slice(&sizes[sparse as usize..]);
    ensure!(
        own == expected,
        Runtime,
        "values has incorrect size, expected {}, got {}",
        format_sizes(&expected),
        format_sizes(&own)
    );
    rushlight_base::numel(sizes)?;
    let coo = Coo { sizes: DimVec::from_slice(sizes), indices, values: values.clone(), coalesced };
    check_bounds(&coo)?;
    if coalesced {
        ensure!(
            coo.numbers()?.windows(2).all(|pair| pair[0] < pair[1]),
            Runtime,
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
        );
    }
    // A tensor with at most one element is sorted.
    Ok(Coo { coalesced: coalesced || nnz < 2, ..coo })
}

fn check_bounds(coo: &Coo) -> Result<()> {
    let (coordinates, nnz) = (coo.coordinates()?, coo.nnz());
    for (dim, &size) in coo.sparse_sizes().iter().enumerate() {
        let row = &coordinates[dim * nnz..(dim + 1) * nnz];
        if let Some(least) = row.iter().min().filter(|least| **least < 0) {
            bail!(Runtime, "found negative index {least} for dim {dim}");
        }
        if let Some(most) = row.iter().max().filter(|most| **most >= size) {
            bail!(Runtime, "size is inconsistent with indices: for dim {dim}, size is {size} but found index {most}");
        }
    }
    Ok(())
}

/// `sparse_coo_tensor.indices_size(indices, values, size, options, is_coalesced)`, `_sparse_coo_tensor_unsafe`
pub(super) fn coo_with_size(args: &Args<'_>) -> Result<Value> {
    let (indices, values, sizes, options) = (args.tensor(0)?, args.tensor(1)?, args.ints(2)?, args.options(3)?);
    check_options(options, Layout::Sparse)?;
    let values = values_in(values, options)?;
    let coalesced = args.bool_opt(7)?.unwrap_or(false);
    Ok(assembled(indices, &values, &sizes, coalesced)?.into_tensor()?.into())
}

/// `sparse_coo_tensor.indices(indices, values, options, is_coalesced)`: the smallest sizes
pub(super) fn coo_without_size(args: &Args<'_>) -> Result<Value> {
    let (indices, values, options) = (args.tensor(0)?, args.tensor(1)?, args.options(2)?);
    check_options(options, Layout::Sparse)?;
    let (indices, values) = (checked_indices(indices)?, values_in(values, options)?);
    let shape = indices.sizes();
    let coordinates = super::coo::longs(&indices)?;
    let mut sizes = DimVec::new();
    for dim in 0..shape[0] as usize {
        let row = &coordinates[dim * shape[1] as usize..(dim + 1) * shape[1] as usize];
        if let Some(least) = row.iter().min().filter(|least| **least < 0) {
            bail!(Runtime, "found negative index {least} for dim {dim}");
        }
        sizes.push(
            row.iter()
                .max()
                .map_or(Ok(0), |most| most.checked_add(1).ok_or_else(|| err!(Runtime, "index {most} is too large")))?,
        );
    }
    sizes.extend_from_slice(values.sizes().get(1..).unwrap_or(&[]));
    let coalesced = args.bool_opt(6)?.unwrap_or(false);
    Ok(assembled(&indices, &values, &sizes, coalesced)?.into_tensor()?.into())
}

/// The gradient of the values: that of the result at the coordinates.
pub(super) fn coo_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    at(grad, &call.tensor(0)?)
}

/// The values of a tensor at coordinates; 0 where a sparse one has none.
pub(super) fn at(grad: &Tensor, indices: &Tensor) -> Result<Tensor> {
    if !grad.is_any_sparse() {
        return gather(grad, indices);
    }
    let ones = Options::of(grad.dtype());
    let mut sizes = DimVec::from_slice(&[indices.sizes()[1]]);
    sizes.extend_from_slice(&grad.sizes()[indices.sizes()[0] as usize..]);
    let mask = ops::_sparse_coo_tensor_unsafe(indices, &ops::zeros(&sizes, ones)?, &grad.sizes(), ones, None)?;
    ops::_values(&ops::sparse_mask(grad, &mask)?)
}

/// `sparse_coo_tensor.size(size, options)`: without elements
pub(super) fn coo_of_size(args: &Args<'_>) -> Result<Value> {
    let (sizes, options) = (args.ints(0)?, args.options(1)?);
    check_options(options, Layout::Sparse)?;
    empty(&sizes, Layout::Sparse, options)
}

/// Without elements, in a sparse layout.
fn empty(sizes: &[i64], layout: Layout, options: Options) -> Result<Value> {
    let coo = Coo::empty(sizes, sizes.len(), options.dtype_or_default())?;
    Ok(super::convert::to_layout(coo, layout)?.into())
}

/// `empty.memory_format` and `zeros` with a sparse layout
pub(super) fn empty_of_size(args: &Args<'_>) -> Result<Value> {
    let (sizes, options) = (args.ints(0)?, args.options(1)?);
    let layout = options.layout.unwrap_or(Layout::Strided);
    check_options(options, layout)?;
    empty(&sizes, layout, options)
}

/// `zeros_like` and `empty_like` of a sparse tensor, or in a sparse layout
pub(super) fn empty_like(args: &Args<'_>) -> Result<Value> {
    let (tensor, options) = (args.tensor(0)?, args.options(1)?);
    let layout = options.layout.unwrap_or(tensor.layout());
    let dtype = options.dtype.unwrap_or(tensor.dtype());
    let sizes = tensor.sizes();
    if layout == Layout::Strided {
        return Ok(ops::zeros(&sizes, Options { dtype: Some(dtype), layout: None, ..options })?.into());
    }
    check_options(options, layout)?;
    let sparse = match tensor.components().as_deref() {
        Some(Components::Coo { indices, .. }) if layout == Layout::Sparse => indices.sizes()[0] as usize,
        _ => sizes.len(),
    };
    Ok(super::convert::to_layout(Coo::empty(&sizes, sparse, dtype)?, layout)?.into())
}

// ---- Compressed ----

fn compressed(args: &Args<'_>, layout: Option<Layout>, sized: bool) -> Result<Value> {
    let (indices, plain, values) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let options = args.options(if sized { 4 } else { 3 })?;
    let layout = match layout.or(options.layout) {
        Some(layout @ (Layout::SparseCsr | Layout::SparseCsc)) => layout,
        Some(Layout::SparseBsr | Layout::SparseBsc) => {
            bail!(NotImplemented, "block sparse layouts are not supported")
        }
        Some(other) => bail!(Runtime, "expected sparse compressed tensor layout but got {}", other.name()),
        None => bail!(Runtime, "expected sparse compressed tensor layout but got none"),
    };
    check_options(options, layout)?;
    let values = values_in(values, options)?;
    let sizes = if sized { args.ints(3)? } else { inferred_sizes(layout, indices, plain)? };
    rushlight_base::numel(&sizes)?;
    let (compressed, plain) = (indices.clone(), plain.clone());
    let matrix = Compressed { layout, sizes, compressed, plain, values };
    matrix.check()?;
    Ok(matrix.into_tensor()?.into())
}

/// `_sparse_compressed_tensor_with_dims`: with `nnz` specified elements whose indices and values are to be written, all 0
pub(super) fn compressed_with_dims(args: &Args<'_>) -> Result<Value> {
    let (nnz, dense, sizes, blocks) = (args.int(0)?, args.int(1)?, args.ints(2)?, args.ints(3)?);
    let (dtype, options) = (args.dtype(4)?, args.options(5)?);
    let name = "sparse_compressed_tensor_with_dims";
    let layout = match options.layout {
        Some(layout @ (Layout::SparseCsr | Layout::SparseCsc)) => layout,
        Some(layout) if layout.is_compressed() => {
            bail!(NotImplemented, "{name}: block sparse layouts are not supported")
        }
        Some(other) => bail!(Runtime, "{name}: expected sparse compressed tensor layout but got {}", other.name()),
        None => bail!(Runtime, "{name}: expected sparse compressed tensor layout but got none"),
    };
    check_options(Options { layout: Some(layout), ..options }, layout)?;
    ensure!(nnz >= 0, Runtime, "{name}: number of specified elements must not be negative, got {nnz}");
    ensure!(
        dense == 0 && sizes.len() == 2 && blocks.is_empty(),
        NotImplemented,
        "{name}: only matrices without dense dimensions and blocks are supported, got {} dimensions, {dense} of them dense, and a \
         block size of {} numbers",
        sizes.len(),
        blocks.len()
    );
    ensure!(
        matches!(dtype, DType::I32 | DType::I64),
        Runtime,
        "indices dtype must be Int or Long, but got {}",
        dtype.c10_name()
    );
    rushlight_base::numel(&sizes)?;
    let rows = if layout == Layout::SparseCsr { sizes[0] } else { sizes[1] };
    let compressed = ops::zeros(&[rows.saturating_add(1)], Options::of(dtype))?;
    let plain = ops::zeros(&[nnz], Options::of(dtype))?;
    let values = ops::zeros(&[nnz], Options::of(options.dtype_or_default()))?;
    Ok(Compressed { layout, sizes, compressed, plain, values }.into_tensor()?.into())
}

macro_rules! creates_compressed {
    ($($name:ident $layout:expr, $sized:literal;)*) => {$(
        pub(super) fn $name(args: &Args<'_>) -> Result<Value> {
            compressed(args, $layout, $sized)
        }
    )*};
}

creates_compressed! {
    csr_with_size Some(Layout::SparseCsr), true;
    csr_without_size Some(Layout::SparseCsr), false;
    csc_with_size Some(Layout::SparseCsc), true;
    csc_without_size Some(Layout::SparseCsc), false;
    compressed_with_size None, true;
    compressed_without_size None, false;
}

/// The gradient of the values of a compressed tensor.
pub(super) fn compressed_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    let (compressed, plain, values) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let csc = call.args().0.iter().any(|value| matches!(value, Value::Layout(Layout::SparseCsc)));
    let layout = if csc { Layout::SparseCsc } else { Layout::SparseCsr };
    let pattern = Compressed { layout, sizes: grad.sizes(), compressed, plain, values };
    ops::values(&super::convert::masked(grad, &pattern.into_tensor()?)?)
}

/// The same, of `sparse_csc_tensor`, whose options need not name the layout.
pub(super) fn csc_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    let (compressed, plain, values) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let pattern = Compressed { layout: Layout::SparseCsc, sizes: grad.sizes(), compressed, plain, values };
    ops::values(&super::convert::masked(grad, &pattern.into_tensor()?)?)
}
