//! Copying the nodes of one graph into another.

use super::{BlockId, Graph, NodeId, ValueId};
use rushlight_base::{Result, ensure, err};
use std::collections::HashMap;

/// No graph that passes create has more nodes: calls in calls can multiply them.
const MAX_NODES: usize = 1 << 22;

/// What is still to be copied, innermost last: nodes of a block, and the block's outputs.
struct Step {
    nodes: Vec<NodeId>,
    from: BlockId,
    /// The block to append to; none for nodes that go before the given one.
    to: Option<BlockId>,
}

impl Graph {
    /// Copies the nodes of `other` before a node, and returns the values that are its outputs. `arguments` are its
    /// inputs.
    pub fn splice(&mut self, next: NodeId, other: &Graph, arguments: &[ValueId]) -> Result<Vec<ValueId>> {
        let top = other.block(other.top())?;
        ensure!(
            top.inputs.len() == arguments.len(),
            Runtime,
            "a graph with {} inputs is called with {} arguments",
            top.inputs.len(),
            arguments.len()
        );
        let mut values: HashMap<ValueId, ValueId> = top.inputs.iter().copied().zip(arguments.iter().copied()).collect();
        let reversed = |block: BlockId| {
            let mut nodes: Vec<NodeId> = other.nodes(block).collect();
            nodes.reverse();
            nodes
        };
        let mut steps = vec![Step { nodes: reversed(other.top()), from: other.top(), to: None }];
        while let Some(step) = steps.last_mut() {
            let (from, to) = (step.from, step.to);
            let Some(id) = step.nodes.pop() else {
                steps.pop();
                if let Some(to) = to {
                    for output in &other.block(from)?.outputs {
                        self.add_output(to, copied(&values, *output)?)?;
                    }
                }
                continue;
            };
            let new = self.copy_node(other, id, (next, to), &mut values)?;
            let blocks = &other.node(id)?.blocks;
            let mut inner = Vec::new();
            for &block in blocks {
                let copy = self.add_block(new)?;
                for &input in &other.block(block)?.inputs {
                    let value = self.add_input(copy, other.value(input)?.kind.clone())?;
                    self.copy_name(other, input, value)?;
                    values.insert(input, value);
                }
                inner.push(Step { nodes: reversed(block), from: block, to: Some(copy) });
            }
            steps.extend(inner.into_iter().rev());
        }
        top.outputs.iter().map(|output| copied(&values, *output)).collect()
    }

    fn copy_node(
        &mut self,
        other: &Graph,
        id: NodeId,
        (next, to): (NodeId, Option<BlockId>),
        values: &mut HashMap<ValueId, ValueId>,
    ) -> Result<NodeId> {
        ensure!(self.nodes.len() < MAX_NODES, Runtime, "a graph has more than {MAX_NODES} nodes");
        let node = other.node(id)?;
        let inputs: Vec<ValueId> = node.inputs.iter().map(|input| copied(values, *input)).collect::<Result<_>>()?;
        let kinds: Vec<_> =
            node.outputs.iter().map(|output| Ok(other.value(*output)?.kind.clone())).collect::<Result<_>>()?;
        let new = match to {
            Some(block) => self.append(block, &node.kind, &inputs, &kinds)?,
            None => self.insert_before(next, &node.kind, &inputs, &kinds)?,
        };
        let copy = self.node_mut(new)?;
        copy.attributes = node.attributes.clone();
        copy.location = node.location.clone();
        let outputs = copy.outputs.clone();
        for (&from, to) in node.outputs.iter().zip(outputs) {
            self.copy_name(other, from, to)?;
            values.insert(from, to);
        }
        Ok(new)
    }

    fn copy_name(&mut self, other: &Graph, from: ValueId, to: ValueId) -> Result<()> {
        match other.given_name(from) {
            Some(name) => self.set_name(to, name),
            None => Ok(()),
        }
    }

    /// The same graph without what was removed from it.
    pub fn compacted(&self) -> Result<Graph> {
        let mut graph = Graph::new();
        let top = graph.top();
        let mut arguments = Vec::new();
        for &input in self.block(self.top())?.inputs() {
            let value = graph.add_input(top, self.value(input)?.kind.clone())?;
            graph.copy_name(self, input, value)?;
            arguments.push(value);
        }
        let end = graph.append(top, "prim::Constant", &[], &[])?;
        let outputs = graph.splice(end, self, &arguments)?;
        graph.remove(end)?;
        outputs.into_iter().try_for_each(|output| graph.add_output(top, output))?;
        Ok(graph)
    }
}

fn copied(values: &HashMap<ValueId, ValueId>, value: ValueId) -> Result<ValueId> {
    values.get(&value).copied().ok_or_else(|| err!(Runtime, "a value is used where it is not defined"))
}
