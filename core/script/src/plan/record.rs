//! Records the operator calls of a function that runs on the meta device, inner calls of composite operators included.
//!
//! Tensors become *slots*: a geometry and a dtype in a storage. Two tensors share memory if their storages are the same one, so
//! that views, in-place operators and containers need no analysis.

use super::values::{mapped, may_hold_tensors};
use crate::ast::Name;
use crate::graph::{Attribute, Graph, NodeId};
use crate::passes;
use crate::runtime::function::{Function, Linker};
use crate::runtime::value::Value;
use crate::runtime::{Environment, attribute_of, run};
use crate::schema::Schema;
use crate::types::Type;
use rushlight_base::{DType, Device, DeviceType, Result, Storage, bail, ensure, err};
use rushlight_tensor::dispatch::{self, Op};
use rushlight_tensor::observe::{self, Call as Observed, Needs, Observer, Scope, Settings};
use rushlight_tensor::{Dense, Geometry, KeyGuard, KeySet, Tensor};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The index of a slot.
pub(super) type Slot = usize;
/// The index of a storage.
pub(super) type Store = usize;

/// Where the bytes of a storage come from.
#[derive(Clone)]
pub(super) enum Source {
    /// An argument of the function.
    Input,
    /// A constant.
    Constant(Storage),
    /// The function makes it.
    Made,
}

/// A storage of the recorded run.
#[derive(Clone)]
pub(super) struct Stored {
    /// What identifies it: the storage of meta tensors, or the constant itself.
    identity: Storage,
    pub source: Source,
    /// Whether it is a constant of the graph, which lives as long as the compiled function.
    pub is_lasting: bool,
    pub bytes: usize,
}

impl Stored {
    /// A storage that a step makes.
    pub fn made(bytes: usize) -> Result<Stored> {
        Ok(Stored { identity: Storage::meta(bytes)?, source: Source::Made, is_lasting: false, bytes })
    }
}

/// A tensor of the recorded run.
#[derive(Clone)]
pub(super) struct Place {
    pub store: Store,
    pub geometry: Geometry,
    pub dtype: DType,
    pub wrapped: bool,
}

/// An argument or a result of a call.
#[derive(Clone)]
pub(super) enum Argument {
    Value(dispatch::Value),
    Slot(Slot),
    Slots(Vec<Option<Slot>>),
}

impl Argument {
    /// The slots.
    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        let (one, several) = match self {
            Argument::Value(_) => (None, &[][..]),
            Argument::Slot(slot) => (Some(*slot), &[][..]),
            Argument::Slots(slots) => (None, &slots[..]),
        };
        one.into_iter().chain(several.iter().copied().flatten())
    }
}

/// A call, with the calls inside of it.
pub(super) struct Call {
    pub op: Op,
    pub arguments: Vec<Argument>,
    pub results: Vec<Argument>,
    /// The number of storages before it.
    pub stores_before: usize,
    pub inner: Vec<Call>,
}

/// What a function did.
pub(super) struct Recording {
    pub calls: Vec<Call>,
    pub stores: Vec<Stored>,
    pub places: Vec<Place>,
    /// The slots of the tensors in the arguments, in order.
    pub inputs: Vec<Slot>,
    /// The result, with tensors of the meta device.
    pub result: Value,
    /// The slots of the tensors in the result, in order.
    pub outputs: Vec<Slot>,
}

/// Records a function with these arguments.
pub(super) fn record(name: &Name, graph: &Graph, arguments: &[Value], linker: &Arc<dyn Linker>) -> Result<Recording> {
    check_effects(graph)?;
    let mut tables = Tables::default();
    let graph = on_meta(graph, &mut tables)?;
    let mut inputs = Vec::new();
    let mut standing = Vec::new();
    for argument in arguments {
        standing.push(mapped(argument, &mut |value| {
            let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
            let stand_in = tables.stand_in(tensor, Source::Input)?;
            inputs.push(tables.slot(&stand_in, false)?);
            Ok(stand_in.into())
        })?);
    }
    let recorder =
        Arc::new(Recorder(Mutex::new(State { tables, open: vec![Vec::new()], begun: Vec::new(), failed: None })));
    let printed = Arc::new(AtomicBool::new(false));
    let seen = printed.clone();
    let mut environment = Environment::new(linker.clone());
    environment.print = Some(Arc::new(move |_: &[u8]| seen.store(true, Ordering::Relaxed)));
    environment.warn = environment.print.clone();
    let function = Function::new(name.clone(), graph, Schema::new(name, Vec::new(), Type::Any));
    let result = {
        let _watching = Watching::begin(recorder.clone())?;
        let _below = KeyGuard::exclude(KeySet::AUTOGRAD);
        run(&function, standing, &environment).map_err(|error| without_trace(&error))?
    };
    ensure!(!printed.load(Ordering::Relaxed), Runtime, "it prints");
    let mut state = recorder.lock();
    if let Some(reason) = state.failed.take() {
        return Err(reason);
    }
    let mut outputs = Vec::new();
    let result = mapped(&result, &mut |value| {
        match value {
            Value::Tensor(tensor) => outputs.push(state.tables.slot(tensor, false)?),
            Value::Object(_) | Value::Future(_) | Value::Custom(_) | Value::Generator(_) | Value::Storage(_) => {
                bail!(Runtime, "it returns a value of type {}", value.type_of())
            }
            _ => {}
        }
        Ok(value.clone())
    })?;
    let calls = state.open.pop().unwrap_or_default();
    let tables = std::mem::take(&mut state.tables);
    Ok(Recording { calls, stores: tables.stores, places: tables.places, inputs, result, outputs })
}

/// The message of an error without the trace of the program.
fn without_trace(error: &rushlight_base::Error) -> rushlight_base::Error {
    let message = error.message();
    let after = message.rfind("\nRuntimeError: ").map_or(message, |at| &message[at + "\nRuntimeError: ".len()..]);
    let lines: Vec<&str> = after.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    err!(Runtime, "{}", lines.join(", "))
}

/// An error if a run does more than computing results from arguments.
fn check_effects(graph: &Graph) -> Result<()> {
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        if let Some(reason) = passes::unrepeatable(graph, node) {
            bail!(Runtime, "{reason} of {}", node.kind);
        }
    }
    let inputs = graph.block(graph.top())?.inputs();
    for &input in inputs {
        let value = graph.value(input)?;
        let is_object = matches!(value.kind, Type::Class(_) | Type::Interface(_));
        ensure!(!is_object || value.users().is_empty(), Runtime, "it reads attributes of {}", value.kind);
    }
    Ok(())
}

/// A copy of the graph whose tensors are on the meta device.
fn on_meta(graph: &Graph, tables: &mut Tables) -> Result<Graph> {
    let mut graph = graph.clone();
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        if node.block().is_none() {
            continue;
        }
        if &*node.kind != "prim::Constant" {
            make_on_meta(&mut graph, id)?;
            continue;
        }
        let &[output] = node.outputs() else { continue };
        if !may_hold_tensors(&graph.value(output)?.kind) {
            continue;
        }
        let Some(value) = passes::constant_value(&graph, output) else { continue };
        let value = mapped(&value, &mut |value| match value {
            // A number in a tensor may be read, and joins tensors of any device.
            Value::Tensor(tensor) if tensor.ndim() == 0 => Ok(value.clone()),
            Value::Tensor(tensor) => Ok(tables.constant(tensor)?.into()),
            Value::Device(device) if device.kind == DeviceType::Cpu => Ok(Value::Device(Device::META)),
            other => Ok(other.clone()),
        })?;
        let attribute = attribute_of(&value);
        let node = graph.node_mut(id)?;
        node.attributes.retain(|(name, _)| &**name != "value");
        node.attributes.extend(attribute.map(|attribute| ("value".into(), attribute)));
    }
    Ok(graph)
}

/// Lets a factory without a device create its tensor on the meta device.
fn make_on_meta(graph: &mut Graph, id: NodeId) -> Result<()> {
    let node = graph.node(id)?;
    let is_tensor = |kind: &Type| match kind {
        Type::Tensor => true,
        Type::Optional(inner) | Type::List(inner) => **inner == Type::Tensor,
        _ => false,
    };
    for &input in node.inputs() {
        if is_tensor(&graph.value(input)?.kind) {
            return Ok(());
        }
    }
    let Some(device) = passes::device_argument(graph, node) else { return Ok(()) };
    let Some(&input) = node.inputs().get(device) else { return Ok(()) };
    if !passes::constant_value(graph, input).is_some_and(|value| value.is_none()) {
        return Ok(());
    }
    let constant = graph.insert_before(id, "prim::Constant", &[], &[Type::Device])?;
    let attribute = Attribute::Str(Device::META.to_string().into_bytes().into());
    let node = graph.node_mut(constant)?;
    node.attributes.push(("value".into(), attribute));
    let &[output] = node.outputs() else { bail!(Internal, "a constant has no output") };
    graph.replace_input(id, device, output)
}

/// The slots and storages that were seen.
#[derive(Default)]
struct Tables {
    stores: Vec<Stored>,
    places: Vec<Place>,
}

impl Tables {
    /// A tensor of the meta device with the geometry of `tensor`, in a new storage.
    fn stand_in(&mut self, tensor: &Tensor, source: Source) -> Result<Tensor> {
        let dense = tensor.dense()?;
        check_plain(&dense)?;
        let geometry = Geometry { offset: 0, ..dense.geometry.clone() };
        let bytes = geometry.element_range().1.max(0) as usize * dense.dtype.size();
        let identity = Storage::meta(bytes)?;
        let mut body = Dense::new(identity.clone(), geometry, dense.dtype, Device::META);
        body.wrapped = dense.wrapped;
        let is_lasting = matches!(source, Source::Constant(_));
        self.stores.push(Stored { identity, source, is_lasting, bytes });
        Ok(Tensor::from_dense(body))
    }

    /// The stand-in of a constant.
    fn constant(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let dense = tensor.dense()?;
        ensure!(dense.device.kind == DeviceType::Cpu, Runtime, "a constant is on the device {}", dense.device);
        // The storage of the constant from its first element on: the stand-in begins there.
        let storage = from_offset(&dense)?;
        self.stand_in(tensor, Source::Constant(storage))
    }

    /// The slot of a tensor, which is the result of a call or comes from elsewhere.
    fn slot(&mut self, tensor: &Tensor, is_result: bool) -> Result<Slot> {
        let dense = tensor.dense()?;
        check_plain(&dense)?;
        let store = match self.stores.iter().rposition(|known| known.identity.is(&dense.storage)) {
            Some(store) => store,
            None => {
                let source = match dense.device.kind {
                    DeviceType::Meta => Source::Made,
                    DeviceType::Cpu if is_result => Source::Made,
                    // What the interpreter makes of numbers: it depends on shapes only.
                    DeviceType::Cpu => Source::Constant(dense.storage.clone()),
                    DeviceType::Cuda => bail!(Runtime, "it uses the device {}", dense.device),
                };
                let bytes = dense.storage.bytes();
                self.stores.push(Stored { identity: dense.storage.clone(), source, is_lasting: false, bytes });
                self.stores.len() - 1
            }
        };
        let place = Place { store, geometry: dense.geometry.clone(), dtype: dense.dtype, wrapped: dense.wrapped };
        let same = |known: &Place| {
            known.store == store
                && known.dtype == place.dtype
                && known.wrapped == place.wrapped
                && known.geometry == place.geometry
        };
        Ok(match self.places.iter().rposition(same) {
            Some(slot) => slot,
            None => {
                self.places.push(place);
                self.places.len() - 1
            }
        })
    }

    fn argument(&mut self, value: &dispatch::Value, is_result: bool) -> Result<Argument> {
        Ok(match value {
            dispatch::Value::Tensor(tensor) => Argument::Slot(self.slot(tensor, is_result)?),
            dispatch::Value::Tensors(tensors) => {
                let slot =
                    |tensor: &Option<Tensor>| tensor.as_ref().map(|tensor| self.slot(tensor, is_result)).transpose();
                Argument::Slots(tensors.iter().map(slot).collect::<Result<_>>()?)
            }
            dispatch::Value::Device(device) if device.kind == DeviceType::Meta => {
                Argument::Value(dispatch::Value::Device(Device::CPU))
            }
            dispatch::Value::Generator(_) => bail!(Runtime, "it uses a generator"),
            dispatch::Value::List(_)
            | dispatch::Value::Tuple(_)
            | dispatch::Value::Dict(_)
            | dispatch::Value::Object(_)
            | dispatch::Value::Future(_)
            | dispatch::Value::Storage(_) => bail!(Runtime, "an operator takes a {}", value.kind()),
            other => Argument::Value(other.clone()),
        })
    }
}

/// The bytes of a tensor from its first element on.
fn from_offset(dense: &Dense) -> Result<Storage> {
    let offset = dense.geometry.offset as usize * dense.dtype.size();
    if offset == 0 {
        return Ok(dense.storage.clone());
    }
    let bytes = dense.storage.bytes().saturating_sub(offset);
    let owner = dense.storage.clone();
    let at = owner.data().wrapping_add(offset).cast();
    // SAFETY: the bytes belong to the storage of the constant, which the deleter owns, so that they live as long as the
    // new storage; `offset` is inside of it, because a tensor stays within its storage.
    unsafe { Storage::foreign(at, bytes, Some(Box::new(move |_| drop(owner)))) }
}

fn check_plain(dense: &Dense) -> Result<()> {
    let keys = KeySet::BOXED;
    let body = Tensor::from_dense(dense.clone());
    ensure!(!body.keys().intersects(keys), Runtime, "a tensor of {} has no plain elements", dense.dtype);
    Ok(())
}

/// The observer.
struct Recorder(Mutex<State>);

struct State {
    tables: Tables,
    /// The calls that have ended, of each call that is running, innermost last; the first entry is the function's.
    open: Vec<Vec<Call>>,
    /// Arguments and the number of storages of the calls that are running.
    begun: Vec<(Vec<Argument>, usize)>,
    /// Why the function cannot be recorded.
    failed: Option<rushlight_base::Error>,
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn arguments(&mut self, values: &[dispatch::Value], is_result: bool) -> Vec<Argument> {
        let mut arguments = Vec::with_capacity(values.len());
        for value in values {
            match self.tables.argument(value, is_result) {
                Ok(argument) => arguments.push(argument),
                Err(error) => {
                    self.failed.get_or_insert(error);
                    break;
                }
            }
        }
        arguments
    }
}

impl Observer for Recorder {
    fn begin(&self, call: &Observed<'_>) -> Result<usize> {
        let mut state = self.lock();
        let before = state.tables.stores.len();
        let arguments = state.arguments(call.inputs, false);
        state.begun.push((arguments, before));
        state.open.push(Vec::new());
        Ok(0)
    }

    fn end(&self, call: &Observed<'_>, _: usize) -> Result<()> {
        let mut state = self.lock();
        let results = state.arguments(call.outputs, true);
        let inner = state.open.pop().unwrap_or_default();
        let (Some((arguments, stores_before)), Some(op)) = (state.begun.pop(), call.op().cloned()) else {
            return Ok(());
        };
        if let Some(calls) = state.open.last_mut() {
            calls.push(Call { op, arguments, results, stores_before, inner });
        }
        Ok(())
    }
}

/// While it lives, the recorder observes this thread.
struct Watching(u64);

impl Watching {
    fn begin(recorder: Arc<Recorder>) -> Result<Watching> {
        ensure!(observe::is_enabled(), Runtime, "observers are disabled on this thread");
        let settings =
            Settings { scopes: Scope::Function.bit(), sampling: 1.0, needs: Needs { inputs: true, outputs: true } };
        observe::add_thread_local(recorder, settings).map(Watching)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        observe::remove(self.0);
    }
}
