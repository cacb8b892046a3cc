//! Plans: steps, places of memory, and how both follow from a recorded run.

use super::fuse::{Packing, fuse};
use super::instance::Instance;
use super::layout;
use super::lower::{Lowered, Prepared, Steps, lower, out_form};
use super::memory::{self, Life, padded};
use super::record::{Argument, Place, Slot, Source, Store, Stored, record};
use crate::ast::Name;
use crate::graph::Graph;
use crate::runtime::function::Linker;
use crate::runtime::value::Value;
use rushlight_base::{DType, Result, Storage};
use rushlight_tensor::dispatch::Op;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Where the bytes of a storage are.
#[derive(Clone)]
pub(super) enum Home {
    /// The bytes of a constant.
    Constant(Storage),
    /// The bytes of an argument, which each run has.
    Input,
    /// An offset in the block of the run.
    Arena(usize),
    /// Separate memory, which each run allocates: it is returned, or only a call of the functional form makes it.
    PerRun,
    /// No step uses it.
    Unused,
}

impl Home {
    /// Whether the bytes are the same in each run with the same block.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Home::Constant(_) | Home::Arena(_))
    }
}

/// A call of an operator.
pub(super) struct Step {
    pub op: Op,
    /// What runs instead of the operator.
    pub prepared: Option<Prepared>,
    /// The operators that were moved into it.
    pub followed_by: Vec<&'static str>,
    /// The dtype of its constant weights in memory, if it is a layer.
    pub weights: Option<DType>,
    pub arguments: Vec<Argument>,
    /// Where results of a functional form go.
    pub fresh: Vec<Option<Slot>>,
    /// Whether all its tensors are constants or in the block, so that its arguments never change.
    pub is_fixed: bool,
    /// Storages to allocate before.
    pub allocates: Vec<Store>,
    /// Storages to release after.
    pub releases: Vec<Store>,
    /// The result, for printing.
    pub shown: Vec<Slot>,
}

/// What a function does for inputs of some shapes.
pub(crate) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) places: Vec<Place>,
    pub(super) homes: Vec<Home>,
    /// The bytes of each storage.
    pub(super) bytes: Vec<usize>,
    /// The slots of the tensors in the arguments, in order.
    pub(super) inputs: Vec<Slot>,
    /// The slots of the tensors in the result, in order.
    pub(super) outputs: Vec<Slot>,
    /// The result, with any tensors.
    pub(super) result: Value,
    arena: usize,
    unshared: usize,
    constants: usize,
    weights: usize,
    /// The memory of runs that have ended, for the next ones.
    pub(super) idle: Mutex<Vec<Instance>>,
}

impl Plan {
    /// The plan of a function for arguments of these shapes.
    pub(super) fn new(
        name: &Name,
        graph: &Graph,
        arguments: &[Value],
        linker: &Arc<dyn Linker>,
        packing: &Packing,
    ) -> Result<Plan> {
        let mut recording = record(name, graph, arguments, linker)?;
        let mut steps = lower(&mut recording)?;
        fuse(&mut steps, &mut recording.outputs, packing)?;
        layout::choose(&mut steps, &mut recording.outputs)?;
        let Steps { calls, stores, places } = steps;
        let store = |slot: Slot| places[slot].store;
        let returned: HashSet<Store> = recording.outputs.iter().map(|&slot| store(slot)).collect();
        let mut homes: Vec<Home> = stores
            .iter()
            .map(|stored| match &stored.source {
                Source::Constant(storage) => Home::Constant(storage.clone()),
                Source::Input => Home::Input,
                Source::Made => Home::Unused,
            })
            .collect();
        // Results that can be written into given memory are, with the out form.
        let mut steps = Vec::with_capacity(calls.len());
        for call in calls {
            let made: Vec<Slot> = call.made().collect();
            let all_fresh = made.len() == call.fresh.len() && !made.is_empty() && call.written.is_empty();
            let out = if all_fresh && call.prepared.is_none() { out_form(&call.op, made.len()) } else { None };
            if out.is_none() && call.prepared.is_none() {
                made.iter().for_each(|&slot| homes[store(slot)] = Home::PerRun);
            }
            steps.push(step_of(call, out));
        }
        let lives = lives(&steps, &stores, &places);
        // What was packed is not read any more: only the module keeps it.
        for (index, home) in homes.iter_mut().enumerate() {
            if lives[index].is_none() && !returned.contains(&index) && matches!(home, Home::Constant(_)) {
                *home = Home::Unused;
            }
        }
        let mut placed = Vec::new();
        for (index, life) in lives.iter().enumerate() {
            let is_free = matches!(homes[index], Home::Unused);
            match life {
                Some(_) if is_free && returned.contains(&index) => homes[index] = Home::PerRun,
                Some(life) if is_free => placed.push((index, *life)),
                _ => {}
            }
        }
        let chosen: Vec<Life> = placed.iter().map(|(_, life)| *life).collect();
        let (offsets, arena) = memory::place(&chosen);
        for ((index, _), offset) in placed.iter().zip(offsets) {
            homes[*index] = Home::Arena(offset);
        }
        schedule(&mut steps, &homes, &lives, &returned, &places);
        let constants = homes.iter().zip(&stores).filter(|(home, _)| matches!(home, Home::Constant(_)));
        let weights: HashMap<usize, usize> =
            steps.iter().filter_map(|step| step.prepared.as_ref()).map(Prepared::weights).collect();
        Ok(Plan {
            constants: constants.map(|(_, stored)| stored.bytes).sum(),
            weights: weights.values().sum(),
            bytes: stores.iter().map(|stored| stored.bytes).collect(),
            unshared: chosen.iter().map(|life| padded(life.bytes)).sum(),
            steps,
            places,
            homes,
            inputs: recording.inputs,
            outputs: recording.outputs,
            result: recording.result,
            arena,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// The bytes of the block of each run.
    pub fn arena_bytes(&self) -> usize {
        self.arena
    }

    /// The bytes that the storages in the block would take without sharing memory.
    pub fn unshared_bytes(&self) -> usize {
        self.unshared
    }

    /// The bytes of the constants that steps read.
    pub fn constant_bytes(&self) -> usize {
        self.constants
    }

    /// The bytes of the weights of prepared layers.
    pub fn weight_bytes(&self) -> usize {
        self.weights
    }

    pub(super) fn store(&self, slot: Slot) -> Store {
        self.places[slot].store
    }
}

/// The step of a call: of its out form, if there is one.
fn step_of(call: Lowered, out: Option<Op>) -> Step {
    let shown = call.written.iter().copied().chain(call.made()).collect();
    let Lowered { op, mut arguments, mut fresh, prepared, followed_by, weights, .. } = call;
    if out.is_some() || prepared.is_some() {
        arguments.extend(std::mem::take(&mut fresh).into_iter().flatten().map(Argument::Slot));
    }
    let op = out.unwrap_or(op);
    Step {
        op,
        prepared,
        followed_by,
        weights,
        arguments,
        fresh,
        is_fixed: false,
        allocates: Vec::new(),
        releases: Vec::new(),
        shown,
    }
}

impl Step {
    /// The slots that it reads or writes.
    pub fn touched(&self) -> impl Iterator<Item = Slot> {
        self.arguments.iter().flat_map(Argument::slots).chain(self.fresh.iter().copied().flatten())
    }
}

/// From which step to which one each storage is touched.
fn lives(steps: &[Step], stores: &[Stored], places: &[Place]) -> Vec<Option<Life>> {
    let mut lives: Vec<Option<Life>> = vec![None; stores.len()];
    for (index, step) in steps.iter().enumerate() {
        for slot in step.touched() {
            let store = places[slot].store;
            let life = lives[store].get_or_insert(Life { first: index, last: index, bytes: stores[store].bytes });
            life.last = index;
        }
    }
    lives
}

/// Decides when memory of each run is allocated and released, and which steps are fixed.
fn schedule(steps: &mut [Step], homes: &[Home], lives: &[Option<Life>], returned: &HashSet<Store>, places: &[Place]) {
    let mut makes: Vec<HashSet<Store>> = Vec::with_capacity(steps.len());
    for step in steps.iter_mut() {
        makes.push(step.fresh.iter().flatten().map(|&slot| places[slot].store).collect());
        let all_fixed = step.touched().all(|slot| homes[places[slot].store].is_fixed());
        step.is_fixed = all_fixed;
    }
    for (store, life) in lives.iter().enumerate() {
        let (Home::PerRun, Some(life)) = (&homes[store], life) else { continue };
        if !makes[life.first].contains(&store) {
            steps[life.first].allocates.push(store);
        }
        if !returned.contains(&store) {
            steps[life.last].releases.push(store);
        }
    }
}
