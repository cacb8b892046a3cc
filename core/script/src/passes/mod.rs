//! Passes: functions that change graphs without changing what they compute.
//!
//! `alias` finds which values share memory and which of it is written, `effects` what nodes do besides computing their
//! outputs; the passes of the other files ask both. [`optimize`] runs those that are always safe, [`freeze`] makes the
//! attributes of a module constants, [`fold_batch_norms`] and its neighbours change numbers by rounding only.

mod alias;
mod batch_norm;
mod constants;
mod dead_code;
mod dropout;
mod effects;
mod freeze;
mod inline;
mod known;
mod peephole;
mod pooling;
mod prune;
mod subexpressions;

pub use batch_norm::fold_batch_norms;
pub use constants::propagate_constants;
pub use dead_code::eliminate_dead_code;
pub use dropout::remove_dropout;
pub(crate) use effects::{device_argument, unrepeatable};
pub use freeze::{compile, freeze, optimize_for_inference};
pub use inline::inline;
pub use known::{Known, Shapes, propagate_shapes};
pub use peephole::{peephole, peephole_with};
pub use pooling::pool_constants;
pub use subexpressions::eliminate_common_subexpressions;

use crate::graph::{Attribute, Graph, Node, NodeId, Origin, ValueId};
use crate::runtime::function::Linker;
use crate::runtime::value::Value;
use crate::runtime::{attribute_of, constant, member};
use crate::types::{NoTypes, Type};
use rushlight_base::{Result, err};

/// Runs of the passes over a graph; later ones rarely find more.
const MAX_ROUNDS: usize = 4;

/// Simplifies a graph: constants, peepholes, common subexpressions, dead code. Calls stay; [`inline`] replaces them.
pub fn optimize(graph: &mut Graph, linker: &dyn Linker) -> Result<()> {
    for _ in 0..MAX_ROUNDS {
        let mut changed = propagate_constants(graph, linker)?;
        changed |= peephole(graph, linker)?;
        changed |= eliminate_common_subexpressions(graph, linker)?;
        changed |= eliminate_dead_code(graph, linker)?;
        if !changed {
            break;
        }
    }
    pool_constants(graph, linker)?;
    Ok(())
}

/// The node of a constant.
fn constant_node(graph: &Graph, value: ValueId) -> Option<&Node> {
    match graph.value(value).ok()?.origin() {
        Origin::Node(node) => graph.node(node).ok().filter(|node| &*node.kind == "prim::Constant"),
        Origin::Block(_) => None,
    }
}

/// The value of a constant. Functions have none, and members of an Enum that source code names need a program:
/// [`constant_in`].
pub(crate) fn constant_value(graph: &Graph, value: ValueId) -> Option<Value> {
    let attribute = constant_node(graph, value)?.attribute("value");
    match (&graph.value(value).ok()?.kind, attribute) {
        (Type::Function(_), _) | (Type::Enum(_), Some(Attribute::Str(_))) => None,
        (kind, attribute) => constant(kind, attribute).ok(),
    }
}

/// The value of a constant of a program.
fn constant_in(graph: &Graph, value: ValueId, linker: &dyn Linker) -> Option<Value> {
    match (&graph.value(value).ok()?.kind, constant_node(graph, value)?.attribute("value")) {
        (Type::Enum(kind), Some(Attribute::Str(name))) => member(linker, &kind.name, name).ok(),
        _ => constant_value(graph, value),
    }
}

/// Adds a constant before a node. `kind` is the type that is expected of it.
fn insert_constant(graph: &mut Graph, next: NodeId, value: &Value, kind: &Type) -> Result<ValueId> {
    let actual = value.type_of();
    let fits =
        actual.is_subtype_of(kind, &NoTypes) && !matches!(actual, Type::List(_) | Type::Dict(_) | Type::Tuple(_));
    let stays = !fits || matches!(kind, Type::Class(_) | Type::Interface(_));
    let kind = match kind {
        Type::Optional(inner) if !value.is_none() && stays => (**inner).clone(),
        kind if stays => kind.clone(),
        _ => actual,
    };
    let node = graph.insert_before(next, "prim::Constant", &[], &[kind])?;
    let location = graph.node(next)?.location.clone();
    let data = graph.node_mut(node)?;
    data.attributes.extend(attribute_of(value).map(|attribute| ("value".into(), attribute)));
    data.location = location;
    only_output(graph, node)
}

/// The output of a node that has one.
fn only_output(graph: &Graph, node: NodeId) -> Result<ValueId> {
    let node = graph.node(node)?;
    node.outputs().first().copied().ok_or_else(|| err!(Runtime, "{} has no output", node.kind))
}

/// Replaces the uses of a node's only output, and removes the node.
fn replace_node(graph: &mut Graph, node: NodeId, by: ValueId) -> Result<()> {
    let output = only_output(graph, node)?;
    graph.replace_uses(output, by)?;
    graph.remove(node)
}
