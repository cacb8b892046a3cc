//! Every derivative passes the library's own `rlt_gradcheck` and `rlt_gradgradcheck`, in double.
//!
//! The golden inputs of floats are made double first. All inputs are checked at once that have a recorded gradient; the
//! Jacobian is compared whole where it is small, else by a random product. What fails where it was recorded may stand where
//! a function has a corner, or no finite value, or is so steep that differences say nothing: then it must pass elsewhere.

use super::{Laws, is_deterministic};
use crate::cases::{Case, Item};
use crate::door::{Order, Tensor};
use crate::host::HostTensor;
use crate::run::spread;
use rushlight_base::{Complex128, DType, Scalar};

/// So many elements of inputs that are checked have their Jacobian compared whole.
const SMALL: usize = 12;
/// No calls of more: differences in double say little about sums of many.
const LARGEST: usize = 2000;
/// Where a derivative is checked.
#[derive(Clone, Copy)]
enum Place {
    /// Where it was recorded.
    Recorded,
    /// At so many times the numbers, and a little aside.
    Aside(f64),
    /// At positive numbers, not far from 0.
    Positive,
}

/// One after the other, until the derivative passes.
const PLACES: [Place; 4] = [Place::Recorded, Place::Aside(1.0), Place::Aside(0.2), Place::Positive];
/// Stands for numbers that are none, or not finite.
const FINITE: f64 = 0.4;

/// Arguments that make the gradient something else than the derivative, and the value with which it is that.
const PLAIN: [(&str, Scalar); 2] = [("padding_idx", Scalar::Int(-1)), ("scale_grad_by_freq", Scalar::Bool(false))];

/// Inputs whose gradient PyTorch defines as something else (what is overwritten keeps its own): they stay where they are.
const DEFINED: [(&str, &str); 1] = [("aten::as_strided_scatter", "0")];

impl Laws<'_> {
    /// Checks the first derivative, and the second. Says whether there was one.
    pub fn gradcheck(&self, case: &Case) -> Result<bool, String> {
        if case.grads.iter().all(|(_, grad)| matches!(grad, Item::None)) || !is_deterministic(case) {
            return Ok(false);
        }
        let mut case = in_double(case);
        self.make_plain(&mut case);
        if overlaps(&case) {
            // What another one overwrites gets its gradient, too.
            return Ok(false);
        }
        if !self.is_finite(&case)? {
            // A constant 0 divides, say: there is no difference of infinities.
            return Ok(false);
        }
        for order in [Order::First, Order::Second] {
            let mut attempts = PLACES.into_iter().map(|place| self.checked(&case, order, place));
            let Some(Err(reason)) = attempts.next() else { continue };
            if !attempts.any(|attempt| attempt.is_ok()) {
                return Err(format!("{order:?}: {reason}"));
            }
        }
        Ok(true)
    }

    /// Gives arguments the value with which the gradient is the derivative.
    fn make_plain(&self, case: &mut Case) {
        let Some(signature) = self.signature(case) else { return };
        let (name, grads) = (case.op.clone(), std::mem::take(&mut case.grads));
        case.grads = grads.into_iter().filter(|(key, _)| !DEFINED.contains(&(name.as_str(), key.as_str()))).collect();
        for (name, value) in PLAIN {
            let Some(at) = signature.arguments.iter().position(|argument| argument.name == name) else { continue };
            if let Some(item) = case.args.get_mut(at) {
                *item = Item::Scalar(value);
            }
            case.kwargs.retain(|(other, _)| other != name || at < case.args.len());
        }
    }

    fn is_finite(&self, case: &Case) -> Result<bool, String> {
        let reached = |key: &str| case.grads.iter().any(|(name, grad)| name == key && !matches!(grad, Item::None));
        let arguments = self.arguments(case, &mut |key, host| match reached(key) {
            true => self.door.tensor(&moved(host, Place::Positive)),
            false => self.door.tensor(host),
        })?;
        let Ok(outs) = self.call(case, arguments) else { return Ok(true) };
        Ok(self.hosts(&outs)?.iter().all(|host| host.numbers().iter().all(|number| number.is_finite())))
    }

    fn checked(&self, case: &Case, order: Order, place: Place) -> Result<(), String> {
        let mut leaves: Vec<Tensor> = Vec::new();
        let mut elements = 0;
        let reached = |key: &str| case.grads.iter().any(|(name, grad)| name == key && !matches!(grad, Item::None));
        self.arguments(case, &mut |key, host| {
            let tensor = self.door.tensor(host)?;
            if reached(key) {
                let moved = self.door.tensor(&moved(host, place))?;
                self.door.require_grad(&moved)?;
                elements += host.numel();
                leaves.push(moved);
            }
            Ok(tensor)
        })?;
        if elements > LARGEST || elements == 0 {
            return Ok(());
        }
        let written = |key: &str| case.mutated.iter().any(|(name, _)| name == key);
        let mut call = |inputs: &[Tensor]| {
            let mut nth = 0;
            let arguments = self.arguments(case, &mut |key, host| {
                if !reached(key) {
                    return self.door.tensor(host);
                }
                nth += 1;
                let given = inputs[nth - 1].clone();
                // A leaf cannot be written.
                if written(key) { self.door.copy(&given) } else { Ok(given) }
            })?;
            let outs = self.call(case, arguments)?;
            let mut results = Vec::new();
            for (at, out) in outs.iter().enumerate() {
                // What has no gradient in PyTorch is no function here, either, nor is a half.
                let Some(tensor) = out.tensor() else { continue };
                let has_gradient = !matches!(case.grad_outs.get(at), Some(Item::None));
                if has_gradient && matches!(self.door.layout(tensor)?.0, DType::F64 | DType::C128) {
                    results.push(tensor.clone());
                }
            }
            Ok(results)
        };
        self.door.gradcheck(&mut call, &leaves, order, elements > SMALL)
    }
}

/// The case with doubles for floats; halves stay, which no case with gradients has.
fn in_double(case: &Case) -> Case {
    let all = |items: &[Item]| items.iter().map(doubled).collect();
    let kwargs = case.kwargs.iter().map(|(name, item)| (name.clone(), doubled(item))).collect();
    let (grads, grad_outs) = (case.grads.clone(), spread(&case.grad_outs));
    Case { args: all(&case.args), kwargs, grads, grad_outs, mutated: case.mutated.clone(), ..case.bare() }
}

/// Are elements written to the same place, by indices that repeat within a plane?
fn overlaps(case: &Case) -> bool {
    match (case.name().0, case.args.as_slice()) {
        ("aten::max_unpool2d" | "aten::max_unpool3d", [_, Item::Tensor(indices), ..]) => {
            let dims = if case.op.contains('2') { 2 } else { 3 };
            let plane = indices.shape.iter().rev().take(dims).product::<i64>().max(1) as usize;
            indices.numbers().chunks(plane).any(|plane| {
                let mut places: Vec<i64> = plane.iter().map(|place| place.re as i64).collect();
                places.sort_unstable();
                places.windows(2).any(|pair| pair[0] == pair[1])
            })
        }
        _ => false,
    }
}

fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::F64,
        DType::C64 => DType::C128,
        other => other,
    }
}

fn doubled(item: &Item) -> Item {
    match item {
        Item::Tensor(host) if host.dtype.is_differentiable() && host.bytes.is_some() => {
            let mut twin = HostTensor { dtype: wide(host.dtype), ..host.clone() };
            let finite = |number: Complex128| if number.is_finite() { number } else { FINITE.into() };
            twin.set_numbers(&host.numbers().into_iter().map(finite).collect::<Vec<_>>());
            Item::Tensor(twin)
        }
        Item::DType(dtype) => Item::DType(wide(*dtype)),
        Item::List(items) => Item::List(items.iter().map(doubled).collect()),
        other => other.clone(),
    }
}

/// The numbers of another place, each moved by another length; contiguous, so that each moves on its own.
fn moved(host: &HostTensor, place: Place) -> HostTensor {
    let number = |(at, number): (usize, Complex128)| {
        let length = 1e-3 * (1.0 + (1.3 * at as f64).sin()) / 2.0;
        match place {
            Place::Recorded => number,
            Place::Aside(times) => number * times + length,
            Place::Positive => (0.3 + 0.2 * number.norm() + length).into(),
        }
    };
    let mut moved = host.clone();
    moved.set_numbers(&host.numbers().into_iter().enumerate().map(number).collect::<Vec<_>>());
    moved
}
