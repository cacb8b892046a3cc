//! Sums.

use super::convert::to_layout;
use super::coo::{Coo, long_tensor, wrapped_dim};
use super::record::Context;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Layout, Result, ensure};

/// `sum`
pub(super) fn sum(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let values = match tensor.components() {
        Some(components) => components.values().unwrap_or(tensor).alias(),
        None => tensor.clone(),
    };
    Ok(ops::sum(&values, args.dtype_opt(1)?)?.into())
}

/// The gradient of `sum`: the same number everywhere, without memory.
pub(super) fn sum_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    ops::expand(grad, call.sizes(0), false)
}

/// `sum.dim_IntList`
pub(super) fn sum_dim(args: &Args<'_>) -> Result<Value> {
    summed(args.tensor(0)?, args.ints_opt(1)?.as_deref(), args.bool(2)?, args.dtype_opt(3)?)
}

/// `_sparse_sum`, `_sparse_sum.dtype`: of all elements
pub(super) fn sparse_sum(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let tensor = if tensor.layout() == Layout::Sparse { ops::coalesce(tensor)? } else { tensor.clone() };
    let dtype = if args.0.len() > 1 { args.dtype_opt(1)? } else { None };
    Ok(ops::sum(&ops::values(&tensor)?, dtype)?.into())
}

/// `_sparse_sum.dim`, `_sparse_sum.dim_dtype`
pub(super) fn sparse_sum_dim(args: &Args<'_>) -> Result<Value> {
    let dtype = if args.0.len() > 2 { args.dtype_opt(2)? } else { None };
    summed(args.tensor(0)?, Some(&args.ints(1)?), false, dtype)
}

/// The dimensions to reduce, as flags.
fn flags(dims: Option<&[i64]>, ndim: usize) -> Result<Vec<bool>> {
    let mut flags = vec![false; ndim];
    let Some(dims) = dims.filter(|dims| !dims.is_empty()) else { return Ok(vec![true; ndim]) };
    for &dim in dims {
        let dim = wrapped_dim(dim, ndim)?;
        // A tensor without dimensions has the dimensions 0 and -1 in PyTorch.
        let Some(flag) = flags.get_mut(dim) else { continue };
        ensure!(!*flag, Runtime, "dim {dim} appears multiple times in the list of dims");
        *flag = true;
    }
    Ok(flags)
}

fn summed(tensor: &Tensor, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Value> {
    let coo = Coo::of(tensor)?;
    let (sparse, reduced) = (coo.sparse_dim(), flags(dims, coo.sizes.len())?);
    let dense: Vec<i64> =
        (sparse..reduced.len()).filter(|&dim| reduced[dim]).map(|dim| (dim - sparse) as i64 + 1).collect();
    // Integers are added in int64, as everywhere.
    let dtype = dtype.unwrap_or(if tensor.dtype().is_integral(true) { DType::I64 } else { tensor.dtype() });
    let values = if dense.is_empty() {
        ops::to_dtype(&coo.values, dtype, false, false, None)?
    } else {
        ops::sum_dim_intlist(&coo.values, Some(&dense), keepdim, Some(dtype))?
    };
    let kept: Vec<usize> = (0..sparse).filter(|&dim| !reduced[dim]).collect();
    let mut sizes = DimVec::new();
    for (dim, &size) in coo.sizes.iter().enumerate() {
        if !reduced[dim] {
            sizes.push(size);
        } else if keepdim {
            sizes.push(1);
        }
    }
    if kept.is_empty() && sparse > 0 && !keepdim {
        return Ok(ops::sum_dim_intlist(&values, Some(&[0]), false, Some(dtype))?.into());
    }
    let indices = projected(&coo, &reduced, keepdim)?;
    let unsorted = Coo { sizes, indices, values, coalesced: false };
    Ok(to_layout(unsorted.coalesce()?, tensor.layout())?.into())
}

/// The coordinates in the result.
fn projected(coo: &Coo, reduced: &[bool], keepdim: bool) -> Result<Tensor> {
    let sparse = coo.sparse_dim();
    let kept = long_tensor((0..sparse).filter(|&dim| !reduced[dim] || keepdim).map(|dim| dim as i64))?;
    let indices = ops::index_select(&coo.indices, 0, &kept)?;
    if !keepdim {
        return Ok(indices);
    }
    let factors: Vec<i64> = reduced[..sparse].iter().map(|&reduced| i64::from(!reduced)).collect();
    ops::mul_tensor(&indices, &ops::unsqueeze(&long_tensor(factors)?, 1)?)
}

/// The gradient of a sum over dimensions: that of the result at the coordinates of the input.
pub(super) fn sum_dim_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    let args = call.args();
    let keepdim = args.0.get(2).is_some_and(|_| args.bool(2).unwrap_or(false));
    back(&call.tensor(0)?, args.ints_opt(1)?.as_deref(), keepdim, grad)
}

fn back(input: &Tensor, dims: Option<&[i64]>, keepdim: bool, grad: &Tensor) -> Result<Tensor> {
    let coo = Coo::of(input)?.coalesce()?;
    let (sparse, reduced) = (coo.sparse_dim(), flags(dims, coo.sizes.len())?);
    let indices = projected(&coo, &reduced, keepdim)?;
    let mut values = super::create::at(grad, &indices)?;
    for (dim, &is_reduced) in reduced[sparse..].iter().enumerate() {
        if is_reduced && !keepdim {
            values = ops::unsqueeze(&values, dim as i64 + 1)?;
        }
    }
    let values =
        ops::contiguous(&ops::expand(&values, &coo.values.sizes(), false)?, rushlight_base::MemoryFormat::Contiguous)?;
    let result = ops::_sparse_coo_tensor_unsafe(&coo.indices, &values, &coo.sizes, values.options(), Some(true))?;
    if input.layout() == Layout::Sparse {
        Ok(result)
    } else {
        ops::to_sparse(&result, Some(input.layout()), None, None)
    }
}

/// `_sparse_sum_backward`
pub(super) fn sparse_sum_backward(args: &Args<'_>) -> Result<Value> {
    let (grad, tensor, dims) = (args.tensor(0)?, args.tensor(1)?, args.ints(2)?);
    super::expect_coo("_sparse_sum_backward", tensor)?;
    let reduced = flags(Some(&dims), tensor.ndim())?;
    let left = tensor
        .sizes()
        .iter()
        .zip(&reduced)
        .filter(|(_, reduced)| !**reduced)
        .map(|(&size, _)| size)
        .collect::<DimVec>();
    ensure!(
        grad.sizes() == left,
        Runtime,
        "_sparse_sum_backward: expected grad to have shape {}, but got {}",
        rushlight_base::format_sizes(&left),
        rushlight_base::format_sizes(&grad.sizes())
    );
    Ok(back(tensor, Some(&dims), false, grad)?.into())
}

// ---- Compressed rows ----

/// `_sparse_csr_sum.dim_dtype`
pub(super) fn csr_sum(args: &Args<'_>) -> Result<Value> {
    let (tensor, dims, dtype) = csr_arguments("_sparse_csr_sum", args)?;
    summed(&tensor, Some(&dims), true, dtype)
}

/// `_sparse_csr_prod.dim_dtype`: of the specified elements
pub(super) fn csr_prod(args: &Args<'_>) -> Result<Value> {
    let (tensor, dims, dtype) = csr_arguments("_sparse_csr_prod", args)?;
    let coo = Coo::of(&tensor)?;
    let dtype = dtype.unwrap_or(if tensor.dtype().is_integral(true) { DType::I64 } else { tensor.dtype() });
    let reduced = flags(Some(&dims), coo.sizes.len())?;
    let sizes = coo.sizes.iter().zip(&reduced).map(|(&size, &reduced)| if reduced { 1 } else { size }).collect();
    let indices = projected(&coo, &reduced, true)?;
    let values = ops::to_dtype(&coo.values, dtype, false, false, None)?;
    let listed = Coo { sizes, indices, values, coalesced: false };
    // The place of each value among those of the coalesced result.
    let pattern = listed.clone().coalesce()?;
    let numbers = pattern.numbers()?;
    let places = listed.numbers()?.into_iter().map(|number| numbers.partition_point(|&other| other < number) as i64);
    let ones = ops::ones(&[pattern.nnz() as i64], crate::Options::of(dtype))?;
    let values = ops::index_reduce(&ones, 0, &long_tensor(places)?, &listed.values, "prod", true)?;
    Ok(to_layout(pattern.with_values(values), Layout::SparseCsr)?.into())
}

fn csr_arguments(operator: &str, args: &Args<'_>) -> Result<(Tensor, DimVec, Option<DType>)> {
    let (tensor, keepdim) = (args.tensor(0)?, args.bool(2)?);
    ensure!(
        tensor.layout() == Layout::SparseCsr,
        Runtime,
        "{operator} expected sparse row compressed tensor layout but got {}",
        tensor.layout().name()
    );
    ensure!(keepdim, Runtime, "reduction operations on CSR tensors with keepdim=False is unsupported");
    let dtype = args.dtype_opt(3)?;
    let found = dtype.unwrap_or(tensor.dtype());
    ensure!(found != DType::Bool, Runtime, "\"{operator}_cpu\" not implemented for '{}'", found.c10_name());
    Ok((tensor.clone(), args.ints(1)?, dtype))
}

// ---- Norms ----

/// `native_norm`: of all elements
pub(super) fn native_norm(args: &Args<'_>) -> Result<Value> {
    norm(args.tensor(0)?, args.scalar(1)?)
}

/// `native_norm.ScalarOpt_dim_dtype`
pub(super) fn native_norm_dim(args: &Args<'_>) -> Result<Value> {
    let (tensor, dims) = (args.tensor(0)?, args.ints(2)?);
    ensure!(
        flags(Some(&dims), tensor.ndim())?.iter().all(|&reduced| reduced),
        Runtime,
        "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions of the \
         input"
    );
    ensure!(!args.bool(3)?, Runtime, "norm_sparse currently does not support keepdim=True");
    ensure!(args.dtype_opt(4)?.is_none(), Runtime, "norm_sparse currently does not support 'dtype' argument");
    norm(tensor, args.scalar_opt(1)?.unwrap_or(rushlight_base::Scalar::Int(2)))
}

fn norm(tensor: &Tensor, p: rushlight_base::Scalar) -> Result<Value> {
    let values = super::expect_coo("native_norm", tensor)?.coalesce()?.values;
    Ok(ops::norm_scalar(&values, p)?.into())
}
