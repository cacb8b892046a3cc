//! Results are the same to the bit at any number of threads.
//!
//! The golden inputs are too small for a second thread, so every extent above 1 is multiplied and the values repeated:
//! equal extents stay equal, indices stay valid. Calls that do not survive that (their sizes are arguments, too) are
//! left out, and `threads` says how many remained.

use super::Laws;
use crate::cases::{Case, Item};
use crate::compare;
use crate::door::{Tensor, Value};
use crate::freedom;
use crate::host::HostTensor;
use rushlight_base::DType;

/// Elements of the largest tensor: work for several threads in every template of loops.
const ELEMENTS: f64 = 150_000.0;
/// No results that are larger than this: they grow faster than the inputs where these are combined.
const LARGEST_RESULT: f64 = 2_000_000.0;
const COST_OF_A_RESULT: f64 = 20_000.0;
/// Cases of an operator that are tried, until one works for each dtype.
const TRIES: usize = 24;

impl Laws<'_> {
    /// Checks the cases of one operator, one for each dtype; returns for how many the law could be checked.
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
            for threads in [2, 3, 8] {
                self.door.set_threads(threads)?;
                let several = self.outcome_with_gradients(&grown)?;
                for (at, (several, alone)) in several.iter().zip(&alone).enumerate() {
                    compare::bits(several, alone)
                        .map_err(|reason| format!("{threads} threads, result {at}: {reason}"))?;
                }
            }
            seen.push(dtype);
        }
        Ok(seen.len())
    }

    /// The case with more elements; nothing if there are none to multiply, or not without results out of bounds.
    fn grown(&self, case: &Case) -> Result<Option<Case>, String> {
        let Some(factor) = factor(case) else { return Ok(None) };
        let size = |case: &Case| -> Option<f64> {
            let arguments = self.arguments(case, &mut |_, host| self.door.tensor(host)).ok()?;
            let outs = self.call(case, arguments).ok()?;
            let sizes = outs.iter().filter_map(Value::tensor).map(|out| Some(self.door.layout(out).ok()?.1));
            // A result costs something itself: `unbind` must not make thousands.
            sizes.map(|sizes| Some(sizes?.iter().product::<i64>() as f64 + COST_OF_A_RESULT)).sum::<Option<f64>>()
        };
        // What results grow by when the inputs double says how far to go.
        let (Some(once), Some(twice)) = (size(case), size(&grow_case(case, 2))) else { return Ok(None) };
        let power = (twice / once).log2().max(0.1);
        let bound = (LARGEST_RESULT / once.max(1.0)).powf(1.0 / power).floor();
        let by = factor.ceil().min(bound) as i64;
        Ok((by > 1).then(|| grow_case(case, by)))
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

/// What the extents are to be multiplied with; nothing if there are none to multiply.
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
