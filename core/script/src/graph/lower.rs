//! Changes that leave a graph with the same meaning and fewer values: tuples that are unpacked at once, and values that
//! loops carry without use. Code that was printed from a graph and compiled again has both.

use super::{BlockId, Graph, NodeId, Origin, User, ValueId};
use rushlight_base::Result;

impl Graph {
    /// Replaces the elements of tuples by the values that the tuples were made of.
    pub fn lower_simple_tuples(&mut self) -> Result<()> {
        for node in self.nodes_by_block() {
            if &*self.node(node)?.kind != "prim::TupleUnpack" {
                continue;
            }
            let &[tuple] = self.node(node)?.inputs() else { continue };
            let Origin::Node(made) = self.value(tuple)?.origin() else { continue };
            let (parts, outputs) = (self.node(made)?.inputs().to_vec(), self.node(node)?.outputs().to_vec());
            if &*self.node(made)?.kind != "prim::TupleConstruct" || parts.len() != outputs.len() {
                continue;
            }
            for (output, part) in outputs.into_iter().zip(parts) {
                self.replace_uses(output, part)?;
            }
            self.remove(node)?;
            if self.value(tuple)?.users().is_empty() {
                self.remove(made)?;
            }
        }
        Ok(())
    }

    /// Removes the values that loops carry, but that are used neither in them nor after them.
    pub fn remove_unused_carried(&mut self) -> Result<()> {
        // Inner loops come after outer ones: from the end, a loop is looked at after those in it.
        for node in self.nodes_by_block().into_iter().rev() {
            if &*self.node(node)?.kind != "prim::Loop" {
                continue;
            }
            let &[body] = self.node(node)?.blocks() else { continue };
            for index in (0..self.node(node)?.outputs().len()).rev() {
                self.remove_carried_if_unused(node, body, index)?;
            }
        }
        Ok(())
    }

    fn remove_carried_if_unused(&mut self, node: NodeId, body: BlockId, index: usize) -> Result<()> {
        let output = self.node(node)?.outputs().get(index).copied();
        let inner = self.block(body)?.inputs().get(index + 1).copied();
        let (Some(output), Some(inner)) = (output, inner) else { return Ok(()) };
        let itself = User::Block(body, index + 1);
        let unused = self.value(output)?.users().is_empty()
            && self.value(inner)?.users().iter().all(|&user| user == itself)
            && self.block(body)?.outputs().len() > index + 1
            && self.node(node)?.inputs().len() > index + 2;
        if !unused {
            return Ok(());
        }
        let mut inputs = self.node(node)?.inputs().to_vec();
        inputs.remove(index + 2);
        self.set_node_inputs(node, inputs)?;
        let mut results = self.block(body)?.outputs().to_vec();
        results.remove(index + 1);
        self.set_block_outputs(body, results)?;
        for value in [output, inner] {
            if let Some(name) = self.value_mut(value)?.name.take() {
                self.names.remove(&name);
            }
        }
        self.node_mut(node)?.outputs.remove(index);
        self.block_mut(body)?.inputs.remove(index + 1);
        Ok(())
    }

    fn set_node_inputs(&mut self, node: NodeId, inputs: Vec<ValueId>) -> Result<()> {
        let old = std::mem::replace(&mut self.node_mut(node)?.inputs, inputs.clone());
        let user = |index| User::Node(node, index);
        self.move_users(&old, &inputs, user)
    }

    fn set_block_outputs(&mut self, block: BlockId, outputs: Vec<ValueId>) -> Result<()> {
        let old = std::mem::replace(&mut self.block_mut(block)?.outputs, outputs.clone());
        let user = |index| User::Block(block, index);
        self.move_users(&old, &outputs, user)
    }

    fn move_users(&mut self, old: &[ValueId], new: &[ValueId], user: impl Fn(usize) -> User) -> Result<()> {
        for (index, &value) in old.iter().enumerate() {
            self.value_mut(value)?.users.retain(|&other| other != user(index));
        }
        for (index, &value) in new.iter().enumerate() {
            self.value_mut(value)?.users.push(user(index));
        }
        Ok(())
    }

    /// All nodes, those of a block before the ones in the blocks of its nodes.
    fn nodes_by_block(&self) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut blocks = vec![self.top()];
        while let Some(block) = blocks.pop() {
            for node in self.nodes(block) {
                found.push(node);
                blocks.extend(self.node(node).map_or(&[][..], |node| node.blocks()));
            }
        }
        found
    }
}
