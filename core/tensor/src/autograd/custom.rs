//! Functions whose derivative is written by the user: `torch::autograd::Function` and its kin in every language.

use super::modes::is_grad_enabled;
use super::node::{Backward, BackwardCall, Edges, Gradients};
use super::record::{rebase_history, record};
use crate::tensor::Tensor;
use rushlight_base::{Result, ensure};
use std::sync::Arc;

/// The derivative of a user's function: gradients of the outputs in, gradients of the inputs out.
pub trait CustomFunction: Send + Sync {
    /// The name that error messages and `grad_fn` show.
    fn name(&self) -> &str;

    /// One gradient (or none) for each input, from one gradient (or none) for each output.
    fn backward(&self, grads: &[Option<Tensor>], inputs: usize) -> Result<Vec<Option<Tensor>>>;
}

struct Custom(Arc<dyn CustomFunction>);

impl Backward for Custom {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn saves(&self) -> bool {
        true
    }

    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        let grads = (0..call.outputs())
            .map(|output| call.grad(output).map(|grad| grad.tensor().cloned()).transpose())
            .collect::<Result<Vec<_>>>()?;
        let results = self.0.backward(&grads, gradients.0.len())?;
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
}

/// Record that `outputs` were computed from `inputs` by a function with this derivative. The outputs were computed
/// without recording. `differentiable` says which outputs have a gradient (all, if empty); an output that is one of
/// the inputs was written in place. Returns whether anything was recorded.
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
    let written = |output: &Tensor| inputs.iter().flatten().any(|input| input.is(output));
    if let [output] = outputs
        && written(output)
    {
        rebase_history(output, edges, Custom(function))?;
        return Ok(true);
    }
    for (index, output) in outputs.iter().enumerate() {
        ensure!(
            !written(output) || output.is_view() || !output.is_leaf() || !output.requires_grad(),
            Runtime,
            "a leaf Variable that requires grad is being used in an in-place operation (output {index} of {}).",
            function.name()
        );
    }
    let marked = |index: usize| differentiable.get(index).copied().unwrap_or(true);
    let kept: Vec<bool> = (0..outputs.len()).map(marked).collect();
    let restore: Vec<&Tensor> = outputs
        .iter()
        .zip(&kept)
        .filter(|(output, kept)| !**kept && !written(output))
        .map(|(output, _)| *output)
        .collect();
    record(outputs, edges, Custom(function));
    for output in restore {
        output.detach_in_place()?;
    }
    Ok(true)
}
