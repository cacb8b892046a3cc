//! From a recording to steps: the innermost calls that explain the results, without views and without what depends on
//! constants only.

use super::record::{Argument, Call, Place, Recording, Slot, Source, Store, Stored};
use rushlight_base::{DType, Device, Result, SmallVec, bail, ensure, err};
use rushlight_tensor::dispatch::{self, Op, Values, by_name};
use rushlight_tensor::ops::prepared::{Activation, Convolution, Product};
use rushlight_tensor::{Dense, Geometry, Tensor};
use std::collections::HashSet;
use std::sync::Arc;

/// Results up to this size become constants if they depend on constants only.
const MAX_CONSTANT: usize = 4 << 20;

/// A call of an operator on slots.
pub(super) struct Lowered {
    pub op: Op,
    pub arguments: Vec<Argument>,
    /// The arguments that the call writes.
    pub written: Vec<Slot>,
    /// The results in memory of their own.
    pub fresh: Vec<Option<Slot>>,
    /// What runs instead of the operator. Its arguments are the input, and the tensor that is added, if there is one.
    pub prepared: Option<Prepared>,
    /// The operators that were moved into it.
    pub followed_by: Vec<&'static str>,
    /// The dtype of the constant weights in memory, if it is a layer.
    pub weights: Option<DType>,
}

/// A layer whose weights are packed once.
pub(super) enum Prepared {
    Convolution(Convolution),
    Product(Product),
}

impl Prepared {
    /// The function that is applied last.
    pub fn then(&mut self) -> &mut Activation {
        match self {
            Prepared::Convolution(layer) => &mut layer.then,
            Prepared::Product(product) => &mut product.then,
        }
    }

    /// The dtype of the weights in memory.
    pub fn weights_dtype(&self) -> DType {
        match self {
            Prepared::Convolution(_) => DType::F32,
            Prepared::Product(product) => product.matrix().dtype(),
        }
    }

    /// The address of the weights, which several layers may share, and their bytes.
    pub fn weights(&self) -> (usize, usize) {
        match self {
            Prepared::Convolution(layer) => (Arc::as_ptr(layer.weights()).addr(), layer.weights().bytes()),
            Prepared::Product(product) => (Arc::as_ptr(product.matrix()).addr(), product.matrix().bytes()),
        }
    }

    /// Runs it: the arguments are the input, the tensor that is added, if there is one, and the result.
    pub fn run(&self, arguments: &[dispatch::Value]) -> Result<()> {
        let tensors = arguments.iter().map(|value| match value {
            dispatch::Value::Tensor(tensor) => Ok(tensor),
            other => Err(err!(Internal, "a layer got a {}", other.kind())),
        });
        let tensors: SmallVec<[&Tensor; 3]> = tensors.collect::<Result<_>>()?;
        match (self, &tensors[..]) {
            (Prepared::Convolution(layer), &[input, out]) => layer.run(out, input, None),
            (Prepared::Convolution(layer), &[input, add, out]) => layer.run(out, input, Some(add)),
            (Prepared::Product(product), &[input, out]) => product.run(out, input, None),
            (Prepared::Product(product), &[input, add, out]) => product.run(out, input, Some(add)),
            _ => bail!(Internal, "a layer got {} tensors", tensors.len()),
        }
    }
}

impl Lowered {
    /// A call of an operator.
    pub fn new(op: Op, arguments: Vec<Argument>, written: Vec<Slot>, fresh: Vec<Option<Slot>>) -> Lowered {
        Lowered { op, arguments, written, fresh, prepared: None, followed_by: Vec::new(), weights: None }
    }

    /// The slots that it reads or writes.
    pub fn touched(&self) -> impl Iterator<Item = Slot> {
        self.arguments.iter().flat_map(Argument::slots).chain(self.made())
    }

    /// The results in memory of their own.
    pub fn made(&self) -> impl Iterator<Item = Slot> {
        self.fresh.iter().copied().flatten()
    }
}

/// The steps of a function in order.
pub(super) struct Steps {
    pub calls: Vec<Lowered>,
    pub stores: Vec<Stored>,
    pub places: Vec<Place>,
}

/// The steps of a recording.
pub(super) fn lower(recording: &mut Recording) -> Result<Steps> {
    let calls = std::mem::take(&mut recording.calls);
    let mut lowering =
        Lowering { places: std::mem::take(&mut recording.places), stores: std::mem::take(&mut recording.stores) };
    let mut steps = Vec::new();
    for call in calls {
        lowering.call(call, &mut steps)?;
    }
    lowering.check(&steps, recording)?;
    let steps = lowering.without_constants(steps, recording)?;
    Ok(Steps { calls: steps, stores: lowering.stores, places: lowering.places })
}

struct Lowering {
    places: Vec<Place>,
    stores: Vec<Stored>,
}

/// Whether an operator creates a tensor without writing it.
fn is_empty_factory(op: &Op) -> bool {
    let Op::BuiltIn(row) = op else { return false };
    let name = row.name();
    name.starts_with("empty") || name.starts_with("new_empty")
}

impl Lowering {
    fn store(&self, slot: Slot) -> Store {
        self.places[slot].store
    }

    fn is_made(&self, store: Store) -> bool {
        matches!(self.stores[store].source, Source::Made)
    }

    /// Appends the steps of a call: those of its inner calls, if they explain its results.
    fn call(&self, call: Call, steps: &mut Vec<Lowered>) -> Result<()> {
        let Call { op, arguments, results, stores_before, inner } = call;
        let results: Vec<Slot> = results.iter().flat_map(Argument::slots).collect();
        let own = self.leaf(op, arguments, &results, stores_before)?;
        let mut parts = Vec::new();
        for call in inner {
            self.call(call, &mut parts)?;
        }
        if !parts.is_empty() && self.explain(&parts, &own, &results, stores_before) {
            steps.append(&mut parts);
        } else if !is_empty_factory(&own.op) && (!own.written.is_empty() || own.made().next().is_some()) {
            ensure!(matches!(own.op, Op::BuiltIn(_)), Runtime, "it calls {}", own.op.full_name());
            steps.push(own);
        }
        Ok(())
    }

    /// The call as one step.
    fn leaf(&self, op: Op, arguments: Vec<Argument>, results: &[Slot], stores_before: usize) -> Result<Lowered> {
        let mut written = Vec::new();
        for (declared, argument) in op.arguments().iter().zip(&arguments) {
            if declared.is_written() {
                for slot in argument.slots() {
                    // An argument that only gets another geometry is not among the results.
                    if results.is_empty() || results.contains(&slot) {
                        written.push(slot);
                    }
                }
            }
        }
        let mut fresh = Vec::new();
        for &result in results {
            let store = self.store(result);
            fresh.push((store >= stores_before && self.is_made(store)).then_some(result));
        }
        Ok(Lowered::new(op, arguments, written, fresh))
    }

    /// Whether steps write everything that a call is known to write: all other memory that they read or return was
    /// there before the call.
    fn explain(&self, steps: &[Lowered], call: &Lowered, results: &[Slot], stores_before: usize) -> bool {
        let mut produced: HashSet<Store> = HashSet::new();
        let is_known = |store: Store, produced: &HashSet<Store>| {
            store < stores_before || !self.is_made(store) || produced.contains(&store) || self.stores[store].bytes == 0
        };
        for step in steps {
            for slot in step.arguments.iter().flat_map(Argument::slots) {
                let store = self.store(slot);
                if !step.written.contains(&slot) && !is_known(store, &produced) {
                    return false;
                }
            }
            produced.extend(step.written.iter().copied().chain(step.made()).map(|slot| self.store(slot)));
        }
        let writes = call.written.iter().all(|&slot| {
            let store = self.store(slot);
            produced.contains(&store) || self.stores[store].bytes == 0
        });
        writes && results.iter().all(|&slot| is_known(self.store(slot), &produced))
    }

    /// An error if the steps write memory that is not theirs, or read what no step wrote.
    fn check(&self, steps: &[Lowered], recording: &Recording) -> Result<()> {
        let mut produced: HashSet<Store> = HashSet::new();
        for step in steps {
            for &slot in &step.written {
                ensure!(
                    self.is_made(self.store(slot)),
                    Runtime,
                    "{} writes an input or a constant",
                    step.op.full_name()
                );
            }
            produced.extend(step.written.iter().copied().chain(step.made()).map(|slot| self.store(slot)));
        }
        for slot in steps
            .iter()
            .flat_map(|step| step.arguments.iter().flat_map(Argument::slots))
            .chain(recording.outputs.iter().copied())
        {
            let store = self.store(slot);
            let is_written = !self.is_made(store) || produced.contains(&store) || self.stores[store].bytes == 0;
            ensure!(is_written, Runtime, "it reads memory that no operator writes");
        }
        Ok(())
    }

    /// Computes the steps that read constants only, whose results become constants.
    fn without_constants(&mut self, steps: Vec<Lowered>, recording: &Recording) -> Result<Vec<Lowered>> {
        let mut writers = vec![0usize; self.stores.len()];
        for step in &steps {
            for slot in step.written.iter().copied().chain(step.made()) {
                writers[self.store(slot)] += 1;
            }
        }
        // A result has to be new each time.
        let returned: HashSet<Store> = recording.outputs.iter().map(|&slot| self.store(slot)).collect();
        let mut rest = Vec::new();
        for step in steps {
            let reads_constants = step
                .arguments
                .iter()
                .flat_map(Argument::slots)
                .all(|slot| matches!(self.stores[self.store(slot)].source, Source::Constant(_)));
            let is_constant = step.written.is_empty()
                && reads_constants
                && step.made().all(|slot| {
                    let store = self.store(slot);
                    writers[store] == 1 && !returned.contains(&store) && self.stores[store].bytes <= MAX_CONSTANT
                });
            match is_constant {
                true => self.compute(&step)?,
                false => rest.push(step),
            }
        }
        Ok(rest)
    }

    fn compute(&mut self, step: &Lowered) -> Result<()> {
        let mut arguments = Vec::with_capacity(step.arguments.len());
        for argument in &step.arguments {
            arguments.push(value_of(argument, &mut |slot| self.constant(slot))?);
        }
        let tensors = tensors_of(step.op.call(&arguments)?);
        ensure!(tensors.len() == step.fresh.len(), Runtime, "{} returns other results", step.op.full_name());
        for (slot, tensor) in step.fresh.iter().zip(&tensors) {
            let Some(slot) = *slot else { continue };
            let place = &self.places[slot];
            let dense = tensor.dense()?;
            ensure!(dense.geometry == place.geometry, Runtime, "{} returns another geometry", step.op.full_name());
            let store = place.store;
            self.stores[store].source = Source::Constant(dense.storage.clone());
        }
        Ok(())
    }

    fn constant(&self, slot: Slot) -> Result<Tensor> {
        let place = &self.places[slot];
        let Source::Constant(storage) = &self.stores[place.store].source else {
            bail!(Internal, "a slot is no constant")
        };
        Ok(tensor_at(place, storage.clone(), 0))
    }
}

/// The tensors of the results of a call, those of lists among them.
pub(super) fn tensors_of(mut results: Values) -> Vec<Tensor> {
    let mut tensors = Vec::with_capacity(results.len());
    for value in results.0.iter_mut() {
        match std::mem::take(value) {
            dispatch::Value::Tensor(tensor) => tensors.push(tensor),
            dispatch::Value::Tensors(list) => tensors.extend(list.into_iter().flatten()),
            _ => {}
        }
    }
    tensors
}

/// The tensor of a place in a storage, `shift` bytes from its start on, which are whole elements.
pub(super) fn tensor_at(place: &Place, storage: rushlight_base::Storage, shift: usize) -> Tensor {
    let shift = (shift / place.dtype.size().max(1)) as i64;
    let geometry = Geometry { offset: place.geometry.offset + shift, ..place.geometry.clone() };
    let mut dense = Dense::new(storage, geometry, place.dtype, Device::CPU);
    dense.wrapped = place.wrapped;
    Tensor::from_dense(dense)
}

/// The value of an argument with these tensors.
pub(super) fn value_of(argument: &Argument, tensor: &mut dyn FnMut(Slot) -> Result<Tensor>) -> Result<dispatch::Value> {
    Ok(match argument {
        Argument::Value(value) => value.clone(),
        Argument::Slot(slot) => dispatch::Value::Tensor(tensor(*slot)?),
        Argument::Slots(slots) => {
            let tensors = slots.iter().map(|slot| slot.map(&mut *tensor).transpose());
            dispatch::Value::Tensors(tensors.collect::<Result<_>>()?)
        }
    })
}

/// The out form of a functional form: its arguments, followed by one `out` for each result.
pub(super) fn out_form(op: &Op, results: usize) -> Option<Op> {
    let Op::BuiltIn(row) = op else { return None };
    let own: Vec<_> = row.arguments().iter().collect();
    let fits = |candidate: &Op| {
        let arguments = candidate.arguments();
        arguments.len() == own.len() + results
            && arguments.iter().zip(&own).all(|(theirs, own)| theirs.name == own.name && theirs.ty == own.ty)
            && arguments.iter().skip(own.len()).all(|argument| argument.is_written())
            && matches!(candidate, Op::BuiltIn(_))
    };
    by_name::overloads(&format!("aten::{}", row.name())).into_iter().find(fits)
}
