//! Equal constants become one, at the beginning of the graph.

use super::effects::is_pure;
use crate::graph::{Attribute, Graph, NodeId, User, ValueId};
use crate::runtime::value::Value;
use crate::types::{Resolver, Type};
use rushlight_base::Result;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Moves constants to the beginning of the graph and keeps one of each. Whether the graph has changed.
pub fn pool_constants(graph: &mut Graph, types: &dyn Resolver) -> Result<bool> {
    let mut changed = false;
    let mut known: HashMap<u64, Vec<ValueId>> = HashMap::new();
    let mut last: Option<NodeId> = None;
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        if node.block().is_none() || &*node.kind != "prim::Constant" {
            continue;
        }
        let &[output] = node.outputs() else { continue };
        if !may_be_shared(graph, output, types)? {
            continue;
        }
        let same = known.entry(hash_constant(graph, id)?).or_default();
        if let Some(other) = find_equal(graph, id, same)? {
            graph.replace_uses(output, other)?;
            graph.remove(id)?;
            changed = true;
            continue;
        }
        same.push(output);
        changed |= move_up(graph, id, last)?;
        last = Some(id);
    }
    Ok(changed)
}

/// Whether nobody can tell whether this constant and an equal one are the same.
fn may_be_shared(graph: &Graph, constant: ValueId, types: &dyn Resolver) -> Result<bool> {
    let value = graph.value(constant)?;
    Ok(match &value.kind {
        // These are kept as they are: an equal constant is the same tensor.
        Type::Tensor => true,
        kind if is_immutable(kind) => true,
        _ => value.users().iter().all(|user| match user {
            User::Node(node, _) => is_pure(graph, *node, types) && !holds_inputs(graph, *node),
            User::Block(..) => false,
        }),
    })
}

/// Whether an output of a node may be or contain an input that can be changed.
fn holds_inputs(graph: &Graph, id: NodeId) -> bool {
    let outputs = graph.node(id).map_or(&[][..], |node| node.outputs());
    let is_tensor_or_plain = |kind: &Type| *kind == Type::Tensor || is_immutable(kind);
    !outputs.iter().all(|&output| graph.value(output).is_ok_and(|value| is_tensor_or_plain(&value.kind)))
}

/// Moves a constant behind the last one at the beginning of the graph.
fn move_up(graph: &mut Graph, id: NodeId, last: Option<NodeId>) -> Result<bool> {
    let next = match last {
        None => graph.nodes(graph.top()).next(),
        Some(last) => graph.next_node(last)?,
    };
    match next {
        Some(next) if next != id => graph.move_before(id, next).map(|()| true),
        _ => Ok(false),
    }
}

fn find_equal(graph: &Graph, id: NodeId, others: &[ValueId]) -> Result<Option<ValueId>> {
    let node = graph.node(id)?;
    for &other in others {
        let Some(data) = super::constant_node(graph, other) else { continue };
        let kinds_agree = match node.outputs() {
            [output] => graph.value(*output)?.kind == graph.value(other)?.kind,
            _ => false,
        };
        if kinds_agree && same_attributes(&node.attributes, &data.attributes) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

fn hash_constant(graph: &Graph, id: NodeId) -> Result<u64> {
    let node = graph.node(id)?;
    let mut hasher = DefaultHasher::new();
    for &output in node.outputs() {
        graph.value(output)?.kind.hash(&mut hasher);
    }
    hash_attributes(&node.attributes, &mut hasher);
    Ok(hasher.finish())
}

type Attributes = [(crate::ast::Name, Attribute)];

pub(super) fn hash_attributes(attributes: &Attributes, hasher: &mut DefaultHasher) {
    for (name, attribute) in attributes {
        name.hash(hasher);
        match attribute {
            Attribute::Int(value) => value.hash(hasher),
            Attribute::Float(value) => value.to_bits().hash(hasher),
            Attribute::Str(bytes) => bytes.hash(hasher),
            Attribute::List(items) => items.len().hash(hasher),
            _ => {}
        }
    }
}

pub(super) fn same_attributes(a: &Attributes, b: &Attributes) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((name, a), (other, b))| name == other && same(a, b))
}

/// Whether two attributes are the same. Floats are compared by their bits, objects by identity.
fn same(a: &Attribute, b: &Attribute) -> bool {
    match (a, b) {
        (Attribute::Int(a), Attribute::Int(b)) => a == b,
        (Attribute::Float(a), Attribute::Float(b)) => a.to_bits() == b.to_bits(),
        (Attribute::Complex(a, b), Attribute::Complex(c, d)) => {
            a.to_bits() == c.to_bits() && b.to_bits() == d.to_bits()
        }
        (Attribute::Str(a), Attribute::Str(b)) => a == b,
        (Attribute::Type(a), Attribute::Type(b)) => a == b,
        // Lists are flat unless a program nests them, which the parser limits.
        (Attribute::List(a), Attribute::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| !matches!(a, Attribute::List(_)) && same(a, b))
        }
        (Attribute::Opaque(a), Attribute::Opaque(b)) => {
            Arc::ptr_eq(a, b)
                || match (a.value(), b.value()) {
                    (Some(Value::Tensor(a)), Some(Value::Tensor(b))) => a.address() == b.address(),
                    _ => false,
                }
        }
        _ => false,
    }
}

/// Whether values of this type can be changed, so that two equal ones are not the same.
pub(super) fn is_immutable(kind: &Type) -> bool {
    super::alias::mutable_parts(kind) == 0
}
