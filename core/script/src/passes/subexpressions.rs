//! Equal nodes with equal inputs are computed once.

use super::alias::Aliases;
use super::effects::is_pure;
use super::pooling::{hash_attributes, is_immutable, same_attributes};
use crate::graph::{BlockId, Graph, NodeId, User};
use crate::types::Resolver;
use rushlight_base::Result;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

type Known = HashMap<u64, Vec<NodeId>>;

/// What is still to be done, innermost last.
enum Step {
    Node(NodeId),
    Enter(BlockId),
    Leave,
}

/// Replaces nodes that compute what a node before them has computed. Whether the graph has changed.
pub fn eliminate_common_subexpressions(graph: &mut Graph, types: &dyn Resolver) -> Result<bool> {
    let mut aliases = Aliases::new(graph, types)?;
    let mut changed = false;
    // The nodes that were seen, for each of the blocks around the current node.
    let mut scopes: Vec<Known> = Vec::new();
    let mut steps = vec![Step::Enter(graph.top())];
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(block) => {
                scopes.push(Known::new());
                steps.push(Step::Leave);
                let nodes: Vec<NodeId> = graph.nodes(block).collect();
                steps.extend(nodes.into_iter().rev().map(Step::Node));
            }
            Step::Leave => {
                scopes.pop();
            }
            Step::Node(id) => {
                let blocks = graph.node(id)?.blocks().to_vec();
                steps.extend(blocks.into_iter().rev().map(Step::Enter));
                changed |= visit(graph, id, types, &mut aliases, &mut scopes)?;
            }
        }
    }
    Ok(changed)
}

fn visit(
    graph: &mut Graph,
    id: NodeId,
    types: &dyn Resolver,
    aliases: &mut Aliases,
    scopes: &mut [Known],
) -> Result<bool> {
    let node = graph.node(id)?;
    if &*node.kind == "prim::Constant" || node.outputs().is_empty() || !is_pure(graph, id, types) {
        return Ok(false);
    }
    if aliases.touches_written(graph, node)? {
        return Ok(false);
    }
    let hash = hash_node(graph, id)?;
    let candidates = scopes.iter().filter_map(|scope| scope.get(&hash)).flatten().copied().collect::<Vec<_>>();
    for other in candidates {
        if !is_same(graph, id, other)? || !may_merge(graph, id, other, aliases)? {
            continue;
        }
        let outputs = graph.node(id)?.outputs().to_vec();
        let others = graph.node(other)?.outputs().to_vec();
        outputs.into_iter().zip(others).try_for_each(|(output, other)| graph.replace_uses(output, other))?;
        graph.remove(id)?;
        return Ok(true);
    }
    if let Some(scope) = scopes.last_mut() {
        scope.entry(hash).or_default().push(id);
    }
    Ok(false)
}

fn hash_node(graph: &Graph, id: NodeId) -> Result<u64> {
    let node = graph.node(id)?;
    let mut hasher = DefaultHasher::new();
    node.kind.hash(&mut hasher);
    node.inputs().hash(&mut hasher);
    hash_attributes(&node.attributes, &mut hasher);
    Ok(hasher.finish())
}

fn is_same(graph: &Graph, id: NodeId, other: NodeId) -> Result<bool> {
    let (a, b) = (graph.node(id)?, graph.node(other)?);
    let kinds_agree = || {
        a.outputs().len() == b.outputs().len()
            && a.outputs().iter().zip(b.outputs()).all(|(&a, &b)| match (graph.value(a), graph.value(b)) {
                (Ok(a), Ok(b)) => a.kind == b.kind,
                _ => false,
            })
    };
    Ok(a.kind == b.kind && a.inputs() == b.inputs() && same_attributes(&a.attributes, &b.attributes) && kinds_agree())
}

/// Whether nobody can tell that two results have become one. They are not written in this graph; but if both leave it, a
/// caller may write one of them.
fn may_merge(graph: &Graph, id: NodeId, other: NodeId, aliases: &mut Aliases) -> Result<bool> {
    let node = graph.node(id)?;
    // The same object anyway.
    if matches!(&*node.kind, "prim::GetAttr" | "prim::TupleIndex" | "prim::TupleUnpack" | "prim::unchecked_cast") {
        return Ok(true);
    }
    for (&output, &twin) in node.outputs().iter().zip(graph.node(other)?.outputs()) {
        if is_immutable(&graph.value(output)?.kind) {
            continue;
        }
        let both_leave = aliases.is_visible(graph, output)? && aliases.is_visible(graph, twin)?;
        // A view of something that is known outside leaves the graph only if it is handed on.
        if both_leave && (is_handed_on(graph, output)? || graph.value(output)?.kind != crate::types::Type::Tensor) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a value is used by anything else than an operator that returns a tensor.
fn is_handed_on(graph: &Graph, value: crate::graph::ValueId) -> Result<bool> {
    for user in graph.value(value)?.users() {
        match user {
            User::Node(node, _) => {
                let node = graph.node(*node)?;
                let plain = node.kind.starts_with("aten::") && node.blocks().is_empty();
                let handles = node.outputs().iter().any(|&output| {
                    graph
                        .value(output)
                        .is_ok_and(|value| !is_immutable(&value.kind) && value.kind != crate::types::Type::Tensor)
                });
                if !plain || handles {
                    return Ok(true);
                }
            }
            User::Block(..) => return Ok(true),
        }
    }
    Ok(false)
}
