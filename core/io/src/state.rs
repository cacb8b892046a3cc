//! Copies tensors into tensors of the same names: `load_state_dict` of every binding.

use rushlight_base::{Result, bail, format_sizes, list};
use rushlight_tensor::autograd::GradModeGuard;
use rushlight_tensor::{Tensor, ops};
use std::collections::HashMap;

/// Names without a counterpart in [`copy_state`], by position.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Incompatible {
    /// Targets whose name no source has.
    pub missing: Vec<usize>,
    /// Sources whose name no target has.
    pub unexpected: Vec<usize>,
}

/// Copies sources into the targets of the same names, without recording. With `strict`, both sides must have every
/// name; shapes must always be equal, except that a scalar may come from a tensor of one element. All mismatches are
/// reported at once, with PyTorch's wording and `model` as the class of the module, and then nothing is written.
pub fn copy_state(
    source: &[(&str, &Tensor)],
    target: &[(&str, &Tensor)],
    model: &str,
    strict: bool,
) -> Result<Incompatible> {
    let by_name: HashMap<&str, &Tensor> = source.iter().copied().collect();
    let known: HashMap<&str, &Tensor> = target.iter().copied().collect();
    let left_alone = Incompatible {
        missing: positions(target, |name| !by_name.contains_key(name)),
        unexpected: positions(source, |name| !known.contains_key(name)),
    };
    let mut faults = Vec::new();
    if strict {
        faults.extend(fault("Missing", target, &left_alone.missing));
        faults.extend(fault("Unexpected", source, &left_alone.unexpected));
    }
    let mut pairs = list::with_capacity(target.len())?;
    for (name, to) in target {
        let Some(from) = by_name.get(name) else { continue };
        let (found, wanted) = (from.sizes(), to.sizes());
        let number = wanted.is_empty() && *found == [1];
        if number || found == wanted {
            pairs.push((*from, *to, number));
            continue;
        }
        faults.push(format!(
            "size mismatch for {name}: copying a param with shape torch.Size({}) from checkpoint, the shape in current \
             model is torch.Size({}).",
            format_sizes(&found),
            format_sizes(&wanted)
        ));
    }
    if !faults.is_empty() {
        bail!(Runtime, "Error(s) in loading state_dict for {model}:\n\t{}", faults.join("\n\t"));
    }
    let _unrecorded = GradModeGuard::new(false);
    for (from, to, number) in pairs {
        if number {
            ops::copy_(to, &ops::reshape(from, &[])?, false)?;
        } else {
            ops::copy_(to, from, false)?;
        }
    }
    Ok(left_alone)
}

fn positions(tensors: &[(&str, &Tensor)], is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    tensors.iter().enumerate().filter(|(_, (name, _))| is_wanted(name)).map(|(at, _)| at).collect()
}

fn fault(what: &str, tensors: &[(&str, &Tensor)], at: &[usize]) -> Option<String> {
    let names: Vec<String> = at.iter().map(|at| format!("\"{}\"", tensors[*at].0)).collect();
    (!names.is_empty()).then(|| format!("{what} key(s) in state_dict: {}. ", names.join(", ")))
}
