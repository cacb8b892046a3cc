//! Outputs that exist before the call: in-place targets and out= arguments.
//!
//! One kernel serves all forms because it writes into a given output. A temporary is needed only if the kernel cannot
//! write to the target itself: another dtype, or memory that an input still needs.

use crate::autograd;
use crate::body::Pinned;
use crate::dense::{Dense, Spec, check_cast};
use crate::ops;
use crate::options::cpp_name;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, bail, ensure, format_sizes};
use std::ops::Deref;

/// Completes a kernel that writes to existing tensors. If it failed part-way, the target's version is bumped, so that
/// backward reports it as modified.
#[inline(always)]
pub fn written<'a, T>(result: Result<T>, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<T> {
    if let Err(error) = &result
        && error.kind().ends_kernels()
    {
        tensors.into_iter().for_each(Tensor::bump_version);
    }
    result
}

/// How an operator handles outputs that share memory with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Element i of the output depends only on element i of the inputs: the same view is allowed, a partial overlap is
    /// an error (as in PyTorch).
    Elementwise,
    /// Any overlap requires a temporary.
    Temporary,
    /// The kernel updates the first input where it is: the output may be the same view. Any other overlap requires a
    /// temporary.
    InPlace,
    /// All elements are the same number, whatever the inputs are: elements of the output may share memory.
    Constant,
}

/// Checks the argument `dtype` of an in-place form: the result is stored in the tensor that it has.
pub fn check_inplace_dtype(target: &Dense, dtype: Option<DType>) -> Result<()> {
    let (own, wanted) = (target.dtype, dtype.unwrap_or(target.dtype));
    ensure!(
        own == wanted,
        Runtime,
        "Bad in-place call: input tensor dtype {} and output tensor dtype {} should match",
        cpp_name(own),
        cpp_name(wanted)
    );
    Ok(())
}

/// Checks the output of an out form that does not convert its result, which has `dtype`.
pub fn check_own_dtype(dtype: DType, out: &Tensor) -> Result<()> {
    let found = out.dtype();
    ensure!(
        found == dtype,
        Runtime,
        "Expected out tensor to have dtype {}, but got {} instead",
        cpp_name(dtype),
        cpp_name(found)
    );
    Ok(())
}

/// The description of a result, after [`check_own_dtype`].
pub fn own_dtype(spec: Spec, out: &Tensor) -> Result<Spec> {
    check_own_dtype(spec.dtype, out)?;
    Ok(spec)
}

/// The destination of a kernel's output, and how the result is stored in the tensor.
pub struct Target<'a> {
    store: Store<'a>,
    /// The temporary output, if the kernel cannot write to the tensor's own body.
    temporary: Option<Dense>,
}

/// The body of the tensor that is written.
enum Store<'a> {
    /// The snapshot that the call already has: the target of an in-place form.
    Argument(&'a Dense),
    /// The body after an out= argument was resized.
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
        if overlap != Overlap::Constant {
            store.check_writable()?;
        }
        let mut needs_temporary = store.dtype != spec.dtype;
        for input in inputs {
            if !store.may_share_memory(input) || (overlap == Overlap::Elementwise && store.is_same_view(input)) {
                continue;
            }
            ensure!(
                matches!(overlap, Overlap::Temporary | Overlap::InPlace) || !store.storage.is(&input.storage),
                Runtime,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a \
                 single memory location. Please clone() the tensor before performing the operation."
            );
            needs_temporary = true;
        }
        let temporary = if needs_temporary { Some(spec.clone().allocate()?) } else { None };
        Ok(Target { store, temporary })
    }

    /// Stores the result in the tensor, and increments its version.
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
    /// Prepares `out`, the out= argument of an operator, for this result: the dtype must be castable and the device the
    /// same; it is resized if necessary.
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
        self.check_out(&store)?;
        if store.sizes() != &*self.sizes {
            // The resized body may be one that another thread has set meanwhile.
            store = out.resize_to(self)?;
            self.check_out(&store)?;
        }
        if overlap == Overlap::InPlace {
            let first = inputs.next().filter(|first| !store.is_same_view(first));
            return Target::new(self, Store::Out(store), overlap, &mut first.into_iter().chain(inputs));
        }
        Target::new(self, Store::Out(store), overlap, inputs)
    }

    /// Whether this result can be stored in `store`, whatever its shape.
    fn check_out(&self, store: &Dense) -> Result<()> {
        check_cast(self.dtype, store.dtype)?;
        if store.device.kind != self.device.kind {
            bail!(Runtime, "Expected out tensor to have device {}, but got {} instead", self.device, store.device);
        }
        Ok(())
    }

    /// Checks that this result can be written into `target`, the first argument of an in-place operator: its shape must
    /// be the target's, and its dtype castable to the target's.
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
        check_cast(self.dtype, target.dtype)?;
        if target.device.kind != self.device.kind {
            bail!(
                Runtime,
                "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
                self.device,
                target.device
            );
        }
        match overlap {
            Overlap::Elementwise | Overlap::InPlace | Overlap::Constant => {
                Target::new(self, Store::Argument(target), overlap, others)
            }
            // The kernel reads the target while it writes it: output and input overlap.
            Overlap::Temporary => {
                let mut inputs = std::iter::once(target).chain(others);
                Target::new(self, Store::Argument(target), overlap, &mut inputs)
            }
        }
    }
}
