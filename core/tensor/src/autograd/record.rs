//! What generated code calls to record an operator, and the rules of in-place writes.

use super::meta::AutogradMeta;
use super::modes::{is_grad_enabled, is_inference_mode};
use super::node::{Backward, Edge, Edges, Node, TensorMeta};
use super::view::{self, ViewInfo};
use crate::tensor::Tensor;
use rushlight_base::{Result, SmallVec, bail, smallvec};

/// Is a call with these inputs recorded: is recording on, and does any of them require a gradient?
#[inline]
pub fn should_record<'a>(inputs: impl IntoIterator<Item = &'a Tensor>) -> bool {
    is_grad_enabled() && inputs.into_iter().any(Tensor::requires_grad)
}

/// Make a new tensor the result of a node with this body: [`record`] without its locks.
#[inline]
pub fn record_result(result: &mut Tensor, edges: Edges, body: impl Backward + 'static) {
    let Some(mut fresh) = result.exclusive() else { return record(&[result], edges, body) };
    let meta = TensorMeta::of_body(fresh.body());
    let differentiable = meta.dtype().is_differentiable();
    let node = Node::new(body, edges, SmallVec::from_buf([meta]));
    if differentiable {
        fresh.set_history(Edge { node, output: 0 });
    }
}

/// Make `outputs` the results of a node with this body.
pub fn record(outputs: &[&Tensor], edges: Edges, body: impl Backward + 'static) {
    let metas = outputs.iter().map(|output| TensorMeta::of(output)).collect();
    let node = Node::new(body, edges, metas);
    for (index, output) in outputs.iter().enumerate() {
        if node.outputs()[index].dtype().is_differentiable() {
            output.set_history(Some(Edge { node: node.clone(), output: index as u32 }));
        }
    }
}

/// Make `output` a tracked view of `base`, unless this thread is in inference mode.
pub fn as_view(base: &Tensor, output: Tensor) -> Result<Tensor> {
    if !is_inference_mode() {
        output.init_autograd_meta(AutogradMeta::with_view(ViewInfo::new(base, false)));
    }
    Ok(output)
}

/// May `target` be written in place by `operator`? With recording on, a leaf that requires a gradient must not
/// be written, nor a view of one.
pub fn check_inplace(operator: &str, target: &Tensor, recording: bool) -> Result<()> {
    if !is_grad_enabled() {
        return Ok(());
    }
    let requires_grad = target.requires_grad();
    let view = target.autograd_meta().and_then(AutogradMeta::view);
    let Some(view) = view else {
        if requires_grad && target.is_leaf() {
            bail!(Runtime, "a leaf Variable that requires grad is being used in an in-place operation.");
        }
        return Ok(());
    };
    if (recording || requires_grad) && (view.made_without_recording || view.of_several) {
        bail!(
            Runtime,
            "{operator}: Output 0 of a view is being modified inplace, but {}. This view was created {}; please clone() it \
             before the write.",
            if view.of_several {
                "it is one of several outputs of its operator"
            } else {
                "it was made without recording"
            },
            if view.of_several { "by a function that returns multiple views" } else { "in no_grad mode" }
        );
    }
    if view.base.requires_grad() && view.base.is_leaf() {
        bail!(Runtime, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    Ok(())
}

/// out= forms do not record: refuse arguments that require a gradient.
pub fn check_out<'a>(operator: &str, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    if should_record(tensors) {
        bail!(
            Runtime,
            "{operator}(): functions with out=... arguments don't support automatic differentiation, but one of the \
             arguments requires grad."
        );
    }
    Ok(())
}

/// An operator that writes and has no derivative: refuse arguments that require a gradient.
pub fn check_no_derivative<'a>(operator: &str, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    if should_record(tensors) {
        bail!(NotImplemented, "the derivative for '{operator}' is not implemented.");
    }
    Ok(())
}

/// Make the in-place write that just happened to `target` part of its history, and of its base's if it is a view.
pub fn rebase_history(target: &Tensor, edges: Edges, body: impl Backward + 'static) -> Result<()> {
    let node = Node::new(body, edges, smallvec![TensorMeta::of(target)]);
    match target.autograd_meta().and_then(AutogradMeta::view) {
        None => target.set_history(Some(Edge { node, output: 0 })),
        Some(view) => {
            let base = view.base.clone();
            view::rebase_base(&base, target, node);
            // The view itself is a view of what the base is now.
            view.renew(target);
        }
    }
    Ok(())
}
