//! Softmax over the specified elements: unspecified ones count as minus infinity.

use super::convert::with_values;
use super::coo::{Coo, long_tensor};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, MemoryFormat, Result, Scalar, ensure, list, wrap_dim};

/// `_sparse_softmax`
pub(super) fn softmax(args: &Args<'_>) -> Result<Value> {
    of("softmax", false, args)
}

/// `_sparse_log_softmax`
pub(super) fn log_softmax(args: &Args<'_>) -> Result<Value> {
    of("log_softmax", true, args)
}

/// `_sparse_softmax.int`
pub(super) fn softmax_in_dtype(args: &Args<'_>) -> Result<Value> {
    Ok(ops::_sparse_softmax(&converted(args)?, args.int(1)?, false)?.into())
}

/// `_sparse_log_softmax.int`
pub(super) fn log_softmax_in_dtype(args: &Args<'_>) -> Result<Value> {
    Ok(ops::_sparse_log_softmax(&converted(args)?, args.int(1)?, false)?.into())
}

fn converted(args: &Args<'_>) -> Result<Tensor> {
    match args.dtype_opt(2)? {
        None => Ok(args.tensor(0)?.clone()),
        Some(dtype) => ops::to_dtype(args.tensor(0)?, dtype, false, false, None),
    }
}

fn check_dtype(name: &str, dtype: DType) -> Result<()> {
    ensure!(matches!(dtype, DType::F32 | DType::F64), Runtime, "\"{name}\" not implemented for '{}'", dtype.c10_name());
    Ok(())
}

/// Computed by recorded operators on the values, so the derivative is theirs.
fn of(name: &str, log: bool, args: &Args<'_>) -> Result<Value> {
    let (tensor, dim) = (args.tensor(0)?, args.int(1)?);
    super::expect_coo(&format!("_sparse_{name}"), tensor)?;
    ensure!(!args.bool(2)?, Runtime, "{name}: with half to float conversion is not supported on cpu");
    check_dtype(name, tensor.dtype())?;
    let tensor = ops::coalesce(tensor)?;
    let (pattern, values) = (Coo::of(&tensor)?, ops::values(&tensor)?);
    let pools = Pools::of(&pattern, dim)?;
    if values.numel() == 0 {
        return Ok(with_values(&tensor, &values)?.into());
    }
    let shifted = ops::sub_tensor(&values, &pools.largest(&ops::detach(&values)?)?, Scalar::Int(1))?;
    let powers = ops::exp(&shifted)?;
    let sums = pools.total(&powers)?;
    let result = if log {
        ops::sub_tensor(&shifted, &ops::log(&sums)?, Scalar::Int(1))?
    } else {
        ops::div_tensor(&powers, &sums)?
    };
    Ok(with_values(&tensor, &result)?.into())
}

/// `_sparse_softmax_backward_data`
pub(super) fn softmax_backward(args: &Args<'_>) -> Result<Value> {
    backward("softmax", false, args)
}

/// `_sparse_log_softmax_backward_data`
pub(super) fn log_softmax_backward(args: &Args<'_>) -> Result<Value> {
    backward("log_softmax", true, args)
}

/// The gradient at the coordinates of the result; what the gradient has elsewhere does not count.
fn backward(name: &str, log: bool, args: &Args<'_>) -> Result<Value> {
    let (grad, output, dim, input) = (args.tensor(0)?, args.tensor(1)?, args.int(2)?, args.tensor(3)?);
    let operator = format!("_sparse_{name}_backward_data");
    for tensor in [grad, output, input] {
        super::expect_coo(&operator, tensor)?;
    }
    for (other, what) in [(output, "output"), (input, "self")] {
        ensure!(
            other.sizes() == grad.sizes() && other.dtype() == grad.dtype() && other.sparse_dim() == grad.sparse_dim(),
            Runtime,
            "{operator}: expected {what} to have the shape, dtype and number of sparse dimensions of grad_output ({} {} {}), but \
             got {} {} {}",
            rushlight_base::format_sizes(&grad.sizes()),
            grad.dtype().c10_name(),
            grad.sparse_dim(),
            rushlight_base::format_sizes(&other.sizes()),
            other.dtype().c10_name(),
            other.sparse_dim()
        );
    }
    check_dtype(&operator, grad.dtype())?;
    let output = ops::coalesce(output)?;
    let pattern = Coo::of(&output)?;
    let (values, grads) = (&pattern.values, Coo::of(&ops::sparse_mask(&ops::coalesce(grad)?, &output)?)?.values);
    let weighted = if log { grads.clone() } else { ops::mul_tensor(&grads, values)? };
    let sums = Pools::of(&pattern, dim)?.total(&weighted)?;
    let result = if log {
        ops::sub_tensor(&grads, &ops::mul_tensor(&ops::exp(values)?, &sums)?, Scalar::Int(1))?
    } else {
        ops::mul_tensor(values, &ops::sub_tensor(&grads, &sums, Scalar::Int(1))?)?
    };
    let result = ops::contiguous(&result, MemoryFormat::Contiguous)?;
    Ok(pattern.with_values(result).into_tensor()?.into())
}

/// The values that are normalized together.
enum Pools {
    /// Those along this dimension of the values.
    Dense(i64),
    /// Those whose coordinates differ in one dimension only.
    Sparse { of_value: Tensor, count: i64 },
}

impl Pools {
    fn of(pattern: &Coo, dim: i64) -> Result<Pools> {
        let (dim, sparse) = (wrap_dim(dim, pattern.sizes.len())?, pattern.sparse_dim());
        if dim >= sparse {
            return Ok(Pools::Dense((dim - sparse) as i64 + 1));
        }
        let (coordinates, nnz) = (pattern.coordinates()?, pattern.nnz());
        let mut numbers = list::filled(nnz, 0i64)?;
        for (at, &size) in pattern.sparse_sizes().iter().enumerate().filter(|(at, _)| *at != dim) {
            for (number, &place) in numbers.iter_mut().zip(&coordinates[at * nnz..(at + 1) * nnz]) {
                *number = *number * size + place;
            }
        }
        let mut different = list::collect(numbers.iter().copied())?;
        different.sort_unstable();
        different.dedup();
        let of_value = numbers.iter().map(|number| different.partition_point(|other| other < number) as i64);
        Ok(Pools::Sparse { of_value: long_tensor(list::collect(of_value)?)?, count: different.len() as i64 })
    }

    /// For each value the largest one of its pool.
    fn largest(&self, values: &Tensor) -> Result<Tensor> {
        match self {
            Pools::Dense(dim) => ops::amax(values, &[*dim], true),
            Pools::Sparse { of_value, count } => {
                let least = ops::full(&rows(values, *count), Scalar::Float(f64::NEG_INFINITY), values.options())?;
                ops::index_select(&ops::index_reduce(&least, 0, of_value, values, "amax", true)?, 0, of_value)
            }
        }
    }

    /// For each value the sum of its pool.
    fn total(&self, values: &Tensor) -> Result<Tensor> {
        match self {
            Pools::Dense(dim) => ops::sum_dim_intlist(values, Some(&[*dim]), true, None),
            Pools::Sparse { of_value, count } => {
                let zeros = ops::zeros(&rows(values, *count), values.options())?;
                ops::index_select(&ops::index_add(&zeros, 0, of_value, values, Scalar::Int(1))?, 0, of_value)
            }
        }
    }
}

/// The sizes of `count` rows like those of the values.
fn rows(values: &Tensor, count: i64) -> DimVec {
    let mut sizes = values.sizes();
    sizes[0] = count;
    sizes
}
