//! Two traces of one function, for examples of other sizes: numbers that differ become expressions of sizes.

use crate::graph::{Attribute, Graph, NodeId, ValueId};
use crate::runtime::value::Value;
use crate::runtime::{attribute_of, constant};
use crate::types::Type;
use rushlight_base::{DeviceType, DimVec, Result, bail, ensure, err};
use rushlight_tensor::{Tensor, ops};
use std::collections::HashMap;

/// A dimension whose size differs between the two traces.
struct Varying {
    value: ValueId,
    dim: i64,
    sizes: (i64, i64),
}

/// How a number follows from a size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// The size.
    Same,
    /// The size multiplied by a number.
    Times(i64),
    /// The size divided by a number, without remainder.
    Over(i64),
    /// The size and a number.
    Plus(i64),
}

/// Replaces the constants of `graph` that are others in the second graph of the same function.
pub(super) fn generalize(
    graph: &mut Graph,
    sizes: &[(ValueId, DimVec)],
    second: &Graph,
    second_sizes: &[(ValueId, DimVec)],
) -> Result<()> {
    let nodes: Vec<NodeId> = graph.nodes(graph.top()).collect();
    let others: Vec<NodeId> = second.nodes(second.top()).collect();
    let mut differing: Vec<(NodeId, (i64, i64))> = Vec::new();
    for (index, &node) in nodes.iter().enumerate() {
        let Some(&other) = others.get(index) else { break };
        if let Some(pair) = compare(graph, node, second, other)? {
            differing.push((node, pair));
        }
    }
    let same_length = nodes.len() == others.len()
        && graph.block(graph.top())?.outputs() == second.block(second.top())?.outputs()
        && graph.block(graph.top())?.inputs() == second.block(second.top())?.inputs();
    ensure!(
        same_length,
        Runtime,
        "the function calls {} operators for the first example and {} for the second: its control flow depends on sizes",
        calls(graph, &nodes)?,
        calls(second, &others)?
    );
    let order = order_of(graph, &nodes)?;
    let varying = varying(sizes, second_sizes);
    for (node, pair) in differing {
        replace(graph, node, pair, &varying, &order)?;
    }
    Ok(())
}

fn calls(graph: &Graph, nodes: &[NodeId]) -> Result<usize> {
    let mut count = 0;
    for &node in nodes {
        count += usize::from(!graph.node(node)?.kind.starts_with("prim::"));
    }
    Ok(count)
}

/// Two nodes at the same place: an error unless they are the same but for an int. Then both ints.
fn compare(graph: &Graph, id: NodeId, second: &Graph, other: NodeId) -> Result<Option<(i64, i64)>> {
    let (a, b) = (graph.node(id)?, second.node(other)?);
    ensure!(
        a.kind == b.kind && a.inputs() == b.inputs() && a.outputs() == b.outputs(),
        Runtime,
        "the function calls {} for the first example where it calls {} for the second, or with other values: its control \
         flow depends on sizes",
        a.kind,
        b.kind
    );
    if &*a.kind != "prim::Constant" {
        let names = (a.attribute("name").map(name_of), b.attribute("name").map(name_of));
        ensure!(names.0 == names.1, Runtime, "the function uses other parameters for the second example");
        return Ok(None);
    }
    let kind = |graph: &Graph, output: Option<&ValueId>| match output {
        Some(&output) => Ok(graph.value(output)?.kind.clone()),
        None => Err(err!(Internal, "a constant has no output")),
    };
    let kinds = (kind(graph, a.outputs().first())?, kind(second, b.outputs().first())?);
    let values = (constant(&kinds.0, a.attribute("value"))?, constant(&kinds.1, b.attribute("value"))?);
    Ok(match (&values.0, &values.1) {
        (Value::Int(a), Value::Int(b)) if a != b => Some((*a, *b)),
        (Value::Tensor(a), Value::Tensor(b)) => {
            ensure!(
                same(a, b)?,
                Runtime,
                "a tensor that is a constant of the trace is another one for the second example"
            );
            None
        }
        (Value::Float(a), Value::Float(b)) if a.to_bits() == b.to_bits() => None,
        (a, b) if a.is_none() && b.is_none() || a.is(b) => None,
        (Value::Str(a), Value::Str(b)) if a == b => None,
        (a, b) => {
            bail!(Runtime, "a constant of the trace is {a:?} for the first example and {b:?} for the second")
        }
    })
}

fn name_of(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Str(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

fn same(a: &Tensor, b: &Tensor) -> Result<bool> {
    let is_meta = a.device().kind == DeviceType::Meta;
    let alike = a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.device() == b.device();
    Ok(alike && (is_meta || ops::equal(a, b)?))
}

/// The positions of the values: 0 for arguments.
fn order_of(graph: &Graph, nodes: &[NodeId]) -> Result<HashMap<ValueId, usize>> {
    let mut order = HashMap::new();
    for (index, &node) in nodes.iter().enumerate() {
        order.extend(graph.node(node)?.outputs().iter().map(|&output| (output, index + 1)));
    }
    Ok(order)
}

/// In the order in which the values were computed; arguments come first.
fn varying(first: &[(ValueId, DimVec)], second: &[(ValueId, DimVec)]) -> Vec<Varying> {
    let mut found = Vec::new();
    for ((value, sizes), (other, others)) in first.iter().zip(second) {
        if value != other || sizes.len() != others.len() {
            continue;
        }
        for (dim, (&a, &b)) in sizes.iter().zip(others.iter()).enumerate() {
            if a != b {
                found.push(Varying { value: *value, dim: dim as i64, sizes: (a, b) });
            }
        }
    }
    found
}

fn rule((a, b): (i64, i64), (first, second): (i64, i64)) -> Option<Rule> {
    if (a, b) == (first, second) {
        return Some(Rule::Same);
    }
    let quotient = |number: i64, by: i64| (by != 0 && number.checked_rem(by) == Some(0)).then(|| number / by);
    let both = |a: Option<i64>, b: Option<i64>| a.filter(|a| Some(*a) == b);
    if let Some(factor) = both(quotient(a, first), quotient(b, second)) {
        return Some(Rule::Times(factor));
    }
    if let Some(divisor) = both(quotient(first, a), quotient(second, b)) {
        return Some(Rule::Over(divisor));
    }
    both(a.checked_sub(first), b.checked_sub(second)).map(Rule::Plus)
}

/// How plain a rule is: the plainest is chosen, and of equal ones the first.
fn rank(rule: Rule) -> u8 {
    match rule {
        Rule::Same => 0,
        Rule::Times(_) => 1,
        Rule::Over(_) => 2,
        Rule::Plus(_) => 3,
    }
}

/// Replaces a constant by an expression of a size that is known before it.
fn replace(
    graph: &mut Graph,
    node: NodeId,
    pair: (i64, i64),
    varying: &[Varying],
    order: &HashMap<ValueId, usize>,
) -> Result<()> {
    let output = graph.node(node)?.outputs().first().copied();
    let output = output.ok_or_else(|| err!(Internal, "a constant has no output"))?;
    let at = order.get(&output).copied().unwrap_or(usize::MAX);
    let before = varying.iter().filter(|dimension| order.get(&dimension.value).copied().unwrap_or(0) < at);
    let fitting = before.filter_map(|dimension| Some((rule(pair, dimension.sizes)?, dimension)));
    if let Some((rule, dimension)) = fitting.min_by_key(|(rule, _)| rank(*rule)) {
        let size = size_of(graph, node, dimension)?;
        let value = match rule {
            Rule::Same => size,
            Rule::Times(factor) => calculate(graph, node, "aten::mul", size, factor)?,
            Rule::Over(divisor) => calculate(graph, node, "aten::floordiv", size, divisor)?,
            Rule::Plus(number) => calculate(graph, node, "aten::add", size, number)?,
        };
        graph.replace_uses(output, value)?;
        return graph.remove(node);
    }
    if let Some((first, second, factor)) = product(pair, varying, order, at) {
        let (a, b) = (size_of(graph, node, first)?, size_of(graph, node, second)?);
        let mut value = insert(graph, node, "aten::mul", &[a, b])?;
        if factor != 1 {
            value = calculate(graph, node, "aten::mul", value, factor)?;
        }
        graph.replace_uses(output, value)?;
        return graph.remove(node);
    }
    bail!(
        Runtime,
        "a number of the trace is {} for the first example and {} for the second, which follows from no size: the trace \
         would not hold for other sizes",
        pair.0,
        pair.1
    )
}

/// Two sizes of arguments whose product divides the number equally.
fn product<'v>(
    (a, b): (i64, i64),
    varying: &'v [Varying],
    order: &HashMap<ValueId, usize>,
    at: usize,
) -> Option<(&'v Varying, &'v Varying, i64)> {
    let before = |dimension: &&Varying| order.get(&dimension.value).copied().unwrap_or(0) < at;
    for (index, first) in varying.iter().enumerate().filter(|(_, dimension)| before(dimension)) {
        for second in varying.iter().skip(index).filter(before) {
            let products = (first.sizes.0.checked_mul(second.sizes.0)?, first.sizes.1.checked_mul(second.sizes.1)?);
            if let Some(Rule::Same) = rule((a, b), products) {
                return Some((first, second, 1));
            }
            if let Some(Rule::Times(factor)) = rule((a, b), products) {
                return Some((first, second, factor));
            }
        }
    }
    None
}

/// `aten::size(value, dim)`
fn size_of(graph: &mut Graph, next: NodeId, dimension: &Varying) -> Result<ValueId> {
    let dim = int(graph, next, dimension.dim)?;
    insert(graph, next, "aten::size", &[dimension.value, dim])
}

fn calculate(graph: &mut Graph, next: NodeId, kind: &str, size: ValueId, number: i64) -> Result<ValueId> {
    let number = int(graph, next, number)?;
    insert(graph, next, kind, &[size, number])
}

fn int(graph: &mut Graph, next: NodeId, value: i64) -> Result<ValueId> {
    let output = insert(graph, next, "prim::Constant", &[])?;
    if let crate::graph::Origin::Node(node) = graph.value(output)?.origin() {
        let attribute = attribute_of(&Value::Int(value)).map(|value| ("value".into(), value));
        graph.node_mut(node)?.attributes.extend(attribute);
    }
    Ok(output)
}

fn insert(graph: &mut Graph, next: NodeId, kind: &str, inputs: &[ValueId]) -> Result<ValueId> {
    let node = graph.insert_before(next, kind, inputs, &[Type::Int])?;
    let node = graph.node(node)?;
    node.outputs().first().copied().ok_or_else(|| err!(Internal, "{kind} has no output"))
}
