//! Saved tensors: tensors that a derivative needs, with the version they had, or the values into which the user's hooks
//! packed them.

use super::node::{Edge, Node};
use super::saved_hooks::{self, PackedTensor};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure, format_sizes};
use std::sync::Arc;

/// A tensor saved for backward, or nothing.
#[derive(Default)]
pub struct Saved(Option<Inner>);

struct Inner {
    kept: Kept,
    /// For an output of the recorded call: its index. It is saved without its history, which would be a reference
    /// cycle, and gets it back when it is unpacked.
    output: Option<u32>,
}

enum Kept {
    /// The tensor itself, and the version it had.
    Itself(Tensor, u32),
    /// The packed value, and the destination of an input's gradients.
    Packed(Box<dyn PackedTensor>, Option<Edge>),
}

impl Saved {
    fn new(tensor: Tensor, output: Option<u32>) -> Result<Saved> {
        ensure!(
            !tensor.is_inference(),
            Runtime,
            "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal \
             tensor and use it in autograd."
        );
        let kept = match saved_hooks::active() {
            Some(hooks) if !tensor.is_wrapped_number() => {
                let edge = if output.is_none() { tensor.gradient_edge() } else { None };
                Kept::Packed(saved_hooks::pack(&*hooks, &tensor)?, edge)
            }
            _ => {
                let version = tensor.version();
                Kept::Itself(tensor, version)
            }
        };
        Ok(Saved(Some(Inner { kept, output })))
    }

    /// Saves an input of the call.
    pub fn input(tensor: &Tensor) -> Result<Saved> {
        Saved::new(tensor.clone(), None)
    }

    /// Saves an input of the call, if it is needed.
    #[inline(never)]
    pub fn input_if(needed: bool, tensor: &Tensor) -> Result<Saved> {
        if needed { Saved::input(tensor) } else { Ok(Saved::default()) }
    }

    /// Saves an optional input, if it is needed and present.
    #[inline(never)]
    pub fn option_if(needed: bool, tensor: Option<&Tensor>) -> Result<Saved> {
        tensor.map_or_else(|| Ok(Saved::default()), |tensor| Saved::input_if(needed, tensor))
    }

    /// Saves the inputs of a list that are present, if they are needed.
    #[inline(never)]
    pub fn list_if(needed: bool, tensors: &[Option<&Tensor>]) -> Result<Vec<Saved>> {
        tensors.iter().map(|tensor| Saved::option_if(needed, *tensor)).collect()
    }

    /// Saves a copy of the first argument of an in-place call before the write. The copy has the history of the argument,
    /// for derivatives of the gradient.
    #[inline(never)]
    pub fn before_write_if(needed: bool, tensor: &Tensor) -> Result<Saved> {
        if !needed {
            return Ok(Saved::default());
        }
        let copy = ops::clone(&tensor.alias(), None)?;
        if let Some(edge) = tensor.grad_edge().filter(|_| copy.dtype().is_differentiable()) {
            copy.set_history(Some(edge));
        }
        Saved::new(copy, None)
    }

    /// Saves output number `output` of the call, after it was computed.
    pub fn output(tensor: &Tensor, output: u32) -> Result<Saved> {
        Saved::new(tensor.alias(), Some(output))
    }

    /// Saves the first output of the call, if it is needed.
    #[inline]
    pub fn output_if(needed: bool, tensor: &Tensor) -> Result<Saved> {
        Saved::nth_output_if(needed, tensor, 0)
    }

    /// Saves output number `output` of the call, if it is needed.
    #[inline(never)]
    pub fn nth_output_if(needed: bool, tensor: &Tensor, output: u32) -> Result<Saved> {
        if needed { Saved::output(tensor, output) } else { Ok(Saved::default()) }
    }

    /// The saved tensor. An error if it was modified in place since. `node` is the node that saved it.
    pub fn unpack(&self, node: Option<&Arc<Node>>) -> Result<Option<Tensor>> {
        let Some(inner) = &self.0 else { return Ok(None) };
        let (tensor, edge) = match &inner.kept {
            Kept::Itself(tensor, version) => {
                if tensor.version() != *version {
                    return Err(inner.modified(tensor, *version, node));
                }
                (tensor.clone(), None)
            }
            Kept::Packed(packed, edge) => (packed.unpack()?, edge.clone()),
        };
        let edge = match (inner.output, node) {
            (Some(output), Some(node)) if tensor.dtype().is_differentiable() => {
                Some(Edge { node: node.clone(), output })
            }
            (Some(_), None) => bail!(Internal, "an output can only be unpacked by the node that saved it"),
            _ => edge,
        };
        Ok(Some(match edge {
            None => tensor,
            Some(edge) => {
                let tensor = tensor.alias();
                tensor.set_history(Some(edge));
                tensor
            }
        }))
    }
}

impl Inner {
    #[cold]
    fn modified(&self, tensor: &Tensor, version: u32, node: Option<&Arc<Node>>) -> rushlight_base::Error {
        // The origin of the tensor: for an output the node itself, for an input its current history.
        let origin = match self.output {
            Some(output) => node.map(|node| (node.name(), output)),
            None => tensor.grad_edge().map(|edge| (edge.node.name(), edge.output)),
        };
        let origin = origin.map_or_else(String::new, |(name, output)| format!(", which is output {output} of {name},"));
        rushlight_base::err!(
            Runtime,
            "one of the variables needed for gradient computation has been modified by an inplace operation: \
             [CPU{}Type {}]{origin} is at version {}; expected version {version} instead. Hint: enable anomaly detection to \
             find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
            tensor.dtype().c10_name(),
            format_sizes(&tensor.sizes()),
            tensor.version(),
        )
    }
}
