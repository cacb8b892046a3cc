//! Graphs as PyTorch prints them.

use super::{Attribute, BlockId, Graph, NodeId, ValueId};
use crate::print::print_quoted;
use std::fmt;

/// What is still to be printed, innermost last.
enum Step {
    Node(NodeId, usize),
    Block(BlockId, usize, usize),
    Outputs(BlockId, usize),
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.print("", &mut out);
        f.write_str(&out)
    }
}

impl Graph {
    /// Prints the graph, and then the graphs that are attributes of its nodes.
    fn print(&self, prefix: &str, out: &mut String) {
        let mut inner: Vec<(String, &Graph)> = Vec::new();
        out.push_str(prefix);
        out.push_str("graph(");
        let mut steps = vec![Step::Outputs(self.top(), 0)];
        if let Ok(top) = self.block(self.top()) {
            self.typed(top.inputs(), ",\n      ", out);
        }
        out.push_str("):\n");
        steps.extend(self.nodes(self.top()).map(|node| Step::Node(node, 1)).collect::<Vec<_>>().into_iter().rev());
        while let Some(step) = steps.pop() {
            match step {
                Step::Node(id, depth) => {
                    indent(depth, out);
                    self.print_node(id, &mut inner, out);
                    let blocks = self.node(id).map_or(&[][..], |node| node.blocks());
                    let blocks = blocks.iter().enumerate().rev();
                    steps.extend(blocks.map(|(index, &block)| Step::Block(block, index, depth + 1)));
                }
                Step::Block(id, index, depth) => {
                    indent(depth, out);
                    out.push_str(&format!("block{index}("));
                    self.typed(self.block(id).map_or(&[][..], |block| block.inputs()), ", ", out);
                    out.push_str("):\n");
                    steps.push(Step::Outputs(id, depth + 1));
                    let nodes: Vec<NodeId> = self.nodes(id).collect();
                    steps.extend(nodes.into_iter().rev().map(|node| Step::Node(node, depth + 1)));
                }
                Step::Outputs(id, depth) => {
                    indent(depth.max(1), out);
                    out.push_str(if depth == 0 { "return (" } else { "-> (" });
                    self.names(self.block(id).map_or(&[][..], |block| block.outputs()), out);
                    out.push_str(")\n");
                }
            }
        }
        for (name, graph) in inner {
            graph.print(&format!("with {name} = "), out);
        }
    }

    fn print_node<'a>(&'a self, id: NodeId, inner: &mut Vec<(String, &'a Graph)>, out: &mut String) {
        let Ok(node) = self.node(id) else { return };
        self.typed(node.outputs(), ", ", out);
        out.push_str(" = ");
        out.push_str(&node.kind);
        let graph = node.attributes.iter().find_map(|(_, attribute)| match attribute {
            Attribute::Graph(graph) => Some(graph),
            _ => None,
        });
        if let Some(graph) = graph {
            out.push_str(&format!("_{}", inner.len()));
            inner.push((format!("{}_{}", node.kind, inner.len()), graph));
        } else if !node.attributes.is_empty() {
            for (index, (name, attribute)) in node.attributes.iter().enumerate() {
                out.push_str(if index == 0 { "[" } else { ", " });
                out.push_str(name);
                out.push('=');
                attribute.print(out);
            }
            out.push(']');
        }
        out.push('(');
        self.names(node.inputs(), out);
        out.push(')');
        if let Some(location) = &node.location {
            out.push_str(&format!(" # {}:{}:{}", location.file, location.line, location.column));
        }
        out.push('\n');
    }

    /// `%x : Tensor, %y : int`
    fn typed(&self, values: &[ValueId], separator: &str, out: &mut String) {
        for (index, &id) in values.iter().enumerate() {
            out.push_str(if index > 0 { separator } else { "" });
            let kind = self.value(id).map_or(String::new(), |value| value.kind.schema_str());
            out.push_str(&format!("%{} : {kind}", self.name(id)));
        }
    }

    fn names(&self, values: &[ValueId], out: &mut String) {
        for (index, &id) in values.iter().enumerate() {
            out.push_str(if index > 0 { ", %" } else { "%" });
            out.push_str(&self.name(id));
        }
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

impl Attribute {
    fn print(&self, out: &mut String) {
        match self {
            Attribute::Int(value) => out.push_str(&value.to_string()),
            Attribute::Float(value) => out.push_str(&float(*value)),
            Attribute::Complex(real, imaginary) => {
                let sign = if imaginary.is_sign_negative() { "" } else { "+" };
                out.push_str(&format!("{}{sign}{}j", float(*real), float(*imaginary)));
            }
            Attribute::Str(bytes) => out.push_str(&print_quoted(bytes)),
            Attribute::Type(kind) => out.push_str(&kind.schema_str()),
            Attribute::Graph(_) => out.push_str("<graph>"),
            Attribute::Opaque(value) => out.push_str(&value.print()),
            Attribute::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    item.print(out);
                }
                out.push(']');
            }
        }
    }
}

/// A float as PyTorch prints constants: `2.` if it is a small integer, else 17 digits in C's format `%g`.
pub(crate) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    if value.fract() == 0.0 && value.abs() < 1e10 {
        return format!("{value:.0}.");
    }
    let scientific = format!("{value:.16e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if (-4..17).contains(&exponent) {
        return trimmed(&format!("{value:.*}", (16 - exponent).max(0) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}
