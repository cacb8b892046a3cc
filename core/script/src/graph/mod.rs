//! The graph: nodes in blocks, in static single assignment form. Nodes, values and blocks are stored in vectors and
//! refer to each other by index.

mod copy;
mod edit;
mod lint;
mod lower;
mod parse;
pub(crate) mod print;

use crate::ast::Name;
use crate::types::Type;
use rushlight_base::{Result, err};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

/// The index of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

/// The index of a value in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(u32);

/// The index of a block in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockId(u32);

/// Where a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum User {
    /// Input number `index` of a node.
    Node(NodeId, usize),
    /// Output number `index` of a block.
    Block(BlockId, usize),
}

/// Where the code of a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Arc<str>,
    /// The line.
    pub line: usize,
    /// The column, from 0.
    pub column: usize,
}

/// A constant that the graph does not know, such as a tensor or an object.
pub trait Opaque: Debug + Send + Sync {
    /// How it is printed.
    fn print(&self) -> String;

    /// The value at run time, if there is one.
    fn value(&self) -> Option<crate::runtime::value::Value> {
        None
    }
}

/// A constant or another attribute of a node.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// An integer; also a bool, which is printed as 0 or 1.
    Int(i64),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string, in bytes.
    Str(Arc<[u8]>),
    /// A list.
    List(Vec<Attribute>),
    /// A type.
    Type(Type),
    /// A graph, such as the body of `prim::fork`.
    Graph(Arc<Graph>),
    /// A constant of the caller.
    Opaque(Arc<dyn Opaque>),
}

/// A node: an operator applied to values.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operator, for example `aten::add`.
    pub kind: Name,
    /// Attributes in the order in which they are printed.
    pub attributes: Vec<(Name, Attribute)>,
    /// Where its code is.
    pub location: Option<Location>,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
    blocks: Vec<BlockId>,
    /// The block it is in; none after it was removed.
    block: Option<BlockId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
}

impl Node {
    /// What it reads.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// What it computes.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// Its blocks: the branches of `prim::If`, the body of `prim::Loop`.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The block it is in; none after it was removed.
    pub fn block(&self) -> Option<BlockId> {
        self.block
    }

    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(other, _)| &**other == name).map(|(_, attribute)| attribute)
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An output of a node.
    Node(NodeId),
    /// An input of a block.
    Block(BlockId),
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub kind: Type,
    name: Option<Name>,
    origin: Origin,
    users: Vec<User>,
}

impl Value {
    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Where it is used, in no particular order.
    pub fn users(&self) -> &[User] {
        &self.users
    }
}

/// A sequence of nodes with inputs and outputs.
#[derive(Clone, Debug)]
pub struct Block {
    owner: Option<NodeId>,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
    first: Option<NodeId>,
    last: Option<NodeId>,
}

impl Block {
    /// The node that the block belongs to; none for the block of the graph.
    pub fn owner(&self) -> Option<NodeId> {
        self.owner
    }

    /// The parameters of the block.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// The results of the block.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }
}

/// A function as a graph.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    values: Vec<Value>,
    blocks: Vec<Block>,
    names: HashMap<Name, ValueId>,
    /// The last number that was appended to a name, by name.
    suffixes: HashMap<Name, u64>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Graph {
        let top = Block { owner: None, inputs: Vec::new(), outputs: Vec::new(), first: None, last: None };
        Graph {
            nodes: Vec::new(),
            values: Vec::new(),
            blocks: vec![top],
            names: HashMap::new(),
            suffixes: HashMap::new(),
        }
    }

    /// The block that holds the graph's nodes, and whose inputs and outputs are the graph's.
    pub fn top(&self) -> BlockId {
        BlockId(0)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> Result<&Node> {
        self.nodes.get(id.0 as usize).ok_or_else(|| err!(Runtime, "node {} is not in the graph", id.0))
    }

    /// A node, whose kind, attributes and location may be changed.
    pub fn node_mut(&mut self, id: NodeId) -> Result<&mut Node> {
        self.nodes.get_mut(id.0 as usize).ok_or_else(|| err!(Runtime, "node {} is not in the graph", id.0))
    }

    /// A value.
    pub fn value(&self, id: ValueId) -> Result<&Value> {
        self.values.get(id.0 as usize).ok_or_else(|| err!(Runtime, "value %{} is not in the graph", id.0))
    }

    /// A value, whose type may be changed.
    pub fn value_mut(&mut self, id: ValueId) -> Result<&mut Value> {
        self.values.get_mut(id.0 as usize).ok_or_else(|| err!(Runtime, "value %{} is not in the graph", id.0))
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> Result<&Block> {
        self.blocks.get(id.0 as usize).ok_or_else(|| err!(Runtime, "block {} is not in the graph", id.0))
    }

    fn block_mut(&mut self, id: BlockId) -> Result<&mut Block> {
        self.blocks.get_mut(id.0 as usize).ok_or_else(|| err!(Runtime, "block {} is not in the graph", id.0))
    }

    /// The nodes of a block in order, without those of nested blocks.
    pub fn nodes(&self, block: BlockId) -> impl Iterator<Item = NodeId> {
        let first = self.block(block).ok().and_then(|block| block.first);
        std::iter::successors(first, |&id| self.node(id).ok().and_then(|node| node.next))
    }

    /// How many nodes were created, those included that were removed.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes that were created since there were `count` of them.
    pub(crate) fn nodes_since(&self, count: usize) -> impl Iterator<Item = NodeId> + use<> {
        (count as u32..self.nodes.len() as u32).map(NodeId)
    }

    /// The node after this one in its block.
    pub fn next_node(&self, id: NodeId) -> Result<Option<NodeId>> {
        Ok(self.node(id)?.next)
    }

    /// All nodes in order. A node with blocks comes before those in its blocks, and a second time after them.
    pub fn all_nodes(&self) -> Vec<NodeId> {
        enum Step {
            Block(BlockId),
            Node(NodeId),
            Again(NodeId),
        }
        let mut order = Vec::new();
        let mut steps = vec![Step::Block(self.top())];
        while let Some(step) = steps.pop() {
            match step {
                Step::Block(block) => {
                    let nodes: Vec<NodeId> = self.nodes(block).collect();
                    steps.extend(nodes.into_iter().rev().map(Step::Node));
                }
                Step::Again(node) => order.push(node),
                Step::Node(node) => {
                    order.push(node);
                    let blocks = self.node(node).map_or(&[][..], |node| node.blocks());
                    if !blocks.is_empty() {
                        steps.push(Step::Again(node));
                        steps.extend(blocks.iter().rev().map(|&block| Step::Block(block)));
                    }
                }
            }
        }
        order
    }

    /// The name that was given to a value, if any.
    pub fn given_name(&self, id: ValueId) -> Option<&Name> {
        self.value(id).ok()?.name.as_ref()
    }

    /// The name of a value, without `%`: its number if it was never named.
    pub fn name(&self, id: ValueId) -> String {
        let name = self.value(id).ok().and_then(|value| value.name.as_deref());
        name.map_or_else(|| id.0.to_string(), String::from)
    }

    /// Names a value. Names are unique: a value that had the name before gets a number appended to it.
    pub fn set_name(&mut self, id: ValueId, name: &str) -> Result<()> {
        let starts_with_digit = name.starts_with(|c: char| c.is_ascii_digit());
        if name.is_empty() || starts_with_digit && name.chars().all(|c| c.is_ascii_digit()) {
            return Err(err!(Runtime, "'{name}' cannot name a value: names of digits are numbers of values"));
        }
        self.value(id)?;
        let name: Name = name.into();
        match self.names.get(&name).copied() {
            Some(owner) if owner == id => return Ok(()),
            Some(owner) => {
                let other = self.free_name(&name);
                self.names.insert(other.clone(), owner);
                self.value_mut(owner)?.name = Some(other);
            }
            None => {}
        }
        if let Some(old) = self.value_mut(id)?.name.replace(name.clone()) {
            self.names.remove(&old);
        }
        self.names.insert(name, id);
        Ok(())
    }

    /// `x.1`, `x.2`, ... for `x` and for `x.7`.
    fn free_name(&mut self, name: &str) -> Name {
        let base = match name.rsplit_once('.') {
            Some((base, number)) if !base.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => base,
            _ => name,
        };
        let suffix = self.suffixes.entry(base.into()).or_insert(0);
        loop {
            *suffix += 1;
            let candidate: Name = format!("{base}.{suffix}").into();
            if !self.names.contains_key(&candidate) {
                return candidate;
            }
        }
    }
}
