//! Building and changing graphs. A failing call leaves the graph as it was.

use super::{Block, BlockId, Graph, Node, NodeId, Origin, User, Value, ValueId};
use crate::types::Type;
use rushlight_base::{Result, bail, ensure};

impl Graph {
    fn add_value(&mut self, kind: Type, origin: Origin) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { kind, name: None, origin, users: Vec::new() });
        id
    }

    /// Adds an input to a block.
    pub fn add_input(&mut self, block: BlockId, kind: Type) -> Result<ValueId> {
        self.block(block)?;
        let id = self.add_value(kind, Origin::Block(block));
        self.block_mut(block)?.inputs.push(id);
        Ok(id)
    }

    /// Creates a node at the end of a block, with one output for each type.
    pub fn append(&mut self, block: BlockId, kind: &str, inputs: &[ValueId], outputs: &[Type]) -> Result<NodeId> {
        self.block(block)?;
        let id = self.create(kind, inputs, outputs)?;
        self.link(id, block, None)?;
        Ok(id)
    }

    /// Creates a node before another.
    pub fn insert_before(&mut self, next: NodeId, kind: &str, inputs: &[ValueId], outputs: &[Type]) -> Result<NodeId> {
        let block = self.block_of(next)?;
        let id = self.create(kind, inputs, outputs)?;
        self.link(id, block, Some(next))?;
        Ok(id)
    }

    fn block_of(&self, node: NodeId) -> Result<BlockId> {
        match self.node(node)?.block {
            Some(block) => Ok(block),
            None => bail!(Runtime, "{} was removed from the graph", self.node(node)?.kind),
        }
    }

    fn create(&mut self, kind: &str, inputs: &[ValueId], outputs: &[Type]) -> Result<NodeId> {
        for &input in inputs {
            self.value(input)?;
        }
        let id = NodeId(self.nodes.len() as u32);
        let outputs = outputs.iter().map(|kind| self.add_value(kind.clone(), Origin::Node(id))).collect();
        self.nodes.push(Node {
            kind: kind.into(),
            attributes: Vec::new(),
            location: None,
            inputs: inputs.to_vec(),
            outputs,
            blocks: Vec::new(),
            block: None,
            previous: None,
            next: None,
        });
        for (index, &input) in inputs.iter().enumerate() {
            self.value_mut(input)?.users.push(User::Node(id, index));
        }
        Ok(id)
    }

    /// Adds an output to a node, for example to `prim::If`.
    pub fn add_node_output(&mut self, node: NodeId, kind: Type) -> Result<ValueId> {
        self.node(node)?;
        let id = self.add_value(kind, Origin::Node(node));
        self.node_mut(node)?.outputs.push(id);
        Ok(id)
    }

    /// Adds an input to a node.
    pub fn add_node_input(&mut self, node: NodeId, value: ValueId) -> Result<()> {
        self.value(value)?;
        let inputs = &mut self.node_mut(node)?.inputs;
        inputs.push(value);
        let index = inputs.len() - 1;
        self.value_mut(value)?.users.push(User::Node(node, index));
        Ok(())
    }

    /// Adds a block to a node.
    pub fn add_block(&mut self, node: NodeId) -> Result<BlockId> {
        let id = BlockId(self.blocks.len() as u32);
        self.node_mut(node)?.blocks.push(id);
        self.blocks.push(Block { owner: Some(node), inputs: Vec::new(), outputs: Vec::new(), first: None, last: None });
        Ok(id)
    }

    /// Adds an output to a block.
    pub fn add_output(&mut self, block: BlockId, value: ValueId) -> Result<()> {
        self.value(value)?;
        let outputs = &mut self.block_mut(block)?.outputs;
        outputs.push(value);
        let index = outputs.len() - 1;
        self.value_mut(value)?.users.push(User::Block(block, index));
        Ok(())
    }

    /// Removes an output of a node and the output of the same number of each of its blocks, as for `prim::If`. It must be
    /// unused.
    pub fn remove_if_output(&mut self, node: NodeId, index: usize) -> Result<()> {
        let data = self.node(node)?;
        let blocks = data.blocks().to_vec();
        let Some(&output) = data.outputs().get(index) else {
            bail!(Index, "{} has {} outputs, there is no output {index}", data.kind, data.outputs().len())
        };
        ensure!(self.value(output)?.users().is_empty(), Runtime, "%{} is used", self.name(output));
        for &block in &blocks {
            let count = self.block(block)?.outputs().len();
            ensure!(count == data_outputs(self, node)?, Runtime, "the blocks and outputs of the node differ in number");
        }
        self.forget_name(output)?;
        self.node_mut(node)?.outputs.remove(index);
        for block in blocks {
            let removed = self.block_mut(block)?.outputs.remove(index);
            self.remove_user(removed, User::Block(block, index))?;
            // Those after it move by one.
            let moved = self.block(block)?.outputs.clone();
            for (at, value) in moved.into_iter().enumerate().skip(index) {
                self.move_user(value, User::Block(block, at + 1), User::Block(block, at))?;
            }
        }
        Ok(())
    }

    /// Removes a value that `prim::Loop` carries: its input, the parameter and the output of the block, and its output.
    /// `index` counts the outputs of the node. Neither the output nor the parameter may be used.
    pub fn remove_loop_value(&mut self, node: NodeId, index: usize) -> Result<()> {
        let data = self.node(node)?;
        let (&[body], Some(&output), Some(&input)) =
            (data.blocks(), data.outputs().get(index), data.inputs().get(index + 2))
        else {
            bail!(Index, "{} carries no value {index}", data.kind)
        };
        let block = self.block(body)?;
        let (Some(&parameter), Some(&result)) = (block.inputs().get(index + 1), block.outputs().get(index + 1)) else {
            bail!(Index, "the block of {} carries no value {index}", data.kind)
        };
        for value in [output, parameter] {
            ensure!(self.value(value)?.users().is_empty(), Runtime, "%{} is used", self.name(value));
        }
        self.forget_name(output)?;
        self.forget_name(parameter)?;
        self.remove_user(input, User::Node(node, index + 2))?;
        self.remove_user(result, User::Block(body, index + 1))?;
        let data = self.node_mut(node)?;
        data.outputs.remove(index);
        data.inputs.remove(index + 2);
        let inputs = data.inputs.clone();
        let block = self.block_mut(body)?;
        block.inputs.remove(index + 1);
        block.outputs.remove(index + 1);
        let outputs = block.outputs.clone();
        for (at, value) in inputs.into_iter().enumerate().skip(index + 2) {
            self.move_user(value, User::Node(node, at + 1), User::Node(node, at))?;
        }
        for (at, value) in outputs.into_iter().enumerate().skip(index + 1) {
            self.move_user(value, User::Block(body, at + 1), User::Block(body, at))?;
        }
        Ok(())
    }

    fn move_user(&mut self, value: ValueId, from: User, to: User) -> Result<()> {
        self.remove_user(value, from)?;
        self.value_mut(value)?.users.push(to);
        Ok(())
    }

    /// Replaces one output of a block.
    pub fn replace_output(&mut self, block: BlockId, index: usize, value: ValueId) -> Result<()> {
        self.value(value)?;
        let outputs = &mut self.block_mut(block)?.outputs;
        let count = outputs.len();
        let Some(slot) = outputs.get_mut(index) else {
            bail!(Index, "the block has {count} outputs, there is no output {index}")
        };
        let old = std::mem::replace(slot, value);
        self.remove_user(old, User::Block(block, index))?;
        self.value_mut(value)?.users.push(User::Block(block, index));
        Ok(())
    }

    /// Replaces all uses of a value by another.
    pub fn replace_uses(&mut self, old: ValueId, new: ValueId) -> Result<()> {
        self.value(new)?;
        self.value(old)?;
        if old == new {
            return Ok(());
        }
        let users = std::mem::take(&mut self.value_mut(old)?.users);
        for &user in &users {
            let slot = match user {
                User::Node(node, index) => self.node_mut(node)?.inputs.get_mut(index),
                User::Block(block, index) => self.block_mut(block)?.outputs.get_mut(index),
            };
            if let Some(slot) = slot {
                *slot = new;
            }
        }
        self.value_mut(new)?.users.extend(users);
        Ok(())
    }

    /// Replaces one input of a node.
    pub fn replace_input(&mut self, node: NodeId, index: usize, value: ValueId) -> Result<()> {
        self.value(value)?;
        let node_ref = self.node_mut(node)?;
        let count = node_ref.inputs.len();
        let Some(slot) = node_ref.inputs.get_mut(index) else {
            bail!(Index, "{} has {count} inputs, there is no input {index}", node_ref.kind)
        };
        let old = std::mem::replace(slot, value);
        self.remove_user(old, User::Node(node, index))?;
        self.value_mut(value)?.users.push(User::Node(node, index));
        Ok(())
    }

    fn remove_user(&mut self, value: ValueId, user: User) -> Result<()> {
        let users = &mut self.value_mut(value)?.users;
        if let Some(at) = users.iter().rposition(|&other| other == user) {
            users.swap_remove(at);
        }
        Ok(())
    }

    /// Removes a node with its blocks. Its outputs must be unused.
    pub fn remove(&mut self, node: NodeId) -> Result<()> {
        self.block_of(node)?;
        for &output in self.node(node)?.outputs() {
            let users = self.value(output)?.users().len();
            ensure!(
                users == 0,
                Runtime,
                "{} cannot be removed: its output %{} has {users} uses",
                self.node(node)?.kind,
                self.name(output)
            );
        }
        self.unlink(node)?;
        let mut removed = vec![node];
        while let Some(id) = removed.pop() {
            let data = self.node_mut(id)?;
            data.block = None;
            // They may hold tensors.
            data.attributes.clear();
            let inputs = std::mem::take(&mut data.inputs);
            let blocks = std::mem::take(&mut data.blocks);
            for output in data.outputs.clone() {
                self.forget_name(output)?;
            }
            for (index, input) in inputs.into_iter().enumerate() {
                self.remove_user(input, User::Node(id, index))?;
            }
            for block in blocks {
                let outputs = std::mem::take(&mut self.block_mut(block)?.outputs);
                for (index, output) in outputs.into_iter().enumerate() {
                    self.remove_user(output, User::Block(block, index))?;
                }
                for input in self.block(block)?.inputs.clone() {
                    self.forget_name(input)?;
                }
                removed.extend(self.nodes(block).collect::<Vec<_>>());
            }
        }
        Ok(())
    }

    fn forget_name(&mut self, value: ValueId) -> Result<()> {
        if let Some(name) = self.value_mut(value)?.name.take() {
            self.names.remove(&name);
        }
        Ok(())
    }

    /// Moves a node before another, which may be in another block but not inside of the node.
    pub fn move_before(&mut self, node: NodeId, next: NodeId) -> Result<()> {
        self.block_of(node)?;
        let block = self.block_of(next)?;
        if node == next {
            return Ok(());
        }
        let mut outer = Some(block);
        while let Some(current) = outer {
            let owner = self.block(current)?.owner;
            ensure!(owner != Some(node), Runtime, "{} cannot be moved into its own block", self.node(node)?.kind);
            outer = owner.and_then(|owner| self.node(owner).ok().and_then(|owner| owner.block));
        }
        self.unlink(node)?;
        self.link(node, block, Some(next))
    }

    /// Puts a node before `next`, or at the end of the block.
    fn link(&mut self, node: NodeId, block: BlockId, next: Option<NodeId>) -> Result<()> {
        let previous = match next {
            Some(next) => self.node_mut(next)?.previous.replace(node),
            None => self.block_mut(block)?.last.replace(node),
        };
        match previous {
            Some(previous) => self.node_mut(previous)?.next = Some(node),
            None => self.block_mut(block)?.first = Some(node),
        }
        let data = self.node_mut(node)?;
        (data.block, data.previous, data.next) = (Some(block), previous, next);
        Ok(())
    }

    fn unlink(&mut self, node: NodeId) -> Result<()> {
        let block = self.block_of(node)?;
        let data = self.node_mut(node)?;
        let (previous, next) = (data.previous.take(), data.next.take());
        match previous {
            Some(previous) => self.node_mut(previous)?.next = next,
            None => self.block_mut(block)?.first = next,
        }
        match next {
            Some(next) => self.node_mut(next)?.previous = previous,
            None => self.block_mut(block)?.last = previous,
        }
        Ok(())
    }
}

fn data_outputs(graph: &Graph, node: NodeId) -> Result<usize> {
    Ok(graph.node(node)?.outputs().len())
}
