//! Computes what depends on constants only, and chooses the branch of conditions that are constant.

use super::alias::Aliases;
use super::effects::{constant_bool, is_pure};
use super::{constant_in, constant_value, insert_constant};
use crate::graph::{Graph, Node, NodeId, ValueId};
use crate::runtime::function::{Function, Linker};
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use crate::runtime::{Environment, run};
use crate::schema::Schema;
use crate::types::{Resolver, Type};
use rushlight_base::{Result, bail};
use std::sync::Arc;

/// Results with more elements are computed each time: a graph is no place for large tables.
const MAX_ELEMENTS: i64 = 1 << 20;

/// Replaces nodes whose inputs are constants by their results, `prim::If` with a constant condition by its branch, and
/// loops without iterations by their inputs. Whether the graph has changed.
pub fn propagate_constants(graph: &mut Graph, linker: &dyn Linker) -> Result<bool> {
    let mut aliases = Aliases::new(graph, linker)?;
    let mut changed = false;
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        if node.block().is_none() {
            continue;
        }
        changed |= match &*node.kind {
            "prim::Constant" => false,
            "prim::If" => choose_branch(graph, id)? || merge_equal_results(graph, id)?,
            "prim::Loop" => skip_loop(graph, id)?,
            _ => fold(graph, id, linker, &mut aliases)?,
        };
    }
    Ok(changed)
}

fn choose_branch(graph: &mut Graph, id: NodeId) -> Result<bool> {
    let node = graph.node(id)?;
    let Some(holds) = node.inputs().first().and_then(|&input| constant_bool(graph, input)) else { return Ok(false) };
    let &[yes, no] = node.blocks() else { return Ok(false) };
    let block = if holds { yes } else { no };
    let outputs = node.outputs().to_vec();
    for inner in graph.nodes(block).collect::<Vec<_>>() {
        graph.move_before(inner, id)?;
    }
    let results = graph.block(block)?.outputs().to_vec();
    outputs.into_iter().zip(results).try_for_each(|(output, result)| graph.replace_uses(output, result))?;
    graph.remove(id)?;
    Ok(true)
}

/// Outputs of `prim::If` that both branches take from the same value outside, or from equal constants.
fn merge_equal_results(graph: &mut Graph, id: NodeId) -> Result<bool> {
    let node = graph.node(id)?;
    let &[yes, no] = node.blocks() else { return Ok(false) };
    let outputs = node.outputs().to_vec();
    let mut changed = false;
    for (index, output) in outputs.into_iter().enumerate().rev() {
        let results = [yes, no].map(|block| graph.block(block).ok().and_then(|b| b.outputs().get(index).copied()));
        let [Some(a), Some(b)] = results else { continue };
        if graph.value(output)?.users().is_empty() {
            continue;
        }
        if a == b {
            graph.replace_uses(output, a)?;
            changed = true;
        } else if let Some(value) = equal_constants(graph, a, b)? {
            let kind = graph.value(a)?.kind.clone();
            let constant = insert_constant(graph, id, &value, &kind)?;
            graph.replace_uses(output, constant)?;
            changed = true;
        }
    }
    Ok(changed)
}

fn equal_constants(graph: &Graph, a: ValueId, b: ValueId) -> Result<Option<Value>> {
    if graph.value(a)?.kind != graph.value(b)?.kind || !super::pooling::is_immutable(&graph.value(a)?.kind) {
        return Ok(None);
    }
    Ok(match (constant_value(graph, a), constant_value(graph, b)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) if a == b => Some(Value::Int(a)),
        (Some(Value::Bool(a)), Some(Value::Bool(b))) if a == b => Some(Value::Bool(a)),
        (Some(Value::Str(a)), Some(Value::Str(b))) if a == b => Some(Value::Str(a)),
        (Some(Value::None), Some(Value::None)) => Some(Value::None),
        _ => None,
    })
}

/// Replaces a loop that does not begin.
fn skip_loop(graph: &mut Graph, id: NodeId) -> Result<bool> {
    let node = graph.node(id)?;
    let (Some(&count), Some(&begins)) = (node.inputs().first(), node.inputs().get(1)) else { return Ok(false) };
    let no_iterations = matches!(constant_value(graph, count), Some(Value::Int(count)) if count <= 0);
    if !no_iterations && constant_bool(graph, begins) != Some(false) {
        return Ok(false);
    }
    let outputs = node.outputs().to_vec();
    let results: Vec<ValueId> = node.inputs().iter().skip(2).copied().collect();
    outputs.into_iter().zip(results).try_for_each(|(output, result)| graph.replace_uses(output, result))?;
    graph.remove(id)?;
    Ok(true)
}

fn fold(graph: &mut Graph, id: NodeId, linker: &dyn Linker, aliases: &mut Aliases) -> Result<bool> {
    let node = graph.node(id)?;
    if node.outputs().is_empty() || !node.inputs().iter().all(|&input| super::constant_node(graph, input).is_some()) {
        return Ok(false);
    }
    if &*node.kind == "prim::GetAttr" || !is_pure(graph, id, linker) || aliases.touches_written(graph, node)? {
        return Ok(false);
    }
    for &output in node.outputs() {
        // Each run has to return a new one. Tuples and the like are checked by what they contain.
        if is_new(graph, node, output)? && aliases.is_visible(graph, output)? {
            return Ok(false);
        }
    }
    let inputs: Option<Vec<Value>> = node.inputs().iter().map(|&input| constant_in(graph, input, linker)).collect();
    let Some(inputs) = inputs else { return Ok(false) };
    // What fails is left to fail when the graph runs.
    let Ok(results) = evaluate(graph, id, inputs) else { return Ok(false) };
    let outputs = graph.node(id)?.outputs().to_vec();
    if results.len() != outputs.len() || !results.iter().all(is_constant) {
        return Ok(false);
    }
    for (value, &output) in results.iter().zip(&outputs) {
        let kind = graph.value(output)?.kind.clone();
        let constant = insert_constant(graph, id, value, &kind)?;
        graph.replace_uses(output, constant)?;
    }
    graph.remove(id)?;
    Ok(true)
}

/// Whether a node creates what an output is, so that the graph must not give out the same again.
fn is_new(graph: &Graph, node: &Node, output: ValueId) -> Result<bool> {
    let kind = &graph.value(output)?.kind;
    let passes_on = matches!(&*node.kind, "prim::unchecked_cast" | "prim::TupleIndex" | "prim::TupleUnpack");
    Ok(!passes_on && !super::pooling::is_immutable(kind))
}

/// The results of one node.
pub(super) fn evaluate(graph: &Graph, id: NodeId, inputs: Vec<Value>) -> Result<Vec<Value>> {
    let node = graph.node(id)?;
    let mut single = Graph::new();
    let top = single.top();
    let mut arguments = Vec::new();
    for &input in node.inputs() {
        arguments.push(single.add_input(top, graph.value(input)?.kind.clone())?);
    }
    let kinds: Vec<Type> =
        node.outputs().iter().map(|&output| Ok(graph.value(output)?.kind.clone())).collect::<Result<_>>()?;
    let copy = single.append(top, &node.kind, &arguments, &kinds)?;
    single.node_mut(copy)?.attributes = node.attributes.clone();
    for output in single.node(copy)?.outputs().to_vec() {
        single.add_output(top, output)?;
    }
    let function = Function::new("constant", single, Schema::new("constant", Vec::new(), Type::Any));
    let result = run(&function, inputs, &Environment::new(Arc::new(Operators)))?;
    Ok(match (kinds.len(), result) {
        (1, value) => vec![value],
        (_, Value::Tuple(tuple)) => Tuple::items(&tuple).to_vec(),
        (_, value) => bail!(Runtime, "{} returned {}", node.kind, value.kind()),
    })
}

/// Whether a value may become part of a graph.
fn is_constant(value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => !tensor.requires_grad() && tensor.numel() <= MAX_ELEMENTS,
        Value::List(list) => list.values().iter().all(is_flat_constant),
        Value::Tuple(tuple) => tuple.items().iter().all(is_flat_constant),
        other => is_flat_constant(other),
    }
}

fn is_flat_constant(value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => !tensor.requires_grad() && tensor.numel() <= MAX_ELEMENTS,
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Complex(_)
        | Value::Str(_)
        | Value::Device(_)
        | Value::Enum(_) => true,
        _ => false,
    }
}

/// A program without functions: nodes that call some are not computed here.
struct Operators;

impl Resolver for Operators {
    fn resolve(&self, _name: &str) -> Option<Type> {
        None
    }

    fn implements(&self, _name: &str, _interface: &str) -> bool {
        false
    }
}

impl Linker for Operators {
    fn function(&self, name: &str) -> Result<Arc<Function>> {
        bail!(Runtime, "the function '{name}' is not called while constants are computed")
    }

    fn method(&self, class: &str, name: &str) -> Result<Arc<Function>> {
        self.function(&format!("{class}.{name}"))
    }

    fn class(&self, name: &str) -> Result<Arc<crate::runtime::object::Class>> {
        bail!(Runtime, "the class '{name}' is not needed while constants are computed")
    }
}
