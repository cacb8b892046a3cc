//! Functions that generated code calls to record an operator, and the rules of in-place writes.

use super::meta::AutogradMeta;
use super::modes::{is_grad_enabled, is_inference_mode};
use super::node::{Backward, Edge, Edges, Node, RecordedCall};
use super::view::{self, Restriction, ViewInfo};
use crate::keys::KeySet;
use crate::tensor::Tensor;
use rushlight_base::{Error, Result, bail, callee, ensure, err};
use std::sync::Arc;

/// Whether a call with these inputs is recorded: recording is on, and one of them requires a gradient.
#[inline]
pub fn should_record<'a>(inputs: impl IntoIterator<Item = &'a Tensor>) -> bool {
    is_grad_enabled() && any_requires_grad(&mut inputs.into_iter())
}

#[inline(never)]
fn any_requires_grad(inputs: &mut dyn Iterator<Item = &Tensor>) -> bool {
    for input in inputs {
        // A call whose tensors are all from inference mode is not recorded, even if they require gradients.
        if input.requires_grad() && !input.is_inference() {
            return true;
        }
    }
    false
}

/// Creates the result of a call with these inputs. If the call is recorded, it becomes the result of a node with the
/// body from `body`.
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
    /// Creates the node of a call with this result.
    struct MakeNode: fn(call: &mut RecordedCall, result: &Tensor) -> Result<Arc<Node>>;
}

#[inline(never)]
fn recorded_as(mut result: Tensor, inputs: &[&Tensor], mut node: MakeNode) -> Result<Tensor> {
    if is_grad_enabled() && any_requires_grad(&mut inputs.iter().copied()) {
        let mut call = RecordedCall::of_result(Edges::of(inputs), &mut result);
        let node = node.call(&mut call, &result)?;
        set_history(&mut result, node);
    }
    Ok(result)
}

callee! {
    /// Writes the target of an in-place form.
    struct Write: fn() -> Result<()>;
}

/// Calls `write`, which writes `target` in place, in a call with these inputs. If the call is recorded, it is recorded by a node
/// with the body from `body`, which saves tensors before they are written.
#[inline]
pub fn recorded_write<B: Backward + 'static>(
    target: &Tensor,
    inputs: &[&Tensor],
    mut write: impl FnMut() -> Result<()>,
    mut body: impl FnMut(&Edges) -> Result<B>,
) -> Result<()> {
    let mut node = |call: &mut RecordedCall, _: &Tensor| Ok(call.node(body(&call.edges)?));
    recorded_write_as(target, inputs, Write::new(&mut write), MakeNode::new(&mut node))
}

#[inline(never)]
fn recorded_write_as(target: &Tensor, inputs: &[&Tensor], mut write: Write, mut node: MakeNode) -> Result<()> {
    let Some(edges) = edges_of_write(target, inputs)? else { return write.call() };
    // The write changes neither shape nor dtype of the target.
    let node = node.call(&mut RecordedCall::of(edges, &[target]), target)?;
    write.call()?;
    rebase_to(target, node)
}

/// Makes a new tensor the result of a node with this body: [`record`] without its locks.
#[inline]
pub fn record_result(result: &mut Tensor, edges: Edges, body: impl Backward + 'static) {
    let node = RecordedCall::of_result(edges, result).node(body);
    set_history(result, node);
}

/// Makes the new tensor `result` the result of `node`.
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

/// Makes `outputs` the results of a node with this body.
#[inline]
pub fn record(outputs: &[&Tensor], edges: Edges, body: impl Backward + 'static) {
    set_histories(outputs, &RecordedCall::of(edges, outputs).node(body));
}

#[inline(never)]
pub(super) fn set_histories(outputs: &[&Tensor], node: &Arc<Node>) {
    for (index, output) in outputs.iter().enumerate() {
        if node.outputs()[index].dtype().is_differentiable() {
            output.set_history(Some(Edge { node: node.clone(), output: index as u32 }));
        }
    }
}

/// Makes `output` a tracked view of `base`, unless this thread is in inference mode.
pub fn as_view(base: &Tensor, output: Tensor) -> Result<Tensor> {
    if base.is_inference() {
        output.add_keys(KeySet::INFERENCE);
    } else {
        output.init_autograd_meta(AutogradMeta::with_view(ViewInfo::new(base)));
    }
    Ok(output)
}

/// Marks `view` as the result of an operator that has no derivative: in-place writes to it or its base cannot be
/// tracked.
pub fn mark_unknown(view: &Tensor, operator: &str) {
    if let Some(view) = view.autograd_meta().and_then(AutogradMeta::view) {
        let _ = view.of_unknown.set(operator.to_owned());
    }
}

/// Marks views as outputs of one operator, whose node PyTorch calls `node`: they cannot be modified in place.
pub fn mark_several(views: &[Tensor], node: &'static str) {
    for (index, view) in views.iter().enumerate() {
        if let Some(view) = view.autograd_meta().and_then(AutogradMeta::view) {
            // A marked view of a view keeps its own mark.
            let _ = view.of_several.set((node, index));
        }
    }
}

/// The edges of a call that writes `target` in place, if it is recorded. An error if it must not be written.
#[inline(never)]
pub fn edges_of_write(target: &Tensor, inputs: &[&Tensor]) -> Result<Option<Edges>> {
    let recording = should_record(inputs.iter().copied());
    check_inplace(target, recording)?;
    Ok(recording.then(|| Edges::of(inputs)))
}

/// A tensor created in inference mode can be written in that mode only.
pub fn check_inference_write(target: &Tensor) -> Result<()> {
    ensure!(
        !target.is_inference() || is_inference_mode(),
        Runtime,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal \
         tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
    );
    Ok(())
}

/// Checks that `target` may be written in place. With recording on, a leaf that requires a gradient must not be
/// written, nor a view of one.
pub fn check_inplace(target: &Tensor, recording: bool) -> Result<()> {
    check_inference_write(target)?;
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
        check_origin(target, view, "is being")?;
    }
    if requires_grad && view.base.is_leaf() {
        bail!(Runtime, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    Ok(())
}

/// Whether the history of this tensor is known. It is not for a view that cannot be written and whose base was written
/// since.
pub fn check_history(tensor: &Tensor) -> Result<()> {
    match tensor.autograd_meta().and_then(AutogradMeta::view) {
        Some(view) if view.is_stale(tensor) => {
            check_origin(tensor, view, "its base or another view of its base has been")
        }
        _ => Ok(()),
    }
}

/// Views that were created without recording or by a custom function, and one of several outputs, cannot be written.
fn check_origin(target: &Tensor, view: &ViewInfo, what: &str) -> Result<()> {
    if let Some(operator) = view.of_unknown.get() {
        bail!(
            Runtime,
            "Accessing the reverse view for {operator} which does not have a derivative implemented is forbidden."
        );
    }
    let found = |direct: Option<&(&str, usize)>| match (target.stored_history(), direct) {
        (None, _) => format!("A view was created in no_grad mode and {what} modified inplace with grad mode enabled."),
        (Some(_), Some((node, index))) => format!("Output {index} of {node} is a view and {what} modified inplace."),
        (Some(edge), None) => {
            format!("Output {} of {} is a view and {what} modified inplace.", edge.output, edge.node.name())
        }
    };
    let unclear = |mode: &str| {
        format!(
            "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving \
             both the view and the inplace either both inside the {mode} block (if you don't want the inplace to be \
             tracked) or both outside (if you want the inplace to be tracked)."
        )
    };
    match view.restriction() {
        Restriction::None => Ok(()),
        Restriction::CustomFunction => bail!(
            Runtime,
            "{} This view was created inside a custom Function (or because an input was returned as-is) and the autograd \
             logic to handle view+inplace would override the custom backward associated with the custom Function, leading to \
             incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.",
            found(None)
        ),
        Restriction::SeveralOutputs => bail!(
            Runtime,
            "{} This view is the output of a function that returns multiple views. Such functions do not allow the output \
             views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
            found(view.of_several.get())
        ),
        Restriction::NoGradMode => bail!(
            Runtime,
            "A view was created in no_grad mode and {what} modified inplace with grad mode enabled. {}",
            unclear("no_grad")
        ),
        Restriction::InferenceMode => bail!(
            Runtime,
            "A view was created in inference mode and {what} modified inplace in normal mode. {}",
            unclear("inference_mode")
        ),
    }
}

/// The error of an out= form with an argument that requires a gradient: these forms are not recorded.
#[cold]
pub fn rejected_out(operator: &str) -> Error {
    err!(
        Runtime,
        "{operator}(): functions with out=... arguments don't support automatic differentiation, but one of the \
         arguments requires grad."
    )
}

/// The error of an operator that writes and has no derivative, with an argument that requires a gradient.
#[cold]
pub fn rejected_write(operator: &str) -> Error {
    err!(NotImplemented, "the derivative for '{operator}' is not implemented.")
}

/// Turns `tensor` into the result of `view`, with its history, as `t_` and similar operators do. The storage is
/// unchanged, so the base of a view and other views of it are unaffected.
pub fn become_view(tensor: &Tensor, view: impl Fn(&Tensor) -> Result<Tensor>) -> Result<()> {
    check_inplace(tensor, should_record([tensor]))?;
    let before = tensor.grad_edge();
    let shown = tensor.take_body_of(view)?;
    tensor.bump_version();
    match shown.stored_history() {
        Some(edge) => {
            if let Some(view) = tensor.autograd_meta().and_then(AutogradMeta::view) {
                view.is_right_at(tensor.version());
            }
            tensor.set_history(Some(edge));
            tensor.move_retained_grad(before.as_ref())?;
        }
        // The gradient of a leaf has another shape from now on.
        None => tensor.autograd_meta().into_iter().for_each(AutogradMeta::forget_accumulator),
    }
    Ok(())
}

/// Records the in-place write that just happened to `target` in its history, and in its base's if it is a view.
#[inline]
pub fn rebase_history(target: &Tensor, edges: Edges, body: impl Backward + 'static) -> Result<()> {
    rebase_to(target, RecordedCall::of(edges, &[target]).node(body))
}

#[inline(never)]
pub(super) fn rebase_to(target: &Tensor, node: Arc<Node>) -> Result<()> {
    match target.autograd_meta().and_then(AutogradMeta::view) {
        None => {
            let before = target.stored_history();
            target.set_history(Some(Edge { node, output: 0 }));
            target.move_retained_grad(before.as_ref())?;
        }
        Some(view) => {
            let base = view.base.clone();
            view::rebase_base(&base, target, node);
            // The view itself becomes a view of the new base.
            view.renew(target);
        }
    }
    Ok(())
}
