//! Functions of each element that map 0 to 0, computed on the values.

use super::convert::with_values;
use crate::dispatch::{Args, Value, by_name};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Layout, Result, Scalar, bail, ensure};

/// The operator on the values of the coalesced tensor. Its gradient is that of the operator.
pub(super) fn on_values(full_name: &str, args: &Args<'_>) -> Result<Value> {
    let tensor = coalesced(args.tensor(0)?)?;
    let result = called(full_name, args, ops::values(&tensor)?.into())?;
    let Value::Tensor(result) = result else { bail!(Internal, "{full_name} returns no tensor") };
    Ok(with_values(&tensor, &result)?.into())
}

/// A reduction of all elements in which zeros do not count.
pub(super) fn reduced_values(full_name: &str, args: &Args<'_>) -> Result<Value> {
    called(full_name, args, ops::values(&coalesced(args.tensor(0)?)?)?.into())
}

/// A tensor with one value for each position; compressed layouts always have one.
fn coalesced(tensor: &Tensor) -> Result<Tensor> {
    if tensor.layout() == Layout::Sparse { ops::coalesce(tensor) } else { Ok(tensor.clone()) }
}

fn called(full_name: &str, args: &Args<'_>, values: Value) -> Result<Value> {
    let (name, overload) = full_name.split_once('.').unwrap_or((full_name, ""));
    let mut args = args.0.to_vec();
    args[0] = values;
    let results = by_name::find(name, overload)?.call(&args)?;
    Ok(results.first().cloned().unwrap_or_default())
}

/// `pow.Tensor_Scalar`, with an exponent that maps 0 to 0
pub(super) fn pow(args: &Args<'_>) -> Result<Value> {
    let positive = match args.scalar(1)? {
        Scalar::Int(exponent) => exponent > 0,
        Scalar::Float(exponent) => exponent > 0.0,
        _ => false,
    };
    ensure!(positive, Runtime, "pow() of a sparse tensor requires a positive exponent: it would not map 0 to 0");
    on_values("pow.Tensor_Scalar", args)
}
