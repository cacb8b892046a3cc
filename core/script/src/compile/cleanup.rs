//! Removes what compiling leaves behind: values without uses, and outputs of `prim::If` without uses.

use super::environment::Compiler;
use crate::graph::{BlockId, Graph, NodeId};
use rushlight_base::Result;

/// Operators without effect that the compiler adds on its own.
const PURE: [&str; 9] = [
    "prim::Constant",
    "prim::Uninitialized",
    "prim::unchecked_cast",
    "prim::TupleConstruct",
    "prim::TupleIndex",
    "prim::TupleUnpack",
    "prim::ListConstruct",
    "prim::DictConstruct",
    "prim::GetAttr",
];

impl Compiler<'_> {
    pub(super) fn cleanup(&mut self) -> Result<()> {
        let nodes = post_order(&self.graph);
        // From the end to the start: a use comes after what it uses.
        for node in nodes.into_iter().rev() {
            remove_unused(&mut self.graph, node)?;
        }
        Ok(())
    }
}

/// All nodes in order. A node with blocks comes before and after those in its blocks: unused outputs of `prim::If`
/// have to go before what computes them.
fn post_order(graph: &Graph) -> Vec<NodeId> {
    enum Step {
        Block(BlockId),
        Node(NodeId),
        Again(NodeId),
    }
    let mut order = Vec::new();
    let mut steps = vec![Step::Block(graph.top())];
    while let Some(step) = steps.pop() {
        match step {
            Step::Block(block) => {
                let nodes: Vec<NodeId> = graph.nodes(block).collect();
                steps.extend(nodes.into_iter().rev().map(Step::Node));
            }
            Step::Again(node) => order.push(node),
            Step::Node(node) => {
                order.push(node);
                let blocks = graph.node(node).map_or(&[][..], |node| node.blocks());
                if !blocks.is_empty() {
                    steps.push(Step::Again(node));
                    steps.extend(blocks.iter().rev().map(|&block| Step::Block(block)));
                }
            }
        }
    }
    order
}

fn remove_unused(graph: &mut Graph, node: NodeId) -> Result<()> {
    let data = graph.node(node)?;
    if data.block().is_none() {
        return Ok(());
    }
    let unused = |graph: &Graph, value| graph.value(value).is_ok_and(|value| value.users().is_empty());
    let outputs = data.outputs().to_vec();
    if PURE.contains(&&*data.kind) && outputs.iter().all(|&output| unused(graph, output)) {
        return graph.remove(node);
    }
    if &*data.kind == "prim::If" {
        for (index, &output) in outputs.iter().enumerate().rev() {
            if unused(graph, output) {
                graph.remove_if_output(node, index)?;
            }
        }
        let data = graph.node(node)?;
        let is_empty = data.blocks().iter().all(|&block| graph.nodes(block).next().is_none());
        if is_empty && data.outputs().is_empty() {
            return graph.remove(node);
        }
    }
    Ok(())
}
