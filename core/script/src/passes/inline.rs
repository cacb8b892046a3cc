//! Replaces calls of functions and methods by their nodes.

use crate::graph::{Attribute, Graph, Node, NodeId, Origin};
use crate::runtime::function::{Function, Linker};
use crate::types::Type;
use rushlight_base::{Result, ensure};
use std::sync::Arc;

/// Calls in calls. Programs cannot be recursive, so that only damaged ones get there.
const MAX_DEPTH: usize = 1000;

/// Replaces calls of functions, and of methods of objects whose class is known, by the nodes of what they call. Calls of
/// interfaces and of classes that are not written in TorchScript stay. Whether the graph has changed.
pub fn inline(graph: &mut Graph, linker: &dyn Linker) -> Result<bool> {
    let mut pending: Vec<(NodeId, usize)> = calls(graph)?.into_iter().map(|call| (call, 0)).collect();
    let mut changed = false;
    while let Some((id, depth)) = pending.pop() {
        let Some((function, skipped)) = callee(graph, graph.node(id)?, linker)? else { continue };
        ensure!(depth < MAX_DEPTH, Runtime, "calls are nested more than {MAX_DEPTH} deep");
        let inner = replace_call(graph, id, function.known_graph()?, skipped)?;
        pending.extend(inner.into_iter().map(|call| (call, depth + 1)));
        changed = true;
    }
    for id in graph.all_nodes() {
        changed |= inline_attributes(graph, id, linker, MAX_DEPTH)?;
    }
    Ok(changed)
}

/// Graphs that are attributes of a node, such as the body of `prim::fork`.
fn inline_attributes(graph: &mut Graph, id: NodeId, linker: &dyn Linker, depth: usize) -> Result<bool> {
    let node = graph.node(id)?;
    let Some(at) = node.attributes.iter().position(|(_, attribute)| matches!(attribute, Attribute::Graph(_))) else {
        return Ok(false);
    };
    let Some((_, Attribute::Graph(inner))) = node.attributes.get(at) else { return Ok(false) };
    ensure!(depth > 0, Runtime, "graphs are nested too deeply");
    let mut copy = Graph::clone(inner);
    let mut changed = false;
    let mut pending = calls(&copy)?;
    while let Some(call) = pending.pop() {
        let Some((function, skipped)) = callee(&copy, copy.node(call)?, linker)? else { continue };
        pending.extend(replace_call(&mut copy, call, function.known_graph()?, skipped)?);
        changed = true;
    }
    if changed && let Some((_, attribute)) = graph.node_mut(id)?.attributes.get_mut(at) {
        *attribute = Attribute::Graph(Arc::new(copy));
    }
    Ok(changed)
}

fn is_call(node: &Node) -> bool {
    matches!(&*node.kind, "prim::CallFunction" | "prim::CallMethod")
}

fn calls(graph: &Graph) -> Result<Vec<NodeId>> {
    let nodes = graph.all_nodes().into_iter();
    Ok(nodes.filter(|&id| graph.node(id).is_ok_and(is_call)).collect())
}

/// What a node calls, and how many of its inputs are not arguments.
pub(super) fn callee(graph: &Graph, node: &Node, linker: &dyn Linker) -> Result<Option<(Arc<Function>, usize)>> {
    let Some(&first) = node.inputs().first() else { return Ok(None) };
    if !is_call(node) {
        return Ok(None);
    }
    if &*node.kind == "prim::CallFunction" {
        let Origin::Node(origin) = graph.value(first)?.origin() else { return Ok(None) };
        let Some(Attribute::Str(name)) = graph.node(origin)?.attribute("name") else { return Ok(None) };
        return Ok(Some((linker.function(&String::from_utf8_lossy(name))?, 1)));
    }
    let Type::Class(class) = &graph.value(first)?.kind else { return Ok(None) };
    if class.starts_with("__torch__.torch.classes.") {
        return Ok(None);
    }
    let Some(Attribute::Str(name)) = node.attribute("name") else { return Ok(None) };
    Ok(Some((linker.method(class, &String::from_utf8_lossy(name))?, 0)))
}

/// Replaces a call, and returns the calls that came with it.
pub(super) fn replace_call(graph: &mut Graph, id: NodeId, callee: &Graph, skipped: usize) -> Result<Vec<NodeId>> {
    let node = graph.node(id)?;
    let arguments = node.inputs().get(skipped..).unwrap_or_default().to_vec();
    let outputs = node.outputs().to_vec();
    let before = graph.node_count();
    let results = graph.splice(id, callee, &arguments)?;
    ensure!(
        results.len() == outputs.len(),
        Runtime,
        "a function has {} results, its call {}",
        results.len(),
        outputs.len()
    );
    for (&output, &result) in outputs.iter().zip(&results) {
        // The name that the caller gave is more useful than that of the callee.
        let name = graph.given_name(output).cloned();
        graph.replace_uses(output, result)?;
        if let (Some(name), false) = (name, arguments.contains(&result)) {
            graph.set_name(result, &name)?;
        }
    }
    graph.remove(id)?;
    Ok(graph.nodes_since(before).filter(|&new| graph.node(new).is_ok_and(is_call)).collect())
}
