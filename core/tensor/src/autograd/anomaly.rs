//! Anomaly mode: nodes remember the forward call that created them, and errors in backward name it.

use super::modes::{is_anomaly_enabled, is_anomaly_nan_checked};
use super::node::{Edge, Node, TensorMeta};
use crate::keys::KeySet;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Error, Result, ensure, format_sizes};
use std::cell::Cell;
use std::sync::Arc;

/// The forward call that created a node.
pub struct Origin {
    call: String,
    /// If the call was itself part of a backward: the node that ran, with its own origin.
    induced_by: Option<(String, Arc<Origin>)>,
}

impl Origin {
    /// Describes a call with these results, whose gradients go along `edges`.
    pub(super) fn of(sequence: u64, edges: &[Option<Edge>], outputs: &[TensorMeta]) -> Arc<Origin> {
        let one = |meta: Option<&TensorMeta>| match meta {
            Some(meta) => format!("{} {}", format_sizes(meta.sizes()), meta.dtype()),
            None => "no gradient".to_owned(),
        };
        let to =
            |edge: &Option<Edge>| one(edge.as_ref().and_then(|edge| edge.node.outputs().get(edge.output as usize)));
        let inputs: Vec<String> = edges.iter().map(to).collect();
        let outputs: Vec<String> = outputs.iter().map(|meta| one(Some(meta))).collect();
        let call = format!("call {sequence} of its thread, ({}) -> ({})", inputs.join(", "), outputs.join(", "));
        Arc::new(Origin { call, induced_by: evaluating() })
    }

    /// The description as a string.
    pub fn call(&self) -> &str {
        &self.call
    }
}

thread_local! {
    /// The node that this thread runs. A raw pointer has no destructor, so the library can be unloaded meanwhile.
    static CURRENT: Cell<*const Arc<Node>> = const { Cell::new(std::ptr::null()) };
}

/// While it lives, this thread runs a node.
pub(super) struct Evaluating<'a> {
    before: *const Arc<Node>,
    _node: std::marker::PhantomData<&'a Arc<Node>>,
}

impl Evaluating<'_> {
    pub(super) fn enter(node: &Arc<Node>) -> Evaluating<'_> {
        Evaluating { before: CURRENT.replace(node), _node: std::marker::PhantomData }
    }
}

impl Drop for Evaluating<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Name and origin of the node that this thread runs, if it has one.
fn evaluating() -> Option<(String, Arc<Origin>)> {
    // SAFETY: the pointer is null or that of an `Evaluating` of this thread, which borrows the node while it lives and
    // restores the previous pointer when it ends.
    let node = unsafe { CURRENT.get().as_ref() }?;
    Some((node.name(), node.origin()?.clone()))
}

/// An error of a node's derivative, with the forward call in its message and, in PyTorch's wording, in its notes.
pub(super) fn explain(error: Error, node: &Node) -> Error {
    if !is_anomaly_enabled() || !error.notes().is_empty() {
        return error;
    }
    let Some(origin) = node.origin() else {
        return error.with_note(format!(
            "Error detected in {}. No forward pass information available. Enable detect anomaly during forward pass for \
             more information.",
            node.name()
        ));
    };
    let (name, call) = (node.name(), origin.call());
    let mut error = error
        .with_line(format_args!("in the backward of {name}, recorded by {call}"))
        .with_note(format!("Error detected in {name}. Traceback of forward call that caused the error:\n  {call}"));
    let mut inducing = origin.induced_by.as_ref();
    while let Some((name, origin)) = inducing {
        error = error.with_note(format!(
            "\n\nPrevious calculation was induced by {name}. Traceback of forward call that induced the previous \
             calculation:\n  {}",
            origin.call()
        ));
        inducing = origin.induced_by.as_ref();
    }
    error
}

/// A gradient with NaN is an error in anomaly mode.
pub(super) fn check_nan(node: &Node, grad: &Tensor, position: usize) -> Result<()> {
    if !is_anomaly_enabled() || !is_anomaly_nan_checked() || grad.numel() == 0 || grad.keys().intersects(KeySet::META) {
        return Ok(());
    }
    let nan = ops::max(&ops::ne_tensor(grad, grad)?)?.item()?.to_bool();
    ensure!(!nan, Runtime, "Function '{}' returned nan values in its {position}th output.", node.name());
    Ok(())
}
