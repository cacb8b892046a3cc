//! Views and their bases: when either is modified in place, the other's history follows.
//!
//! A view refers to its base. Writing to a view gives the base a [`CopySlices`] node (the gradient of the overwritten
//! part goes to the write, the rest to the previous history), and every view of that base detects through the version
//! counter that its history is outdated and takes a new one: `as_strided` of the base.

use super::expr::Expr;
use super::formulas;
use super::meta::AutogradMeta;
use super::modes::{is_grad_enabled, is_inference_mode};
use super::node::{Backward, BackwardCall, Edge, Edges, Gradients, Node};
use crate::dense::{Geometry, Lazy, Shown};
use crate::ops;
use crate::ops::views::pairs;
use crate::tensor::Tensor;
use rushlight_base::{MemoryFormat, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// The relation of a view to its base.
pub struct ViewInfo {
    /// The tensor it is a view of (never a view itself).
    pub(super) base: Tensor,
    /// The version at which the view's history was last up to date.
    version: AtomicU32,
    /// Whether it was created without recording. Writing to it with recording on is then an error.
    pub(super) made_in: Origin,
    /// For one of several outputs of an operator: PyTorch's name of its node, and which output it is.
    pub(super) of_several: OnceLock<(&'static str, usize)>,
    /// Whether a custom function returned it.
    pub(super) of_custom: AtomicBool,
    /// For the result of an operator without a derivative: its name.
    pub(super) of_unknown: OnceLock<String>,
    /// Whether it is one of several outputs.
    below_several: bool,
}

/// The mode in which a view was created. A view of a view has the stricter of both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Calls were recorded.
    Recording,
    /// Recording was off.
    NoGrad,
    /// Inference mode was on.
    Inference,
}

/// The reason why a view cannot be modified in place. The numbers are the C ABI's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// It can be modified.
    None = 0,
    /// A custom function returned it.
    CustomFunction = 1,
    /// It is one of several outputs of an operator.
    SeveralOutputs = 2,
    /// It was created while recording was off.
    NoGradMode = 3,
    /// It was created in inference mode.
    InferenceMode = 4,
}

impl ViewInfo {
    pub(super) fn new(base: &Tensor) -> ViewInfo {
        let mut made_in = if is_inference_mode() {
            Origin::Inference
        } else if is_grad_enabled() {
            Origin::Recording
        } else {
            Origin::NoGrad
        };
        // A view of a view has the same base, and cannot be written where that view cannot.
        let above = base.autograd_meta().and_then(AutogradMeta::view);
        let recording = made_in == Origin::Recording;
        // Outputs of a custom function were created without recording, but are part of a graph.
        if let Some(above) = above.filter(|above| !above.of_custom.load(Ordering::Relaxed)) {
            made_in = made_in.max(above.made_in);
        }
        let root = above.map_or_else(|| base.clone(), |above| above.base.clone());
        ViewInfo {
            version: AtomicU32::new(root.version()),
            base: root,
            made_in,
            of_several: OnceLock::new(),
            of_unknown: OnceLock::new(),
            of_custom: AtomicBool::new(recording && above.is_some_and(|above| above.of_custom.load(Ordering::Relaxed))),
            below_several: recording && above.is_some_and(ViewInfo::is_of_several),
        }
    }

    fn is_of_several(&self) -> bool {
        self.below_several || self.of_several.get().is_some()
    }

    /// Why it must not be written while calls are recorded.
    pub fn restriction(&self) -> Restriction {
        match self.made_in {
            _ if self.of_custom.load(Ordering::Relaxed) => Restriction::CustomFunction,
            Origin::Inference => Restriction::InferenceMode,
            Origin::NoGrad => Restriction::NoGradMode,
            Origin::Recording if self.is_of_several() => Restriction::SeveralOutputs,
            Origin::Recording => Restriction::None,
        }
    }

    /// Whether the base was written after the view's history was last updated.
    pub(super) fn is_stale(&self, view: &Tensor) -> bool {
        self.version.load(Ordering::Acquire) != view.version()
            && self.base.requires_grad()
            && self.base.grad_edge().is_some()
    }

    /// The history of `view`, renewed if its base was written since.
    pub(super) fn grad_edge(&self, view: &Tensor) -> Option<Edge> {
        let version = view.version();
        if self.version.load(Ordering::Acquire) != version && self.base.requires_grad() {
            let base_edge = self.base.grad_edge();
            // A leaf written without recording keeps its views as they are.
            if base_edge.is_some() {
                view.set_history(Some(self.regenerate(view)));
            }
            self.version.store(version, Ordering::Release);
        }
        view.stored_history()
    }

    fn regenerate(&self, view: &Tensor) -> Edge {
        let body = AsStrided { base: self.base.shown(), view: view.shown() };
        let edges = Edges::new().with(&self.base);
        let node = Node::new(body, edges, view);
        Edge { node, output: 0 }
    }

    /// Marks the view's current history as up to date at `version`.
    pub(super) fn is_right_at(&self, version: u32) {
        self.version.store(version, Ordering::Release);
    }

    /// Gives the view that was just written the history of a view of the current base.
    pub(super) fn renew(&self, view: &Tensor) {
        view.set_history(Some(self.regenerate(view)));
        self.version.store(view.version(), Ordering::Release);
    }
}

/// The conversion between the elements of a view and those of its storage; it is its own inverse.
fn turned(expr: &Expr, lazy: Lazy) -> Expr {
    let expr = if lazy.conj { expr.conj() } else { expr.clone() };
    if lazy.neg { -expr } else { expr }
}

/// The derivative of a view's renewed history.
struct AsStrided {
    base: Shown,
    view: Shown,
}

impl AsStrided {
    /// The gradient of the base: that of the view where the view reads. If one is complex and the other real, both are
    /// treated as pairs of real numbers.
    fn gradient(&self, grad: &Expr) -> Expr {
        let (base, view) = (&self.base, &self.view);
        let stored = turned(grad, view.lazy);
        let placed = |grad: &Expr, base: &Geometry, view: &Geometry| {
            formulas::as_strided(grad, base, &view.sizes, &view.strides, Some(view.offset))
        };
        let stored = match (base.dtype.is_complex(), view.dtype.is_complex()) {
            (true, false) => {
                let pairs = placed(&stored, &pairs(&base.geometry), &view.geometry);
                formulas::as_complex(&pairs)
            }
            (false, true) => placed(&stored.resolve_conj().view_as_real(), &base.geometry, &pairs(&view.geometry)),
            _ => placed(&stored, &base.geometry, &view.geometry),
        };
        turned(&stored, base.lazy)
    }
}

impl Backward for AsStrided {
    fn name(&self) -> &str {
        "AsStridedBackward0"
    }

    fn saves(&self) -> bool {
        false
    }

    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        match call.grad(0) {
            Some(grad) => gradients.set(0, self.gradient(grad)),
            None => Ok(()),
        }
    }
}

/// The history of a base after one of its views was written: the gradient of the written part goes through the
/// derivative of the write.
pub(super) struct CopySlices {
    base: Shown,
    view: Shown,
    /// The derivative of the write, as a node whose output is the view.
    write: Arc<Node>,
}

/// Gives `base` the history of a write to its view `view`. `write` is the write's own node; its first edge led to the
/// previous history of the view.
pub(super) fn rebase_base(base: &Tensor, view: &Tensor, write: Arc<Node>) {
    let mut edges = Edges::new().with(base);
    edges.0.extend(write.next_edges().iter().skip(1).cloned());
    let body = CopySlices { base: base.shown(), view: view.shown(), write };
    let node = Node::new(body, edges, base);
    base.set_history(Some(Edge { node, output: 0 }));
}

impl Backward for CopySlices {
    fn name(&self) -> &str {
        "torch::autograd::CopySlices"
    }

    fn saves(&self) -> bool {
        true
    }

    fn backward(&self, call: &BackwardCall<'_>, inputs: &mut Gradients) -> Result<()> {
        let Some(grad) = call.grad(0) else { return Ok(()) };
        let stored = self.stored_gradient(grad)?;
        let slice = self.written_part(&stored)?;
        let grads = [Some(Expr::from(ops::clone(&slice, Some(MemoryFormat::Contiguous))?))];
        let mut needs = call.needs.clone();
        // The first input of the write is the view. Its gradient is needed if it had a history before the write; without
        // one, the write saved nothing for it.
        if let (Some(first), Some(edge)) = (needs.first_mut(), self.write.next_edges().first()) {
            *first = edge.is_some();
        }
        let inner = BackwardCall { node: &self.write, grads: &grads, needs };
        let mut written = inner.run()?.0;
        match written.first_mut().and_then(Option::take) {
            Some(before) => ops::copy_(&slice, &before, false)?,
            None => ops::fill_scalar_(&slice, 0.into())?,
        }
        if call.needs(0) {
            inputs.set(0, turned(&Expr::from(stored), self.base.lazy))?;
        }
        for (index, grad) in written.into_iter().enumerate().skip(1) {
            inputs.put(index, grad)?;
        }
        Ok(())
    }
}

impl CopySlices {
    /// The gradient as the base stores it, with the base's geometry, in separate memory that `written_part` can write
    /// to.
    fn stored_gradient(&self, grad: &Expr) -> Result<Tensor> {
        let grad = turned(grad, self.base.lazy).into_tensor()?;
        let geometry = &self.base.geometry;
        let result = ops::empty_strided(&geometry.sizes, &geometry.strides, grad.options())?;
        ops::copy_(&result, &grad, false)?;
        Ok(result)
    }

    /// The part of the gradient that the view shows.
    fn written_part(&self, stored: &Tensor) -> Result<Tensor> {
        let Geometry { sizes, strides, offset } = &self.view.geometry;
        let start = self.base.geometry.offset;
        let part = match (self.base.dtype.is_complex(), self.view.dtype.is_complex()) {
            (true, false) => ops::as_strided(&ops::view_as_real(stored)?, sizes, strides, Some(offset - 2 * start)),
            (false, true) => {
                let pairs = pairs(&self.view.geometry);
                let part = ops::as_strided(stored, &pairs.sizes, &pairs.strides, Some(pairs.offset - start));
                ops::view_as_complex(&part?)
            }
            _ => ops::as_strided(stored, sizes, strides, Some(offset - start)),
        }?;
        let part = if self.view.lazy.conj { ops::_conj(&part)? } else { part };
        if self.view.lazy.neg { ops::_neg_view(&part) } else { Ok(part) }
    }
}
