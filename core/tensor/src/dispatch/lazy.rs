//! The layer of what was put off: conjugation and negation that are bits of a tensor's key set.
//!
//! Views pass by it. Every other operator gets tensors in which it has been carried out, so that no kernel, rule or
//! derivative knows of it. It stands above autograd: carrying out is an operator like others, with a gradient. What an
//! operator writes into such a tensor is written through a view without the bits, so that its base learns of it.

use super::{Op, Value, Values};
use crate::dense::Spec;
use crate::keys::KeySet;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::Result;

/// The tensor itself, or with what was put off carried out.
pub(crate) fn carried_out(tensor: &Tensor) -> Result<Tensor> {
    let keys = tensor.keys();
    if !keys.intersects(KeySet::LAZY) {
        return Ok(tensor.clone());
    }
    turned(without_bits(tensor)?, keys)
}

/// Conjugated and negated as `keys` say.
fn turned(tensor: Tensor, keys: KeySet) -> Result<Tensor> {
    let tensor = if keys.intersects(KeySet::CONJ) { ops::conj_physical(&tensor)? } else { tensor };
    if keys.intersects(KeySet::NEG) { ops::neg(&tensor) } else { Ok(tensor) }
}

/// A view of the elements as they are stored.
fn without_bits(tensor: &Tensor) -> Result<Tensor> {
    let keys = tensor.keys();
    let plain = if keys.intersects(KeySet::CONJ) { ops::_conj(tensor)? } else { tensor.clone() };
    if keys.intersects(KeySet::NEG) { ops::_neg_view(&plain) } else { Ok(plain) }
}

/// The layer's handler: carry out, call, and write back what was written.
#[cold]
pub(super) fn handle(op: &Op, mut args: Vec<Value>) -> Result<Values> {
    let signature = op.signature()?;
    let mut written: Vec<(Tensor, Tensor)> = Vec::new();
    for (at, value) in args.iter_mut().enumerate() {
        let writes = signature.arguments.get(at).is_some_and(|argument| argument.ty.is_written());
        each_tensor(value, &mut |tensor| {
            if !tensor.keys().intersects(KeySet::LAZY) {
                return Ok(());
            }
            let plain = carried_out(tensor)?;
            let put_off = std::mem::replace(tensor, plain.clone());
            if writes {
                written.push((put_off, plain));
            }
            Ok(())
        })?;
    }
    let mut results = op.call(&args)?;
    for (target, result) in &written {
        write_back(target, result)?;
    }
    // An operator that writes returns what it wrote.
    for value in &mut results.0 {
        each_tensor(value, &mut |tensor| {
            if let Some((target, _)) = written.iter().find(|(_, result)| std::ptr::eq(result.imp(), tensor.imp())) {
                *tensor = target.clone();
            }
            Ok(())
        })?;
    }
    Ok(results)
}

fn each_tensor(value: &mut Value, visit: &mut dyn FnMut(&mut Tensor) -> Result<()>) -> Result<()> {
    match value {
        Value::Tensor(tensor) => visit(tensor),
        Value::Tensors(tensors) => tensors.iter_mut().flatten().try_for_each(visit),
        _ => Ok(()),
    }
}

/// Store what `target` should hold, as its bits want it stored.
fn write_back(target: &Tensor, result: &Tensor) -> Result<()> {
    if target.sizes() != result.sizes() {
        target.resize_to(&Spec::new(&result.sizes(), target.dtype(), target.device()))?;
    }
    ops::copy_(&without_bits(target)?, &turned(result.clone(), target.keys())?, false)
}
