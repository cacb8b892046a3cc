//! The way of a call: keys, layers, and what every generated function relies on.
//!
//! A typed function ORs the keys of its arguments, asks [`active`] which layers are left, and with none goes
//! straight to its forward assembly. Autograd is a typed layer (generated `gradient` modules); the others work on
//! boxed values, one file each, outermost last in [`LAYERS`]. Calls by name (`by_name`) use the same table, and
//! operators defined at run time (`runtime_ops`) join it.

pub mod assembly;
pub mod boxed;
pub mod by_name;
mod lazy;
pub mod opdef;
mod output;
pub mod record;
pub mod runtime_ops;
pub mod value;

pub use crate::keys::{KeyGuard, KeySet, active, active_for_view, is_excluded, set_excluded};
pub use boxed::{Args, FromValues, Values};
pub use by_name::Op;
pub(crate) use lazy::carried_out;
pub use opdef::{Autocast, Batching, Form, Kind, OpDef};
pub use output::{Overlap, Target, written};
pub use value::{FromValue, ToValue, Value};

use crate::dense::{Dense, Spec};
use crate::tensor::Tensor;
use rushlight_base::{DeviceType, Result, bail, runtime};

/// A layer on boxed values: its key, and what it does with a call.
struct Layer {
    key: KeySet,
    handle: fn(&Op, Vec<Value>) -> Result<Values>,
}

/// The boxed layers, outermost first. A new layer is a file and a row here.
const LAYERS: [Layer; 2] =
    [Layer { key: KeySet::RECORD, handle: record::handle }, Layer { key: KeySet::LAZY, handle: lazy::handle }];

/// Pass a built-in operator through the outermost boxed layer that is on.
#[cold]
#[inline(never)]
pub fn boxed<T: FromValues>(op: &'static OpDef, keys: KeySet, args: &[&dyn ToValue]) -> Result<T> {
    boxed_op(&Op::BuiltIn(op), keys, args.iter().map(|arg| arg.to_value()).collect())?.extract()
}

fn boxed_op(op: &Op, keys: KeySet, args: Vec<Value>) -> Result<Values> {
    match LAYERS.iter().find(|layer| keys.intersects(layer.key)) {
        Some(layer) => (layer.handle)(op, args),
        None => bail!(Internal, "{}: no layer handles the keys {keys:?}", op.full_name()),
    }
}

/// Run the body of an operator: a set cancel flag ends it here, and so does a system without memory; an error learns the
/// operator's name.
#[inline(always)]
pub fn named<T>(operator: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    named_dynamic(operator, body)
}

#[inline(always)]
fn named_dynamic<T>(operator: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = match runtime::check_may_begin() {
        Ok(()) => body(),
        Err(refused) => Err(refused),
    };
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(error.in_operator(operator)),
    }
}

/// Is there a CPU kernel to run? False on the meta device, where shapes are all there is. Inputs must be on the
/// output's device (0-dim CPU tensors may join others); a device without kernels is an error that names the
/// operator.
#[inline(always)]
pub fn on_cpu<'a>(operator: &'static str, out: &Dense, inputs: impl IntoIterator<Item = &'a Dense>) -> Result<bool> {
    for input in inputs {
        if input.device.kind != out.device.kind {
            check_joins(out, input)?;
        }
    }
    if out.device.kind == DeviceType::Cpu { Ok(true) } else { elsewhere(operator, out) }
}

/// Only a number on the host may join tensors elsewhere: a kernel never reads memory that is not there.
#[cold]
fn check_joins(out: &Dense, input: &Dense) -> Result<()> {
    if input.device.kind != DeviceType::Cpu || input.ndim() > 0 {
        bail!(
            Runtime,
            "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
            out.device,
            input.device
        );
    }
    Ok(())
}

#[cold]
fn elsewhere(operator: &'static str, out: &Dense) -> Result<bool> {
    match out.device.kind {
        DeviceType::Cpu => Ok(true),
        DeviceType::Meta => Ok(false),
        DeviceType::Cuda => {
            bail!(NotImplemented, "no kernel for operator {operator} on device cuda with dtype {}", out.dtype)
        }
    }
}

/// Put `result` into the out= argument of an operator that is made of others: it is resized and cast as needed.
#[inline(never)]
pub fn write_result(result: &Tensor, out: &Tensor) -> Result<()> {
    let result = &carried_out(result)?;
    let result = &*result.dense()?;
    let spec = Spec::new(result.sizes(), result.dtype, result.device);
    let place = spec.prepare_out(out, Overlap::Temporary, [result])?;
    if !place.is_meta() {
        written(crate::ops::copy::copy_(&place, result, false), [out])?;
    }
    place.finish(out)
}

/// The snapshot of an optional argument.
#[inline(never)]
pub fn dense_opt(tensor: Option<&Tensor>) -> Result<Option<Dense>> {
    tensor.map(|tensor| Ok(tensor.dense()?.clone())).transpose()
}

/// The snapshots of a list argument.
#[inline(never)]
pub fn dense_list(tensors: &[&Tensor]) -> Result<Vec<Dense>> {
    tensors.iter().map(|tensor| Ok(tensor.dense()?.clone())).collect()
}

/// The snapshots of a list argument with elements that may be missing.
#[inline(never)]
pub fn dense_opt_list(tensors: &[Option<&Tensor>]) -> Result<Vec<Option<Dense>>> {
    tensors.iter().map(|tensor| dense_opt(*tensor)).collect()
}

/// The keys of a list argument with elements that may be missing.
#[inline(never)]
pub fn keys_of_some(tensors: &[Option<&Tensor>]) -> KeySet {
    tensors.iter().flatten().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
}

/// The keys of a list argument.
#[inline(never)]
pub fn keys_of(tensors: &[&Tensor]) -> KeySet {
    tensors.iter().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
}

/// A scope below a layer.
pub struct Below;

impl Below {
    /// Calls of this thread run below the autograd layer: nothing is recorded for backward.
    #[inline]
    pub fn autograd() -> KeyGuard {
        KeyGuard::below_autograd()
    }
}
