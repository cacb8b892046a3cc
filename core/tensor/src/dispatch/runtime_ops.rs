//! Operators defined at run time, by `TORCH_LIBRARY`, C callbacks and Java.
//!
//! An operator is a signature plus boxed kernels by [`KernelKey`]. It joins the lookup by name, passes the same layers
//! as built-in operators, and can be unregistered; running calls keep it alive.

use super::KeySet;
use super::boxed::Values;
use super::fit::{Slot, fit};
use super::value::Value;
use crate::autograd::{self, Backward, BackwardCall, Edges, Gradients};
use crate::keys::KeyGuard;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DeviceType, Result, bail, ensure, err};
use rushlight_schema::{Signature, Type};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A kernel on boxed values. Dropping it releases its context.
pub type BoxedKernel = Arc<dyn Fn(&[Value]) -> Result<Values> + Send + Sync>;

/// When a kernel of a run-time operator is chosen. The numbers are the C ABI's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelKey {
    /// Inputs on the CPU.
    Cpu = 0,
    /// Inputs on a CUDA device.
    Cuda = 1,
    /// Inputs on the meta device: shapes and dtypes only.
    Meta = 2,
    /// An input requires a gradient; the kernel does its own recording.
    Autograd = 3,
    /// Composed of other operators: runs on any device and is differentiable.
    Composite = 4,
}

impl KernelKey {
    /// The key with this number.
    pub fn from_code(code: i32) -> Result<KernelKey> {
        [KernelKey::Cpu, KernelKey::Cuda, KernelKey::Meta, KernelKey::Autograd, KernelKey::Composite]
            .into_iter()
            .find(|key| *key as i32 == code)
            .ok_or_else(|| err!(Value, "unknown dispatch key {code}"))
    }
}

/// An operator defined at run time.
pub struct RuntimeOp {
    signature: Signature,
    kernels: RwLock<BTreeMap<KernelKey, BoxedKernel>>,
}

type Registry = BTreeMap<(String, String), Arc<RuntimeOp>>;

static REGISTRY: RwLock<Registry> = RwLock::new(BTreeMap::new());

/// Defines an operator: `my::scaled_add(Tensor self, Tensor other, float alpha=1) -> Tensor`.
pub fn define(schema: &str) -> Result<Arc<RuntimeOp>> {
    let signature: Signature =
        schema.parse().map_err(|error: rushlight_schema::ParseError| err!(Value, "{schema}: {}", error.message()))?;
    ensure!(
        !signature.namespace.is_empty() && signature.namespace != "aten",
        Value,
        "an operator defined at run time needs a namespace of its own (my::op), got '{schema}'"
    );
    let op = Arc::new(RuntimeOp { signature, kernels: RwLock::default() });
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let key = op.key();
    ensure!(!registry.contains_key(&key), Runtime, "operator '{}' is defined already", op.full_name());
    registry.insert(key, op.clone());
    Ok(op)
}

/// Removes an operator from the lookup. Its kernels are released when the last running call ends.
pub fn undefine(op: &Arc<RuntimeOp>) -> Result<()> {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let key = op.key();
    match registry.get(&key) {
        Some(found) if Arc::ptr_eq(found, op) => {
            let removed = registry.remove(&key);
            // The context of a kernel may have a foreign deleter, which must not run under the lock.
            drop(registry);
            drop(removed);
            Ok(())
        }
        _ => Err(err!(Runtime, "operator '{}' is not registered", op.full_name())),
    }
}

/// All overloads of the operator `my::op`.
pub fn overloads(name: &str) -> Vec<Arc<RuntimeOp>> {
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    let rows = registry.range((name.to_owned(), String::new())..).take_while(|((other, _), _)| other == name);
    rows.map(|(_, op)| op.clone()).collect()
}

/// The operator `my::op` with this overload.
pub fn find(name: &str, overload: &str) -> Option<Arc<RuntimeOp>> {
    name.contains("::")
        .then(|| {
            let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
            registry.get(&(name.to_owned(), overload.to_owned())).cloned()
        })
        .flatten()
}

/// All registered operators.
pub fn all() -> Vec<Arc<RuntimeOp>> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
}

/// Removes all of them.
pub fn shutdown() {
    let registry = std::mem::take(&mut *REGISTRY.write().unwrap_or_else(PoisonError::into_inner));
    drop(registry);
}

impl RuntimeOp {
    /// An operator of a built-in library, with a kernel for the CPU that is made from the operator's name.
    #[cfg(feature = "op-quantization")]
    pub(crate) fn built_in(schema: &str, kernel: impl FnOnce(String) -> BoxedKernel) -> Result<RuntimeOp> {
        let signature: Signature = schema
            .parse()
            .map_err(|error: rushlight_schema::ParseError| err!(Value, "{schema}: {}", error.message()))?;
        let op = RuntimeOp { signature, kernels: RwLock::default() };
        op.implement(KernelKey::Cpu, kernel(op.full_name()));
        Ok(op)
    }

    fn key(&self) -> (String, String) {
        (format!("{}::{}", self.signature.namespace, self.signature.name), self.signature.overload.to_string())
    }

    /// `my::op` or `my::op.overload`.
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.signature.namespace, self.signature.full_name())
    }

    /// Arguments and results of the operator.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Adds the kernel for `key`, or replaces it.
    pub fn implement(&self, key: KernelKey, kernel: BoxedKernel) {
        let before = self.kernels.write().unwrap_or_else(PoisonError::into_inner).insert(key, kernel);
        drop(before);
    }

    /// Removes the kernel for `key`, if there is one.
    pub fn remove(&self, key: KernelKey) {
        let before = self.kernels.write().unwrap_or_else(PoisonError::into_inner).remove(&key);
        drop(before);
    }

    fn kernel(&self, key: KernelKey) -> Option<BoxedKernel> {
        self.kernels.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    /// Calls it if no boxed layer is left: autograd, then the device.
    pub(super) fn call_below_layers(&self, keys: KeySet, args: &[Value]) -> Result<Values> {
        if keys.intersects(KeySet::AUTOGRAD)
            && let Some(kernel) = self.kernel(KernelKey::Autograd)
        {
            return self.run(&kernel, args);
        }
        let (key, device) = device_of(args);
        if let Some(kernel) = self.kernel(key) {
            return if keys.intersects(KeySet::AUTOGRAD | KeySet::INFERENCE) {
                self.run_unrecorded(&kernel, args)
            } else {
                self.run(&kernel, args)
            };
        }
        match self.kernel(KernelKey::Composite) {
            Some(kernel) => self.run(&kernel, args),
            None => bail!(NotImplemented, "no kernel for operator {} on device {}", self.full_name(), device.name()),
        }
    }

    fn run(&self, kernel: &BoxedKernel, args: &[Value]) -> Result<Values> {
        let results = kernel(args)?;
        let expected = self.signature.returns.len();
        ensure!(
            results.len() == expected,
            Runtime,
            "operator {} returns {expected} values, but its kernel gave {}",
            self.full_name(),
            results.len()
        );
        let of_type = |(index, value): (usize, Value)| {
            fit(value, &self.signature.returns[index].ty, Slot::Result(index))
                .map_err(|error| error.context(format_args!("the kernel of operator {}", self.full_name())))
        };
        Ok(Values(results.0.into_iter().enumerate().map(of_type).collect::<Result<_>>()?))
    }

    /// A device kernel has no derivative: its results and in-place writes are marked so that backward through them is
    /// an error that names the operator.
    fn run_unrecorded(&self, kernel: &BoxedKernel, args: &[Value]) -> Result<Values> {
        self.check_views()?;
        let mut inputs: Vec<Tensor> = Vec::new();
        args.iter().for_each(|value| value.for_each_tensor(|tensor| inputs.push(tensor.clone())));
        let recording = autograd::should_record(&inputs);
        let mut written: Vec<Tensor> = Vec::new();
        for (_, value) in self.signature.arguments.iter().zip(args).filter(|(argument, _)| argument.is_written()) {
            value.for_each_tensor(|tensor| written.push(tensor.clone()));
        }
        for target in &written {
            autograd::check_inplace(target, recording)?;
        }
        let results = {
            let _below = KeyGuard::below_autograd();
            self.run(kernel, args)?
        };
        let results = self.track_views(args, results)?;
        if !recording {
            return Ok(results);
        }
        for target in &written {
            // The history of a write begins with the previous history.
            let others = inputs.iter().filter(|input| !input.is(target));
            let edges = Edges::of(&std::iter::once(target).chain(others).collect::<Vec<_>>());
            autograd::rebase_history(target, edges, NoDerivative { operator: self.full_name() })?;
        }
        let mut outputs: Vec<Tensor> = Vec::new();
        results.iter().for_each(|value| value.for_each_tensor(|tensor| outputs.push(tensor.clone())));
        let is_new =
            |output: &&Tensor| output.dtype().is_differentiable() && !written.iter().any(|target| target.is(output));
        let refs: Vec<&Tensor> = outputs.iter().filter(is_new).collect();
        if !refs.is_empty() {
            let inputs: Vec<&Tensor> = inputs.iter().collect();
            autograd::record(&refs, Edges::new().with_list(&inputs), NoDerivative { operator: self.full_name() });
        }
        Ok(results)
    }

    /// A result that the schema declares as a view of the first argument becomes a view for autograd.
    fn track_views(&self, args: &[Value], mut results: Values) -> Result<Values> {
        let (Some(argument), Some(returned)) = (self.signature.arguments.first(), self.signature.returns.first())
        else {
            return Ok(results);
        };
        if !(is_view(&argument.ty) && is_view(&returned.ty)) {
            return Ok(results);
        }
        let (Some(Value::Tensor(base)), Some(result)) = (args.first(), results.0.first_mut()) else {
            return Ok(results);
        };
        let track = |tensor: &Tensor| -> Result<Tensor> {
            // A kernel may return the argument itself: the view of it is another tensor.
            let fresh =
                if tensor.is(base) || tensor.autograd_meta().is_some() { ops::alias(tensor)? } else { tensor.clone() };
            let view = autograd::as_view(base, fresh)?;
            autograd::mark_unknown(&view, &self.full_name());
            Ok(view)
        };
        result.try_for_each_tensor_mut(&mut |tensor| {
            *tensor = track(tensor)?;
            Ok(())
        })?;
        Ok(results)
    }

    /// Autograd can follow one view of one argument, and only from the first to the first.
    fn check_views(&self) -> Result<()> {
        let inputs: Vec<usize> = positions(self.signature.arguments.iter().map(|argument| is_view(&argument.ty)));
        let outputs: Vec<usize> = positions(self.signature.returns.iter().map(|result| is_view(&result.ty)));
        for (which, found) in [("output", &outputs), ("input", &inputs)] {
            let others =
                if which == "output" { "outputs are aliased with inputs" } else { "inputs are aliased with outputs" };
            ensure!(
                found.len() <= 1,
                Runtime,
                "Expected only a single {which} in the operator schema to have a non-write alias annotation (i.e., \
                 'Tensor(a)'). Non-composite functions where multiple {others} aren't supported. Please rewrite your \
                 function as a composite function."
            );
        }
        ensure!(
            inputs.is_empty() || outputs.is_empty() || (inputs[0] == 0 && outputs[0] == 0),
            Runtime,
            "Fallback ADInplaceOrView kernel can only create view relationships between the first input and the first output \
             (the output can be a vector of tensors). Please change the order of your operator's parameters so that this is \
             the case."
        );
        Ok(())
    }
}

/// Whether the schema declares shared memory that is only read.
fn is_view(ty: &Type) -> bool {
    ty.alias.as_ref().is_some_and(|alias| !alias.write)
}

fn positions(marks: impl Iterator<Item = bool>) -> Vec<usize> {
    marks.enumerate().filter(|(_, mark)| *mark).map(|(position, _)| position).collect()
}

/// The kernel for the device of the first tensor. Without a tensor, the CPU's.
fn device_of(args: &[Value]) -> (KernelKey, DeviceType) {
    let mut device = None;
    args.iter().for_each(|value| {
        value.for_each_tensor(|tensor| {
            device.get_or_insert(tensor.device().kind);
        });
    });
    match device.unwrap_or(DeviceType::Cpu) {
        DeviceType::Cpu => (KernelKey::Cpu, DeviceType::Cpu),
        DeviceType::Cuda => (KernelKey::Cuda, DeviceType::Cuda),
        DeviceType::Meta => (KernelKey::Meta, DeviceType::Meta),
    }
}

struct NoDerivative {
    operator: String,
}

impl Backward for NoDerivative {
    fn name(&self) -> &str {
        "NotImplemented"
    }

    fn saves(&self) -> bool {
        false
    }

    fn backward(&self, _: &BackwardCall<'_>, _: &mut Gradients) -> Result<()> {
        bail!(NotImplemented, "derivative for {} is not implemented", self.operator)
    }
}
