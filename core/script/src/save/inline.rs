//! Which nodes are printed inside of the expression that uses them.
//!
//! A node is inlined only if it is just before its user, apart from constants and from what is inlined between them: the
//! printed program then runs the same operators in the same order.

use crate::graph::{Graph, NodeId, Origin, User, ValueId};
use rushlight_base::Result;
use std::collections::HashSet;

/// The nodes of a graph that are inlined, in all of its blocks.
pub(super) fn inlined(graph: &Graph) -> Result<HashSet<NodeId>> {
    let mut found = HashSet::new();
    let mut blocks = vec![graph.top()];
    while let Some(block) = blocks.pop() {
        let mut nodes = Vec::new();
        for node in graph.nodes(block) {
            blocks.extend(graph.node(node)?.blocks());
            if !is_constant(graph, node) {
                nodes.push(node);
            }
        }
        // Before which node the inputs are expected.
        let mut end = take_inputs(graph, graph.block(block)?.outputs(), &nodes, nodes.len(), &mut found)?;
        while let Some(at) = end.checked_sub(1) {
            let Some(&node) = nodes.get(at) else { break };
            end = take_inputs(graph, graph.node(node)?.inputs(), &nodes, at, &mut found)?;
        }
    }
    Ok(found)
}

/// Inlines what computes `inputs`, and what computes its inputs, as long as it is just before. Returns the number of
/// nodes before them.
fn take_inputs(
    graph: &Graph,
    inputs: &[ValueId],
    nodes: &[NodeId],
    mut end: usize,
    found: &mut HashSet<NodeId>,
) -> Result<usize> {
    let mut pending = inputs.to_vec();
    while let Some(value) = pending.pop() {
        let Origin::Node(origin) = graph.value(value)?.origin() else { continue };
        let Some(expected) = end.checked_sub(1) else { break };
        if nodes.get(expected) == Some(&origin) && can_inline(graph, value, origin)? {
            found.insert(origin);
            end = expected;
            pending.extend(graph.node(origin)?.inputs());
        }
    }
    Ok(end)
}

pub(super) fn is_constant(graph: &Graph, node: NodeId) -> bool {
    graph.node(node).is_ok_and(|node| &*node.kind == "prim::Constant")
}

fn can_inline(graph: &Graph, value: ValueId, origin: NodeId) -> Result<bool> {
    let (data, node) = (graph.value(value)?, graph.node(origin)?);
    let ([_], [user]) = (node.outputs(), data.users()) else { return Ok(false) };
    if !node.blocks().is_empty() {
        return Ok(false);
    }
    // A variable of the program stays one, unless it is only returned.
    let is_named = !graph.name(value).bytes().all(|digit| digit.is_ascii_digit());
    let statement = matches!(
        &*node.kind,
        // Conditions on types are refined already: in an `if` they would be refined again.
        "prim::isinstance"
            | "prim::TupleUnpack"
            | "prim::ListUnpack"
            | "prim::fork"
            | "prim::forkClosure"
            | "prim::awaitable"
            | "prim::Enter"
            | "prim::Exit"
    );
    Ok(!statement
        && match *user {
            User::Block(..) => true,
            User::Node(user, index) => match &*graph.node(user)?.kind {
                // What a loop carries is assigned before the loop.
                "prim::Loop" => !is_named && index < 2,
                "prim::fork" | "prim::forkClosure" | "prim::awaitable" => false,
                _ => !is_named,
            },
        })
}
