//! The layers of sparse, quantized and nested tensors, which a program links only if it can create such tensors.
//!
//! If the table of layers named their handlers, every program with the static library would contain all kernels that they
//! call. What creates such a tensor links its layer instead, and so do calls by name. The shared library, which contains
//! everything, links all when it is loaded (`capi/src/support/load.rs`).

use super::by_name::Op;
use super::{Value, Values};
use rushlight_base::{Result, bail};
use std::sync::OnceLock;

/// The handler of a layer.
pub(super) type Handle = fn(&Op, &[Value], &mut Values) -> Result<()>;

/// A handler that is linked on demand.
pub(crate) struct Linked {
    tensors: &'static str,
    family: &'static str,
    handle: OnceLock<Handle>,
}

/// The layer of sparse tensors.
pub(crate) static SPARSE: Linked = Linked { tensors: "sparse", family: "sparse", handle: OnceLock::new() };
/// The layer of quantized tensors.
pub(crate) static QUANTIZED: Linked = Linked { tensors: "quantized", family: "quantization", handle: OnceLock::new() };
/// The layer of nested tensors.
pub(crate) static NESTED: Linked = Linked { tensors: "nested", family: "nested", handle: OnceLock::new() };

impl Linked {
    /// From now on calls with such tensors reach this handler.
    #[cfg(any(feature = "op-nested", feature = "op-sparse", feature = "op-quantization"))]
    pub(crate) fn link(&self, handle: Handle) {
        self.handle.get_or_init(|| handle);
    }

    fn call(&self, op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
        match self.handle.get() {
            Some(handle) => handle(op, args, results),
            None => bail!(
                NotImplemented,
                "{}: this program does not link the kernels of {} tensors: a function of rushlight/ops/{}.h links them",
                op.full_name(),
                self.tensors,
                self.family
            ),
        }
    }
}

pub(super) fn sparse(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    SPARSE.call(op, args, results)
}

pub(super) fn quantized(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    QUANTIZED.call(op, args, results)
}

pub(super) fn nested(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    NESTED.call(op, args, results)
}

/// Links the layers of this build.
pub fn link_layers() {
    #[cfg(feature = "op-nested")]
    NESTED.link(crate::nested::handle);
    #[cfg(feature = "op-sparse")]
    SPARSE.link(crate::sparse::handle);
    #[cfg(feature = "op-quantization")]
    QUANTIZED.link(crate::quantized::handle);
}
