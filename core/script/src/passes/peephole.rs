//! Small patterns that have a simpler form.

use super::alias::Aliases;
use super::known::{Known, Shapes};
use super::{constant_value, insert_constant, only_output, replace_node};
use crate::graph::{BlockId, Graph, Node, NodeId, Origin, ValueId};
use crate::runtime::list::List;
use crate::runtime::value::Value;
use crate::types::{Resolver, Type};
use rushlight_base::Result;

/// Replaces patterns by simpler ones. Whether the graph has changed.
pub fn peephole(graph: &mut Graph, types: &dyn Resolver) -> Result<bool> {
    peephole_with(graph, types, &Shapes::default())
}

/// [`peephole`] that also uses shapes. The graph is then right for inputs of these shapes only, unless they follow from
/// constants.
pub fn peephole_with(graph: &mut Graph, types: &dyn Resolver, shapes: &Shapes) -> Result<bool> {
    let mut aliases = Aliases::new(graph, types)?;
    let mut changed = false;
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        if node.block().is_none() || node.outputs().is_empty() {
            continue;
        }
        changed |= match &*node.kind {
            "prim::If" => condition_itself(graph, id)?,
            "prim::TupleUnpack" | "prim::ListUnpack" => unpack(graph, id, &mut aliases)?,
            _ => match simpler(graph, id, types, shapes, &mut aliases)? {
                Some(Simpler::Value(value)) => replace_node(graph, id, value).map(|()| true)?,
                Some(Simpler::Constant(value)) => {
                    let kind = graph.value(only_output(graph, id)?)?.kind.clone();
                    let constant = insert_constant(graph, id, &value, &kind)?;
                    replace_node(graph, id, constant).map(|()| true)?
                }
                None => false,
            },
        };
    }
    Ok(changed)
}

/// What a node with one output can be replaced by.
enum Simpler {
    Value(ValueId),
    Constant(Value),
}

fn simpler(
    graph: &Graph,
    id: NodeId,
    types: &dyn Resolver,
    shapes: &Shapes,
    aliases: &mut Aliases,
) -> Result<Option<Simpler>> {
    let node = graph.node(id)?;
    let (inputs, &[output]) = (node.inputs(), node.outputs()) else { return Ok(None) };
    let Some(&first) = inputs.first() else { return Ok(None) };
    let (from, to) = (&graph.value(first)?.kind, &graph.value(output)?.kind);
    let value = |holds: bool| Ok(holds.then_some(Simpler::Value(first)));
    match &*node.kind {
        "prim::unchecked_cast" => value(from == to || from.is_subtype_of(to, types) && *to != Type::Any),
        "prim::unchecked_unwrap_optional" | "aten::_unwrap_optional" => value(!may_be_none(from)),
        "aten::__is__" | "aten::__isnot__" => {
            let is = &*node.kind == "aten::__is__";
            Ok(compare_with_none(graph, inputs)?.map(|same| Simpler::Constant(Value::Bool(same == is))))
        }
        "aten::__not__" => Ok(producer(graph, first, "aten::__not__")
            .and_then(|inner| inner.inputs().first())
            .map(|&v| Simpler::Value(v))),
        "aten::Int" | "aten::Float" | "aten::Bool" | "aten::str" if from == to => Ok(Some(Simpler::Value(first))),
        "aten::Int" | "aten::Float" | "aten::IntImplicit" | "aten::FloatImplicit" | "aten::ScalarImplicit" => {
            number_of_tensor(graph, first, to)
        }
        "prim::TupleIndex" => element(graph, inputs, "prim::TupleConstruct"),
        "aten::__getitem__" if !aliases.is_resized(graph, first)? => element(graph, inputs, "prim::ListConstruct"),
        "aten::len" if matches!(from, Type::List(_)) && !aliases.is_resized(graph, first)? => {
            let list = producer(graph, first, "prim::ListConstruct");
            Ok(list.map(|list| Simpler::Constant(Value::Int(list.inputs().len() as i64))))
        }
        "aten::t" | "aten::transpose" if !aliases.is_written(graph, output)? => Ok(transposed_twice(graph, node)),
        "aten::to" => Ok(converted_already(graph, node, shapes).then_some(Simpler::Value(first))),
        "aten::type_as" => Ok((inputs.get(1) == Some(&first)).then_some(Simpler::Value(first))),
        "aten::expand" if !aliases.is_written(graph, output)? => expanded_already(graph, node, shapes),
        kind => match shapes.get(first) {
            Some(known) => property(graph, kind, node, known, aliases),
            None => Ok(None),
        },
    }
}

/// The node that computes a value, if it is of this kind.
fn producer<'g>(graph: &'g Graph, value: ValueId, kind: &str) -> Option<&'g Node> {
    match graph.value(value).ok()?.origin() {
        Origin::Node(node) => graph.node(node).ok().filter(|node| &*node.kind == kind),
        Origin::Block(_) => None,
    }
}

fn may_be_none(kind: &Type) -> bool {
    match kind {
        Type::Union(members) => members.contains(&Type::None) || members.contains(&Type::Any),
        kind => matches!(kind, Type::Optional(_) | Type::None | Type::Any),
    }
}

/// Whether two values are the same, where one is None; `None` if that is not known.
fn compare_with_none(graph: &Graph, inputs: &[ValueId]) -> Result<Option<bool>> {
    let &[a, b] = inputs else { return Ok(None) };
    let (a, b) = (&graph.value(a)?.kind, &graph.value(b)?.kind);
    Ok(match (a, b) {
        (Type::None, Type::None) => Some(true),
        (Type::None, other) | (other, Type::None) if !may_be_none(other) => Some(false),
        _ => None,
    })
}

/// The number that a 0-dim tensor was made of.
fn number_of_tensor(graph: &Graph, tensor: ValueId, kind: &Type) -> Result<Option<Simpler>> {
    let Some(node) = producer(graph, tensor, "prim::NumToTensor") else { return Ok(None) };
    let Some(&number) = node.inputs().first() else { return Ok(None) };
    // A tensor of a float has the default dtype: the number may have been rounded.
    let is_exact = graph.value(number)?.kind == Type::Int && *kind == Type::Int;
    Ok(is_exact.then_some(Simpler::Value(number)))
}

/// An element of a tuple or list that this graph constructs.
fn element(graph: &Graph, inputs: &[ValueId], construct: &str) -> Result<Option<Simpler>> {
    let &[container, index] = inputs else { return Ok(None) };
    let (Some(node), Some(Value::Int(index))) = (producer(graph, container, construct), constant_value(graph, index))
    else {
        return Ok(None);
    };
    let at = crate::builtins::position(index, node.inputs().len());
    Ok(at.and_then(|at| node.inputs().get(at)).map(|&value| Simpler::Value(value)))
}

/// The input of the inner one of two transpositions.
fn transposed_twice(graph: &Graph, node: &Node) -> Option<Simpler> {
    let inner = producer(graph, *node.inputs().first()?, &node.kind)?;
    let constants = |node: &Node| -> Option<Vec<i64>> {
        let dims = node.inputs().iter().skip(1).map(|&dim| match constant_value(graph, dim)? {
            Value::Int(dim) => Some(dim),
            _ => None,
        });
        dims.collect()
    };
    let (mut outer_dims, mut inner_dims) = (constants(node)?, constants(inner)?);
    outer_dims.sort_unstable();
    inner_dims.sort_unstable();
    (outer_dims == inner_dims).then_some(Simpler::Value(*inner.inputs().first()?))
}

/// Whether a conversion returns its argument.
fn converted_already(graph: &Graph, node: &Node, shapes: &Shapes) -> bool {
    let &[tensor, dtype, _, copy, format] = node.inputs() else { return false };
    let wanted = match constant_value(graph, dtype) {
        Some(Value::Int(wanted)) => wanted,
        _ => return false,
    };
    let keeps = super::effects::constant_bool(graph, copy) == Some(false);
    keeps
        && matches!(constant_value(graph, format), Some(Value::None))
        && dtype_of(graph, tensor, shapes) == Some(wanted)
}

/// The dtype of a tensor, as the number that programs use: from its shape, or because it was converted.
fn dtype_of(graph: &Graph, tensor: ValueId, shapes: &Shapes) -> Option<i64> {
    if let Some(known) = shapes.get(tensor) {
        return Some(known.dtype as i64);
    }
    if let Some(Value::Tensor(tensor)) = constant_value(graph, tensor) {
        return Some(tensor.dtype() as i64);
    }
    let node = producer(graph, tensor, "aten::to")?;
    // `to(tensor, dtype, non_blocking, copy, memory_format)`
    match (node.inputs().len(), constant_value(graph, *node.inputs().get(1)?)?) {
        (5, Value::Int(dtype)) => Some(dtype),
        _ => None,
    }
}

fn expanded_already(graph: &Graph, node: &Node, shapes: &Shapes) -> Result<Option<Simpler>> {
    let (Some(&tensor), Some(&sizes)) = (node.inputs().first(), node.inputs().get(1)) else { return Ok(None) };
    let (Some(known), Some(Value::List(sizes))) = (shapes.get(tensor), constant_value(graph, sizes)) else {
        return Ok(None);
    };
    let wanted: Vec<i64> = sizes.values().iter().map(Value::as_int).collect::<Result<_>>()?;
    let same = wanted.len() == known.sizes.len()
        && wanted.iter().zip(&known.sizes).all(|(wanted, size)| wanted == size || *wanted == -1);
    Ok(same.then_some(Simpler::Value(tensor)))
}

/// A property of a tensor whose shape is known.
fn property(graph: &Graph, kind: &str, node: &Node, known: &Known, aliases: &mut Aliases) -> Result<Option<Simpler>> {
    let constant = |value: Value| Ok(Some(Simpler::Constant(value)));
    match kind {
        "aten::dim" => constant(Value::Int(known.sizes.len() as i64)),
        "aten::numel" => constant(Value::Int(known.sizes.iter().product())),
        "aten::is_floating_point" => constant(Value::Bool(known.dtype.is_floating())),
        "aten::is_complex" => constant(Value::Bool(known.dtype.is_complex())),
        "prim::dtype" => constant(Value::Int(known.dtype as i64)),
        "prim::device" => constant(Value::Device(known.device)),
        "aten::len" => match known.sizes.first() {
            Some(&size) => constant(Value::Int(size)),
            None => Ok(None),
        },
        "aten::size" => match node.inputs() {
            [_] => {
                let output = node.outputs().first().copied();
                // Each run has to return a new list.
                let Some(output) = output else { return Ok(None) };
                if aliases.is_written(graph, output)? || aliases.is_visible(graph, output)? {
                    return Ok(None);
                }
                constant(List::ints(known.sizes.clone()).into())
            }
            &[_, dim] => match constant_value(graph, dim) {
                Some(Value::Int(dim)) => {
                    let at = crate::builtins::position(dim, known.sizes.len());
                    Ok(at.and_then(|at| known.sizes.get(at)).map(|&size| Simpler::Constant(Value::Int(size))))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The elements of a tuple or list that this graph constructs.
fn unpack(graph: &mut Graph, id: NodeId, aliases: &mut Aliases) -> Result<bool> {
    let node = graph.node(id)?;
    let &[container] = node.inputs() else { return Ok(false) };
    let construct = if &*node.kind == "prim::TupleUnpack" { "prim::TupleConstruct" } else { "prim::ListConstruct" };
    let Some(constructed) = producer(graph, container, construct) else { return Ok(false) };
    let (outputs, items) = (node.outputs().to_vec(), constructed.inputs().to_vec());
    if outputs.len() != items.len() || construct == "prim::ListConstruct" && aliases.is_resized(graph, container)? {
        return Ok(false);
    }
    outputs.into_iter().zip(items).try_for_each(|(output, item)| graph.replace_uses(output, item))?;
    graph.remove(id)?;
    Ok(true)
}

/// `True if condition else False` is the condition.
fn condition_itself(graph: &mut Graph, id: NodeId) -> Result<bool> {
    let node = graph.node(id)?;
    let (&[condition], &[yes, no]) = (node.inputs(), node.blocks()) else { return Ok(false) };
    let outputs = node.outputs().to_vec();
    let mut changed = false;
    for (index, output) in outputs.into_iter().enumerate() {
        let result = |graph: &Graph, block: BlockId| {
            let result = graph.block(block).ok().and_then(|block| block.outputs().get(index).copied());
            result.and_then(|result| super::effects::constant_bool(graph, result))
        };
        let is_condition = result(graph, yes) == Some(true) && result(graph, no) == Some(false);
        if is_condition && !graph.value(output)?.users().is_empty() {
            graph.replace_uses(output, condition)?;
            changed = true;
        }
    }
    Ok(changed)
}
