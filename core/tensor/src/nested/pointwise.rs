//! Operators on the elements or on the rows of nested tensors.

use super::Nested;
use crate::dispatch::{Args, Value, by_name};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure, wrap_dim};

/// The operator `full_name` on dense arguments.
fn called(full_name: &str, args: &[Value]) -> Result<Tensor> {
    let (name, overload) = full_name.split_once('.').unwrap_or((full_name, ""));
    match by_name::find(name, overload)?.call(args)?.first() {
        Some(Value::Tensor(result)) => Ok(result.clone()),
        _ => bail!(Internal, "{full_name} returns no tensor"),
    }
}

fn one(tensor: Tensor) -> Result<Vec<Value>> {
    Ok(vec![tensor.into()])
}

/// The operator on all elements of the first argument.
pub(super) fn on_elements(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = Nested::of(name, args.tensor(0)?)?;
    let mut dense = args.0.to_vec();
    dense[0] = (&nested.buffer).into();
    one(nested.with_buffer(&called(name, &dense)?)?)
}

/// The operator on the elements of two tensors of the same sizes, or of one and a number.
pub(super) fn on_pairs(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let (a, b) = (args.tensor(0)?, args.tensor(1)?);
    let mut dense = args.0.to_vec();
    let sizes = match (a.nested(), b.nested()) {
        (Some(a), Some(b)) => {
            ensure!(a.sizes == b.sizes, Runtime, "{name}: nested tensors of different sizes cannot be combined");
            (dense[0], dense[1]) = ((&a.buffer).into(), (&b.buffer).into());
            a
        }
        (Some(a), None) if b.ndim() == 0 => {
            dense[0] = (&a.buffer).into();
            a
        }
        (None, Some(b)) if a.ndim() == 0 => {
            dense[1] = (&b.buffer).into();
            b
        }
        (first, _) => {
            let (a, b) = if first.is_some() { ("a nested", "non-nested") } else { ("a non-nested", "nested") };
            bail!(Runtime, "Expected both self and other to be nested, but got {a} self and {b} other")
        }
    };
    one(sizes.with_buffer(&called(name, &dense)?)?)
}

/// The operator on the vectors along the last dimension of the first argument.
pub(super) fn on_rows(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = Nested::of(name, args.tensor(0)?)?;
    let mut dense = args.0.to_vec();
    dense[0] = nested.rows(name)?.into();
    one(nested.with_rows(&called(name, &dense)?)?)
}

/// `layer_norm` over the last dimension.
pub(super) fn layer_norm(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    ensure!(
        args.tensor_opt(2)?.is_some() && args.tensor_opt(3)?.is_some(),
        Value,
        "NestedTensor layer_norm requires weight and bias"
    );
    let shape = args.ints(1)?;
    ensure!(
        shape.len() == 1,
        Runtime,
        "layer_norm of a nested tensor normalizes the last dimension, not {}",
        shape.len()
    );
    on_rows(name, args)
}

/// `softmax` along a dimension of the tensors.
pub(super) fn softmax(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = Nested::of(name, args.tensor(0)?)?;
    let dim = wrap_dim(args.int(1)?, nested.inner_dims() + 1)?;
    ensure!(dim > 0, Runtime, "Cannot apply softmax across nested dimension 0");
    let dtype = args.dtype_opt(2)?;
    let each = nested.parts()?.into_iter().map(|part| ops::softmax_int(&part, dim as i64 - 1, dtype));
    one(super::convert::of_tensors(&rushlight_base::list::try_collect(each)?)?)
}
