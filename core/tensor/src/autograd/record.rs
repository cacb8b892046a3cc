//! What generated code calls to record an operator, and the rules of in-place writes.

use super::meta::AutogradMeta;
use super::modes::{is_grad_enabled, is_inference_mode};
use super::node::{Backward, Edge, Edges, Node, RecordedCall};
use super::view::{self, Origin, ViewInfo};
use crate::keys::KeySet;
use crate::tensor::Tensor;
use rushlight_base::{Error, Result, bail, callee, ensure, err};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Is a call with these inputs recorded: is recording on, and does any of them require a gradient?
#[inline]
pub fn should_record<'a>(inputs: impl IntoIterator<Item = &'a Tensor>) -> bool {
    is_grad_enabled() && any_requires_grad(&mut inputs.into_iter())
}

#[inline(never)]
fn any_requires_grad(inputs: &mut dyn Iterator<Item = &Tensor>) -> bool {
    for input in inputs {
        if input.requires_grad() {
            return true;
        }
    }
    false
}

/// The new result of a call with these inputs. If the call is recorded, it becomes the result of a node with the body
/// that `body` makes.
#[inline]
pub fn recorded<B: Backward + 'static>(
    result: Tensor,
    inputs: &[&Tensor],
    mut body: impl FnMut(&Edges, &Tensor) -> Result<B>,
) -> Result<Tensor> {
    let mut node = |call: &mut RecordedCall, result: &Tensor| Ok(call.node(body(&call.edges, result)?));
    recorded_as(result, inputs, MakeNode::new(&mut node))
}

callee! {
    /// Makes the node of a call with this result.
    struct MakeNode: fn(call: &mut RecordedCall, result: &Tensor) -> Result<Arc<Node>>;
}

#[inline(never)]
fn recorded_as(mut result: Tensor, inputs: &[&Tensor], mut node: MakeNode) -> Result<Tensor> {
    if is_grad_enabled() && inputs.iter().any(|input| input.requires_grad()) {
        let mut call = RecordedCall::of_result(Edges::of(inputs), &mut result);
        let node = node.call(&mut call, &result)?;
        set_history(&mut result, node);
    }
    Ok(result)
}

/// Make a new tensor the result of a node with this body: [`record`] without its locks.
#[inline]
pub fn record_result(result: &mut Tensor, edges: Edges, body: impl Backward + 'static) {
    let node = RecordedCall::of_result(edges, result).node(body);
    set_history(result, node);
}

/// Make the new tensor `result` the result of `node`.
#[inline(never)]
fn set_history(result: &mut Tensor, node: Arc<Node>) {
    if !node.outputs()[0].dtype().is_differentiable() {
        return;
    }
    let edge = Edge { node, output: 0 };
    match result.exclusive() {
        Some(mut fresh) => fresh.set_history(edge),
        None => result.set_history(Some(edge)),
    }
}

/// Make `outputs` the results of a node with this body.
#[inline]
pub fn record(outputs: &[&Tensor], edges: Edges, body: impl Backward + 'static) {
    set_histories(outputs, RecordedCall::of(edges, outputs).node(body));
}

#[inline(never)]
fn set_histories(outputs: &[&Tensor], node: Arc<Node>) {
    for (index, output) in outputs.iter().enumerate() {
        if node.outputs()[index].dtype().is_differentiable() {
            output.set_history(Some(Edge { node: node.clone(), output: index as u32 }));
        }
    }
}

/// Make `output` a tracked view of `base`, unless this thread is in inference mode.
pub fn as_view(base: &Tensor, output: Tensor) -> Result<Tensor> {
    if base.is_inference() {
        output.add_keys(KeySet::INFERENCE);
    } else {
        output.init_autograd_meta(AutogradMeta::with_view(ViewInfo::new(base)));
    }
    Ok(output)
}

/// These views are the outputs of one operator, whose node PyTorch calls `node`: they cannot be written in place.
pub fn mark_several(views: &[Tensor], node: &'static str) {
    for (index, view) in views.iter().enumerate() {
        if let Some(view) = view.autograd_meta().and_then(AutogradMeta::view) {
            // A view of a view that is marked keeps its own mark.
            let _ = view.of_several.set((node, index));
        }
    }
}

/// The edges of a call that writes `target` in place, if it is recorded. An error if `operator` may not write it.
#[inline(never)]
pub fn edges_of_write(operator: &str, target: &Tensor, inputs: &[&Tensor]) -> Result<Option<Edges>> {
    let recording = should_record(inputs.iter().copied());
    check_inplace(operator, target, recording)?;
    Ok(recording.then(|| Edges::of(inputs)))
}

/// May `target` be written in place by `operator`? With recording on, a leaf that requires a gradient must not
/// be written, nor a view of one.
pub fn check_inplace(_operator: &str, target: &Tensor, recording: bool) -> Result<()> {
    ensure!(
        !target.is_inference() || is_inference_mode(),
        Runtime,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal \
         tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
    );
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
    if recording || requires_grad {
        check_origin(target, view)?;
    }
    if requires_grad && view.base.is_leaf() {
        bail!(Runtime, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    Ok(())
}

/// Views that were made where nothing is recorded or by a function of the user's, and those of which there are several,
/// cannot be written.
fn check_origin(target: &Tensor, view: &ViewInfo) -> Result<()> {
    if view.of_custom.load(Ordering::Relaxed) {
        let maker = target.grad_edge();
        let maker = maker
            .map_or_else(|| "A tensor".to_owned(), |edge| format!("Output {} of {}", edge.output, edge.node.name()));
        bail!(
            Runtime,
            "{maker} is a view and is being modified inplace. This view was created inside a custom Function (or because \
             an input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward \
             associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix \
             this by cloning the output of the custom Function."
        );
    }
    let unclear = |mode: &str| {
        format!(
            "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving \
             both the view and the inplace either both inside the {mode} block (if you don't want the inplace to be \
             tracked) or both outside (if you want the inplace to be tracked)."
        )
    };
    match (view.made_in, view.of_several.get()) {
        (Origin::NoGrad, _) => bail!(
            Runtime,
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. {}",
            unclear("no_grad")
        ),
        (Origin::Inference, _) => bail!(
            Runtime,
            "A view was created in inference mode and is being modified inplace in normal mode. {}",
            unclear("inference_mode")
        ),
        (Origin::Recording, Some((node, index))) => bail!(
            Runtime,
            "Output {index} of {node} is a view and is being modified inplace. This view is the output of a function that \
             returns multiple views. Such functions do not allow the output views to be modified inplace. You should \
             replace the inplace operation by an out-of-place one."
        ),
        (Origin::Recording, None) => Ok(()),
    }
}

/// out= forms do not record: refuse arguments that require a gradient.
#[inline]
pub fn check_out<'a>(operator: &str, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    if should_record(tensors) { Err(no_derivative_into_out(operator)) } else { Ok(()) }
}

#[cold]
fn no_derivative_into_out(operator: &str) -> Error {
    err!(
        Runtime,
        "{operator}(): functions with out=... arguments don't support automatic differentiation, but one of the \
         arguments requires grad."
    )
}

/// An operator that writes and has no derivative: refuse arguments that require a gradient.
pub fn check_no_derivative<'a>(operator: &str, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    if should_record(tensors) {
        bail!(NotImplemented, "the derivative for '{operator}' is not implemented.");
    }
    Ok(())
}

/// Let `tensor` be what `view` makes of it, with its history: what `t_` and its kin do. No element moves, so that the base of
/// a view, and other views of it, stay as they are.
pub fn become_view(tensor: &Tensor, view: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
    check_inplace("", tensor, should_record([tensor]))?;
    let before = tensor.grad_edge();
    let shown = view(tensor)?;
    tensor.set_geometry(shown.dense()?.geometry.clone())?;
    tensor.bump_version();
    match shown.stored_history() {
        Some(edge) => {
            if let Some(view) = tensor.autograd_meta().and_then(AutogradMeta::view) {
                view.is_right_at(tensor.version());
            }
            tensor.set_history(Some(edge));
            tensor.move_retained_grad(before.as_ref())?;
        }
        // A leaf's gradient has another shape from now on.
        None => tensor.autograd_meta().into_iter().for_each(AutogradMeta::forget_accumulator),
    }
    Ok(())
}

/// Make the in-place write that just happened to `target` part of its history, and of its base's if it is a view.
#[inline]
pub fn rebase_history(target: &Tensor, edges: Edges, body: impl Backward + 'static) -> Result<()> {
    rebase_to(target, RecordedCall::of(edges, &[target]).node(body))
}

#[inline(never)]
fn rebase_to(target: &Tensor, node: Arc<Node>) -> Result<()> {
    match target.autograd_meta().and_then(AutogradMeta::view) {
        None => {
            let before = target.stored_history();
            target.set_history(Some(Edge { node, output: 0 }));
            target.move_retained_grad(before.as_ref())?;
        }
        Some(view) => {
            let base = view.base.clone();
            view::rebase_base(&base, target, node);
            // The view itself is a view of what the base is now.
            view.renew(target);
        }
    }
    Ok(())
}
