//! The memory of a run, and running.

use super::lower::{Prepared, tensor_at, tensors_of, value_of};
use super::record::{Argument, Slot, Store};
use super::step::{Home, Plan, Step};
use super::values::mapped;
use crate::runtime::value::Value;
use rushlight_base::{Result, Storage, bail, err, runtime};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{self, Values};
use rushlight_tensor::observe;
use std::sync::PoisonError;

/// Instances that a plan keeps: as many as threads may run it at once without allocating memory.
const MAX_IDLE: usize = 64;

/// The end of a run.
pub(super) enum Outcome {
    Result(Value),
    /// An operator returned other shapes or strides than the plan says.
    Differs(String),
}

/// The memory of one run at a time: intermediate results, and the arguments of the steps.
pub(crate) struct Instance {
    /// Keeps the bytes of the results that are placed in it.
    arena: Storage,
    /// The tensor of each slot, once it is used; those of a run are removed at its end.
    tensors: Vec<Option<Tensor>>,
    /// The storages of a run, each with the offset of its first byte.
    storages: Vec<Option<(Storage, usize)>>,
    /// The complete arguments of each step. Those that a run has are None before and after.
    arguments: Vec<Vec<dispatch::Value>>,
    /// The next step.
    next: usize,
}

impl Plan {
    /// Runs all steps.
    pub(super) fn run(&self, inputs: &[Tensor]) -> Result<Outcome> {
        let mut instance = self.begin(inputs)?;
        while let Some(step) = self.steps.get(instance.next) {
            if let Some(reason) = instance.run(self, step)? {
                return Ok(Outcome::Differs(reason));
            }
        }
        self.finish(instance, inputs).map(Outcome::Result)
    }

    /// The memory for a run with these tensors as inputs.
    pub(super) fn begin(&self, inputs: &[Tensor]) -> Result<Instance> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut instance = match idle {
            Some(instance) => instance,
            None => Instance::new(self)?,
        };
        for (&slot, tensor) in self.inputs.iter().zip(inputs) {
            let dense = tensor.dense()?;
            let shift = dense.geometry.offset as usize * dense.dtype.size();
            instance.storages[self.store(slot)] = Some((dense.storage.clone(), shift));
            instance.tensors[slot] = Some(tensor.clone());
        }
        Ok(instance)
    }

    /// The result of a run whose steps are done. Its memory can be used again.
    pub(super) fn finish(&self, mut instance: Instance, inputs: &[Tensor]) -> Result<Value> {
        let mut outputs = self.outputs.iter();
        let result = mapped(&self.result, &mut |value| {
            let Value::Tensor(_) = value else { return Ok(value.clone()) };
            let slot = *outputs.next().ok_or_else(|| err!(Internal, "a plan has fewer outputs than its result"))?;
            // An argument that is returned is the same tensor.
            let tensor = match self.inputs.iter().position(|&input| input == slot) {
                Some(at) => inputs.get(at).cloned().ok_or_else(|| err!(Internal, "an input is missing"))?,
                None => instance.tensor(self, slot)?.untracked_alias(),
            };
            Ok(tensor.into())
        })?;
        instance.clear(self);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(instance);
        }
        Ok(result)
    }
}

impl Instance {
    fn new(plan: &Plan) -> Result<Instance> {
        let mut instance = Instance {
            arena: Storage::allocate(plan.arena_bytes())?,
            tensors: vec![None; plan.places.len()],
            storages: vec![None; plan.homes.len()],
            arguments: Vec::with_capacity(plan.steps.len()),
            next: 0,
        };
        for step in &plan.steps {
            let arguments = step.arguments.iter().map(|argument| {
                let is_fixed = argument.slots().all(|slot| plan.is_fixed(slot));
                match is_fixed {
                    true => value_of(argument, &mut |slot| instance.tensor(plan, slot)),
                    false => Ok(dispatch::Value::None),
                }
            });
            let arguments = arguments.collect::<Result<_>>()?;
            instance.arguments.push(arguments);
        }
        Ok(instance)
    }

    /// The tensor of a slot.
    fn tensor(&mut self, plan: &Plan, slot: Slot) -> Result<Tensor> {
        if let Some(tensor) = &self.tensors[slot] {
            return Ok(tensor.clone());
        }
        let place = &plan.places[slot];
        let tensor = match (&plan.homes[place.store], &self.storages[place.store]) {
            (Home::Constant(storage), _) => tensor_at(place, storage.clone(), 0),
            (Home::Arena(offset), _) => tensor_at(place, self.arena.clone(), *offset),
            (_, Some((storage, shift))) => tensor_at(place, storage.clone(), *shift),
            (_, None) if plan.bytes[place.store] == 0 => tensor_at(place, Storage::allocate(0)?, 0),
            (_, None) => bail!(Internal, "a step reads memory before it is written"),
        };
        self.tensors[slot] = Some(tensor.clone());
        Ok(tensor)
    }

    /// Runs the next step. The reason if its result differs from the plan.
    pub(super) fn run(&mut self, plan: &Plan, step: &Step) -> Result<Option<String>> {
        let index = self.next;
        if !step.is_fixed {
            self.prepare(plan, step, index)?;
        }
        let mut results = Values::new();
        match &step.prepared {
            None => step.op.call_into(&self.arguments[index], &mut results)?,
            Some(prepared) => run_prepared(step, prepared, &self.arguments[index])?,
        }
        self.next += 1;
        if step.is_fixed {
            return Ok(None);
        }
        let differs = if step.fresh.is_empty() { None } else { self.receive(plan, step, results)? };
        for (argument, value) in step.arguments.iter().zip(&mut self.arguments[index]) {
            if !argument.slots().all(|slot| plan.is_fixed(slot)) {
                *value = dispatch::Value::None;
            }
        }
        step.releases.iter().for_each(|&store| self.release(plan, store));
        Ok(differs)
    }

    /// Memory and arguments that a run has.
    fn prepare(&mut self, plan: &Plan, step: &Step, index: usize) -> Result<()> {
        for &store in &step.allocates {
            self.storages[store] = Some((Storage::allocate(plan.bytes[store])?, 0));
        }
        for (at, argument) in step.arguments.iter().enumerate() {
            if matches!(self.arguments[index][at], dispatch::Value::None) && !matches!(argument, Argument::Value(_)) {
                self.arguments[index][at] = value_of(argument, &mut |slot| self.tensor(plan, slot))?;
            }
        }
        Ok(())
    }

    /// Keeps the results of a functional form.
    fn receive(&mut self, plan: &Plan, step: &Step, results: Values) -> Result<Option<String>> {
        let tensors = tensors_of(results);
        if tensors.len() != step.fresh.len() {
            return Ok(Some(format!("{} returned {} tensors", step.op.full_name(), tensors.len())));
        }
        for (slot, tensor) in step.fresh.iter().zip(tensors) {
            let Some(slot) = *slot else { continue };
            let place = &plan.places[slot];
            let dense = tensor.dense()?;
            if dense.geometry != place.geometry || dense.dtype != place.dtype {
                return Ok(Some(format!("{} returned {}", step.op.full_name(), dense.describe())));
            }
            self.storages[place.store] = Some((dense.storage.clone(), 0));
            drop(dense);
            self.tensors[slot] = Some(tensor);
        }
        Ok(None)
    }

    fn release(&mut self, plan: &Plan, store: Store) {
        self.storages[store] = None;
        for (place, tensor) in plan.places.iter().zip(&mut self.tensors) {
            if place.store == store {
                *tensor = None;
            }
        }
    }

    /// Removes what belongs to a run.
    fn clear(&mut self, plan: &Plan) {
        self.next = 0;
        for (store, storage) in self.storages.iter_mut().enumerate() {
            if matches!(plan.homes[store], Home::Input | Home::PerRun) {
                *storage = None;
            }
        }
        for (slot, tensor) in self.tensors.iter_mut().enumerate() {
            if !plan.is_fixed(slot) {
                *tensor = None;
            }
        }
    }

    /// The number of steps that are done.
    pub(super) fn done(&self) -> usize {
        self.next
    }
}

/// Runs a layer. Observers see it as an operator of a static runtime.
fn run_prepared(step: &Step, prepared: &Prepared, arguments: &[dispatch::Value]) -> Result<()> {
    let scope = observe::Scope::StaticRuntimeOp;
    let _range = match observe::is_observed(scope) {
        true => observe::begin(
            scope,
            observe::Described { name: step.name(), inputs: arguments.to_vec(), ..observe::Described::default() },
        ),
        false => None,
    };
    runtime::check_may_begin()
        .and_then(|()| prepared.run(arguments))
        .map_err(|error| error.in_operator(&step.op.full_name()))
}

impl Plan {
    /// Whether the memory of a slot is the same in each run.
    fn is_fixed(&self, slot: Slot) -> bool {
        self.homes[self.store(slot)].is_fixed()
    }
}
