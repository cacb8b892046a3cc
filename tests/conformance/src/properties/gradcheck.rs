//! Every derivative passes the library's own `rlt_gradcheck` and `rlt_gradgradcheck`, in double precision.
//!
//! The golden inputs of floats are converted to double first. All inputs with a recorded gradient are checked at once;
//! the Jacobian is compared whole if it is small, else by a random projection. A case that fails at its recorded inputs
//! may be at a point where the function is not differentiable, infinite, or too steep for finite differences: then it
//! must pass elsewhere.

use super::{Properties, is_deterministic, is_rejection};
use crate::cases::{Case, Item};
use crate::declared;
use crate::door::{Order, Tensor};
use crate::host::HostTensor;
use rushlight_base::{Complex128, DType, Scalar};
use std::collections::BTreeSet;

/// Up to this number of elements in the checked inputs, the whole Jacobian is compared.
const SMALL: usize = 12;
/// Calls with more elements are not checked: differences in double precision are inaccurate for sums of many numbers.
const LARGEST: usize = 2000;
/// Where a derivative is checked.
#[derive(Clone, Copy)]
enum Place {
    /// Where it was recorded.
    Recorded,
    /// At multiples of the inputs, slightly perturbed.
    Aside(f64),
    /// At positive numbers, not far from 0.
    Positive,
}

/// One after the other, until the derivative passes.
const PLACES: [Place; 4] = [Place::Recorded, Place::Aside(1.0), Place::Aside(0.2), Place::Positive];
/// Replaces numbers that are NaN or infinite.
const FINITE: f64 = 0.4;

/// Arguments with which the gradient differs from the derivative, and the value with which it does not.
const PLAIN: [(&str, Scalar); 2] = [("padding_idx", Scalar::Int(-1)), ("scale_grad_by_freq", Scalar::Bool(false))];

/// Inputs whose gradient PyTorch defines differently: they are not perturbed, and the recorded gradients are the check.
const DEFINED: [(&str, &str); 11] = [
    // The gradient with respect to the input is zeros, and not None.
    ("aten::cummaxmin_backward", "1"),
    // The output is differentiated as a function of the input.
    ("aten::cumprod_backward", "3"),
    // It is also differentiated through the statistics, which are given.
    ("aten::native_layer_norm_backward", "1"),
    // It is also differentiated through the exponentials, which are given.
    ("aten::log_sigmoid_backward", "1"),
    // Overwritten elements keep their own gradient.
    ("aten::as_strided_scatter", "0"),
    // The gradient also includes that of a preceding log_softmax.
    ("aten::_ctc_loss", "0"),
    ("aten::ctc_loss.IntList", "0"),
    ("aten::ctc_loss.Tensor", "0"),
    // The gradient ignores the rounding (`core/tensor/tests/quantized.rs` compares it with PyTorch's).
    ("aten::fake_quantize_per_tensor_affine_cachemask", "0"),
    ("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "0"),
    ("aten::fake_quantize_per_channel_affine_cachemask", "0"),
];

/// Whether the gradient of an input of this operator intentionally differs from its derivative.
pub fn is_defined(operator: &str) -> bool {
    DEFINED.iter().any(|(name, _)| *name == operator)
}

/// The nodes of the graphs that were checked, by name: of the results, and of their gradients.
pub type Nodes = BTreeSet<String>;

impl Properties<'_> {
    /// Checks the first derivative, and the second. Returns the derivatives that were used: none where there is none.
    pub fn gradcheck(&self, case: &Case) -> Result<Nodes, String> {
        if case.grads.iter().all(|(_, grad)| matches!(grad, Item::None)) || !is_deterministic(case) {
            return Ok(Nodes::new());
        }
        let mut case = in_double(case);
        self.make_plain(&mut case);
        // Overwritten elements also get a gradient; and where a constant 0 divides, there is no difference of
        // infinities.
        if overlaps(&case) || !self.is_finite(&case)? {
            return Ok(Nodes::new());
        }
        for order in [Order::First, Order::Second] {
            let mut attempts = PLACES.into_iter().map(|place| self.checked(&case, order, place));
            let Some(Err(reason)) = attempts.next() else { continue };
            if !is_rejection(&reason) && !attempts.any(|attempt| attempt.is_ok()) {
                return Err(format!("{order:?}: {reason}"));
            }
        }
        self.nodes(&case)
    }

    /// Like `gradcheck`, where PyTorch has no gradient: of the tensors that the declaration has a formula for.
    pub fn gradcheck_declared(&self, case: &Case) -> Result<Nodes, String> {
        let mut case = in_double(case);
        let Some(signature) = self.signature(&case).filter(|_| case.grads.is_empty() && case.error.is_none()) else {
            return Ok(Nodes::new());
        };
        let is_double =
            |item: &Item| matches!(item, Item::Tensor(host) if matches!(host.dtype, DType::F64 | DType::C128));
        for (at, (argument, item)) in signature.arguments.iter().zip(&case.args).enumerate() {
            if is_double(item) && declared::has_formula(&case.op, &argument.name) {
                case.grads.push((at.to_string(), item.clone()));
            }
        }
        self.gradcheck(&case)
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
        let arguments = self.arguments(case, &mut |key, host| match is_reached(case, key) {
            true => self.door.tensor(&moved(host, Place::Positive)),
            false => self.door.tensor(host),
        })?;
        let Ok(mut outs) = self.call(case, arguments) else { return Ok(true) };
        let mut at = 0;
        outs.retain(|_| {
            at += 1;
            !matches!(case.grad_outs.get(at - 1), Some(Item::None))
        });
        Ok(self.hosts(&outs)?.iter().all(|host| host.numbers().iter().all(|number| number.is_finite())))
    }

    fn checked(&self, case: &Case, order: Order, place: Place) -> Result<(), String> {
        let (leaves, elements) = self.leaves(case, place)?;
        if elements > LARGEST || elements == 0 {
            return Ok(());
        }
        let mut call = |inputs: &[Tensor]| self.results(case, inputs);
        self.door.gradcheck(&mut call, &leaves, order, elements > SMALL)
    }

    /// The nodes on the paths from the results to the inputs, and from the gradients to the inputs and the output
    /// gradients.
    fn nodes(&self, case: &Case) -> Result<Nodes, String> {
        let (leaves, elements) = self.leaves(case, Place::Positive)?;
        if elements > LARGEST || elements == 0 {
            return Ok(Nodes::new());
        }
        let mut roots = Vec::new();
        for result in self.results(case, &leaves)? {
            if self.door.requires_grad(&result)? {
                let cotangent = self.door.tensor(&self.door.host(&result)?.tapered())?;
                self.door.require_grad(&cotangent)?;
                roots.push((result, cotangent));
            }
        }
        let results: Vec<Tensor> = roots.iter().map(|(result, _)| result.clone()).collect();
        let gradients = self.door.gradient_tensors(&roots, &leaves, true)?;
        let mut nodes = self.door.nodes_behind(&results)?;
        nodes.extend(self.door.nodes_behind(&gradients.into_iter().flatten().collect::<Vec<_>>())?);
        Ok(nodes)
    }

    /// The inputs that a gradient reaches, and how many elements they have.
    fn leaves(&self, case: &Case, place: Place) -> Result<(Vec<Tensor>, usize), String> {
        let (mut leaves, mut elements) = (Vec::new(), 0);
        self.arguments(case, &mut |key, host| {
            if !is_reached(case, key) {
                return self.door.tensor(host);
            }
            let moved = self.door.tensor(&moved(host, place))?;
            self.door.require_grad(&moved)?;
            elements += host.numel();
            leaves.push(moved.clone());
            Ok(moved)
        })?;
        Ok((leaves, elements))
    }

    /// The results of the case that have a gradient, for these inputs.
    fn results(&self, case: &Case, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let written = |key: &str| case.mutated.iter().any(|(name, _)| name == key);
        let mut given = inputs.iter();
        let arguments = self.arguments(case, &mut |key, host| {
            if !is_reached(case, key) {
                return self.door.tensor(host);
            }
            let given = given.next().ok_or("an input is missing")?;
            // A leaf cannot be written.
            if written(key) { self.door.copy(given) } else { self.projected(case, key, given) }
        })?;
        let outs = self.call(case, arguments)?;
        let mut results = Vec::new();
        for (at, out) in outs.iter().enumerate() {
            // Arguments without a gradient in PyTorch are excluded, as is half precision.
            let Some(tensor) = out.tensor() else { continue };
            let has_gradient = !matches!(case.grad_outs.get(at), Some(Item::None));
            if has_gradient && matches!(self.door.layout(tensor)?.0, DType::F64 | DType::C128) {
                results.push(self.determined(case, at, tensor)?);
            }
        }
        Ok(results)
    }
}

/// Whether a gradient reaches this argument.
fn is_reached(case: &Case, key: &str) -> bool {
    case.grads.iter().any(|(name, grad)| name == key && !matches!(grad, Item::None))
}

/// The case in double, without numbers that are none.
fn in_double(case: &Case) -> Case {
    case.in_double(&mut |number, _| if number.is_finite() { number } else { FINITE.into() })
}

/// Whether elements are written to the same position, by repeated indices within a plane.
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

/// Other values, each moved by another amount; contiguous, so that each moves independently.
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
