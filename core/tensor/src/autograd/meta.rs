//! The autograd metadata of a tensor, and the tensor's methods that use it.

use super::accumulate::Accumulate;
use super::hooks::{Place, Registered};
use super::node::{Edge, Edges, Node, OutputHook, RecordedCall, drop_later, take_out, unique_id};
use super::view::{Restriction, ViewInfo};
use crate::keys::KeySet;
use crate::names::DimNames;
use crate::ops;
use crate::options::cpp_name;
use crate::refcount::Exclusive;
use crate::tensor::Tensor;
use rushlight_base::spin::SpinLock;
use rushlight_base::{MemoryFormat, Result, bail, ensure, format_sizes};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Receives the gradient of a tensor, if it is defined, and may replace it.
pub type TensorHook = Arc<dyn Fn(Option<&Tensor>) -> Result<Option<Tensor>> + Send + Sync>;

/// Receives a leaf whose `grad` was just changed by backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookId(pub u64);

const REQUIRES_GRAD: u8 = 1;
const HAS_HISTORY: u8 = 2;

/// History of a tensor: its node, and whether it requires a gradient. Every tensor has one, because every recorded call
/// creates or reads some.
pub(crate) struct History {
    /// Copies of the common flags: reading them needs no lock.
    flags: AtomicU8,
    made_by: SpinLock<Option<Edge>>,
}

impl History {
    pub(crate) const fn none() -> History {
        History { flags: AtomicU8::new(0), made_by: SpinLock::new(None) }
    }

    /// [`Tensor::set_history`] of a tensor without another owner.
    #[inline]
    fn set(&mut self, edge: Edge) {
        *self.flags.get_mut() = HAS_HISTORY;
        if let Some(before) = self.made_by.get_mut().replace(edge) {
            drop_later(before.node);
        }
    }

    #[inline]
    fn has(&self, flag: u8) -> bool {
        self.flags.load(Ordering::Acquire) & flag != 0
    }
}

impl Drop for History {
    #[inline]
    fn drop(&mut self) {
        if *self.flags.get_mut() & HAS_HISTORY != 0
            && let Some(edge) = self.made_by.get_mut().take()
        {
            drop_later(edge.node);
        }
    }
}

/// The other autograd metadata of a tensor: created for leaves that are part of a graph, tracked views, and hooks.
#[derive(Default)]
pub struct AutogradMeta {
    /// The accumulator node of this leaf, once a graph has requested it.
    accumulator: SpinLock<Option<Arc<Node>>>,
    /// The hook that keeps the gradient of a tensor that is no leaf, or 0.
    retain_hook: AtomicU64,
    landing: OnceLock<Arc<Landing>>,
    view: OnceLock<ViewInfo>,
    /// The names of the dimensions. Few tensors have names, so they share the place of other rare metadata.
    pub(crate) names: SpinLock<Option<DimNames>>,
}

/// The accumulated gradient. The tensor shares it with its accumulator node, so that neither has to own the other:
/// hooks of a leaf run even if only the graph is left of it.
#[derive(Default)]
pub(super) struct Landing {
    grad: Mutex<Option<Tensor>>,
    hooks: Mutex<Vec<(u64, TensorHook)>>,
    after: Mutex<Vec<(u64, LandedHook)>>,
}

/// Runs when a gradient was added to `grad`.
type LandedHook = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// Sees a leaf whose `grad` was just changed by backward.
pub type PostAccumulateHook = Arc<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;

impl Landing {
    /// The hooks, in the order in which they were registered.
    pub(super) fn hooks(&self) -> Vec<TensorHook> {
        self.lock_hooks().iter().map(|(_, hook)| hook.clone()).collect()
    }

    /// The hooks that run after a gradient was accumulated.
    pub(super) fn hooks_after(&self) -> Vec<LandedHook> {
        self.lock_after().iter().map(|(_, hook)| hook.clone()).collect()
    }

    fn lock_after(&self) -> MutexGuard<'_, Vec<(u64, LandedHook)>> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_hooks(&self) -> MutexGuard<'_, Vec<(u64, TensorHook)>> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_grad(&self) -> MutexGuard<'_, Option<Tensor>> {
        self.grad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a hook of either kind; false if there is none with this id.
    pub(super) fn remove_hook(&self, id: u64) -> bool {
        // A hook owns values of its creator: it is dropped without the lock.
        let hook = take_out(&mut self.lock_hooks(), |(other, _)| *other == id);
        let landed = take_out(&mut self.lock_after(), |(other, _)| *other == id);
        hook.is_some() || landed.is_some()
    }

    /// Modifies the gradient under the lock, so that concurrent backward passes do not lose any.
    pub(super) fn update(&self, update: impl FnOnce(Option<Tensor>) -> Result<Tensor>) -> Result<()> {
        let mut slot = self.lock_grad();
        let before = slot.take();
        match update(before.clone()) {
            Ok(grad) => {
                *slot = Some(grad);
                Ok(())
            }
            Err(error) => {
                *slot = before;
                Err(error)
            }
        }
    }
}

impl AutogradMeta {
    pub(super) fn with_view(view: ViewInfo) -> AutogradMeta {
        AutogradMeta { view: OnceLock::from(view), ..AutogradMeta::default() }
    }

    pub(super) fn view(&self) -> Option<&ViewInfo> {
        self.view.get()
    }

    fn landing(&self) -> &Arc<Landing> {
        self.landing.get_or_init(Arc::default)
    }

    /// The tensor has another shape, dtype or device now: the next graph needs a new accumulator.
    pub(crate) fn forget_accumulator(&self) {
        let before = self.accumulator.lock().take();
        drop(before);
    }
}

impl Exclusive<'_> {
    /// Makes this tensor the result of `edge`.
    #[inline]
    pub(super) fn set_history(&mut self, edge: Edge) {
        let imp = self.imp();
        imp.history.set(edge);
        *imp.keys.get_mut() |= KeySet::AUTOGRAD.bits();
    }
}

impl Tensor {
    /// Whether the tensor requires a gradient.
    #[inline]
    pub fn requires_grad(&self) -> bool {
        self.keys().intersects(KeySet::AUTOGRAD)
            && (self.history().has(REQUIRES_GRAD | HAS_HISTORY) || self.is_view_of_one_that_requires_grad())
    }

    #[cold]
    fn is_view_of_one_that_requires_grad(&self) -> bool {
        self.autograd_meta().and_then(AutogradMeta::view).is_some_and(|view| view.base.requires_grad())
    }

    /// The node and output that computed this tensor, as last set.
    pub(super) fn stored_history(&self) -> Option<Edge> {
        if self.history().has(HAS_HISTORY) { self.history().made_by.lock().clone() } else { None }
    }

    /// Makes this tensor the result of `edge`, a non-leaf; with `None` it becomes a leaf.
    pub(super) fn set_history(&self, edge: Option<Edge>) {
        let history = self.history();
        let flags = if edge.is_some() { HAS_HISTORY } else { 0 };
        let before = {
            let mut made_by = history.made_by.lock();
            // A tensor that is the result of something is no leaf.
            history.flags.store(flags, Ordering::Release);
            std::mem::replace(&mut *made_by, edge)
        };
        if flags != 0 {
            self.add_keys(KeySet::AUTOGRAD);
        }
        if let Some(edge) = before {
            drop_later(edge.node);
        }
    }

    /// Whether this tensor is a leaf: created by the user (or without recording), so that gradients accumulate in its
    /// `grad`.
    pub fn is_leaf(&self) -> bool {
        !self.history().has(HAS_HISTORY)
    }

    /// Sets whether the tensor requires a gradient. Only leaves of floating or complex dtype may.
    pub fn set_requires_grad(&self, requires_grad: bool) -> Result<()> {
        ensure!(
            !requires_grad || self.dtype().is_differentiable(),
            Runtime,
            "Only Tensors of floating point and complex dtype can require gradients"
        );
        ensure!(
            !requires_grad || !self.is_inference() || super::is_inference_mode(),
            Runtime,
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        );
        if !self.is_leaf() {
            ensure!(
                requires_grad,
                Runtime,
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable \
                 in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            );
            return Ok(());
        }
        if requires_grad {
            self.history().flags.fetch_or(REQUIRES_GRAD, Ordering::Release);
            self.add_keys(KeySet::AUTOGRAD);
        } else {
            self.history().flags.fetch_and(!REQUIRES_GRAD, Ordering::Release);
            if !self.is_view() {
                self.remove_keys(KeySet::AUTOGRAD);
            }
        }
        Ok(())
    }

    /// The accumulated gradient, if there is one.
    pub fn grad(&self) -> Option<Tensor> {
        self.autograd_meta()?.landing.get()?.lock_grad().clone()
    }

    /// Sets or removes the gradient. It must have the tensor's shape, dtype and device.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        if let Some(grad) = &grad {
            self.check_grad(grad)?;
        }
        if grad.is_some() || self.autograd_meta().is_some() {
            let before = std::mem::replace(&mut *self.autograd_meta_or_new().landing().lock_grad(), grad);
            drop(before);
        }
        Ok(())
    }

    fn check_grad(&self, grad: &Tensor) -> Result<()> {
        ensure!(
            grad.dtype() == self.dtype(),
            Runtime,
            "attempting to assign a gradient with dtype '{}' to a tensor with dtype '{}'. Please ensure that the \
             gradient and the tensor have the same dtype",
            cpp_name(grad.dtype()),
            cpp_name(self.dtype())
        );
        ensure!(
            grad.device().kind == self.device().kind,
            Runtime,
            "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'. Please ensure \
             that the gradient and the tensor are on the same device",
            grad.device().kind.name(),
            self.device().kind.name()
        );
        ensure!(
            grad.sizes() == self.sizes(),
            Runtime,
            "attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the gradient and \
             the tensor are the same size",
            format_sizes(&grad.sizes()),
            format_sizes(&self.sizes())
        );
        Ok(())
    }

    /// Modifies the gradient under its lock, so that concurrent backward passes do not lose any.
    pub(super) fn update_grad(&self, update: impl FnOnce(Option<Tensor>) -> Result<Tensor>) -> Result<()> {
        self.autograd_meta_or_new().landing().update(update)
    }

    /// The node and output that computed this tensor; `None` for a leaf. A view whose base was modified in place
    /// meanwhile gets its new history here.
    pub fn grad_edge(&self) -> Option<Edge> {
        match self.autograd_meta().and_then(AutogradMeta::view) {
            Some(view) => view.grad_edge(self),
            None => self.stored_history(),
        }
    }

    /// The node that computed this tensor.
    pub fn grad_fn(&self) -> Option<Arc<Node>> {
        self.grad_edge().map(|edge| edge.node)
    }

    /// The output index of this tensor in its node.
    pub fn output_nr(&self) -> u32 {
        self.grad_edge().map_or(0, |edge| edge.output)
    }

    /// The destination of a gradient of this tensor: the node that computed it, or its accumulator.
    #[inline]
    pub fn gradient_edge(&self) -> Option<Edge> {
        if !self.requires_grad() {
            return None;
        }
        // A view without a recorded history may require a gradient only because its base does: it has no accumulator.
        let ends_here = || self.history().has(REQUIRES_GRAD);
        self.grad_edge().or_else(|| ends_here().then(|| Edge { node: self.accumulator(), output: 0 }))
    }

    fn accumulator(&self) -> Arc<Node> {
        let meta = self.autograd_meta_or_new();
        if let Some(node) = &*meta.accumulator.lock() {
            return node.clone();
        }
        // Created without the lock; if several threads create one, the first one's stays.
        let body = Accumulate::new(meta.landing().clone());
        let fresh = RecordedCall::of(Edges::new(), &[self]).leaf(body);
        meta.accumulator.lock().get_or_insert(fresh).clone()
    }

    /// Whether this is a view whose base is tracked by autograd.
    pub fn is_view(&self) -> bool {
        self.autograd_meta().is_some_and(|meta| meta.view().is_some())
    }

    /// Returns the reason why this view cannot be modified in place while calls are recorded; `None` for a tensor that
    /// is not a view.
    pub fn view_restriction(&self) -> Option<Restriction> {
        Some(self.autograd_meta()?.view()?.restriction())
    }

    /// The base of a tracked view.
    pub fn view_base(&self) -> Option<Tensor> {
        Some(self.autograd_meta()?.view()?.base.clone())
    }

    /// Makes backward keep the gradient of a non-leaf tensor.
    pub fn retain_grad(&self) -> Result<()> {
        ensure!(self.requires_grad(), Runtime, "can't retain_grad on Tensor that has requires_grad=False");
        let Some(edge) = self.grad_edge() else { return Ok(()) };
        let meta = self.autograd_meta_or_new();
        let id = unique_id();
        if meta.retain_hook.compare_exchange(0, id, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return Ok(());
        }
        // Weak: the node must not keep the tensor alive that keeps the node alive.
        let weak = self.downgrade();
        let call: TensorHook = Arc::new(move |grad| {
            if let (Some(tensor), Some(grad)) = (weak.upgrade(), grad) {
                tensor.update_grad(|before| match before {
                    None => ops::clone(grad, Some(MemoryFormat::Contiguous)),
                    Some(before) => ops::add_tensor(&before, grad, 1.into()),
                })?;
            }
            Ok(None)
        });
        edge.node.add_hook(OutputHook { output: edge.output, id, last: true, call });
        Ok(())
    }

    /// The tensor was written and has another history than `before`: its gradient is retained at its new node.
    pub(super) fn move_retained_grad(&self, before: Option<&Edge>) -> Result<()> {
        let Some(meta) = self.autograd_meta() else { return Ok(()) };
        let id = meta.retain_hook.swap(0, Ordering::AcqRel);
        if id == 0 {
            return Ok(());
        }
        if let Some(before) = before {
            before.node.remove_hook(id);
        }
        self.retain_grad()
    }

    /// Whether backward keeps the gradient of this non-leaf tensor.
    pub fn retains_grad(&self) -> bool {
        !self.is_leaf() && self.autograd_meta().is_some_and(|meta| meta.retain_hook.load(Ordering::Acquire) != 0)
    }

    /// Registers a hook that backward calls with the gradient of this tensor. Its return value replaces the gradient.
    pub fn register_hook(&self, hook: TensorHook) -> Result<Registered> {
        ensure!(self.requires_grad(), Runtime, "cannot register a hook on a tensor that doesn't require gradient");
        let id = unique_id();
        let place = match self.grad_edge() {
            Some(edge) => {
                edge.node.add_hook(OutputHook { output: edge.output, id, last: false, call: hook });
                Place::Node(Arc::downgrade(&edge.node))
            }
            None => {
                let landing = self.autograd_meta_or_new().landing();
                landing.lock_hooks().push((id, hook));
                Place::Leaf(Arc::downgrade(landing))
            }
        };
        Ok(Registered::new(HookId(id), place))
    }

    /// Registers a hook that is called with this leaf whenever backward has changed its `grad`.
    pub fn register_post_accumulate_grad_hook(&self, hook: PostAccumulateHook) -> Result<Registered> {
        ensure!(self.requires_grad(), Runtime, "cannot register a hook on a tensor that doesn't require gradient");
        ensure!(self.is_leaf(), Runtime, "post accumulate grad hooks cannot be registered on non-leaf tensors");
        let (id, weak) = (unique_id(), self.downgrade());
        let call: LandedHook = Arc::new(move || weak.upgrade().map_or(Ok(()), |leaf| hook(&leaf)));
        let landing = self.autograd_meta_or_new().landing();
        landing.lock_after().push((id, call));
        Ok(Registered::new(HookId(id), Place::Leaf(Arc::downgrade(landing))))
    }

    /// Removes a hook.
    pub fn remove_hook(&self, id: HookId) -> Result<()> {
        let landing = self.autograd_meta().and_then(|meta| meta.landing.get());
        if !landing.is_some_and(|landing| landing.remove_hook(id.0))
            && !self.grad_edge().is_some_and(|edge| edge.node.remove_hook(id.0))
        {
            bail!(Index, "Invalid index, no hook with id {}", id.0);
        }
        Ok(())
    }

    /// Detaches this tensor from its history, in place.
    pub fn detach_in_place(&self) -> Result<()> {
        ensure!(
            !self.is_view(),
            Runtime,
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for \
             training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence \
             detach_() cannot be called on these gradients."
        );
        self.forget_history();
        Ok(())
    }

    /// Makes this tensor a leaf without a gradient; a view stays a view.
    pub(super) fn forget_history(&self) {
        self.set_history(None);
        if !self.is_view() {
            self.remove_keys(KeySet::AUTOGRAD);
        }
    }
}
