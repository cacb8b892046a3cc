//! Tensors that a derivative needs, with the version they had.

use super::node::{Edge, Node};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, format_sizes};
use std::sync::Arc;

/// A tensor saved for backward, or nothing.
#[derive(Default)]
pub struct Saved(Option<Inner>);

struct Inner {
    tensor: Tensor,
    version: u32,
    /// For an output of the recorded call: which one. It is kept without its history, which would be a cycle,
    /// and gets it back when it is unpacked.
    output: Option<u32>,
}

impl Saved {
    fn new(tensor: Tensor, output: Option<u32>) -> Saved {
        let version = tensor.version();
        Saved(Some(Inner { tensor, version, output }))
    }

    /// Save an input of the call.
    pub fn input(tensor: &Tensor) -> Saved {
        Saved::new(tensor.clone(), None)
    }

    /// Save an input of the call, if it is needed.
    pub fn input_if(needed: bool, tensor: &Tensor) -> Saved {
        if needed { Saved::input(tensor) } else { Saved::default() }
    }

    /// Save an optional input, if it is needed and there.
    pub fn option_if(needed: bool, tensor: Option<&Tensor>) -> Saved {
        tensor.map_or_else(Saved::default, |tensor| Saved::input_if(needed, tensor))
    }

    /// Save the inputs of a list that are there, if they are needed.
    pub fn list_if(needed: bool, tensors: &[Option<&Tensor>]) -> Vec<Saved> {
        tensors.iter().map(|tensor| Saved::option_if(needed, *tensor)).collect()
    }

    /// Save the value that the first argument of an in-place call has before the write: a copy.
    pub fn before_write_if(needed: bool, tensor: &Tensor) -> Result<Saved> {
        if !needed {
            return Ok(Saved::default());
        }
        Ok(Saved::new(ops::clone(&tensor.alias(), None)?, None))
    }

    /// Save output number `output` of the call, after it was computed.
    pub fn output(tensor: &Tensor, output: u32) -> Saved {
        Saved::new(tensor.alias(), Some(output))
    }

    /// Save the first output of the call, if it is needed.
    pub fn output_if(needed: bool, tensor: &Tensor) -> Saved {
        Saved::nth_output_if(needed, tensor, 0)
    }

    /// Save output number `output` of the call, if it is needed.
    pub fn nth_output_if(needed: bool, tensor: &Tensor, output: u32) -> Saved {
        if needed { Saved::output(tensor, output) } else { Saved::default() }
    }

    /// The tensor as it was saved. An error if it was written to since. `node` is the node that saved it.
    pub fn unpack(&self, node: Option<&Arc<Node>>) -> Result<Option<Tensor>> {
        let Some(inner) = &self.0 else { return Ok(None) };
        if inner.tensor.version() != inner.version {
            return Err(inner.modified(node));
        }
        match (inner.output, node) {
            (Some(output), Some(node)) if inner.tensor.dtype().is_differentiable() => {
                let tensor = inner.tensor.alias();
                tensor.set_history(Some(Edge { node: node.clone(), output }));
                Ok(Some(tensor))
            }
            (Some(_), None) => bail!(Internal, "an output can only be unpacked by the node that saved it"),
            _ => Ok(Some(inner.tensor.clone())),
        }
    }
}

impl Inner {
    #[cold]
    fn modified(&self, node: Option<&Arc<Node>>) -> rushlight_base::Error {
        // What made the tensor: for an output the node itself, for an input the history it has now.
        let origin = match self.output {
            Some(output) => node.map(|node| (node.name(), output)),
            None => self.tensor.grad_edge().map(|edge| (edge.node.name(), edge.output)),
        };
        let origin = origin.map_or_else(String::new, |(name, output)| format!(", which is output {output} of {name},"));
        rushlight_base::err!(
            Runtime,
            "one of the variables needed for gradient computation has been modified by an inplace operation: \
             [CPU{}Type {}]{origin} is at version {}; expected version {} instead. Hint: enable anomaly detection to \
             find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
            self.tensor.dtype().c10_name(),
            format_sizes(&self.tensor.sizes()),
            self.tensor.version(),
            self.version
        )
    }
}
