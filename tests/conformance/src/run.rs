//! Runs one case and says what came of it.

use crate::cases::{Case, Item};
use crate::compare;
use crate::door::{Door, Tensor, Value};
use crate::host::HostTensor;

/// What came of a case.
pub enum Outcome {
    /// As recorded.
    Passed,
    /// Something differs: what.
    Failed(String),
}

/// Operators whose values mean nothing: only dtype and shape are compared.
const UNDEFINED: [&str; 6] = [
    "aten::empty",
    "aten::empty_like",
    "aten::empty_permuted",
    "aten::empty_strided",
    "aten::new_empty",
    "aten::new_empty_strided",
];

/// The recorded result without values, where they mean nothing.
fn promised(name: &str, expected: &Item) -> Item {
    match expected {
        Item::Tensor(host) if UNDEFINED.contains(&name) => Item::Tensor(HostTensor { bytes: None, ..host.clone() }),
        other => other.clone(),
    }
}

/// Runs `case` and compares results, mutated arguments and gradients.
pub fn case(door: &Door, case: &Case) -> Outcome {
    match attempt(door, case) {
        Ok(()) => Outcome::Passed,
        Err(reason) => Outcome::Failed(reason),
    }
}

/// The tensors of the arguments by the keys that `grads` uses: `0`, `1.2`, `alpha`.
struct Inputs {
    args: Vec<Value>,
    kwargs: Vec<(String, Value)>,
    tensors: Vec<(String, Tensor)>,
}

fn build(door: &Door, case: &Case) -> Result<Inputs, String> {
    let mut tensors = Vec::new();
    let wants_grad = |key: &str| case.grads.iter().any(|(name, _)| name == key);
    let mut make = |key: &str, item: &Item| -> Result<Value, String> {
        door.value(item, &mut |path, host| {
            let key = if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") };
            let tensor = door.tensor(host)?;
            if wants_grad(&key) {
                door.require_grad(&tensor)?;
            }
            tensors.push((key, tensor.clone()));
            Ok(tensor)
        })
    };
    let args = case.args.iter().enumerate().map(|(at, item)| make(&at.to_string(), item)).collect::<Result<_, _>>()?;
    let kwargs =
        case.kwargs.iter().map(|(name, item)| Ok((name.clone(), make(name, item)?))).collect::<Result<_, String>>()?;
    Ok(Inputs { args, kwargs, tensors })
}

fn attempt(door: &Door, case: &Case) -> Result<(), String> {
    if let Some(seed) = case.seed {
        door.seed(seed as u64)?;
    }
    let inputs = build(door, case)?;
    let (name, overload) = case.name();
    let outs = door.call(name, overload, inputs.args, inputs.kwargs).map_err(|error| format!("call: {error}"))?;
    if outs.len() != case.outs.len() {
        return Err(format!("{} results instead of {}", outs.len(), case.outs.len()));
    }
    let is_view = door.is_view(name, overload);
    for (at, (out, expected)) in outs.iter().zip(&case.outs).enumerate() {
        compare::items(&door.item(out)?, &promised(name, expected))
            .map_err(|reason| format!("result {at}: {reason}"))?;
        if let (true, Some(tensor), Item::Tensor(expected)) = (is_view, out.tensor(), expected) {
            compare::strides(&door.strides(tensor)?, expected).map_err(|reason| format!("result {at}: {reason}"))?;
        }
    }
    for (key, expected) in &case.mutated {
        let tensor = inputs.tensors.iter().find(|(name, _)| name == key).ok_or("no such mutated argument")?;
        compare::items(&Item::Tensor(door.host(&tensor.1)?), expected)
            .map_err(|reason| format!("argument {key}: {reason}"))?;
    }
    if let Some(expected) = &case.next {
        let rand = door.next_numbers()?;
        compare::items(&Item::Tensor(rand), expected).map_err(|reason| format!("generator: {reason}"))?;
    }
    if case.grads.is_empty() { Ok(()) } else { gradients(door, case, &outs, &inputs.tensors) }
}

fn gradients(door: &Door, case: &Case, outs: &[Value], tensors: &[(String, Tensor)]) -> Result<(), String> {
    let mut roots = Vec::new();
    for (out, grad) in outs.iter().zip(&case.grad_outs) {
        if let (Some(tensor), Item::Tensor(grad)) = (out.tensor(), grad) {
            roots.push((tensor.clone(), door.tensor(grad)?));
        }
    }
    let mut inputs = Vec::new();
    for (key, _) in &case.grads {
        let found = tensors.iter().find(|(name, _)| name == key).ok_or_else(|| format!("no argument {key}"))?;
        inputs.push(found.1.clone());
    }
    let actual = door.gradients(&roots, &inputs).map_err(|error| format!("backward: {error}"))?;
    for ((key, expected), actual) in case.grads.iter().zip(actual) {
        gradient(actual, expected).map_err(|reason| format!("gradient of {key}: {reason}"))?;
    }
    Ok(())
}

/// No gradient and a gradient of zeros are the same.
fn gradient(actual: Option<HostTensor>, expected: &Item) -> Result<(), String> {
    let zeros =
        |like: &HostTensor| HostTensor { bytes: Some(vec![0; like.numel() * like.dtype.size()]), ..like.clone() };
    match (actual, expected) {
        (Some(actual), Item::Tensor(expected)) => compare::tensors(&actual, expected),
        (None, Item::Tensor(expected)) => compare::tensors(&zeros(expected), expected),
        (Some(actual), _) => compare::tensors(&actual, &zeros(&actual)),
        (None, _) => Ok(()),
    }
}
