//! The layer of lazy conjugation and negation: conj and neg bits in a tensor's key set.
//!
//! `conj` and `_neg_view` only set a bit (`Dense::lazy`). Operators that return views bypass this layer and pass the
//! bits on to their results. For all other operators this layer first materializes the bits, so that no kernel, rule or
//! derivative has to handle them. It is above autograd: materialization is a differentiable operator. In-place results
//! are written back through a view with the bits cleared, so that the base's history includes them.
//!
//! A view whose elements are not those of its base (`conj`, `view_as_real`, `view_as_complex`) has a rule that returns
//! `Shown` (geometry, dtype and bits) instead of a `Geometry`. `autograd/view.rs` converts gradients between such a
//! view and its base.

use super::{Op, Value, Values};
use crate::dense::Spec;
use crate::keys::KeySet;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, SmallVec};
use rushlight_schema::Argument;

/// The tensor itself, or a materialized copy.
pub(crate) fn carried_out(tensor: &Tensor) -> Result<Tensor> {
    let keys = tensor.keys();
    if !keys.intersects(KeySet::LAZY) {
        return Ok(tensor.clone());
    }
    turned(without_bits(tensor)?, keys)
}

/// Conjugates and negates the tensor according to `keys`.
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

/// The layer's handler: materialize, call, and write back.
#[cold]
pub(super) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    let mut args: SmallVec<[Value; 8]> = args.iter().cloned().collect();
    let arguments = op.arguments();
    let mut written: Vec<(Tensor, Tensor)> = Vec::new();
    for (at, value) in args.iter_mut().enumerate() {
        let writes = arguments.get(at).is_some_and(Argument::is_written);
        value.try_for_each_tensor_mut(&mut |tensor| {
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
    op.call_into(&args, results)?;
    for (target, result) in &written {
        write_back(target, result)?;
    }
    // An operator that writes returns its target.
    for value in results.0.iter_mut() {
        value.try_for_each_tensor_mut(&mut |tensor| {
            if let Some((target, _)) = written.iter().find(|(_, result)| std::ptr::eq(result.imp(), tensor.imp())) {
                *tensor = target.clone();
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Stores the value that `target` should show, according to its bits.
fn write_back(target: &Tensor, result: &Tensor) -> Result<()> {
    if target.sizes() != result.sizes() {
        target.resize_to(&Spec::new(&result.sizes(), target.dtype(), target.device()))?;
    }
    ops::copy_(&without_bits(target)?, &turned(result.clone(), target.keys())?, false)
}
