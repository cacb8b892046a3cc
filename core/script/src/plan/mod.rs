//! Compiled functions: what a function does for inputs of some shapes, as a list of kernels over planned memory.
//!
//! The first call with inputs of new shapes and dtypes records the function: it runs on the meta device, where tensors have
//! shapes and no elements, and an observer keeps every operator call with its inner calls (`record`). `lower` chooses the
//! innermost calls that explain the results, computes what depends on constants only, and drops views; `fuse` replaces
//! convolutions, products and element-wise operators by kernels with packed weights; `layout` chooses the memory format of
//! images; `memory` gives each intermediate
//! result a place in one block of memory. The result is a [`Plan`], which `instance` runs.
//!
//! A function whose control flow depends on elements, which has effects or which writes its inputs has no plan: the
//! interpreter runs it, as it runs calls that need gradients. [`Compiled::describe`] prints plans and reasons.

mod fuse;
mod instance;
mod layout;
mod lower;
mod memory;
mod print;
mod record;
mod run;
mod signature;
mod step;
pub(crate) mod values;

pub use run::Run;

use crate::ast::Name;
use crate::graph::Graph;
use crate::runtime::function::Linker;
use crate::runtime::value::Value;
use fuse::Packing;
use instance::Outcome;
use rushlight_base::{DType, Result};
use rushlight_tensor::dispatch::trace;
use rushlight_tensor::{KeyGuard, KeySet, Tensor};
use signature::{Asks, Signature};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use step::Plan;

/// Plans that a function keeps: one for each combination of shapes and dtypes. The one that was not used for longest goes.
const MAX_PLANS: usize = 16;

/// Plans that are made in any case. Further ones are made only as long as plans are used more often than made: a function that
/// is called with another number each time is left to the interpreter.
const MAX_MADE: u64 = 2 * MAX_PLANS as u64;

/// A function with its plans. Any number of threads may run it at the same time.
pub struct Compiled {
    name: Name,
    graph: Arc<Graph>,
    asks: Asks,
    /// The plan that was used last comes last.
    plans: Mutex<Vec<(Signature, Entry)>>,
    packing: Packing,
    /// How many plans were made, and how often one was used again.
    made: AtomicU64,
    used: AtomicU64,
}

#[derive(Clone)]
enum Entry {
    Plan(Arc<Plan>),
    /// Why there is none.
    Interpreted(Arc<str>),
}

impl Compiled {
    /// A function that is compiled when it is called first. Its plans keep the matrices of linear layers in the dtype
    /// `weights`: `F32`, `BF16`, or `I8` with a scale for each output; sums are in `float32`.
    pub fn new(name: &str, graph: Arc<Graph>, weights: DType) -> Compiled {
        Compiled {
            name: name.into(),
            asks: Asks::of(&graph),
            graph,
            plans: Mutex::new(Vec::new()),
            packing: Packing::new(weights),
            made: AtomicU64::new(0),
            used: AtomicU64::new(0),
        }
    }

    /// Runs the plan for these arguments. `None`: the interpreter has to run the function.
    pub(crate) fn run(&self, arguments: &[Value], linker: &Arc<dyn Linker>) -> Result<Option<Value>> {
        let Some((plan, inputs)) = self.plan(arguments, linker) else { return Ok(None) };
        let _below = below_autograd();
        match plan.run(&inputs)? {
            Outcome::Result(value) => Ok(Some(value)),
            Outcome::Differs(reason) => {
                self.reject(arguments, &reason);
                Ok(None)
            }
        }
    }

    /// Begins a run of the plan for these arguments, step by step. `None`: there is no plan.
    pub(crate) fn begin(&self, arguments: &[Value], linker: &Arc<dyn Linker>) -> Result<Option<run::Planned>> {
        self.plan(arguments, linker).map(|(plan, inputs)| run::Planned::new(plan, &inputs)).transpose()
    }

    fn plan(&self, arguments: &[Value], linker: &Arc<dyn Linker>) -> Option<(Arc<Plan>, Vec<Tensor>)> {
        if trace::current().is_some() {
            return None;
        }
        let (signature, inputs) = Signature::of(arguments, self.asks)?;
        let known = self.known(&signature);
        if known.is_some() {
            self.used.fetch_add(1, Ordering::Relaxed);
        } else if self.made.fetch_add(1, Ordering::Relaxed) >= MAX_MADE.max(self.used.load(Ordering::Relaxed)) {
            return None;
        }
        let entry = known.unwrap_or_else(|| {
            let entry = match Plan::new(&self.name, &self.graph, arguments, linker, &self.packing) {
                Ok(plan) => Entry::Plan(Arc::new(plan)),
                Err(error) => Entry::Interpreted(error.message().into()),
            };
            self.keep(signature, entry)
        });
        match entry {
            Entry::Plan(plan) => Some((plan, inputs)),
            Entry::Interpreted(_) => None,
        }
    }

    fn known(&self, signature: &Signature) -> Option<Entry> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let at = plans.iter().rposition(|(known, _)| known == signature)?;
        if at + 1 < plans.len() {
            let used = plans.remove(at);
            plans.push(used);
        }
        plans.last().map(|(_, entry)| entry.clone())
    }

    /// Keeps a plan, unless another thread was first.
    fn keep(&self, signature: Signature, entry: Entry) -> Entry {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, first)) = plans.iter().find(|(known, _)| *known == signature) {
            return first.clone();
        }
        if plans.len() >= MAX_PLANS {
            plans.remove(0);
        }
        plans.push((signature, entry.clone()));
        entry
    }

    /// Leaves calls with such arguments to the interpreter from now on.
    fn reject(&self, arguments: &[Value], reason: &str) {
        let Some((signature, _)) = Signature::of(arguments, self.asks) else { return };
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, entry)) = plans.iter_mut().find(|(known, _)| *known == signature) {
            *entry = Entry::Interpreted(reason.into());
        }
    }

    /// The plans as text: a line for each step with its shapes and the place of its result, and the bytes of the memory.
    pub fn describe(&self) -> String {
        let plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut text = String::new();
        for (signature, entry) in &plans {
            let head = format!("{}({signature})", self.name);
            text.push_str(&match entry {
                Entry::Plan(plan) => plan.describe(&head),
                Entry::Interpreted(reason) => format!("{head}: run by the interpreter, because {reason}\n"),
            });
        }
        text
    }

    /// The bytes of the memory for intermediate results of the plan that was used last, and the bytes that they would take
    /// without sharing memory. `None`: there is no plan.
    pub fn memory(&self) -> Option<(usize, usize)> {
        self.last().map(|plan| (plan.arena_bytes(), plan.unshared_bytes()))
    }

    /// The bytes of the constants and weights that the steps of the plan that was used last read. `None`: there is no plan.
    pub fn weights(&self) -> Option<usize> {
        self.last().map(|plan| plan.constant_bytes() + plan.weight_bytes())
    }

    /// The plan that was used last.
    fn last(&self) -> Option<Arc<Plan>> {
        let plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Plan(plan) => Some(plan.clone()),
            Entry::Interpreted(_) => None,
        })
    }
}

/// Plans run without autograd, in inference mode or not.
fn below_autograd() -> KeyGuard {
    KeyGuard::exclude(KeySet::AUTOGRAD | KeySet::INFERENCE)
}
