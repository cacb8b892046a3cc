//! Custom functions: `torch::autograd::Function` and its equivalents in every language.

use super::meta::AutogradMeta;
use super::modes::is_grad_enabled;
use super::node::{Backward, BackwardCall, Edges, Gradients, Node, RecordedCall};
use super::record::{rebase_to, set_histories};
use super::saved::Saved;
use crate::tensor::Tensor;
use rushlight_base::{Result, ensure, err};
use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The derivative of a user's function: gradients of the outputs in, gradients of the inputs out.
pub trait CustomFunction: Any + Send + Sync {
    /// The name that error messages and `grad_fn` show.
    fn name(&self) -> &str;

    /// Whether undefined gradients are passed as zeros.
    fn wants_zeros(&self) -> bool;

    /// Computes one gradient (or none) per input from one gradient (or none) per output. `needs` says for each input
    /// whether its gradient is needed.
    fn backward(&self, grads: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>>;

    /// Frees saved tensors after a backward that does not retain the graph. True: the function stays in its node, and
    /// may run again; false: the node drops it.
    fn release(&self) -> bool {
        false
    }
}

/// A tensor that a custom function saves for its backward, with the version it had. An output refers to its node
/// without keeping it alive.
pub struct CustomSaved {
    saved: Saved,
    maker: Option<Weak<Node>>,
}

impl CustomSaved {
    /// Saves an input of the function, or after [`record_custom`] an output.
    pub fn new(tensor: &Tensor, is_output: bool) -> Result<CustomSaved> {
        Ok(match tensor.grad_edge().filter(|_| is_output) {
            Some(edge) => {
                CustomSaved { saved: Saved::output(tensor, edge.output)?, maker: Some(Arc::downgrade(&edge.node)) }
            }
            None => CustomSaved { saved: Saved::input(tensor)?, maker: None },
        })
    }

    /// The saved tensor. An error if it was modified in place since.
    pub fn unpack(&self) -> Result<Tensor> {
        let maker = match &self.maker {
            None => None,
            Some(maker) => Some(maker.upgrade().ok_or_else(|| {
                err!(Runtime, "the graph of the saved output was freed: it can only be unpacked in its backward")
            })?),
        };
        let tensor = self.saved.unpack(maker.as_ref())?;
        tensor.ok_or_else(|| err!(Internal, "a saved tensor is empty"))
    }
}

struct Custom(Arc<dyn CustomFunction>);

impl Backward for Custom {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn saves(&self) -> bool {
        true
    }

    fn release(&self) -> bool {
        self.0.release()
    }

    /// The derivative may start another backward pass, and may receive undefined gradients as zeros.
    fn runs_without_gradients(&self) -> bool {
        true
    }

    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        let grads = (0..call.outputs())
            .map(|output| match call.grad(output) {
                None if self.0.wants_zeros() => call.grad_or_zeros(output)?.into_tensor().map(Some),
                grad => grad.map(|grad| grad.tensor().cloned()).transpose(),
            })
            .collect::<Result<Vec<_>>>()?;
        let needs: Vec<bool> = (0..gradients.0.len()).map(|index| call.needs(index)).collect();
        let results = self.0.backward(&grads, &needs)?;
        ensure!(
            results.len() == gradients.0.len(),
            Runtime,
            "function {} returned an incorrect number of gradients (expected {}, got {})",
            self.0.name(),
            gradients.0.len(),
            results.len()
        );
        for (index, grad) in results.into_iter().enumerate() {
            gradients.put(index, grad)?;
        }
        Ok(())
    }

    fn custom(&self) -> Option<Arc<dyn CustomFunction>> {
        Some(self.0.clone())
    }
}

/// Records that `outputs` were computed from `inputs` by a function with this derivative. The outputs were computed
/// without recording. `differentiable` says which outputs have a gradient (all, if empty); an output that is one of the
/// inputs was modified in place. Returns whether anything was recorded.
pub fn record_custom(
    function: Arc<dyn CustomFunction>,
    inputs: &[Option<&Tensor>],
    outputs: &[&Tensor],
    differentiable: &[bool],
) -> Result<bool> {
    if !is_grad_enabled() || !inputs.iter().flatten().any(|input| input.requires_grad()) {
        return Ok(false);
    }
    let edges = inputs.iter().fold(Edges::new(), |edges, input| edges.with_option(*input));
    let written: Vec<bool> =
        outputs.iter().map(|output| inputs.iter().flatten().any(|input| input.is(output))).collect();
    record_edges(function, edges, outputs, &written, differentiable)?;
    Ok(true)
}

/// Like [`record_custom`], with the destinations of the gradients instead of the inputs. `written` says which outputs
/// are inputs that were modified in place (none, if empty).
pub fn record_edges(
    function: Arc<dyn CustomFunction>,
    edges: Edges,
    outputs: &[&Tensor],
    written: &[bool],
    differentiable: &[bool],
) -> Result<Arc<Node>> {
    let is_written = |index: usize| written.get(index).copied().unwrap_or(false);
    for (_, output) in outputs.iter().enumerate().filter(|(index, _)| is_written(*index)) {
        ensure!(
            output.is_view() || !output.is_leaf() || !output.requires_grad(),
            Runtime,
            "a leaf Variable that requires grad has been used in an in-place operation."
        );
        ensure!(
            !output.is_view() || outputs.len() == 1,
            Runtime,
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more \
             than one Tensor. This is not supported by the current autograd engine. You should either make sure the input \
             is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting \
             it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other \
             operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
        );
    }
    let node = RecordedCall::of(edges, outputs).node(Custom(function));
    if let [output] = outputs
        && is_written(0)
    {
        rebase_to(output, node.clone())?;
        return Ok(node);
    }
    set_histories(outputs, &node);
    for (index, output) in outputs.iter().enumerate().filter(|(index, _)| !is_written(*index)) {
        if !differentiable.get(index).copied().unwrap_or(true) {
            output.forget_history();
        }
        if let Some(view) = output.autograd_meta().and_then(AutogradMeta::view) {
            view.of_custom.store(true, Ordering::Relaxed);
        }
    }
    Ok(node)
}
