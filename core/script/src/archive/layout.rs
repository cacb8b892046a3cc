//! The attributes of the objects in a pickle. Files of the lite interpreter declare no classes: the states of objects
//! are the only place where attributes have names.

use super::pickle::{Item, Node, Part, Pickle};
use crate::ast::Name;
use crate::lite::attribute;
use crate::runtime::object::{Attribute, Role};
use rushlight_base::{Result, err, list};
use std::collections::HashMap;

/// A class and the attributes of its objects.
#[derive(Clone)]
pub(crate) struct Layout {
    pub class: Name,
    pub attributes: Vec<Attribute>,
}

/// The classes of the objects in a pickle. Tensors that require gradients are parameters, others buffers.
pub(super) fn layouts(pickle: &Pickle<'_>) -> Result<Vec<Layout>> {
    let mut layouts: Vec<Layout> = Vec::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for node in &pickle.nodes {
        let Node::Part(Part::Object { module, name, state }) = node else { continue };
        if format!("{module}.{name}").starts_with("__torch__.torch.classes.") {
            continue;
        }
        // The objects of a class have the same attributes.
        if places.contains_key(&(module, name)) {
            continue;
        }
        let mut attributes = Vec::new();
        if let Some(Item::Node(number)) = state
            && let Some(Node::Dict(items)) = pickle.nodes.get(*number)
        {
            for (key, value) in items {
                // The keys of a state that `__getstate__` returned need not be names.
                let Item::Text(key) = key else { continue };
                let key = std::str::from_utf8(key).map_err(|_| err!(Io, "the name of an attribute is not UTF-8"))?;
                list::push(&mut attributes, attribute(key, role(pickle, *value)))?;
            }
        }
        places.insert((module, name), layouts.len());
        list::push(&mut layouts, Layout { class: format!("{module}.{name}").into(), attributes })?;
    }
    Ok(layouts)
}

fn role(pickle: &Pickle<'_>, value: Item<'_>) -> Role {
    let Item::Node(number) = value else { return Role::Plain };
    match pickle.nodes.get(number) {
        Some(Node::Part(Part::Tensor(tensor))) if tensor.requires_grad => Role::Parameter,
        Some(Node::Part(Part::Tensor(_) | Part::Sparse(_))) => Role::Buffer,
        _ => Role::Plain,
    }
}
