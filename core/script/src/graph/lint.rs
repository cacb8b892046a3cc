//! The check that a graph is well formed, for tests and after passes.

use super::{BlockId, Graph, NodeId, Origin, User, ValueId};
use rushlight_base::{Result, ensure};
use std::collections::HashSet;

/// What is still to be checked, innermost last.
enum Step {
    Node(NodeId),
    Enter(BlockId),
    /// The outputs of a block; then its values go out of scope.
    Leave(BlockId, Vec<ValueId>),
}

impl Graph {
    /// Fails unless every value is defined before its uses and in scope, and users and links are consistent.
    pub fn lint(&self) -> Result<()> {
        let mut visible: HashSet<ValueId> = HashSet::new();
        let mut uses = 0;
        let mut steps = vec![Step::Enter(self.top())];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(id) => {
                    let block = self.block(id)?;
                    let mut defined = block.inputs.clone();
                    for &input in &block.inputs {
                        ensure!(
                            self.value(input)?.origin == Origin::Block(id),
                            Runtime,
                            "input %{} of a block belongs to another block",
                            self.name(input)
                        );
                    }
                    let nodes: Vec<NodeId> = self.nodes(id).collect();
                    let mut previous = None;
                    for &node in &nodes {
                        let data = self.node(node)?;
                        ensure!(
                            data.block == Some(id) && data.previous == previous,
                            Runtime,
                            "{} is not linked to its block",
                            data.kind
                        );
                        previous = Some(node);
                        defined.extend(&data.outputs);
                    }
                    ensure!(block.last == previous, Runtime, "the last node of a block is not linked");
                    visible.extend(&block.inputs);
                    steps.push(Step::Leave(id, defined));
                    steps.extend(nodes.into_iter().rev().map(Step::Node));
                }
                Step::Node(id) => {
                    let node = self.node(id)?;
                    for (index, &input) in node.inputs.iter().enumerate() {
                        self.check_use(input, User::Node(id, index), &visible, &node.kind)?;
                    }
                    uses += node.inputs.len();
                    // The outputs are in scope after the blocks, which are checked before the next node.
                    for &output in &node.outputs {
                        ensure!(
                            self.value(output)?.origin == Origin::Node(id) && visible.insert(output),
                            Runtime,
                            "output %{} of {} is defined twice",
                            self.name(output),
                            node.kind
                        );
                    }
                    for &block in node.blocks.iter().rev() {
                        ensure!(
                            self.block(block)?.owner == Some(id),
                            Runtime,
                            "a block of {} belongs to another node",
                            node.kind
                        );
                        steps.push(Step::Enter(block));
                    }
                }
                Step::Leave(id, defined) => {
                    let block = self.block(id)?;
                    for (index, &output) in block.outputs.iter().enumerate() {
                        self.check_use(output, User::Block(id, index), &visible, "the end of a block")?;
                    }
                    uses += block.outputs.len();
                    for value in defined {
                        visible.remove(&value);
                    }
                }
            }
        }
        let recorded: usize = self.values.iter().map(|value| value.users.len()).sum();
        ensure!(uses == recorded, Runtime, "the graph has {uses} uses of values, but records {recorded}");
        Ok(())
    }

    fn check_use(&self, value: ValueId, user: User, visible: &HashSet<ValueId>, place: &str) -> Result<()> {
        let mut is_visible = visible.contains(&value);
        // A node's outputs are not in scope inside of its own blocks.
        if let Origin::Node(origin) = self.value(value)?.origin {
            let mut block = match user {
                User::Node(node, _) => self.node(node)?.block,
                User::Block(block, _) => Some(block),
            };
            while let Some(owner) = block.and_then(|block| self.block(block).ok()).and_then(|block| block.owner) {
                is_visible &= owner != origin;
                block = self.node(owner)?.block;
            }
        }
        ensure!(is_visible, Runtime, "%{} is used by {place} where it is not defined", self.name(value));
        ensure!(
            self.value(value)?.users.contains(&user),
            Runtime,
            "%{} does not record its use by {place}",
            self.name(value)
        );
        Ok(())
    }
}
