//! Each argument has an effect: changed, it changes a result, or the call is refused.

use super::Laws;
use crate::cases::{Case, Item};
use crate::compare;
use crate::door::Value;
use crate::host::HostTensor;
use rushlight_base::Scalar;
use rushlight_schema::{Argument, BaseType, Default as SchemaDefault};

/// Arguments without an effect on values, each with the reason.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("non_blocking", "copies on the host are finished when they return"),
    ("copy", "says whether the result may be the input itself: the values are the same"),
    ("pin_memory", "there is no GPU to pin memory for"),
    ("layout", "strided is the only layout"),
    ("implicit", "tells tracers how an expansion came about"),
    ("sparse_grad", "sparse gradients are not supported: the dense one is right"),
    ("cudnn_enable", "chooses between kernels of a GPU"),
    ("half_to_float", "a CUDA path: refused on the CPU"),
    ("ignore_index", "an index that no sample case has"),
];

/// Arguments whose values an operator does not read: only their shape, dtype and device, or nothing that a change of the
/// samples shows.
const UNREAD: &[(&str, &str)] = &[
    // The sign alone.
    ("copysign.Scalar", "other"),
    ("empty_like", "self"),
    ("expand_as", "other"),
    ("fill.Scalar", "self"),
    ("fill.Tensor", "self"),
    ("full_like", "self"),
    // Whether they are finite, which changed samples still are.
    ("isfinite", "self"),
    ("isinf", "self"),
    ("isnan", "self"),
    ("isneginf", "self"),
    ("isposinf", "self"),
    ("normal_", "self"),
    ("ones_like", "self"),
    ("randn_like", "self"),
    ("rand_like", "self"),
    // Its one sample writes every element.
    ("scatter.value", "self"),
    ("uniform_", "self"),
    ("view_as", "other"),
    ("zero_", "self"),
    ("zeros_like", "self"),
];

impl Laws<'_> {
    /// The arguments of an operator that none of its cases shows an effect of.
    pub fn without_effect(&self, cases: &[Case]) -> Result<Vec<String>, String> {
        let Some(signature) = cases.first().and_then(|case| self.signature(case)) else { return Ok(Vec::new()) };
        let mut idle = Vec::new();
        for (at, argument) in signature.arguments.iter().enumerate() {
            let excused = WITHOUT_EFFECT.iter().any(|(name, _)| *name == argument.name)
                || UNREAD.contains(&(signature.full_name().as_str(), argument.name.as_str()));
            let mut tried = false;
            let mut seen = false;
            for case in cases {
                let Some(changed) = changed(case, at, argument) else { continue };
                tried = true;
                if self.differs(case, &changed)? {
                    seen = true;
                    break;
                }
            }
            if tried && !seen && !excused {
                idle.push(argument.name.clone());
            }
        }
        Ok(idle)
    }

    fn differs(&self, case: &Case, changed: &Case) -> Result<bool, String> {
        let before = self.outcome(case)?;
        let Ok(after) = self.outcome(changed) else { return Ok(true) };
        Ok(before.len() != after.len()
            || before.iter().zip(&after).any(|(before, after)| compare::items(after, before).is_err()))
    }

    fn outcome(&self, case: &Case) -> Result<Vec<Item>, String> {
        self.door.seed(7)?;
        let arguments = self.arguments(case, &mut |_, host| self.door.tensor(host))?;
        let outs = self.call(case, arguments)?;
        let mut items: Vec<Item> = outs.iter().map(|out| self.door.item(out)).collect::<Result<_, _>>()?;
        // A memory format or dimension may show in the strides alone.
        for tensor in outs.iter().filter_map(Value::tensor) {
            let strides = self.door.strides(tensor)?;
            items.push(Item::List(strides.into_iter().map(|stride| Item::Scalar(Scalar::Int(stride))).collect()));
        }
        Ok(items)
    }
}

/// The case with another value for its argument `at`; nothing if there is none to put there.
fn changed(case: &Case, at: usize, argument: &Argument) -> Option<Case> {
    let mut copy = Case { args: case.args.clone(), kwargs: case.kwargs.clone(), ..case.bare() };
    if let Some(item) = copy.args.get_mut(at) {
        *item = other(item)?;
        return Some(copy);
    }
    if let Some((_, item)) = copy.kwargs.iter_mut().find(|(name, _)| *name == argument.name) {
        *item = other(item)?;
        return Some(copy);
    }
    let value = match (argument.default.as_ref()?, argument.ty.base) {
        (SchemaDefault::Bool(value), _) => Scalar::Bool(!value),
        (SchemaDefault::Int(value), BaseType::Scalar | BaseType::Int | BaseType::Float) => Scalar::Int(value + 1),
        (SchemaDefault::Float(value), _) => Scalar::Float(value + 0.5),
        _ => return None,
    };
    copy.kwargs.push((argument.name.clone(), Item::Scalar(value)));
    Some(copy)
}

/// Another value of the same kind.
fn other(item: &Item) -> Option<Item> {
    Some(match item {
        Item::Scalar(Scalar::Bool(value)) => Item::Scalar(Scalar::Bool(!value)),
        Item::Scalar(Scalar::Int(value)) => Item::Scalar(Scalar::Int(value + 1)),
        Item::Scalar(Scalar::Float(value)) => Item::Scalar(Scalar::Float(value * 0.5 + 0.25)),
        Item::List(items) if matches!(items.first(), Some(Item::Scalar(_))) => {
            let mut items = items.clone();
            items[0] = other(&items[0])?;
            Item::List(items)
        }
        Item::Tensor(host) if host.numel() > 0 => {
            // Zeros instead, which are valid indices too.
            let bytes = host.bytes.as_ref()?;
            if bytes.iter().all(|byte| *byte == 0) {
                return None;
            }
            let host = HostTensor { bytes: Some(vec![0; bytes.len()]), ..host.clone() };
            Item::Tensor(host)
        }
        _ => return None,
    })
}
