//! Outputs that exist before the call: in-place targets and out= arguments.
//!
//! One kernel serves all forms because it writes where it is told. A temporary steps in only when the kernel
//! cannot write to the target itself: another dtype, or memory that an input still needs.

use crate::autograd;
use crate::body::Pinned;
use crate::dense::{Dense, Spec};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure, format_sizes};
use std::ops::Deref;

/// What a kernel came to that writes to tensors which were there before the call. Where it was ended half way, the write
/// counts: a backward pass must not take what is left for what it saved.
#[inline(always)]
pub fn written<'a, T>(result: Result<T>, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<T> {
    if let Err(error) = &result
        && error.kind().ends_kernels()
    {
        tensors.into_iter().for_each(Tensor::bump_version);
    }
    result
}

/// What an operator does when its output shares memory with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Element i of the output depends on element i of the inputs only: the same view is fine, a partial
    /// overlap is an error (as in PyTorch).
    Elementwise,
    /// Any overlap goes through a temporary.
    Temporary,
}

/// Where a kernel writes, and how the result gets to the tensor.
pub struct Target<'a> {
    store: Store<'a>,
    /// What the kernel writes instead, where it cannot write to the tensor's own body.
    temporary: Option<Dense>,
}

/// The body of the tensor that is written.
enum Store<'a> {
    /// The snapshot that the call has taken already: the target of an in-place form.
    Argument(&'a Dense),
    /// The body after an out= argument got its shape.
    Out(Pinned<'a>),
}

impl Deref for Store<'_> {
    type Target = Dense;
    #[inline]
    fn deref(&self) -> &Dense {
        match self {
            Store::Argument(dense) => dense,
            Store::Out(pinned) => pinned,
        }
    }
}

impl Deref for Target<'_> {
    type Target = Dense;
    #[inline]
    fn deref(&self) -> &Dense {
        self.temporary.as_ref().unwrap_or(&self.store)
    }
}

impl<'a> Target<'a> {
    fn new(
        spec: &Spec,
        store: Store<'a>,
        overlap: Overlap,
        inputs: &mut dyn Iterator<Item = &Dense>,
    ) -> Result<Target<'a>> {
        store.check_writable()?;
        let mut needs_temporary = store.dtype != spec.dtype;
        for input in inputs {
            if !store.may_share_memory(input) || (overlap == Overlap::Elementwise && store.is_same_view(input)) {
                continue;
            }
            ensure!(
                overlap == Overlap::Temporary || !store.storage.is(&input.storage),
                Runtime,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a \
                 single memory location. Please clone() the tensor before performing the operation."
            );
            needs_temporary = true;
        }
        let temporary = if needs_temporary { Some(spec.clone().allocate()?) } else { None };
        Ok(Target { store, temporary })
    }

    /// Bring the result to the tensor, and count the write.
    #[inline(never)]
    pub fn finish(self, written: &Tensor) -> Result<()> {
        if let Some(result) = &self.temporary
            && !self.store.is_meta()
        {
            self::written(ops::copy::copy_(&self.store, result, false), [written])?;
        }
        written.bump_version();
        Ok(())
    }
}

impl Spec {
    /// Make `out`, the out= argument of an operator, ready for this result: the dtype must be castable and the
    /// device the same; another shape is given to it.
    #[inline]
    pub fn prepare_out<'a, 'b>(
        &self,
        out: &'a Tensor,
        overlap: Overlap,
        inputs: impl IntoIterator<Item = &'b Dense>,
    ) -> Result<Target<'a>> {
        self.place_in_out(out, overlap, &mut inputs.into_iter())
    }

    fn place_in_out<'a>(
        &self,
        out: &'a Tensor,
        overlap: Overlap,
        inputs: &mut dyn Iterator<Item = &Dense>,
    ) -> Result<Target<'a>> {
        autograd::check_inference_write(out)?;
        let mut store = out.dense()?;
        self.check_cast(store.dtype)?;
        if store.device.kind != self.device.kind {
            bail!(Runtime, "Expected out tensor to have device {}, but got {} instead", self.device, store.device);
        }
        if store.sizes() != &*self.sizes {
            // Before anything changes: the new shape must have room.
            rushlight_base::numel(&self.sizes)?;
            out.resize_to(self)?;
            store = out.dense()?;
        }
        Target::new(self, Store::Out(store), overlap, inputs)
    }

    /// Is this result one that can be written into `target`, the first argument of an in-place operator? Its
    /// shape must be the target's, and its dtype castable to the target's.
    #[inline]
    pub fn prepare_inplace<'a, 'b>(
        &self,
        target: &'a Dense,
        overlap: Overlap,
        others: impl IntoIterator<Item = &'b Dense>,
    ) -> Result<Target<'a>>
    where
        'a: 'b,
    {
        self.place_in_target(target, overlap, &mut others.into_iter())
    }

    fn place_in_target<'a, 'b>(
        &self,
        target: &'a Dense,
        overlap: Overlap,
        others: &mut dyn Iterator<Item = &'b Dense>,
    ) -> Result<Target<'a>>
    where
        'a: 'b,
    {
        if *self.sizes != *target.sizes() {
            bail!(
                Runtime,
                "output with shape {} doesn't match the broadcast shape {}",
                format_sizes(target.sizes()),
                format_sizes(&self.sizes)
            );
        }
        self.check_cast(target.dtype)?;
        if target.device.kind != self.device.kind {
            bail!(
                Runtime,
                "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
                self.device,
                target.device
            );
        }
        match overlap {
            Overlap::Elementwise => Target::new(self, Store::Argument(target), overlap, others),
            // The kernel reads the target while it writes: it overlaps with itself.
            Overlap::Temporary => {
                let mut inputs = std::iter::once(target).chain(others);
                Target::new(self, Store::Argument(target), overlap, &mut inputs)
            }
        }
    }
}
