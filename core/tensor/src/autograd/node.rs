//! Nodes of the recorded graph, and the interface of derivatives to the graph while they run.

use super::anomaly::Origin;
use super::custom::CustomFunction;
use super::expr::Expr;
use super::hooks::{Place, Registered};
use super::meta::{HookId, TensorHook};
use super::modes::is_anomaly_enabled;
use super::saved::Saved;
use crate::dense::Dense;
use crate::observe::current_thread;
use crate::once::OnceBox;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, Result, SmallVec, bail, copy_dims, err, list, smallvec};
use std::cell::Cell;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The derivative of one recorded call.
pub trait Backward: Send + Sync {
    /// PyTorch's name of it: `MulBackward0`.
    fn name(&self) -> &str;

    /// Whether it holds tensors. If not, the node may run backward again without `retain_graph`.
    fn saves(&self) -> bool;

    /// Frees the tensors that it holds, and stays in the node. False: the node drops it.
    fn release(&self) -> bool {
        false
    }

    /// Puts the gradients of the inputs, computed from those of the outputs, into `gradients`: one slot per edge.
    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()>;

    /// Whether it runs even if no gradient reached any output.
    fn runs_without_gradients(&self) -> bool {
        false
    }

    /// Hooks on the tensor at the end of the graph: those of a leaf stay with it.
    fn leaf_hooks(&self) -> Vec<TensorHook> {
        Vec::new()
    }

    /// The custom function whose derivative it is.
    fn custom(&self) -> Option<Arc<dyn CustomFunction>> {
        None
    }
}

/// One recorded call.
pub type Node = NodeOf<dyn Body>;

/// A node and its body in one allocation.
pub struct NodeOf<B: ?Sized> {
    head: Head,
    body: B,
}

/// What all nodes have.
struct Head {
    sequence: u64,
    /// The thread that recorded the call: sequence numbers are those of a thread.
    thread: u64,
    next: NextEdges,
    outputs: SmallVec<[TensorMeta; 1]>,
    hooks: OnceBox<Mutex<Hooks>>,
    /// In anomaly mode: the forward call.
    origin: OnceBox<Arc<Origin>>,
}

/// The derivative in a node.
pub trait Body: Send + Sync {
    /// Calls `read` with PyTorch's name of it.
    fn with_name(&self, read: &mut dyn FnMut(&str));

    /// Like [`Backward::backward`].
    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()>;

    /// Drops the saved tensors.
    fn release(&self);

    /// Like [`Backward::runs_without_gradients`].
    fn runs_without_gradients(&self) -> bool {
        false
    }

    /// The hooks of a leaf.
    fn leaf_hooks(&self) -> Vec<TensorHook> {
        Vec::new()
    }

    /// Like [`Backward::custom`].
    fn custom(&self) -> Option<Arc<dyn CustomFunction>> {
        None
    }
}

/// A derivative that saves nothing: it can run again and again.
struct Lasting<B>(B);

impl<B: Backward> Body for Lasting<B> {
    fn with_name(&self, read: &mut dyn FnMut(&str)) {
        read(self.0.name());
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
    fn with_name(&self, read: &mut dyn FnMut(&str)) {
        match self.body() {
            Some(body) => read(body.name()),
            None => read(self.freed_name.get().map_or("", |name| name)),
        }
    }

    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        self.body().ok_or_else(freed)?.backward(call, gradients)
    }

    fn runs_without_gradients(&self) -> bool {
        self.body().is_some_and(|body| body.runs_without_gradients())
    }

    fn custom(&self) -> Option<Arc<dyn CustomFunction>> {
        self.body()?.custom()
    }

    fn release(&self) {
        if self.body().is_some_and(|body| body.release()) {
            return;
        }
        let mut slot = self.body.write().unwrap_or_else(PoisonError::into_inner);
        let body = slot.take();
        if let Some(body) = &body {
            self.freed_name.get_or_init(|| body.name().into());
        }
        // Saved tensors may own more of the graph: they are dropped without the lock.
        drop(slot);
        drop(body);
    }
}

/// Receives the incoming gradients of a node, and may replace them.
pub type NodePreHook = Arc<dyn Fn(&[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;

/// Receives the computed gradients of a node (first) and its incoming ones (second), and may replace the first.
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

/// Shape, dtype and device of a tensor, for derivatives that do not need its values.
#[derive(Clone, Debug)]
pub struct TensorMeta {
    sizes: DimVec,
    dtype: DType,
    device: Device,
}

impl TensorMeta {
    /// The metadata of `tensor`.
    pub fn of(tensor: &Tensor) -> TensorMeta {
        let (sizes, dtype, device) = tensor.shape_and_kind();
        TensorMeta { sizes, dtype, device }
    }

    /// The metadata of a body.
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

    /// The device of the tensor.
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

/// The destination of a gradient: one output of a node.
#[derive(Clone)]
pub struct Edge {
    /// The node that computed the tensor, or accumulates its gradient.
    pub node: Arc<Node>,
    /// The output index of the tensor in its node.
    pub output: u32,
}

/// One slot per differentiable argument of a call, empty where no gradient is needed.
#[derive(Default)]
pub struct Edges(pub(super) SmallVec<[Option<Edge>; 2]>);

impl Edges {
    /// Without an argument.
    #[inline]
    pub fn new() -> Edges {
        Edges::default()
    }

    /// Adds one argument after the other.
    #[inline(never)]
    pub fn of(tensors: &[&Tensor]) -> Edges {
        Edges(tensors.iter().map(|tensor| tensor.gradient_edge()).collect())
    }

    /// Adds an argument.
    #[inline(never)]
    #[must_use]
    pub fn with(mut self, tensor: &Tensor) -> Edges {
        self.0.push(tensor.gradient_edge());
        self
    }

    /// Adds an optional argument.
    #[inline(never)]
    #[must_use]
    pub fn with_option(mut self, tensor: Option<&Tensor>) -> Edges {
        self.0.push(tensor.and_then(Tensor::gradient_edge));
        self
    }

    /// Adds a slot for each element of a list argument.
    #[inline(never)]
    #[must_use]
    pub fn with_list(mut self, tensors: &[&Tensor]) -> Edges {
        self.0.extend(tensors.iter().map(|tensor| tensor.gradient_edge()));
        self
    }

    /// Adds a slot with this destination, or an empty one.
    #[must_use]
    pub fn with_edge(mut self, edge: Option<Edge>) -> Edges {
        self.0.push(edge);
        self
    }

    /// Whether the gradient of slot `index` is needed.
    #[inline]
    pub fn needs(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(Option::is_some)
    }

    /// Whether the gradient of any of these slots is needed.
    pub fn needs_any(&self, mut range: Range<usize>) -> bool {
        range.any(|index| self.needs(index))
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

thread_local! {
    static SEQUENCE: Cell<u64> = const { Cell::new(0) };
}

/// Leaves run before all other ready nodes.
pub(super) const LEAF_SEQUENCE: u64 = u64::MAX;

fn next_sequence() -> u64 {
    SEQUENCE.replace(SEQUENCE.get() + 1)
}

/// The sequence number of the node that this thread records next.
pub fn next_sequence_number() -> i64 {
    SEQUENCE.get() as i64
}

/// A call that is being recorded: the data of its node besides the derivative.
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

    /// A call with one output that has no other owner yet.
    pub fn of_result(edges: Edges, result: &mut Tensor) -> RecordedCall {
        let meta = match result.exclusive() {
            Some(fresh) => TensorMeta::of_body(fresh.body()),
            None => TensorMeta::of(result),
        };
        RecordedCall { edges, outputs: SmallVec::from_buf([meta]) }
    }

    /// Creates the node. Call it once: edges and outputs move into the node.
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
    fn node_of<B: Body + 'static>(&mut self, body: B, sequence: u64) -> Arc<Node> {
        let node = Arc::<NodeOf<B>>::new_uninit();
        let place = Arc::as_ptr(&node).cast::<NodeOf<B>>().cast_mut();
        // SAFETY: `place` points to the node, which has no other owner yet. Both of its fields are written before it counts as
        // initialized; should the first write panic, the memory is freed as the uninitialized memory that it is.
        unsafe {
            self.write_head(&raw mut (*place).head, sequence);
            (&raw mut (*place).body).write(body);
            node.assume_init()
        }
    }

    /// Writes the head of its node, in a function of its own: there are hundreds of types of nodes.
    ///
    /// # Safety
    /// `place` is valid for writing.
    #[inline(never)]
    unsafe fn write_head(&mut self, place: *mut Head, sequence: u64) {
        let next = NextEdges(take(&mut self.edges).0);
        let (outputs, hooks, origin) = (take(&mut self.outputs), OnceBox::new(), OnceBox::new());
        let head = Head { sequence, thread: current_thread(), next, outputs, hooks, origin };
        if is_anomaly_enabled() {
            head.remember_origin();
        }
        // SAFETY: this function's own contract.
        unsafe { place.write(head) }
    }
}

impl Head {
    #[cold]
    fn remember_origin(&self) {
        let _ = self.origin.set(Origin::of(self.sequence, &self.next.0, &self.outputs));
    }
}

impl Node {
    /// A node for a call whose outputs look like `output`.
    pub(super) fn new(body: impl Backward + 'static, edges: Edges, output: &Tensor) -> Arc<Node> {
        RecordedCall::of(edges, &[output]).node(body)
    }

    /// The forward call that recorded the node, if anomaly mode was on.
    pub fn origin(&self) -> Option<&Arc<Origin>> {
        self.head.origin.get()
    }

    /// PyTorch's name of the derivative: `MulBackward0`.
    pub fn name(&self) -> String {
        let mut name = String::new();
        self.body.with_name(&mut |text| name.push_str(text));
        name
    }

    /// Later calls of a thread have larger numbers.
    pub fn sequence(&self) -> u64 {
        self.head.sequence
    }

    /// The number of the thread that recorded the call.
    pub fn thread(&self) -> u64 {
        self.head.thread
    }

    /// The destinations of the gradients of the inputs.
    pub fn next_edges(&self) -> &[Option<Edge>] {
        &self.head.next.0
    }

    /// The custom function that recorded the node, until the node drops it.
    pub fn custom(&self) -> Option<Arc<dyn CustomFunction>> {
        self.body.custom()
    }

    /// The metadata of the outputs of the recorded call.
    pub fn outputs(&self) -> &[TensorMeta] {
        &self.head.outputs
    }

    pub(super) fn body(&self) -> &dyn Body {
        &self.body
    }

    fn change_hooks<R>(&self, change: impl FnOnce(&mut Hooks) -> R) -> R {
        change(&mut self.head.hooks.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn copy_hooks<R: Default>(&self, copy: impl FnOnce(&Hooks) -> R) -> R {
        self.head
            .hooks
            .get()
            .map_or_else(R::default, |hooks| copy(&hooks.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(super) fn add_hook(&self, hook: OutputHook) {
        self.change_hooks(|hooks| hooks.outputs.push(hook));
    }

    /// Registers a hook that is called before the node runs, after the hooks of its tensors.
    pub fn register_prehook(self: &Arc<Node>, hook: NodePreHook) -> Registered {
        let id = unique_id();
        self.change_hooks(|hooks| hooks.before.push((id, hook)));
        Registered::new(HookId(id), Place::Node(Arc::downgrade(self)))
    }

    /// Registers a hook that is called after the node ran.
    pub fn register_hook(self: &Arc<Node>, hook: NodeHook) -> Registered {
        let id = unique_id();
        self.change_hooks(|hooks| hooks.after.push((id, hook)));
        Registered::new(HookId(id), Place::Node(Arc::downgrade(self)))
    }

    /// Removes a hook of any kind; false if there is none with this id.
    pub fn remove_hook(&self, id: u64) -> bool {
        if self.head.hooks.get().is_none() {
            return false;
        }
        // A hook owns values of its creator: it is dropped without the lock.
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

    /// The hooks on an output, in the order in which they are called.
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

/// Nodes that are dropped after the current drop.
type Waiting = SmallVec<[Arc<Node>; 8]>;

thread_local! {
    /// The list of the outermost running drop on this thread, or null.
    static DROPPING: Cell<*mut Waiting> = const { Cell::new(std::ptr::null_mut()) };
}

/// Drops a reference to a node: at once if that cannot recurse, else after the current drop.
#[inline]
pub(super) fn drop_later(node: Arc<Node>) {
    // The node of a leaf has no edges.
    if !node.head.next.0.is_empty() {
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
        // SAFETY: `waiting` outlives the loop; while the pointer is set, all accesses go through it, and no reference
        // is held across the drop of the node.
        let Some(node) = (unsafe { (*DROPPING.get()).pop() }) else { break };
        drop(node);
    }
    DROPPING.set(std::ptr::null_mut());
}

/// The arguments of a derivative: the gradients of the outputs, and which results are needed.
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
        let Some(meta) = self.node.head.outputs.get(output) else { bail!(Internal, "no output {output}") };
        Ok(Expr::from(crate::ops::zeros(meta.sizes(), meta.options())?))
    }

    /// Number of gradients: one for each output of the recorded call.
    pub fn outputs(&self) -> usize {
        self.node.head.outputs.len()
    }

    /// Whether the gradient of slot `index` is needed.
    #[inline(never)]
    pub fn needs(&self, index: usize) -> bool {
        self.needs.get(index).copied().unwrap_or(false)
    }

    /// Whether the gradient of any of these slots is needed.
    pub fn needs_any(&self, mut range: Range<usize>) -> bool {
        range.any(|index| self.needs(index))
    }

    /// The saved tensor. An error if it was modified in place since.
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

    /// The saved tensors of a list in which some may be missing.
    pub fn unpack_list(&self, saved: &[Saved]) -> Result<Vec<Option<Expr>>> {
        saved.iter().map(|saved| self.unpack_option(saved)).collect()
    }

    /// Calls the derivative with these gradients, and returns those of the inputs.
    pub(super) fn run(&self) -> Result<Gradients> {
        list::check_memory(self.node.head.next.0.len())?;
        let mut gradients = Gradients(smallvec![None; self.node.head.next.0.len()]);
        self.node.body.backward(self, &mut gradients)?;
        Ok(gradients)
    }
}

/// The gradients of the inputs of a recorded call.
pub struct Gradients(pub(super) SmallVec<[Option<Tensor>; 2]>);

impl Gradients {
    /// Stores a gradient in a slot.
    #[inline]
    pub fn set(&mut self, index: usize, grad: impl Into<Expr>) -> Result<()> {
        self.set_expr(index, grad.into())
    }

    #[inline(never)]
    fn set_expr(&mut self, index: usize, grad: Expr) -> Result<()> {
        self.put(index, Some(grad.into_tensor()?))
    }

    /// Stores gradients in the slots from `start` on.
    pub fn set_list(&mut self, start: usize, grads: impl IntoIterator<Item = impl Into<Expr>>) -> Result<()> {
        grads.into_iter().enumerate().try_for_each(|(offset, grad)| self.set(start + offset, grad))
    }

    /// Stores the existing gradients in the slots from `start` on.
    pub fn set_some<const N: usize>(&mut self, start: usize, grads: [Option<Expr>; N]) -> Result<()> {
        for (offset, grad) in grads.into_iter().enumerate() {
            if let Some(grad) = grad {
                self.set(start + offset, grad)?;
            }
        }
        Ok(())
    }

    /// Stores a gradient, or none, in a slot.
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

/// Takes the first selected element out of a list.
pub(super) fn take_out<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool) -> Option<T> {
    list.iter().position(is).map(|position| list.remove(position))
}

/// A number that no other hook has.
pub(super) fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
