//! Accumulation at the leaves: gradients are added to `grad`.

use super::engine::sum_of;
use super::meta::{Landing, TensorHook};
use super::modes::is_grad_enabled;
use super::node::{Backward, BackwardCall, Gradients};
use crate::dense::Lazy;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{MemoryFormat, Result};
use std::sync::Arc;

/// Adds the gradient that arrives to the leaf's `grad`.
pub(super) struct Accumulate {
    landing: Arc<Landing>,
}

impl Accumulate {
    pub(super) fn new(landing: Arc<Landing>) -> Accumulate {
        Accumulate { landing }
    }
}

impl Backward for Accumulate {
    fn name(&self) -> &str {
        "torch::autograd::AccumulateGrad"
    }

    fn saves(&self) -> bool {
        false
    }

    fn backward(&self, call: &BackwardCall<'_>, _: &mut Gradients) -> Result<()> {
        let Some(grad) = call.grad(0) else { return Ok(()) };
        let grad = grad.tensor()?.clone();
        self.landing.update(|before| match before {
            None => first(grad),
            // A graph of the gradient itself is wanted: the old one must stay as it was.
            Some(before) if is_grad_enabled() || before.is_any_sparse() => sum_of(&before, &grad),
            Some(before) => {
                ops::add_tensor_(&before, &grad, 1.into())?;
                Ok(before)
            }
        })?;
        for hook in self.landing.hooks_after() {
            hook()?;
        }
        Ok(())
    }

    fn leaf_hooks(&self) -> Vec<TensorHook> {
        self.landing.hooks()
    }
}

/// The first gradient becomes `grad` itself if it has no other owner, else a copy of it.
fn first(grad: Tensor) -> Result<Tensor> {
    if is_grad_enabled() {
        return ops::clone(&grad, None);
    }
    if grad.is_any_sparse() {
        // Operators replace the components of a sparse tensor and never write to them.
        return Ok(grad.untracked_alias());
    }
    // The engine's slot and this reference are the only owners, and no other tensor uses the bytes.
    let alone = {
        let dense = grad.dense()?;
        grad.use_count() <= 3 && dense.storage.use_count() == 1 && dense.is_contiguous() && dense.lazy == Lazy::NONE
    };
    if alone { Ok(grad.alias()) } else { ops::clone(&grad.alias(), Some(MemoryFormat::Contiguous)) }
}
