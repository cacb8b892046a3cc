//! Removes nodes whose results nobody needs.

use super::effects::has_effect;
use crate::graph::{BlockId, Graph, NodeId, Origin, ValueId};
use crate::types::Resolver;
use rushlight_base::Result;
use std::collections::HashSet;

/// Removes nodes without effect whose outputs are not needed, and values that branches and loops compute in vain.
/// Whether the graph has changed.
pub fn eliminate_dead_code(graph: &mut Graph, types: &dyn Resolver) -> Result<bool> {
    let live = Live::of(graph, types)?;
    let mut changed = false;
    // From the end to the start: a use comes after what it uses.
    for id in graph.all_nodes().into_iter().rev() {
        if graph.node(id)?.block().is_some() {
            changed |= live.remove_from(graph, id)?;
        }
    }
    Ok(changed)
}

/// What is needed.
struct Live {
    nodes: HashSet<NodeId>,
    values: HashSet<ValueId>,
}

impl Live {
    fn of(graph: &Graph, types: &dyn Resolver) -> Result<Live> {
        let mut live = Live { nodes: HashSet::new(), values: HashSet::new() };
        let mut pending: Vec<ValueId> = graph.block(graph.top())?.outputs().to_vec();
        for id in graph.all_nodes() {
            if has_effect(graph, graph.node(id)?, types) {
                live.need_node(graph, id, &mut pending)?;
            }
        }
        while let Some(value) = pending.pop() {
            if !live.values.insert(value) {
                continue;
            }
            match graph.value(value)?.origin() {
                Origin::Node(node) => {
                    live.need_node(graph, node, &mut pending)?;
                    live.need_results(graph, node, value, &mut pending)?;
                }
                Origin::Block(block) => live.need_parameter(graph, block, value, &mut pending)?,
            }
        }
        Ok(live)
    }

    /// A node runs, and with it the nodes around it.
    fn need_node(&mut self, graph: &Graph, id: NodeId, pending: &mut Vec<ValueId>) -> Result<()> {
        let mut id = Some(id);
        while let Some(node) = id {
            if !self.nodes.insert(node) {
                break;
            }
            let data = graph.node(node)?;
            match &*data.kind {
                "prim::If" => pending.extend(data.inputs()),
                // The number of iterations, whether to begin, whether to go on.
                "prim::Loop" => {
                    pending.extend(data.inputs().iter().take(2));
                    for &body in data.blocks() {
                        pending.extend(graph.block(body)?.outputs().first());
                    }
                }
                _ => pending.extend(data.inputs()),
            }
            id = data.block().and_then(|block| graph.block(block).ok()).and_then(|block| block.owner());
        }
        Ok(())
    }

    /// What an output of `prim::If` or `prim::Loop` is computed from.
    fn need_results(&self, graph: &Graph, id: NodeId, value: ValueId, pending: &mut Vec<ValueId>) -> Result<()> {
        let node = graph.node(id)?;
        let Some(index) = node.outputs().iter().position(|&output| output == value) else { return Ok(()) };
        match &*node.kind {
            "prim::If" => {
                for &block in node.blocks() {
                    pending.extend(graph.block(block)?.outputs().get(index));
                }
            }
            "prim::Loop" => self.need_carried(graph, id, index, pending)?,
            _ => {}
        }
        Ok(())
    }

    fn need_carried(&self, graph: &Graph, id: NodeId, index: usize, pending: &mut Vec<ValueId>) -> Result<()> {
        let node = graph.node(id)?;
        pending.extend(node.inputs().get(index + 2));
        for &body in node.blocks() {
            pending.extend(graph.block(body)?.outputs().get(index + 1));
        }
        Ok(())
    }

    fn need_parameter(
        &mut self,
        graph: &Graph,
        block: BlockId,
        value: ValueId,
        pending: &mut Vec<ValueId>,
    ) -> Result<()> {
        let data = graph.block(block)?;
        let (Some(owner), Some(at)) = (data.owner(), data.inputs().iter().position(|&input| input == value)) else {
            return Ok(());
        };
        self.need_node(graph, owner, pending)?;
        match at.checked_sub(1) {
            Some(index) => self.need_carried(graph, owner, index, pending),
            None => Ok(()),
        }
    }

    fn remove_from(&self, graph: &mut Graph, id: NodeId) -> Result<bool> {
        let node = graph.node(id)?;
        let kind = node.kind.clone();
        let outputs = node.outputs().to_vec();
        let unused =
            |graph: &Graph| outputs.iter().all(|&output| graph.value(output).is_ok_and(|v| v.users().is_empty()));
        if !self.nodes.contains(&id) {
            if unused(graph) {
                graph.remove(id)?;
                return Ok(true);
            }
            return Ok(false);
        }
        let mut changed = false;
        for (index, output) in outputs.iter().enumerate().rev() {
            if self.values.contains(output) || !graph.value(*output)?.users().is_empty() {
                continue;
            }
            changed |= match &*kind {
                "prim::If" => graph.remove_if_output(id, index).map(|()| true)?,
                "prim::Loop" => self.remove_carried(graph, id, index)?,
                _ => false,
            };
        }
        Ok(changed)
    }

    /// Removes a value that a loop carries without need.
    fn remove_carried(&self, graph: &mut Graph, id: NodeId, index: usize) -> Result<bool> {
        let &[body] = graph.node(id)?.blocks() else { return Ok(false) };
        let Some(&parameter) = graph.block(body)?.inputs().get(index + 1) else { return Ok(false) };
        if self.values.contains(&parameter) {
            return Ok(false);
        }
        // What computes the next value of the parameter may need the parameter itself; nothing else does.
        let Some(&trip) = graph.block(body)?.inputs().first() else { return Ok(false) };
        graph.replace_output(body, index + 1, trip)?;
        if !graph.value(parameter)?.users().is_empty() {
            return Ok(true);
        }
        graph.remove_loop_value(id, index)?;
        Ok(true)
    }
}
