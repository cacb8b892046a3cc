//! Removes what compiling leaves behind: values without uses, and outputs of `prim::If` without uses.

use super::environment::Compiler;
use crate::graph::{Graph, NodeId};
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
        let nodes = self.graph.all_nodes();
        // From the end to the start: a use comes after what it uses, and unused outputs of `prim::If` go before what
        // computes them.
        for node in nodes.into_iter().rev() {
            remove_unused(&mut self.graph, node)?;
        }
        Ok(())
    }
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
