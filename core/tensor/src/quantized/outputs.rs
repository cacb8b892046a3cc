//! The forms of `quantized::add`, `mul` and `cat` that write into a tensor, and those with the number first.

use super::arithmetic::{add_number, binary_as, mul_number};
use super::convert::joined_as;
use super::{Quantized, is_relu, one};
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure, format_sizes};

/// The last argument, which receives the result.
fn target<'a>(args: &Args<'a>) -> Result<&'a Tensor> {
    args.tensor(2)
}

/// Copies the result, with its quantizer.
fn store(name: &str, args: &Args<'_>, result: &Tensor) -> Result<Vec<Value>> {
    let out = target(args)?;
    args.check_in_place(out)?;
    let (own, result) = (Quantized::of(name, out)?, Quantized::of(name, result)?);
    ensure!(
        own.dtype == result.dtype && own.integers.sizes() == result.integers.sizes(),
        Runtime,
        "{name}: out must have the dtype and sizes of the result, {} {}, but has {} {}",
        result.dtype,
        format_sizes(&result.integers.sizes()),
        own.dtype,
        format_sizes(&own.integers.sizes())
    );
    ops::copy_(&own.integers, &result.integers, false)?;
    out.replace_quantizer(result.quantizer)?;
    one(out.clone())
}

/// `quantized::add_out`, `quantized::mul_out` and similar: the result has the scale and zero point of `out`
pub(super) fn binary(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (scale, zero_point) = Quantized::of(name, target(args)?)?.affine(name)?;
    store(name, args, &binary_as(name, args, scale, zero_point)?)
}

/// The operator with a number: scale and zero point are computed.
fn number(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    if name.contains("::add") { add_number(name, args) } else { mul_number(name, args) }
}

/// `quantized::add_scalar_out`, `quantized::mul.Scalar_out` and similar: `out` receives the scale and zero point too
pub(super) fn with_number(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    match number(name, args)?.first() {
        Some(Value::Tensor(result)) => store(name, args, result),
        _ => bail!(Internal, "{name} returns no tensor"),
    }
}

/// `quantized::add.Scalar2` and similar
pub(super) fn number_first(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let mut swapped: Vec<Value> = args.0.to_vec();
    swapped.reverse();
    number(name, &Args(&swapped))
}

/// `quantized::cat_out`, `quantized::cat_relu_out`
pub(super) fn cat(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (scale, zero_point) = Quantized::of(name, target(args)?)?.affine(name)?;
    store(name, args, &joined_as(name, &args.tensors(0)?, args.int(1)?, scale, zero_point, is_relu(name))?)
}
