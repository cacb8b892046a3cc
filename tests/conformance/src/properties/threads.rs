//! Results are the same to the bit at any number of threads.
//!
//! The golden inputs are too small for a second thread, so every extent above 1 is multiplied and the values repeated:
//! equal extents stay equal, indices stay valid. Calls for which this fails (their sizes are also arguments) are left
//! out, and `threads` reports how many remained.

use super::Properties;
use crate::cases::{Case, Item};
use crate::compare;
use crate::door::{Tensor, Value};
use crate::freedom;
use crate::host::HostTensor;
use rushlight_base::DType;
use std::time::Instant;

/// Elements of the largest tensor: work for several threads in every template of loops.
const ELEMENTS: f64 = 150_000.0;
/// No results that are larger than this: they grow faster than the inputs where these are combined.
const LARGEST_RESULT: f64 = 2_000_000.0;
/// No calls that take longer than this: work grows faster than results where every pair of elements is visited.
const LONGEST_CALL: f64 = 0.03;
/// A result costs something itself: `unbind` must not make thousands.
const COST_OF_A_RESULT: f64 = 20_000.0;
/// Shorter times depend more on the machine than on the call.
const SHORTEST_CALL: f64 = 1e-3;
/// The numbers of threads that are compared with one, in turn for the dtypes of an operator. With all of them for each dtype
/// the tests of `golden.rs` took 240 s instead of 170.
const THREADS: [i32; 3] = [3, 8, 2];
/// Cases of an operator that are tried, until one works for each dtype.
const TRIES: usize = 24;

/// The results of a call, and its duration.
struct Cost {
    elements: f64,
    seconds: f64,
}

impl Cost {
    /// The estimated cost of the next doubling: the factor of the last one, twice that for a power that is still
    /// visible.
    fn after(&self, before: &Cost) -> Cost {
        let next = |now: f64, before: f64| now * (2.0 * now / before).max(2.0);
        Cost { elements: next(self.elements, before.elements), seconds: next(self.seconds, before.seconds) }
    }
}

impl Properties<'_> {
    /// Checks the cases of one operator, one for each dtype; returns for how many the property could be checked.
    pub fn threads(&self, cases: &[Case]) -> Result<usize, String> {
        let mut seen: Vec<Option<DType>> = Vec::new();
        for case in cases.iter().take(TRIES) {
            let dtype = case.args.iter().find_map(first_dtype);
            if seen.contains(&dtype) || freedom::is_unwritten(case.name().0) {
                continue;
            }
            self.door.set_threads(1)?;
            let Some(grown) = self.grown(case)? else { continue };
            let Ok(alone) = self.outcome_with_gradients(&grown) else { continue };
            let threads = THREADS[seen.len() % THREADS.len()];
            self.door.set_threads(threads)?;
            let several = self.outcome_with_gradients(&grown)?;
            for (at, (several, alone)) in several.iter().zip(&alone).enumerate() {
                compare::bits(several, alone).map_err(|reason| format!("{threads} threads, result {at}: {reason}"))?;
            }
            seen.push(dtype);
        }
        Ok(seen.len())
    }

    /// The case with more elements; nothing if there are none to multiply, or not without out-of-range results.
    ///
    /// The extents are doubled step by step, so that the cost of the last step predicts whether another one is
    /// affordable.
    fn grown(&self, case: &Case) -> Result<Option<Case>, String> {
        let Some(factor) = factor(case) else { return Ok(None) };
        let Some(mut before) = self.cost(case) else { return Ok(None) };
        let (mut by, mut found) = (1, None);
        while f64::from(by) < factor {
            by = (2 * by).min(factor.ceil() as i32);
            let larger = grow_case(case, by.into());
            let Some(now) = self.cost(&larger) else { break };
            let next = now.after(&before);
            (before, found) = (now, Some(larger));
            if next.elements > LARGEST_RESULT || next.seconds > LONGEST_CALL {
                break;
            }
        }
        Ok(found)
    }

    /// The cost of a call; nothing if it is rejected.
    fn cost(&self, case: &Case) -> Option<Cost> {
        let arguments = self.arguments(case, &mut |_, host| self.door.tensor(host)).ok()?;
        let start = Instant::now();
        let outs = self.call(case, arguments).ok()?;
        let seconds = start.elapsed().as_secs_f64().max(SHORTEST_CALL);
        let sizes = outs.iter().filter_map(Value::tensor).map(|out| self.door.layout(out).ok());
        let sizes = sizes.map(|layout| Some(layout?.1.iter().product::<i64>() as f64 + COST_OF_A_RESULT));
        Some(Cost { elements: sizes.sum::<Option<f64>>()?, seconds })
    }

    /// All results, and the gradients of those arguments whose gradients were recorded.
    fn outcome_with_gradients(&self, case: &Case) -> Result<Vec<HostTensor>, String> {
        self.door.seed(7)?;
        let mut leaves: Vec<Tensor> = Vec::new();
        let arguments = self.arguments(case, &mut |key, host| {
            let tensor = self.door.tensor(host)?;
            if case.mutated.is_empty() && case.grads.iter().any(|(name, _)| name == key) {
                self.door.require_grad(&tensor)?;
                leaves.push(tensor.clone());
            }
            Ok(tensor)
        })?;
        let outs = self.call(case, arguments)?;
        let tensors: Vec<&Tensor> = outs.iter().filter_map(Value::tensor).collect();
        let mut hosts: Vec<HostTensor> =
            tensors.iter().map(|tensor| self.door.host(tensor)).collect::<Result<_, _>>()?;
        let mut roots = Vec::new();
        for (tensor, host) in tensors.iter().zip(&hosts) {
            if self.door.requires_grad(tensor)? {
                let cotangent = HostTensor { strides: None, ..host.clone() }.tapered();
                roots.push(((*tensor).clone(), self.door.tensor(&cotangent)?));
            }
        }
        if !roots.is_empty() && !leaves.is_empty() {
            hosts.extend(self.door.gradients(&roots, &leaves)?.into_iter().flatten());
        }
        Ok(hosts)
    }
}

fn first_dtype(item: &Item) -> Option<DType> {
    match item {
        Item::Tensor(host) => Some(host.dtype),
        Item::List(items) => items.iter().find_map(first_dtype),
        _ => None,
    }
}

fn tensors_of<'a>(item: &'a Item, found: &mut Vec<&'a HostTensor>) {
    match item {
        Item::Tensor(host) => found.push(host),
        Item::List(items) => items.iter().for_each(|item| tensors_of(item, found)),
        _ => {}
    }
}

/// The factor of the extents; nothing if there are none to multiply.
fn factor(case: &Case) -> Option<f64> {
    let mut hosts = Vec::new();
    case.args.iter().chain(case.kwargs.iter().map(|(_, item)| item)).for_each(|item| tensors_of(item, &mut hosts));
    let growing = |host: &HostTensor| host.shape.iter().filter(|&&extent| extent > 1).count();
    let factor = |host: &&HostTensor| (ELEMENTS / host.numel() as f64).powf(1.0 / growing(host) as f64);
    hosts.iter().filter(|host| growing(host) > 0 && host.numel() > 0).map(factor).reduce(f64::min)
}

fn grow_case(case: &Case, by: i64) -> Case {
    let item = |item: &Item| grow(item, by);
    let args = case.args.iter().map(item).collect();
    let kwargs = case.kwargs.iter().map(|(name, value)| (name.clone(), item(value))).collect();
    Case { args, kwargs, grads: case.grads.clone(), mutated: case.mutated.clone(), ..case.bare() }
}

fn grow(item: &Item, by: i64) -> Item {
    match item {
        Item::Tensor(host) => Item::Tensor(host.repeated(by)),
        Item::List(items) => Item::List(items.iter().map(|item| grow(item, by)).collect()),
        other => other.clone(),
    }
}
