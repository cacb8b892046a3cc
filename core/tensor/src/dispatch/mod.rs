//! Dispatch of a call: keys, layers, and functions for generated code.
//!
//! A typed function combines the keys of its arguments and calls [`active`] for the layers of the call. Without layers
//! it calls its forward assembly directly. Autograd is a typed layer (generated `gradient` modules); the others use
//! boxed values, one file each, outermost first in [`LAYERS`]. Calls by name (`by_name`) use the same table, which also
//! includes operators that are defined at run time (`runtime_ops`).
//!
//! To add a layer, write a file here with a handler of boxed calls, and add a key to `keys.rs` and a row to [`LAYERS`].
//! `record.rs` is the simplest example: its key is set for a thread. `lazy.rs` is an example of a key that belongs to a
//! tensor.

pub mod assembly;
pub mod boxed;
pub mod by_name;
pub mod call;
mod containers;
mod few;
mod fit;
pub mod forms;
mod index;
mod lazy;
mod lent;
mod linked;
mod object;
mod observed;
pub mod opdef;
mod output;
pub mod record;
pub mod runtime_ops;
mod signatures;
pub mod trace;
pub mod value;

pub use crate::keys::{KeyGuard, KeySet, active, active_for_view, is_excluded, set_excluded};
pub use boxed::{Args, FromValues, IntoValues, Taken, Values};
pub use by_name::Op;
pub use call::Call;
pub use containers::{Dict, Items, MAX_DEPTH};
pub use few::Few;
pub use forms::{Argument, active_for_tracked_view, boxed, done_above};
pub(crate) use forms::{above, below, forms, forwarded};
pub(crate) use lazy::carried_out;
pub use lent::LentValues;
#[cfg(feature = "op-nested")]
pub(crate) use linked::NESTED;
#[cfg(feature = "op-quantization")]
pub(crate) use linked::QUANTIZED;
#[cfg(feature = "op-sparse")]
pub(crate) use linked::SPARSE;
pub use linked::link_layers;
pub use object::{EnumValue, Future, Object, QScheme, Stream};
pub(crate) use observed::unobserved;
pub use opdef::{Arguments, OpDef};
pub use output::{Overlap, Target, check_inplace_dtype, check_own_dtype, own_dtype, written};
pub use value::{FromValue, Ints, ToValue, Value};

use crate::dense::{Dense, Spec, check_cast};
use crate::tensor::Tensor;
use rushlight_base::{DeviceType, Result, backend, bail, list, runtime};

/// A layer on boxed values: its key, and its handler.
struct Layer {
    key: KeySet,
    handle: linked::Handle,
}

/// The boxed layers, outermost first. A new layer is a file and a row here.
const LAYERS: &[Layer] = &[
    Layer { key: KeySet::OBSERVED, handle: observed::handle },
    Layer { key: KeySet::TRACE, handle: trace::handle },
    Layer { key: KeySet::RECORD, handle: record::handle },
    Layer { key: KeySet::SPARSE, handle: linked::sparse },
    Layer { key: KeySet::QUANTIZED, handle: linked::quantized },
    Layer { key: KeySet::NESTED, handle: linked::nested },
    Layer { key: KeySet::LAZY, handle: lazy::handle },
];

fn boxed_op(op: &Op, keys: KeySet, args: &[Value], results: &mut Values) -> Result<()> {
    match LAYERS.iter().find(|layer| keys.intersects(layer.key)) {
        Some(layer) => (layer.handle)(op, args, results),
        None => bail!(Internal, "{}: no layer handles the keys {keys:?}", op.full_name()),
    }
}

/// Runs the body of an operator. It fails if the cancel flag is set or memory is exhausted, and adds the operator's
/// name to errors.
#[inline(always)]
pub fn named<T>(operator: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    named_dynamic(operator, body)
}

/// [`named`] for operators whose name is known at run time.
#[cfg(any(feature = "op-nested", feature = "op-sparse", feature = "op-quantization"))]
pub(crate) fn named_call<T>(operator: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
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

/// Whether a kernel is to run. False on the meta device, which has only shapes. Inputs must be on the output's device
/// (0-dim CPU tensors may be mixed in); a device without a kernel is an error that names the operator.
#[inline(always)]
pub fn has_kernel<'a>(
    operator: &'static str,
    out: &Dense,
    inputs: impl IntoIterator<Item = &'a Dense>,
) -> Result<bool> {
    for input in inputs {
        if input.device.kind != out.device.kind || input.device.kind == DeviceType::Cuda {
            check_joins(out, input)?;
        }
    }
    if out.device.kind == DeviceType::Cpu { Ok(true) } else { elsewhere(operator, out) }
}

/// Only a CPU scalar may be combined with tensors on another device: a kernel never reads memory of another device.
#[cold]
fn check_joins(out: &Dense, input: &Dense) -> Result<()> {
    if input.device != out.device && (input.device.kind != DeviceType::Cpu || input.ndim() > 0) {
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
            backend::enter_operator(operator);
            Ok(true)
        }
    }
}

/// For kernels that run on the host (`on_host` in their declarations): a copy of an input, and memory for a result.
pub use crate::ops::transfer::{on_host, result_on_host};

/// Copies of a list of inputs on the host.
#[cold]
pub fn list_on_host(inputs: &[Dense]) -> Result<Vec<Dense>> {
    list::check_memory(inputs.len())?;
    list::try_collect(inputs.iter().map(on_host))
}

/// Copies a result from the host to its device.
#[cold]
pub fn from_host(result: &Dense, host: &Dense) -> Result<()> {
    crate::ops::transfer::across(result, host, false)
}

/// Writes `result` to the out= argument of a composite operator, resized and cast if needed.
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

/// `write_result` for an out form that does not convert its result.
pub fn write_own_result(result: &Tensor, out: &Tensor) -> Result<()> {
    check_own_dtype(result.dtype(), out)?;
    write_result(result, out)
}

/// The target of the in-place form of a composite operator, before it is written: a copy if the call is recorded, because
/// derivatives take the elements from before the write.
#[inline(never)]
pub fn before_write(target: &Tensor) -> Result<Tensor> {
    if crate::autograd::should_record([target]) { crate::ops::clone(target, None) } else { Ok(target.clone()) }
}

/// Writes `result` to the target of the in-place form of a composite operator, whose derivative it becomes.
#[inline(never)]
pub fn write_in_place(result: &Tensor, target: &Tensor) -> Result<()> {
    check_cast(result.dtype(), target.dtype())?;
    crate::ops::copy_(target, result, false)
}

/// The snapshot of an optional argument.
#[inline(never)]
pub fn dense_opt(tensor: Option<&Tensor>) -> Result<Option<Dense>> {
    tensor.map(|tensor| Ok(tensor.dense()?.clone())).transpose()
}

/// The snapshots of a list argument.
#[inline(never)]
pub fn dense_list(tensors: &[&Tensor]) -> Result<Vec<Dense>> {
    list::check_memory(tensors.len())?;
    list::try_collect(tensors.iter().map(|tensor| Ok(tensor.dense()?.clone())))
}

/// The snapshots of a list argument with optional elements.
#[inline(never)]
pub fn dense_opt_list(tensors: &[Option<&Tensor>]) -> Result<Vec<Option<Dense>>> {
    list::check_memory(tensors.len())?;
    list::try_collect(tensors.iter().map(|tensor| dense_opt(*tensor)))
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
