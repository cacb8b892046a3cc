//! Nodes of the recorded graph, and what a derivative sees of the graph while it runs.

use super::anomaly::Origin;
use super::expr::Expr;
use super::hooks::{Place, Registered};
use super::meta::{HookId, TensorHook};
use super::modes::is_anomaly_enabled;
use super::saved::Saved;
use crate::dense::Dense;
use crate::once::OnceBox;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, Result, SmallVec, bail, copy_dims, err, smallvec};
use std::cell::Cell;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The derivative of one recorded call.
pub trait Backward: Send + Sync {
    /// PyTorch's name of it: `MulBackward0`.
    fn name(&self) -> &str;

    /// Does it hold tensors? If not, the node may run backward again without having been told to keep them.
    fn saves(&self) -> bool;

    /// Puts the gradients of the inputs, computed from those of the outputs, into `gradients`: one slot per edge.
    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()>;

    /// Does it run even if no gradient reached any output?
    fn runs_without_gradients(&self) -> bool {
        false
    }

    /// Hooks on the tensor at the end: a leaf's, which stay with the leaf.
    fn leaf_hooks(&self) -> Vec<TensorHook> {
        Vec::new()
    }
}

/// One recorded call.
pub type Node = NodeOf<dyn Body>;

/// A node and its body in one allocation.
pub struct NodeOf<B: ?Sized> {
    sequence: u64,
    next: NextEdges,
    outputs: SmallVec<[TensorMeta; 1]>,
    hooks: OnceBox<Mutex<Hooks>>,
    /// In anomaly mode: what the forward call was.
    origin: OnceBox<Arc<Origin>>,
    body: B,
}

/// The derivative in a node.
pub trait Body: Send + Sync {
    /// PyTorch's name of it.
    fn name(&self) -> String;

    /// As [`Backward::backward`].
    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()>;

    /// Drop what was saved for backward.
    fn release(&self);

    /// As [`Backward::runs_without_gradients`].
    fn runs_without_gradients(&self) -> bool {
        false
    }

    /// The hooks of a leaf.
    fn leaf_hooks(&self) -> Vec<TensorHook> {
        Vec::new()
    }
}

/// A derivative that saves nothing: it can run again and again.
struct Lasting<B>(B);

impl<B: Backward> Body for Lasting<B> {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    #[inline]
    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        self.0.backward(call, gradients)
    }

    fn release(&self) {}

    fn leaf_hooks(&self) -> Vec<TensorHook> {
        self.0.leaf_hooks()
    }
}

/// A derivative that holds tensors: emptied after a backward that does not keep the graph.
struct Releasable {
    body: RwLock<Option<Arc<dyn Backward>>>,
    /// The name of the body after it was freed: error messages still need it.
    freed_name: OnceLock<Box<str>>,
}

impl Releasable {
    /// The body, shared: it runs without the lock, because a derivative may start another pass.
    fn body(&self) -> Option<Arc<dyn Backward>> {
        self.body.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Body for Releasable {
    fn name(&self) -> String {
        match self.body() {
            Some(body) => body.name().to_owned(),
            None => self.freed_name.get().map(|name| name.to_string()).unwrap_or_default(),
        }
    }

    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        self.body().ok_or_else(freed)?.backward(call, gradients)
    }

    fn runs_without_gradients(&self) -> bool {
        self.body().is_some_and(|body| body.runs_without_gradients())
    }

    fn release(&self) {
        let mut slot = self.body.write().unwrap_or_else(PoisonError::into_inner);
        let body = slot.take();
        if let Some(body) = &body {
            self.freed_name.get_or_init(|| body.name().into());
        }
        // Saved tensors may own more of the graph: not under the lock.
        drop(slot);
        drop(body);
    }
}

/// Sees the gradients that a node is about to take, and may put others in their place.
pub type NodePreHook = Arc<dyn Fn(&[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;

/// Sees the gradients that a node gave (first) and those it took (second), and may put others in the place of the first.
pub type NodeHook =
    Arc<dyn Fn(&[Option<Tensor>], &[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;

#[derive(Default)]
struct Hooks {
    outputs: Vec<OutputHook>,
    before: Vec<(u64, NodePreHook)>,
    after: Vec<(u64, NodeHook)>,
}

/// A hook on one of the node's outputs: it sees the gradient before the node does.
pub(super) struct OutputHook {
    pub output: u32,
    pub id: u64,
    /// `retain_grad` hooks see the gradient after all others.
    pub last: bool,
    pub call: TensorHook,
}

/// Shape, dtype and device of a tensor: what remains when its values are not needed.
#[derive(Clone, Debug)]
pub struct TensorMeta {
    sizes: DimVec,
    dtype: DType,
    device: Device,
}

impl TensorMeta {
    /// What is known of `tensor` without its values.
    pub fn of(tensor: &Tensor) -> TensorMeta {
        let (sizes, dtype, device) = tensor.shape_and_kind();
        TensorMeta { sizes, dtype, device }
    }

    /// What remains of a body without its values.
    #[inline]
    pub(super) fn of_body(dense: &Dense) -> TensorMeta {
        TensorMeta { sizes: copy_dims(&dense.geometry.sizes), dtype: dense.dtype, device: dense.device }
    }

    /// Extent of each dimension.
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where it lives.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.sizes.len()
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// dtype and device as factory options.
    pub fn options(&self) -> Options {
        Options::of(self.dtype).on(self.device)
    }
}

/// Where a gradient goes: one output of a node.
#[derive(Clone)]
pub struct Edge {
    /// The node that made the tensor, or accumulates its gradient.
    pub node: Arc<Node>,
    /// Which of the node's outputs the tensor is.
    pub output: u32,
}

/// One slot per differentiable argument of a call, empty where no gradient is needed.
#[derive(Default)]
pub struct Edges(pub(super) SmallVec<[Option<Edge>; 2]>);

impl Edges {
    /// No argument yet.
    #[inline]
    pub fn new() -> Edges {
        Edges::default()
    }

    /// One argument after the other.
    #[inline(never)]
    pub fn of(tensors: &[&Tensor]) -> Edges {
        Edges(tensors.iter().map(|tensor| tensor.gradient_edge()).collect())
    }

    /// And one argument more.
    #[inline(never)]
    #[must_use]
    pub fn with(mut self, tensor: &Tensor) -> Edges {
        self.0.push(tensor.gradient_edge());
        self
    }

    /// And one optional argument.
    #[inline(never)]
    #[must_use]
    pub fn with_option(mut self, tensor: Option<&Tensor>) -> Edges {
        self.0.push(tensor.and_then(Tensor::gradient_edge));
        self
    }

    /// And a slot for each element of a list argument.
    #[inline(never)]
    #[must_use]
    pub fn with_list(mut self, tensors: &[&Tensor]) -> Edges {
        self.0.extend(tensors.iter().map(|tensor| tensor.gradient_edge()));
        self
    }

    /// Is the gradient of slot `index` needed?
    #[inline]
    pub fn needs(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(Option::is_some)
    }

    /// Is the gradient of any of these slots needed?
    pub fn needs_any(&self, mut range: Range<usize>) -> bool {
        range.any(|index| self.needs(index))
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is there no slot?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

thread_local! {
    static SEQUENCE: Cell<u64> = const { Cell::new(0) };
}

/// Leaves come before everything else that is ready.
pub(super) const LEAF_SEQUENCE: u64 = u64::MAX;

fn next_sequence() -> u64 {
    SEQUENCE.replace(SEQUENCE.get() + 1)
}

/// A call that is being recorded: what its node knows beside the derivative.
pub(super) struct RecordedCall {
    pub edges: Edges,
    outputs: SmallVec<[TensorMeta; 1]>,
}

impl RecordedCall {
    /// A call with these outputs.
    #[inline(never)]
    pub fn of(edges: Edges, outputs: &[&Tensor]) -> RecordedCall {
        RecordedCall { edges, outputs: outputs.iter().map(|output| TensorMeta::of(output)).collect() }
    }

    /// A call with one output that nobody else may have seen yet.
    pub fn of_result(edges: Edges, result: &mut Tensor) -> RecordedCall {
        let meta = match result.exclusive() {
            Some(fresh) => TensorMeta::of_body(fresh.body()),
            None => TensorMeta::of(result),
        };
        RecordedCall { edges, outputs: SmallVec::from_buf([meta]) }
    }

    /// Its node. To be called once: edges and outputs move into the node.
    #[inline]
    pub fn node(&mut self, body: impl Backward + 'static) -> Arc<Node> {
        if body.saves() { self.releasable(Arc::new(body)) } else { self.node_of(Lasting(body), next_sequence()) }
    }

    /// The node of a leaf.
    pub fn leaf(&mut self, body: impl Backward + 'static) -> Arc<Node> {
        self.node_of(Lasting(body), LEAF_SEQUENCE)
    }

    #[inline(never)]
    fn releasable(&mut self, body: Arc<dyn Backward>) -> Arc<Node> {
        let body = Releasable { body: RwLock::new(Some(body)), freed_name: OnceLock::new() };
        self.node_of(body, next_sequence())
    }

    #[inline]
    fn node_of(&mut self, body: impl Body + 'static, sequence: u64) -> Arc<Node> {
        let next = NextEdges(take(&mut self.edges).0);
        let (outputs, hooks, origin) = (take(&mut self.outputs), OnceBox::new(), OnceBox::new());
        let node: Arc<Node> = Arc::new(NodeOf { sequence, next, outputs, hooks, origin, body });
        if is_anomaly_enabled() {
            node.remember_origin();
        }
        node
    }
}

impl Node {
    /// A node for a call whose outputs look like `output`.
    pub(super) fn new(body: impl Backward + 'static, edges: Edges, output: &Tensor) -> Arc<Node> {
        RecordedCall::of(edges, &[output]).node(body)
    }

    #[cold]
    fn remember_origin(&self) {
        let _ = self.origin.set(Origin::of(self.sequence, &self.next.0, &self.outputs));
    }

    /// Which forward call the node was recorded by, if that was in anomaly mode.
    pub fn origin(&self) -> Option<&Arc<Origin>> {
        self.origin.get()
    }

    /// PyTorch's name of the derivative: `MulBackward0`.
    pub fn name(&self) -> String {
        self.body.name()
    }

    /// Later calls of a thread have larger numbers.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Where the gradients of the inputs go.
    pub fn next_edges(&self) -> &[Option<Edge>] {
        &self.next.0
    }

    /// What the outputs of the recorded call look like.
    pub fn outputs(&self) -> &[TensorMeta] {
        &self.outputs
    }

    pub(super) fn body(&self) -> &dyn Body {
        &self.body
    }

    fn change_hooks<R>(&self, change: impl FnOnce(&mut Hooks) -> R) -> R {
        change(&mut self.hooks.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn copy_hooks<R: Default>(&self, copy: impl FnOnce(&Hooks) -> R) -> R {
        self.hooks.get().map_or_else(R::default, |hooks| copy(&hooks.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(super) fn add_hook(&self, hook: OutputHook) {
        self.change_hooks(|hooks| hooks.outputs.push(hook));
    }

    /// Call `hook` before the node runs, after the hooks of its tensors.
    pub fn register_prehook(self: &Arc<Node>, hook: NodePreHook) -> Registered {
        let id = unique_id();
        self.change_hooks(|hooks| hooks.before.push((id, hook)));
        Registered::new(HookId(id), Place::Node(Arc::downgrade(self)))
    }

    /// Call `hook` after the node ran.
    pub fn register_hook(self: &Arc<Node>, hook: NodeHook) -> Registered {
        let id = unique_id();
        self.change_hooks(|hooks| hooks.after.push((id, hook)));
        Registered::new(HookId(id), Place::Node(Arc::downgrade(self)))
    }

    /// Remove a hook of any kind; false if there is none with this id.
    pub fn remove_hook(&self, id: u64) -> bool {
        if self.hooks.get().is_none() {
            return false;
        }
        // A hook owns what its maker gave it: dropped without the lock.
        let removed = self.change_hooks(|hooks| {
            let output = take_out(&mut hooks.outputs, |hook| hook.id == id);
            let before = take_out(&mut hooks.before, |(other, _)| *other == id);
            (output, before, take_out(&mut hooks.after, |(other, _)| *other == id))
        });
        removed.0.is_some() || removed.1.is_some() || removed.2.is_some()
    }

    pub(super) fn hooks_before(&self) -> Vec<NodePreHook> {
        self.copy_hooks(|hooks| hooks.before.iter().map(|(_, hook)| hook.clone()).collect())
    }

    pub(super) fn hooks_after(&self) -> Vec<NodeHook> {
        self.copy_hooks(|hooks| hooks.after.iter().map(|(_, hook)| hook.clone()).collect())
    }

    /// The hooks on an output, in the order in which they are to be called.
    pub(super) fn hooks_of(&self, output: u32) -> Vec<TensorHook> {
        self.copy_hooks(|hooks| {
            let of = |last: bool| {
                let chosen = hooks.outputs.iter().filter(move |hook| hook.output == output && hook.last == last);
                chosen.map(|hook| hook.call.clone())
            };
            of(false).chain(of(true)).collect()
        })
    }
}

#[cold]
fn freed() -> rushlight_base::Error {
    err!(
        Runtime,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have \
         already been freed). Saved intermediate values of the graph are freed when you call .backward() or \
         autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if \
         you need to access saved tensors after calling backward."
    )
}

/// The edges of a node. Dropping them does not recurse: a chain of a million nodes frees in a loop.
struct NextEdges(SmallVec<[Option<Edge>; 2]>);

impl Drop for NextEdges {
    fn drop(&mut self) {
        for slot in &mut self.0 {
            if let Some(edge) = slot.take() {
                drop_later(edge.node);
            }
        }
    }
}

/// Nodes whose references are given up after the drop that is under way.
type Waiting = SmallVec<[Arc<Node>; 8]>;

thread_local! {
    /// The list of the outermost drop that is under way on this thread, or null.
    static DROPPING: Cell<*mut Waiting> = const { Cell::new(std::ptr::null_mut()) };
}

/// Give up a reference to a node: at once where that cannot recurse, else after the drop that is under way.
#[inline]
pub(super) fn drop_later(node: Arc<Node>) {
    // Nothing hangs on the node of a leaf.
    if !node.next.0.is_empty() {
        drop_in_turn(node);
    }
}

fn drop_in_turn(node: Arc<Node>) {
    let list = DROPPING.get();
    if !list.is_null() {
        // SAFETY: a non-null pointer is the list of a frame further up this thread's stack (below), which is not
        // borrowed while it drops nodes.
        unsafe { (*list).push(node) };
        return;
    }
    let mut waiting = Waiting::new();
    DROPPING.set(&raw mut waiting);
    drop(node);
    loop {
        // SAFETY: `waiting` is alive; all access while the pointer is set goes through the pointer, and no
        // reference is held across the drop of the node.
        let Some(node) = (unsafe { (*DROPPING.get()).pop() }) else { break };
        drop(node);
    }
    DROPPING.set(std::ptr::null_mut());
}

/// What a derivative sees while it runs: the gradients of the outputs, and which results are needed.
pub struct BackwardCall<'a> {
    pub(super) node: &'a Arc<Node>,
    pub(super) grads: &'a [Option<Expr>],
    pub(super) needs: SmallVec<[bool; 4]>,
}

impl BackwardCall<'_> {
    /// The gradient of an output, if any reached it.
    #[inline(never)]
    pub fn grad(&self, output: usize) -> Option<&Expr> {
        self.grads.get(output).and_then(Option::as_ref)
    }

    /// The gradient of an output, or zeros.
    pub fn grad_or_zeros(&self, output: usize) -> Result<Expr> {
        if let Some(grad) = self.grad(output) {
            return Ok(grad.clone());
        }
        let Some(meta) = self.node.outputs.get(output) else { bail!(Internal, "no output {output}") };
        Ok(Expr::from(crate::ops::zeros(meta.sizes(), meta.options())?))
    }

    /// How many gradients there are: one for each output of the recorded call.
    pub fn outputs(&self) -> usize {
        self.node.outputs.len()
    }

    /// Is the gradient of slot `index` needed?
    #[inline(never)]
    pub fn needs(&self, index: usize) -> bool {
        self.needs.get(index).copied().unwrap_or(false)
    }

    /// Is the gradient of any of these slots needed?
    pub fn needs_any(&self, mut range: Range<usize>) -> bool {
        range.any(|index| self.needs(index))
    }

    /// The saved tensor. An error if it was written to since.
    #[inline(never)]
    pub fn unpack(&self, saved: &Saved) -> Result<Expr> {
        match self.unpack_option(saved)? {
            Some(expr) => Ok(expr),
            None => bail!(Internal, "{}: a value that was not saved is needed", self.node.name()),
        }
    }

    /// The saved optional tensor.
    pub fn unpack_option(&self, saved: &Saved) -> Result<Option<Expr>> {
        Ok(saved.unpack(Some(self.node))?.map(Expr::from))
    }

    /// The saved tensors of a list that may miss some.
    pub fn unpack_list(&self, saved: &[Saved]) -> Result<Vec<Option<Expr>>> {
        saved.iter().map(|saved| self.unpack_option(saved)).collect()
    }

    /// The gradients that the derivative gives for this.
    pub(super) fn run(&self) -> Result<Gradients> {
        let mut gradients = Gradients(smallvec![None; self.node.next.0.len()]);
        self.node.body.backward(self, &mut gradients)?;
        Ok(gradients)
    }
}

/// The gradients of the inputs of a recorded call.
pub struct Gradients(pub(super) SmallVec<[Option<Tensor>; 2]>);

impl Gradients {
    /// Put a gradient into a slot.
    #[inline]
    pub fn set(&mut self, index: usize, grad: impl Into<Expr>) -> Result<()> {
        self.set_expr(index, grad.into())
    }

    #[inline(never)]
    fn set_expr(&mut self, index: usize, grad: Expr) -> Result<()> {
        self.put(index, Some(grad.into_tensor()?))
    }

    /// Put gradients into the slots from `start` on.
    pub fn set_list(&mut self, start: usize, grads: impl IntoIterator<Item = impl Into<Expr>>) -> Result<()> {
        grads.into_iter().enumerate().try_for_each(|(offset, grad)| self.set(start + offset, grad))
    }

    /// Put those gradients that there are into the slots from `start` on.
    pub fn set_some<const N: usize>(&mut self, start: usize, grads: [Option<Expr>; N]) -> Result<()> {
        for (offset, grad) in grads.into_iter().enumerate() {
            if let Some(grad) = grad {
                self.set(start + offset, grad)?;
            }
        }
        Ok(())
    }

    /// Put a gradient, or none, into a slot.
    pub fn put(&mut self, index: usize, grad: Option<Tensor>) -> Result<()> {
        match self.0.get_mut(index) {
            Some(slot) => {
                *slot = grad;
                Ok(())
            }
            None => Err(err!(Internal, "gradient {index} of a call with {} inputs", self.0.len())),
        }
    }
}

/// Take the first element that is meant out of a list.
pub(super) fn take_out<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool) -> Option<T> {
    list.iter().position(is).map(|position| list.remove(position))
}

/// A number that no other hook has.
pub(super) fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
