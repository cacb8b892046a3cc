//! Runs one case and reports the result.

use crate::cases::{Case, Item};
use crate::compare::{self, Tolerances};
use crate::door::{Door, Tensor, Value};
use crate::exempt::{self, Extent};
use crate::freedom;
use crate::host::HostTensor;
use crate::rounding;
use crate::ties;
use rushlight_base::DType;

/// The result of a case.
pub enum Outcome {
    /// The result agrees with the recorded one.
    Passed,
    /// A difference, with its description.
    Failed(String),
    /// The result differs for a reason in `exempt`, within its limits.
    Excused(&'static str),
    /// The device has no kernel for an operator of the case, with the error.
    WithoutKernel(String),
}

/// What the errors of a call say that the device lacks.
const NOT_ON_DEVICES: &str = "no kernel ";

/// Arguments that are on the host whatever device the others are on, as in PyTorch: operators, with or without overload,
/// and which argument.
const ON_HOST: [(&str, Option<&str>, &str); 10] = [
    ("aten::_foreach_addcdiv", Some("Tensor"), "3"),
    ("aten::_foreach_addcdiv_", Some("Tensor"), "3"),
    ("aten::_foreach_addcmul", Some("Tensor"), "3"),
    ("aten::_foreach_addcmul_", Some("Tensor"), "3"),
    ("aten::_pack_padded_sequence", None, "1"),
    ("aten::_pad_packed_sequence", None, "1"),
    ("aten::gru", Some("data"), "1"),
    ("aten::lstm", Some("data"), "1"),
    ("aten::rnn_relu", Some("data"), "1"),
    ("aten::rnn_tanh", Some("data"), "1"),
];

fn is_on_host((name, overload): (&str, &str), key: &str) -> bool {
    ON_HOST.iter().any(|(op, own, argument)| *op == name && own.is_none_or(|own| own == overload) && *argument == key)
}

/// Runs `case` and compares results, mutated arguments and gradients.
pub fn case(door: &Door, case: &Case) -> Outcome {
    let Err(failure) = attempt(door, case, &compare::tolerances) else { return Outcome::Passed };
    if door.is_on_device() && failure.contains(NOT_ON_DEVICES) {
        return Outcome::WithoutKernel(failure);
    }
    if door.is_on_device() && ties::explains(door, case) {
        return Outcome::Excused(ties::REASON);
    }
    if rounding::explains(door, case) {
        return Outcome::Excused(rounding::REASON);
    }
    let Some(rule) = exempt::rule(case) else { return Outcome::Failed(failure) };
    let excused = match rule.extent {
        Extent::Within(relative, absolute) => {
            let wider = |dtype: DType| {
                let own = compare::tolerances(dtype);
                if dtype.is_differentiable() { (own.0.max(relative), own.1.max(absolute)) } else { own }
            };
            attempt(door, case, &wider).is_ok()
        }
        Extent::All => true,
    };
    if excused { Outcome::Excused(rule.reason) } else { Outcome::Failed(failure) }
}

/// The tensors among the results, written arguments and gradients of a call, in a row; cotangents are those of the case.
pub(crate) fn outcome(door: &Door, case: &Case) -> Result<Vec<Option<HostTensor>>, String> {
    let mut inputs = build(door, case)?;
    let (name, overload) = case.name();
    let (args, kwargs) = (std::mem::take(&mut inputs.args), std::mem::take(&mut inputs.kwargs));
    let outs = door.call(name, overload, args, kwargs)?;
    let mut all = outs.iter().map(|out| Ok(host_of(&door.item(out)?))).collect::<Result<Vec<_>, String>>()?;
    for (key, _) in &case.mutated {
        all.push(Some(door.host(&inputs.find(key)?.given)?));
    }
    if !case.grads.is_empty() {
        let cotangents: Vec<Option<HostTensor>> = spread(&case.grad_outs).iter().map(host_of).collect();
        all.extend(gradients(door, case, &outs, &cotangents, &inputs)?);
    }
    Ok(all)
}

/// The recorded value.
pub(crate) fn recorded(case: &Case) -> Vec<Option<HostTensor>> {
    let named = case.mutated.iter().chain(&case.grads).map(|(_, item)| item);
    spread(&case.outs).iter().chain(named).map(host_of).collect()
}

/// A tensor among the arguments, by the key that `grads` and `mutated` use: `0`, `1.2`, `alpha`.
struct Input {
    key: String,
    /// The leaf that accumulates its gradient.
    leaf: Tensor,
    /// The argument of the call: the leaf, or a copy of it if the call writes to it, because leaves cannot be written.
    given: Tensor,
}

/// The arguments of a call, and the tensors among them.
struct Inputs {
    args: Vec<Value>,
    kwargs: Vec<(String, Value)>,
    tensors: Vec<Input>,
}

impl Inputs {
    fn find(&self, key: &str) -> Result<&Input, String> {
        self.tensors.iter().find(|input| input.key == key).ok_or_else(|| format!("there is no argument {key}"))
    }
}

fn build(door: &Door, case: &Case) -> Result<Inputs, String> {
    let mut tensors = Vec::new();
    let has = |list: &[(String, Item)], key: &str| list.iter().any(|(name, _)| name == key);
    let mut make = |key: &str, item: &Item| -> Result<Value, String> {
        let on_host = is_on_host(case.name(), key);
        door.value(item, &mut |path, host| {
            let key = if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") };
            let leaf = if on_host { door.tensor_on_host(host)? } else { door.tensor(host)? };
            let mut given = leaf.clone();
            if has(&case.grads, &key) {
                door.require_grad(&leaf)?;
                if has(&case.mutated, &key) {
                    given = door.copy(&leaf)?;
                }
            }
            tensors.push(Input { key, leaf, given: given.clone() });
            Ok(given)
        })
    };
    let args = case.args.iter().enumerate().map(|(at, item)| make(&at.to_string(), item)).collect::<Result<_, _>>()?;
    let kwargs =
        case.kwargs.iter().map(|(name, item)| Ok((name.clone(), make(name, item)?))).collect::<Result<_, String>>()?;
    Ok(Inputs { args, kwargs, tensors })
}

/// Results in a row: a list among them is spread, as the call by name spreads it.
pub(crate) fn spread(items: &[Item]) -> Vec<Item> {
    let each = |item: &Item| match item {
        Item::List(list) => spread(list),
        item => vec![item.clone()],
    };
    items.iter().flat_map(each).collect()
}

fn host_of(item: &Item) -> Option<HostTensor> {
    match item {
        Item::Tensor(host) => Some(host.clone()),
        _ => None,
    }
}

fn attempt(door: &Door, case: &Case, within: Tolerances) -> Result<(), String> {
    if let Some(seed) = case.seed {
        door.seed(seed as u64)?;
    }
    let mut inputs = build(door, case)?;
    let (name, overload) = case.name();
    let (args, kwargs) = (std::mem::take(&mut inputs.args), std::mem::take(&mut inputs.kwargs));
    let mut called = door.call(name, overload, args, kwargs);
    if door.is_on_device()
        && let Ok(outs) = &called
        && let Some(error) = outs.iter().find_map(|out| door.item(out).err())
    {
        // A device reports elements that are errors when it is waited for.
        called = Err(error);
    }
    if let Some(expected) = &case.error {
        return rejection(called.err(), expected);
    }
    let outs = called.map_err(|error| format!("call: {error}"))?;
    // A device has other random numbers than the CPU, as in PyTorch.
    let is_free = door.is_on_device() && case.seed.is_some();
    let (expected, grad_outs) = (spread(&case.outs), spread(&case.grad_outs));
    if outs.len() != expected.len() {
        return Err(format!("{} results instead of {}", outs.len(), expected.len()));
    }
    let recorded: Vec<Option<HostTensor>> = expected.iter().map(host_of).collect();
    let mut cotangents: Vec<Option<HostTensor>> = grad_outs.iter().map(host_of).collect();
    let items: Vec<Item> = outs.iter().map(|out| door.item(out)).collect::<Result<_, _>>()?;
    let mut hosts: Vec<Option<HostTensor>> = items.iter().map(host_of).collect();
    freedom::align(name, &mut hosts, &recorded, &mut cotangents);
    for (at, ((item, host), expected)) in items.into_iter().zip(hosts).zip(&expected).enumerate() {
        let actual = host.map_or(item, Item::Tensor);
        compare::items_within(within, &actual, &promised(name, expected, is_free))
            .map_err(|reason| format!("result {at}: {reason}"))?;
    }
    if promises_strides(door, case) {
        for (at, (out, expected)) in outs.iter().zip(&recorded).enumerate() {
            if let (Some(tensor), Some(expected)) = (out.tensor(), expected) {
                compare::strides(&door.strides(tensor)?, expected)
                    .map_err(|reason| format!("result {at}: {reason}"))?;
            }
        }
    }
    for (key, expected) in &case.mutated {
        let actual = Item::Tensor(door.host(&inputs.find(key)?.given)?);
        compare::items_within(within, &actual, &promised(name, expected, is_free))
            .map_err(|reason| format!("argument {key}: {reason}"))?;
    }
    if is_free {
        return Ok(());
    }
    if let Some(expected) = &case.next {
        let rand = door.next_numbers()?;
        compare::items(&Item::Tensor(rand), expected).map_err(|reason| format!("generator: {reason}"))?;
    }
    if case.grads.is_empty() {
        return Ok(());
    }
    let grads = gradients(door, case, &outs, &cotangents, &inputs).map_err(|error| format!("backward: {error}"))?;
    for ((key, expected), actual) in case.grads.iter().zip(grads) {
        gradient(within, actual, expected).map_err(|reason| format!("gradient of {key}: {reason}"))?;
    }
    Ok(())
}

/// Whether a call failed with the expected first line.
fn rejection(error: Option<String>, expected: &str) -> Result<(), String> {
    match error {
        Some(error) if error.lines().next() == Some(expected) => Ok(()),
        Some(error) => Err(format!("error '{error}' instead of '{expected}'")),
        None => Err(format!("no error instead of '{expected}'")),
    }
}

/// The recorded result without values, if they are arbitrary.
fn promised(name: &str, expected: &Item, is_free: bool) -> Item {
    match expected {
        Item::Tensor(host) if is_free || freedom::is_unwritten(name) => {
            Item::Tensor(HostTensor { bytes: None, ..host.clone() })
        }
        other => other.clone(),
    }
}

/// The strides of results are checked for views, for requested memory formats, and if nothing else is defined.
fn promises_strides(door: &Door, case: &Case) -> bool {
    let (name, overload) = case.name();
    let asked = |item: &Item| matches!(item, Item::MemoryFormat(_));
    door.is_view(name, overload)
        || freedom::is_unwritten(name)
        || case.args.iter().chain(case.kwargs.iter().map(|(_, item)| item)).any(asked)
}

fn gradients(
    door: &Door,
    case: &Case,
    outs: &[Value],
    cotangents: &[Option<HostTensor>],
    inputs: &Inputs,
) -> Result<Vec<Option<HostTensor>>, String> {
    let mut roots = Vec::new();
    for (out, grad) in outs.iter().zip(cotangents) {
        if let (Some(tensor), Some(grad)) = (out.tensor(), grad) {
            roots.push((tensor.clone(), door.tensor(grad)?));
        }
    }
    let leaves: Vec<Tensor> =
        case.grads.iter().map(|(key, _)| Ok(inputs.find(key)?.leaf.clone())).collect::<Result<_, String>>()?;
    door.gradients(&roots, &leaves)
}

/// No gradient and a gradient of zeros are the same.
fn gradient(within: Tolerances, actual: Option<HostTensor>, expected: &Item) -> Result<(), String> {
    let zeros =
        |like: &HostTensor| HostTensor { bytes: Some(vec![0; like.numel() * like.dtype.size()]), ..like.clone() };
    match (actual, expected) {
        (Some(actual), Item::Tensor(expected)) => compare::tensors_within(within, &actual, expected),
        (None, Item::Tensor(expected)) => compare::tensors_within(within, &zeros(expected), expected),
        (Some(actual), _) => compare::tensors_within(within, &actual, &zeros(&actual)),
        (None, _) => Ok(()),
    }
}
