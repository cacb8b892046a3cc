//! What nodes do besides computing their outputs.

use crate::graph::{Attribute, Graph, Node, NodeId, ValueId};
use crate::runtime::resolve::{Candidate, Target, resolve};
use crate::schema::Formal;
use crate::types::{NoTypes, Resolver, Type};
use rushlight_base::Result;
use rushlight_tensor::Op;
use std::sync::Arc;

/// Nodes that have an effect besides their outputs and what they write.
const EFFECTS: [&str; 14] = [
    "prim::Print",
    "prim::RaiseException",
    "prim::SetAttr",
    "prim::AddStatValue",
    "prim::TimePoint",
    "aten::warn",
    "aten::_print",
    "aten::seed",
    "aten::manual_seed",
    "aten::set_grad_enabled",
    "aten::_assert_async",
    "aten::_assert_tensor_metadata",
    "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size",
];

/// Operators whose results depend on more than their inputs. Those that take a generator are found by their schema.
const UNSTEADY: [&str; 19] = [
    "aten::alpha_dropout",
    "aten::dropout",
    "aten::feature_alpha_dropout",
    "aten::feature_dropout",
    "aten::native_dropout",
    "aten::_fused_dropout",
    "aten::rand",
    "aten::rand_like",
    "aten::randn",
    "aten::randn_like",
    "aten::randint",
    "aten::randint_like",
    "aten::randperm",
    "aten::rrelu",
    "aten::gumbel_softmax",
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_attention_math",
    "aten::lstm",
    "aten::gru",
];

/// Operators that read the state of the thread or the identity of a value: they have no effect, but are not constants.
const STATEFUL: [&str; 11] = [
    "aten::is_grad_enabled",
    "aten::is_autocast_enabled",
    "aten::is_autocast_cpu_enabled",
    "aten::_get_tracing_state",
    "aten::initial_seed",
    "aten::Generator",
    "prim::id",
    "prim::grad",
    "prim::requires_grad",
    "prim::CreateObject",
    "prim::Uninitialized",
];

/// Nodes of the graph itself, which no schema describes.
const STRUCTURE: [&str; 17] = [
    "prim::Constant",
    "prim::Uninitialized",
    "prim::ListConstruct",
    "prim::DictConstruct",
    "prim::TupleConstruct",
    "prim::TupleUnpack",
    "prim::TupleIndex",
    "prim::TupleSlice",
    "prim::ListUnpack",
    "prim::CreateObject",
    "prim::GetAttr",
    "prim::isinstance",
    "prim::unchecked_cast",
    "prim::unchecked_unwrap_optional",
    "prim::NoneGuard",
    "prim::profile",
    "prim::If",
];

/// Namespaces whose schemas say what they write.
const DESCRIBED: [&str; 5] = ["aten", "prim", "quantized", "torchvision", "torchaudio"];

pub(super) fn is_structure(kind: &str) -> bool {
    STRUCTURE.contains(&kind) || kind == "prim::Loop"
}

/// The operator that a node calls, if it is known and its schema can be trusted.
pub(super) fn operator(graph: &Graph, node: &Node, types: &dyn Resolver) -> Option<Arc<Candidate>> {
    let namespace = node.kind.split("::").next().unwrap_or_default();
    if !DESCRIBED.contains(&namespace) {
        return None;
    }
    let kinds: Result<Vec<Type>> = node.inputs().iter().map(|&input| Ok(graph.value(input)?.kind.clone())).collect();
    resolve(&node.kind, &kinds.ok()?, types).ok()
}

/// The constant that a value is, if it is a bool.
pub(super) fn constant_bool(graph: &Graph, value: ValueId) -> Option<bool> {
    let kind = &graph.value(value).ok()?.kind;
    match super::constant_node(graph, value)?.attribute("value")? {
        Attribute::Int(value) if *kind == Type::Bool => Some(*value != 0),
        _ => None,
    }
}

/// Whether an argument with this name is the constant False.
fn is_off(graph: &Graph, node: &Node, candidate: &Candidate, name: &str) -> bool {
    let at = candidate.schema.arguments.iter().position(|argument| &*argument.name == name);
    at.and_then(|at| node.inputs().get(at)).is_some_and(|&input| constant_bool(graph, input) == Some(false))
}

/// Whether the results depend on more than the inputs, such as the state of a generator.
fn is_random(graph: &Graph, node: &Node, candidate: &Candidate) -> bool {
    let takes_generator = candidate.schema.arguments.iter().any(|argument| {
        argument.kind == Formal::Type(Type::Generator)
            || matches!(&argument.kind, Formal::Optional(inner) if **inner == Formal::Type(Type::Generator))
            || matches!(&argument.kind, Formal::Type(Type::Optional(inner)) if **inner == Type::Generator)
    });
    if !takes_generator && !UNSTEADY.contains(&&*node.kind) {
        return false;
    }
    match &*node.kind {
        "aten::scaled_dot_product_attention" | "aten::_scaled_dot_product_attention_math" => {
            let rate = node.inputs().get(4).and_then(|&rate| super::constant_node(graph, rate));
            !matches!(rate.and_then(|rate| rate.attribute("value")), Some(Attribute::Float(rate)) if *rate == 0.0)
        }
        "aten::rrelu" => !is_off(graph, node, candidate, "training"),
        _ => !is_off(graph, node, candidate, "train"),
    }
}

/// Arguments that an operator writes although its schema does not say so: statistics of batches, rows of an embedding.
pub(super) fn hidden_writes(graph: &Graph, node: &Node, candidate: &Candidate) -> &'static [usize] {
    let switch = match &*node.kind {
        "aten::batch_norm" | "aten::native_batch_norm" | "aten::_batch_norm_impl_index" | "aten::cudnn_batch_norm" => {
            "training"
        }
        "aten::instance_norm" => "use_input_stats",
        "aten::_no_grad_embedding_renorm_" => return &[0],
        _ => return &[],
    };
    let is_none = |at: usize| {
        let kind = node.inputs().get(at).and_then(|&input| graph.value(input).ok()).map(|value| &value.kind);
        matches!(kind, Some(Type::None))
    };
    if is_off(graph, node, candidate, switch) || (is_none(3) && is_none(4)) { &[] } else { &[3, 4] }
}

/// Whether a node runs other code of the program. Sorting objects calls their method `__lt__`.
pub(super) fn calls_back(graph: &Graph, node: &Node) -> bool {
    match &*node.kind {
        "prim::CallFunction"
        | "prim::CallMethod"
        | "prim::fork"
        | "prim::forkClosure"
        | "prim::awaitable"
        | "prim::awaitable_wait"
        | "prim::Enter"
        | "prim::Exit"
        | "aten::wait"
        | "aten::backward"
        | "aten::_backward"
        | "aten::grad" => true,
        "aten::sort" | "aten::sorted" => {
            let first = node.inputs().first().and_then(|&input| graph.value(input).ok());
            matches!(first.map(|value| &value.kind), Some(Type::List(element)) if matches!(**element, Type::Class(_)))
        }
        _ => false,
    }
}

/// Whether a node must stay although its outputs are not used. Nodes in its blocks are not looked at.
pub(super) fn has_effect(graph: &Graph, node: &Node, types: &dyn Resolver) -> bool {
    if EFFECTS.contains(&&*node.kind) || calls_back(graph, node) {
        return true;
    }
    if is_structure(&node.kind) {
        return false;
    }
    match operator(graph, node, types) {
        None => true,
        Some(candidate) => {
            candidate.schema.writes()
                || is_random(graph, node, &candidate)
                || !hidden_writes(graph, node, &candidate).is_empty()
        }
    }
}

/// Nodes whose effect shows when they run: a run without them may be repeated.
const VISIBLE: [&str; 3] = ["prim::Print", "prim::RaiseException", "aten::warn"];

/// Nodes that read the state of a thread: what a plan depends on, or what has one value while plans run.
const SETTINGS: [&str; 6] = [
    "aten::is_grad_enabled",
    "aten::is_autocast_enabled",
    "aten::is_autocast_cpu_enabled",
    "aten::_get_tracing_state",
    "prim::requires_grad",
    "prim::Uninitialized",
];

/// Why a run of the graph cannot be repeated from its operator calls alone; `None` if this node does not prevent it.
pub(crate) fn unrepeatable(graph: &Graph, node: &Node) -> Option<&'static str> {
    let kind = &*node.kind;
    if VISIBLE.contains(&kind) || SETTINGS.contains(&kind) {
        return None;
    }
    if EFFECTS.contains(&kind) {
        return Some("it has the effect");
    }
    if calls_back(graph, node) {
        return Some("it has a call");
    }
    if STATEFUL.contains(&kind) {
        return Some("it reads the state");
    }
    if is_structure(kind) {
        return None;
    }
    let Some(candidate) = operator(graph, node, &NoTypes) else { return Some("it has a call") };
    if matches!(&candidate.target, Target::Operator(Op::Runtime(_))) {
        return Some("it has a call");
    }
    if is_random(graph, node, &candidate) {
        return Some("it samples the random numbers");
    }
    (!hidden_writes(graph, node, &candidate).is_empty()).then_some("it writes the statistics")
}

/// The input of a node that is the device of the tensor which the operator creates.
pub(crate) fn device_argument(graph: &Graph, node: &Node) -> Option<usize> {
    let candidate = operator(graph, node, &NoTypes)?;
    candidate.schema.arguments.iter().position(|argument| &*argument.name == "device")
}

/// Whether a node computes its outputs from its inputs alone, so that equal inputs have equal outputs. Memory that others
/// write is not looked at.
pub(super) fn is_pure(graph: &Graph, id: NodeId, types: &dyn Resolver) -> bool {
    let Ok(node) = graph.node(id) else { return false };
    let makes_undefined = node.kind.starts_with("aten::empty") || node.kind.starts_with("aten::new_empty");
    node.blocks().is_empty()
        && !node.attributes.iter().any(|(_, attribute)| matches!(attribute, Attribute::Graph(_)))
        && !STATEFUL.contains(&&*node.kind)
        && !makes_undefined
        && !has_effect(graph, node, types)
}
