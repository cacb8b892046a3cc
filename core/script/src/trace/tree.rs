//! The modules of the caller with their parameters and buffers: classes and objects of the traced module.

use super::names::class_name;
use crate::ast::Name;
use crate::graph::{Graph, ValueId};
use crate::program::Program;
use crate::runtime::object::{Attribute, Class, Object, Role};
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{Result, ensure, err, list};
use rushlight_tensor::Tensor;
use std::collections::HashMap;
use std::sync::Arc;

/// What a tensor is for its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A parameter.
    Parameter,
    /// A buffer.
    Buffer,
}

struct Node {
    path: String,
    class: String,
    training: bool,
    tensors: Vec<(Name, Tensor, Kind)>,
    /// The names of inner modules with their indices.
    children: Vec<(Name, usize)>,
}

impl Node {
    fn has(&self, name: &str) -> bool {
        name == "training"
            || self.tensors.iter().any(|(other, ..)| &**other == name)
            || self.children.iter().any(|(other, _)| &**other == name)
    }
}

/// The modules; the first one is the traced one.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The modules by path.
    index: HashMap<String, usize>,
    /// The paths of tensors by address.
    tensors: HashMap<usize, String>,
}

/// A module that is not yet part of a program.
pub(super) struct Built {
    pub(super) object: Object,
    /// The classes of the modules in it.
    pub(super) classes: Vec<Arc<Class>>,
}

impl Tree {
    pub(super) fn new(class: &str, training: bool) -> Result<Tree> {
        let mut tree = Tree { nodes: Vec::new(), index: HashMap::new(), tensors: HashMap::new() };
        tree.push("", class, training)?;
        Ok(tree)
    }

    fn push(&mut self, path: &str, class: &str, training: bool) -> Result<()> {
        let class = class_name(class)?;
        self.index.insert(path.to_owned(), self.nodes.len());
        let node = Node { path: path.to_owned(), class, training, tensors: Vec::new(), children: Vec::new() };
        list::push(&mut self.nodes, node)
    }

    /// The module that `a.b.c` is an attribute of, and `c`.
    fn owner<'p>(&mut self, path: &'p str) -> Result<(&mut Node, &'p str)> {
        let (owner, name) = path.rsplit_once('.').unwrap_or(("", path));
        ensure!(!name.is_empty(), Value, "'{path}' is not the path of an attribute");
        let index = self.index.get(owner).copied();
        let node = index.and_then(|index| self.nodes.get_mut(index));
        let node = node.ok_or_else(|| err!(Value, "'{path}' is declared before the module '{owner}'"))?;
        ensure!(!node.has(name), Value, "the traced module has two attributes '{path}'");
        Ok((node, name))
    }

    pub(super) fn add_module(&mut self, path: &str, class: &str, training: bool) -> Result<()> {
        class_name(class)?;
        let child = self.nodes.len();
        let (owner, name) = self.owner(path)?;
        list::push(&mut owner.children, (name.into(), child))?;
        self.push(path, class, training)
    }

    pub(super) fn add_tensor(&mut self, path: &str, tensor: &Tensor, kind: Kind) -> Result<()> {
        let (owner, name) = self.owner(path)?;
        list::push(&mut owner.tensors, (name.into(), tensor.clone(), kind))?;
        // A tensor that is shared is read by its first path.
        self.tensors.entry(tensor.address()).or_insert_with(|| path.to_owned());
        Ok(())
    }

    /// The path of a parameter or buffer. The tree keeps it alive, so that its address stays its own.
    pub(super) fn path_of(&self, tensor: &Tensor) -> Option<&str> {
        self.tensors.get(&tensor.address()).map(String::as_str)
    }

    /// Creates classes and objects, and sets the types of the values that are modules. Modules of the same class with the
    /// same attributes share a class.
    pub(super) fn build(
        &self,
        program: &Program,
        graph: &mut Graph,
        values: &HashMap<String, ValueId>,
    ) -> Result<Built> {
        let mut classes: Vec<Arc<Class>> = Vec::new();
        let mut by_name: HashMap<String, Vec<Arc<Class>>> = HashMap::new();
        let mut objects: Vec<Option<Object>> = vec![None; self.nodes.len()];
        // Inner modules come after outer ones.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let mut attributes = Vec::new();
            let mut slots: Vec<Value> = Vec::new();
            for (name, tensor, kind) in &node.tensors {
                let role = if *kind == Kind::Parameter { Role::Parameter } else { Role::Buffer };
                attributes.push(Attribute { name: name.clone(), kind: Type::Tensor, role });
                slots.push(tensor.clone().into());
            }
            attributes.push(Attribute { name: "training".into(), kind: Type::Bool, role: Role::Plain });
            slots.push(node.training.into());
            for (name, child) in &node.children {
                let object = objects.get(*child).cloned().flatten();
                let object = object.ok_or_else(|| err!(Internal, "the module '{}.{name}' is missing", node.path))?;
                let kind = Type::Class(object.class().name.clone());
                attributes.push(Attribute { name: name.clone(), kind, role: Role::Plain });
                slots.push(object.into());
            }
            let alike = by_name.entry(node.class.clone()).or_default();
            // The traced module has a class of its own, because it has a method.
            let known = alike.iter().find(|class| index > 0 && *class.attributes() == *attributes);
            let class = match known {
                Some(class) => class.clone(),
                None => {
                    let name: Name = match alike.is_empty() {
                        true => node.class.as_str().into(),
                        false => program.free_class_name(&node.class),
                    };
                    let class = Arc::new(Class::new(name, attributes));
                    alike.push(class.clone());
                    if index > 0 {
                        classes.push(class.clone());
                    }
                    class
                }
            };
            let object = Object::new(class);
            for (slot, value) in slots.into_iter().enumerate() {
                object.set_slot(slot, value)?;
            }
            if let Some(value) = values.get(&node.path) {
                graph.value_mut(*value)?.kind = Type::Class(object.class().name.clone());
            }
            if let Some(place) = objects.get_mut(index) {
                *place = Some(object);
            }
        }
        let object = objects.into_iter().next().flatten();
        Ok(Built { object: object.ok_or_else(|| err!(Internal, "the traced module is missing"))?, classes })
    }
}
