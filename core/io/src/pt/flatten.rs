//! Flattens the object graph of a pickle to named leaves, and records how they are nested.
//!
//! Keys of nested dicts and indices of lists are joined by dots. A graph may share and nest its parts, so a small
//! pickle can describe an endless tree: depth, visits and the total length of names are bounded in terms of the size of
//! the pickle.

use super::pickle::{Global, Graph, Kind, MAX_TENSORS, Node, Part, TensorRef, Value};
use rushlight_base::{DType, Result, bail, ensure};
use std::collections::HashSet;

/// Containers inside containers.
const MAX_DEPTH: usize = 64;
/// Names longer than this are rejected.
const MAX_NAME: usize = 4096;
/// Bytes of names allowed per byte of the pickle.
const NAME_FACTOR: usize = 64;

/// A value of a checkpoint other than a tensor: an epoch, a learning rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// A string, or a dtype by its name.
    Text(String),
    /// A list or tuple with this many elements, which follow under their positions.
    Sequence(Kind, usize),
}

/// The named leaves of a graph.
#[derive(Debug)]
pub(super) struct Leaves<'a> {
    pub tensors: Vec<(String, TensorRef<'a>)>,
    pub values: Vec<(String, Leaf)>,
    /// Number of tensors before each value.
    pub tensors_before: Vec<usize>,
    /// The same leaves as they are nested.
    pub tree: Tree,
}

/// A value of a checkpoint with its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// The tensor with this number, counted in the order of the traversal.
    Tensor(usize),
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    Text(String),
    DType(DType),
    /// A list, with the type of its elements if it was saved with it.
    List(Kind, Vec<Tree>),
    Tuple(Vec<Tree>),
    /// A dict, or the attributes of an object.
    Dict(Vec<(Key, Tree)>),
}

/// The key of a dict.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Text(String),
    Int(i64),
}

impl<'a> Leaves<'a> {
    /// The keys of the storages that some tensor views as bool.
    pub fn storages_of_bools(&self) -> HashSet<&'a str> {
        let bools = self.tensors.iter().filter(|(_, tensor)| tensor.dtype == DType::Bool);
        bools.map(|(_, tensor)| tensor.storage.key).collect()
    }
}

/// Traverses the graph of a pickle of `pickle_bytes` bytes.
pub(super) fn flatten<'a>(graph: &Graph<'a>, pickle_bytes: usize) -> Result<Leaves<'a>> {
    let mut walk = Walk {
        graph,
        path: String::new(),
        visits_left: pickle_bytes,
        name_bytes_left: pickle_bytes.saturating_mul(NAME_FACTOR),
        leaves: Leaves { tensors: Vec::new(), values: Vec::new(), tensors_before: Vec::new(), tree: Tree::None },
    };
    walk.leaves.tree = walk.visit(graph.root, 0)?;
    let leaves = walk.leaves;
    let mut names = HashSet::with_capacity(leaves.tensors.len());
    for (name, _) in &leaves.tensors {
        ensure!(names.insert(name.as_str()), Io, "two tensors are called '{name}' once their keys are joined");
    }
    Ok(leaves)
}

struct Walk<'graph, 'a> {
    graph: &'graph Graph<'a>,
    path: String,
    visits_left: usize,
    name_bytes_left: usize,
    leaves: Leaves<'a>,
}

impl<'a> Walk<'_, 'a> {
    fn visit(&mut self, value: Value<'a>, depth: usize) -> Result<Tree> {
        ensure!(self.visits_left > 0, Io, "data.pkl describes more values than it has bytes");
        self.visits_left -= 1;
        let graph = self.graph;
        match value {
            Value::None => self.leaf(Leaf::None, Tree::None),
            Value::Bool(value) => self.leaf(Leaf::Bool(value), Tree::Bool(value)),
            Value::Int(value) => self.leaf(Leaf::Int(value), Tree::Int(value)),
            Value::Float(value) => self.leaf(Leaf::Float(value), Tree::Float(value)),
            Value::Text(text) => {
                // A string counts like a name: a shared one is copied each time it is visited.
                self.pay(text.len())?;
                self.leaf(Leaf::Text(text.to_owned()), Tree::Text(text.to_owned()))
            }
            Value::Global(Global::DType(dtype)) => self.leaf(Leaf::Text(format!("torch.{dtype}")), Tree::DType(dtype)),
            Value::Global(global) => bail!(Io, "{}: {global:?} found where a value is expected", self.place()),
            Value::Node(number) => match &graph.nodes[number] {
                Node::Part(Part::Tensor(tensor)) => {
                    self.pay(self.path.len())?;
                    let before = self.leaves.tensors.len();
                    ensure!(before < MAX_TENSORS, Io, "data.pkl lists more than {MAX_TENSORS} tensors");
                    self.leaves.tensors.push((self.path.clone(), (**tensor).clone()));
                    Ok(Tree::Tensor(before))
                }
                Node::Tuple(items) => Ok(Tree::Tuple(self.sequence(kind_of(graph, items), items, depth)?)),
                Node::List(items) => Ok(Tree::List(Kind::Any, self.sequence(kind_of(graph, items), items, depth)?)),
                Node::Part(Part::ListOf(kind, list)) => match &graph.nodes[*list] {
                    Node::List(items) => Ok(Tree::List(*kind, self.sequence(*kind, items, depth)?)),
                    _ => bail!(Io, "{}: a list is expected", self.place()),
                },
                Node::Dict(items) => self.dict(items, depth),
                Node::Part(Part::Object(None)) => Ok(Tree::Dict(Vec::new())),
                Node::Part(Part::Object(Some(attributes))) => match &graph.nodes[*attributes] {
                    Node::Dict(items) => self.dict(items, depth),
                    _ => bail!(Io, "{}: a dict of attributes is expected", self.place()),
                },
                Node::Part(Part::Complex(real, imaginary)) => {
                    self.leaf(Leaf::Complex(*real, *imaginary), Tree::Complex(*real, *imaginary))
                }
                Node::Part(Part::Storage(_)) => {
                    bail!(Io, "{}: a storage without a tensor is not supported", self.place())
                }
            },
        }
    }

    fn sequence(&mut self, kind: Kind, items: &[Value<'a>], depth: usize) -> Result<Vec<Tree>> {
        self.leaf(Leaf::Sequence(kind, items.len()), Tree::None)?;
        let keyed = items.iter().enumerate();
        self.children(keyed.map(|(index, item)| (Value::Int(index as i64), *item)), depth, |_, tree| tree)
    }

    fn dict(&mut self, items: &[(Value<'a>, Value<'a>)], depth: usize) -> Result<Tree> {
        self.children(items.iter().copied(), depth, |key, tree| (key, tree)).map(Tree::Dict)
    }

    fn children<T>(
        &mut self,
        items: impl Iterator<Item = (Value<'a>, Value<'a>)>,
        depth: usize,
        of: impl Fn(Key, Tree) -> T,
    ) -> Result<Vec<T>> {
        ensure!(depth < MAX_DEPTH, Io, "{}: containers are nested deeper than {MAX_DEPTH}", self.place());
        let parent = self.path.len();
        let mut children = Vec::new();
        for (key, value) in items {
            if depth > 0 {
                self.path.push('.');
            }
            let key = match key {
                Value::Text(text) => {
                    ensure!(parent + text.len() < MAX_NAME, Io, "a name of {} bytes is too long", parent + text.len());
                    self.path.push_str(text);
                    Key::Text(text.to_owned())
                }
                Value::Int(index) => {
                    self.path.push_str(&index.to_string());
                    Key::Int(index)
                }
                other => bail!(Io, "{}: {other:?} is not supported as a key", self.place()),
            };
            let child = self.visit(value, depth + 1)?;
            children.push(of(key, child));
            self.path.truncate(parent);
        }
        Ok(children)
    }

    fn leaf(&mut self, leaf: Leaf, tree: Tree) -> Result<Tree> {
        self.pay(self.path.len())?;
        self.leaves.values.push((self.path.clone(), leaf));
        self.leaves.tensors_before.push(self.leaves.tensors.len());
        Ok(tree)
    }

    fn pay(&mut self, bytes: usize) -> Result<()> {
        ensure!(bytes <= self.name_bytes_left, Io, "data.pkl describes names far longer than itself");
        self.name_bytes_left -= bytes;
        Ok(())
    }

    fn place(&self) -> String {
        if self.path.is_empty() { "the top level".to_owned() } else { format!("'{}'", self.path) }
    }
}

/// The common kind of the elements, if there is one.
fn kind_of(graph: &Graph<'_>, items: &[Value<'_>]) -> Kind {
    let of = |item: &Value<'_>| match item {
        Value::Int(_) => Kind::Int,
        Value::Float(_) => Kind::Float,
        Value::Bool(_) => Kind::Bool,
        Value::Node(number) if matches!(graph.nodes[*number], Node::Part(Part::Tensor(_))) => Kind::Tensor,
        _ => Kind::Any,
    };
    let first = items.first().map_or(Kind::Any, of);
    if items.iter().all(|item| of(item) == first) { first } else { Kind::Any }
}
