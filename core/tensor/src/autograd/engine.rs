//! The backward engine: traverses the graph and runs nodes when all of their gradients have arrived, later calls first.
//!
//! Dependency counts decide readiness; sequence numbers only break ties. Everything is a loop: chains of a million
//! nodes do not use the stack. A pass belongs to the calling thread, and a derivative may start another one
//! (`reentrant`). Concurrent passes share only the leaves, which lock.

use super::anomaly::{self, Evaluating};
use super::expr::Expr;
use super::modes::GradModeGuard;
use super::node::{BackwardCall, Edge, Gradients, LEAF_SEQUENCE, Node, TensorMeta};
use super::reentrant;
use crate::dispatch::Value;
use crate::observe::{self, Call, Name, Running, Scope};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, SmallVec, bail, ensure, err, format_sizes, list, runtime};
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// The parameters of a backward pass.
pub(super) struct Pass<'a> {
    /// The roots, with their initial gradients.
    pub roots: Vec<(Edge, Tensor)>,
    /// Captures the gradients at these edges and returns them (`grad`); without captures, leaves accumulate.
    pub captures: Option<&'a [Edge]>,
    /// Accumulate at the captured leaves as well (`backward(inputs=...)`).
    pub accumulate_captured: bool,
    /// Keep the saved tensors of nodes.
    pub retain_graph: bool,
    /// Record the pass itself.
    pub create_graph: bool,
}

/// Address of a node, which identifies it.
type Key = *const ();

fn key(node: &Arc<Node>) -> Key {
    Arc::as_ptr(node).cast()
}

/// A node that will run, during a pass.
struct Task {
    node: Arc<Node>,
    /// Edges from nodes that have yet to run.
    dependencies: usize,
    grads: SmallVec<[Option<Tensor>; 1]>,
    /// Whether a captured edge is reachable from it (or nothing is captured).
    needed: bool,
}

/// An entry of the queue of ready nodes: later calls first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Ready(u64, usize);

struct Walk<'a> {
    tasks: Vec<Task>,
    index: HashMap<Key, usize>,
    ready: BinaryHeap<Ready>,
    captures: HashMap<(usize, u32), SmallVec<[usize; 1]>>,
    captured: Vec<Option<Tensor>>,
    pass: &'a Pass<'a>,
}

/// Runs a pass. Returns the gradients at the captured edges, in their order.
pub(super) fn run(pass: &Pass<'_>) -> Result<Vec<Option<Tensor>>> {
    reentrant::run(|| walk(pass))
}

fn walk(pass: &Pass<'_>) -> Result<Vec<Option<Tensor>>> {
    let mut walk = Walk {
        tasks: Vec::new(),
        index: HashMap::new(),
        ready: BinaryHeap::new(),
        captures: HashMap::new(),
        captured: list::filled(pass.captures.map_or(0, <[Edge]>::len), None)?,
        pass,
    };
    walk.discover()?;
    walk.mark_needed()?;
    let _mode = GradModeGuard::new(pass.create_graph);
    walk.start()?;
    while let Some(Ready(_, index)) = walk.ready.pop() {
        runtime::check_may_begin()?;
        walk.run_node(index)?;
    }
    Ok(walk.captured)
}

impl Walk<'_> {
    fn enter(&mut self, node: &Arc<Node>) -> Result<(usize, bool)> {
        if let Some(&index) = self.index.get(&key(node)) {
            return Ok((index, false));
        }
        let index = self.tasks.len();
        let grads = SmallVec::from_elem(None, node.outputs().len());
        let full = |_| err!(OutOfMemory, "not enough memory for a backward pass of more than {index} nodes");
        self.index.try_reserve(1).map_err(full)?;
        list::push(&mut self.tasks, Task { node: node.clone(), dependencies: 0, grads, needed: true })?;
        self.index.insert(key(node), index);
        Ok((index, true))
    }

    /// Finds every reachable node, and counts the edges into each.
    fn discover(&mut self) -> Result<()> {
        let mut stack = Vec::new();
        for (edge, _) in &self.pass.roots {
            let (index, new) = self.enter(&edge.node)?;
            if new {
                list::push(&mut stack, index)?;
            }
        }
        while let Some(index) = stack.pop() {
            let node = self.tasks[index].node.clone();
            for edge in node.next_edges().iter().flatten() {
                let (next, new) = self.enter(&edge.node)?;
                self.tasks[next].dependencies += 1;
                if new {
                    list::push(&mut stack, next)?;
                }
            }
        }
        Ok(())
    }

    /// With captures, only nodes on a path to one of them need to run.
    fn mark_needed(&mut self) -> Result<()> {
        let Some(captures) = self.pass.captures else { return Ok(()) };
        self.tasks.iter_mut().for_each(|task| task.needed = false);
        for (position, edge) in captures.iter().enumerate() {
            if let Some(&index) = self.index.get(&key(&edge.node)) {
                self.captures.entry((index, edge.output)).or_default().push(position);
            }
        }
        // In topological order each node has to be visited only once.
        for index in self.leaves_first()? {
            let node = &self.tasks[index].node;
            let needed = node.next_edges().iter().flatten().any(|edge| {
                let next = self.index[&key(&edge.node)];
                self.tasks[next].needed || self.captures.contains_key(&(next, edge.output))
            });
            self.tasks[index].needed = needed;
        }
        Ok(())
    }

    /// All nodes, each after the nodes that its edges lead to.
    fn leaves_first(&self) -> Result<Vec<usize>> {
        let mut remaining = list::collect(self.tasks.iter().map(|task| task.dependencies))?;
        let mut order = list::with_capacity(self.tasks.len())?;
        order.extend((0..self.tasks.len()).filter(|index| remaining[*index] == 0));
        let mut done = 0;
        while done < order.len() {
            let node = &self.tasks[order[done]].node;
            done += 1;
            for edge in node.next_edges().iter().flatten() {
                let next = self.index[&key(&edge.node)];
                remaining[next] -= 1;
                if remaining[next] == 0 {
                    order.push(next);
                }
            }
        }
        order.reverse();
        Ok(order)
    }

    fn start(&mut self) -> Result<()> {
        for (edge, grad) in &self.pass.roots {
            let index = self.index[&key(&edge.node)];
            add(&mut self.tasks[index].grads, edge.output, grad.clone())?;
        }
        // No node is queued twice, so the queue never exceeds this capacity.
        let count = self.tasks.len();
        self.ready = list::with_capacity(count)?.into();
        let ready = self.tasks.iter().enumerate().filter(|(_, task)| task.dependencies == 0);
        self.ready.extend(ready.map(|(index, task)| Ready(task.node.sequence(), index)));
        Ok(())
    }

    fn run_node(&mut self, index: usize) -> Result<()> {
        let node = self.tasks[index].node.clone();
        if observe::is_any() {
            let name = format!("autograd::engine::evaluate_function: {}", node.name());
            let _running = Running::begin(Name::Text(&name), Scope::Function, |call| describe(call, &node));
            return self.run_task(index, &node);
        }
        self.run_task(index, &node)
    }

    fn run_task(&mut self, index: usize, node: &Arc<Node>) -> Result<()> {
        let mut grads = std::mem::take(&mut self.tasks[index].grads);
        call_hooks(node, &mut grads)?;
        let captured = self.capture(index, &grads);
        let runs =
            self.tasks[index].needed || (captured && self.pass.accumulate_captured && node.next_edges().is_empty());
        let inputs = if runs { self.evaluate_with_hooks(node, grads)? } else { SmallVec::new() };
        self.deliver(node, inputs)
    }

    fn capture(&mut self, index: usize, grads: &[Option<Tensor>]) -> bool {
        if self.captures.is_empty() {
            return false;
        }
        let mut any = false;
        for (output, grad) in grads.iter().enumerate() {
            if let Some(positions) = self.captures.get(&(index, output as u32)) {
                any = true;
                positions.iter().for_each(|&position| self.captured[position] = grad.clone());
            }
        }
        any
    }

    /// Runs a node between its own hooks. In anomaly mode errors name the forward call.
    fn evaluate_with_hooks(
        &self,
        node: &Arc<Node>,
        mut grads: SmallVec<[Option<Tensor>; 1]>,
    ) -> Result<SmallVec<[Option<Tensor>; 2]>> {
        for hook in node.hooks_before() {
            if let Some(replaced) = hook(&grads)? {
                check_count("pre-hook", node, replaced.len(), grads.len())?;
                grads = replaced.into();
            }
        }
        let after = node.hooks_after();
        let taken = if after.is_empty() { SmallVec::new() } else { grads.clone() };
        let mut inputs = {
            let _current = Evaluating::enter(node);
            self.evaluate(node, grads).map_err(|error| anomaly::explain(error, node))?
        };
        for hook in after {
            if let Some(replaced) = hook(&inputs, &taken)? {
                check_count("hook", node, replaced.len(), inputs.len())?;
                inputs = replaced.into();
            }
        }
        Ok(inputs)
    }

    fn evaluate(
        &self,
        node: &Arc<Node>,
        grads: SmallVec<[Option<Tensor>; 1]>,
    ) -> Result<SmallVec<[Option<Tensor>; 2]>> {
        if grads.iter().all(Option::is_none) && !node.body().runs_without_gradients() {
            return Ok(SmallVec::from_elem(None, node.next_edges().len()));
        }
        let grads: SmallVec<[Option<Expr>; 1]> = grads.into_iter().map(|grad| grad.map(Expr::from)).collect();
        let needs = node.next_edges().iter().map(|edge| edge.as_ref().is_some_and(|edge| self.wants(edge))).collect();
        let call = BackwardCall { node, grads: &grads, needs };
        let mut inputs = if observe::is_any() { run_observed(&call) } else { call.run() }?.0;
        for (position, (grad, edge)) in inputs.iter_mut().zip(node.next_edges()).enumerate() {
            let (Some(found), Some(edge)) = (grad.take(), edge) else { continue };
            let meta = &edge.node.outputs()[edge.output as usize];
            let fitted =
                fit(found, meta, || format!("Function {} returned an invalid gradient", node.name()), position)?;
            anomaly::check_nan(node, &fitted, position)?;
            *grad = Some(fitted);
        }
        if !self.pass.retain_graph {
            node.body().release();
        }
        Ok(inputs)
    }

    fn wants(&self, edge: &Edge) -> bool {
        let next = self.index[&key(&edge.node)];
        self.tasks[next].needed || self.captures.contains_key(&(next, edge.output))
    }

    fn deliver(&mut self, node: &Arc<Node>, inputs: SmallVec<[Option<Tensor>; 2]>) -> Result<()> {
        let mut inputs = inputs.into_iter();
        for edge in node.next_edges() {
            let grad = inputs.next().flatten();
            let Some(edge) = edge else { continue };
            let next = self.index[&key(&edge.node)];
            let task = &mut self.tasks[next];
            if let Some(grad) = grad {
                add(&mut task.grads, edge.output, grad)?;
            }
            task.dependencies -= 1;
            if task.dependencies == 0 {
                self.ready.push(Ready(task.node.sequence(), next));
            }
        }
        Ok(())
    }
}

/// Runs a node as a call that observers see, with the gradients of its outputs as arguments.
#[cold]
fn run_observed(call: &BackwardCall<'_>) -> Result<Gradients> {
    let name = call.node.name();
    let values = |grads: &mut dyn Iterator<Item = Option<&Tensor>>| -> Vec<Value> {
        grads.map(|grad| grad.map_or(Value::None, Value::from)).collect()
    };
    let inputs = values(&mut call.grads.iter().map(|grad| grad.as_ref().and_then(|grad| grad.tensor().ok())));
    let running = Running::begin(Name::Text(&name), Scope::BackwardFunction, |observed| {
        describe(observed, call.node);
        observed.inputs = &inputs;
    });
    let gradients = call.run();
    if let (Some(running), Ok(gradients)) = (running, &gradients) {
        running.end_with(&values(&mut gradients.0.iter().map(Option::as_ref)));
    }
    gradients
}

/// The numbers of a node, which connect it with the call that recorded it. The node of a leaf has none.
fn describe(call: &mut Call<'_>, node: &Node) {
    if node.sequence() != LEAF_SEQUENCE {
        call.sequence = node.sequence() as i64;
        call.forward_thread = node.thread();
    }
}

fn add(grads: &mut [Option<Tensor>], output: u32, grad: Tensor) -> Result<()> {
    let Some(slot) = grads.get_mut(output as usize) else {
        bail!(Internal, "a gradient for output {output} of a node with {} outputs", grads.len())
    };
    *slot = Some(match slot.take() {
        None => grad,
        Some(before) => sum_of(&before, &grad)?,
    });
    Ok(())
}

/// The sum of two gradients; a sparse one is added to a strided one.
pub(super) fn sum_of(before: &Tensor, grad: &Tensor) -> Result<Tensor> {
    if before.is_any_sparse() && !grad.is_any_sparse() {
        return ops::add_tensor(grad, before, 1.into());
    }
    ops::add_tensor(before, grad, 1.into())
}

fn call_hooks(node: &Arc<Node>, grads: &mut [Option<Tensor>]) -> Result<()> {
    for (output, slot) in grads.iter_mut().enumerate() {
        let hooks = node.body().leaf_hooks().into_iter().chain(node.hooks_of(output as u32));
        for (index, hook) in hooks.enumerate() {
            if let Some(replaced) = hook(slot.as_ref())? {
                check_replaced(slot.as_ref(), &replaced, index)?;
                *slot = Some(replaced);
            }
        }
    }
    Ok(())
}

fn check_count(what: &str, node: &Node, found: usize, expected: usize) -> Result<()> {
    ensure!(
        found == expected,
        Runtime,
        "a {what} of {} has returned an incorrect number of values (got {found}, but expected {expected})",
        node.name()
    );
    Ok(())
}

/// A tensor hook must return a gradient with the metadata of its argument.
fn check_replaced(before: Option<&Tensor>, replaced: &Tensor, index: usize) -> Result<()> {
    let before = before.ok_or_else(|| err!(Runtime, "can't replace a empty gradient with a non-empty value"))?;
    let name = |tensor: &Tensor| format!("torch.{}Tensor", tensor.dtype().c10_name());
    ensure!(
        replaced.dtype() == before.dtype(),
        Runtime,
        "hook '{index}' has changed the type of value (was {} got {})",
        name(before),
        name(replaced)
    );
    ensure!(replaced.sizes() == before.sizes(), Runtime, "hook '{index}' has changed the size of value");
    Ok(())
}

/// Converts a gradient to the shape and dtype of its tensor: sums over broadcast dimensions, drops the imaginary part
/// for a real tensor, casts. An incompatible shape is an error that begins with `what`.
pub(super) fn fit(grad: Tensor, meta: &TensorMeta, what: impl Fn() -> String, position: usize) -> Result<Tensor> {
    let sizes = grad.sizes();
    let grad = if *sizes == *meta.sizes() {
        grad
    } else {
        ensure!(
            expands_to(meta.sizes(), &sizes),
            Runtime,
            "{} at index {position} - got {} but expected shape compatible with {}",
            what(),
            format_sizes(&sizes),
            format_sizes(meta.sizes())
        );
        sum_to(&grad, &sizes, meta.sizes())?
    };
    let dtype = grad.dtype();
    if dtype == meta.dtype() {
        return Ok(grad);
    }
    let grad = if dtype.is_complex() && !meta.dtype().is_complex() { ops::real(&grad)? } else { grad };
    if grad.dtype() == meta.dtype() { Ok(grad) } else { ops::to_dtype(&grad, meta.dtype(), false, false, None) }
}

/// Whether a tensor of sizes `small` can be broadcast to `large`.
fn expands_to(small: &[i64], large: &[i64]) -> bool {
    small.len() <= large.len() && small.iter().rev().zip(large.iter().rev()).all(|(s, l)| s == l || *s == 1)
}

/// The inverse of broadcasting: sum over the dimensions that were added or stretched.
fn sum_to(grad: &Tensor, large: &[i64], small: &[i64]) -> Result<Tensor> {
    let leading = large.len() - small.len();
    let stretched = |dim: &usize| *dim < leading || (small[dim - leading] == 1 && large[*dim] != 1);
    let dims: Vec<i64> = (0..large.len()).filter(stretched).map(|dim| dim as i64).collect();
    let summed = if dims.is_empty() { grad.clone() } else { ops::sum_dim_intlist(grad, Some(&dims), true, None)? };
    if leading == 0 { Ok(summed) } else { ops::view(&summed, small) }
}
