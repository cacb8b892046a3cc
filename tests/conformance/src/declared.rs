//! What the declarations say of operators beyond their signatures: `bindings/schema.json`, by the name of a form
//! (`aten::index.Tensor`).

use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

static FORMS: LazyLock<HashMap<String, Value>> = LazyLock::new(|| {
    let schema: Value =
        serde_json::from_str(include_str!("../../../bindings/schema.json")).expect("schema.json is JSON");
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let operators = list(&schema, "families").into_iter().flat_map(|family| list(&family, "operators"));
    let forms = operators.flat_map(|operator| {
        list(&operator, "forms").into_iter().map(move |form| (full_name(&form), operator.clone()))
    });
    forms.collect()
});

/// `aten::index.Tensor`
fn full_name(form: &Value) -> String {
    let part = |key: &str| form[key].as_str().unwrap_or_default();
    if part("overload").is_empty() { part("name").to_owned() } else { format!("{}.{}", part("name"), part("overload")) }
}

/// When the elements of arguments decide on the shape of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeByData {
    /// Shapes follow from shapes.
    Never,
    /// For some arguments.
    Sometimes,
    /// In every call.
    Always,
}

/// Does the operator compute each element from those at its place?
pub fn is_pointwise(name: &str) -> bool {
    FORMS.get(name).is_some_and(|operator| operator["batching"] == "pointwise")
}

/// As the declaration of the operator says.
pub fn shape_by_data(name: &str) -> ShapeByData {
    match FORMS.get(name).and_then(|operator| operator["shape_by_data"].as_str()) {
        Some("always") => ShapeByData::Always,
        Some("sometimes") => ShapeByData::Sometimes,
        _ => ShapeByData::Never,
    }
}

/// The operators with a derivative of their own, other than zero, that draw no random numbers, by the name of their first form.
pub fn differentiable() -> Vec<String> {
    let declared = |operator: &&Value| {
        operator["gradients"].as_object().is_some_and(|inputs| inputs.values().any(|kind| kind == "formula"))
            && operator["nondeterministic"] != true
    };
    let mut names: Vec<String> =
        FORMS.values().filter(declared).map(|operator| full_name(&operator["forms"][0])).collect();
    names.sort();
    names.dedup();
    names
}

/// Has the operator a formula for the gradient of this argument?
pub fn has_formula(name: &str, argument: &str) -> bool {
    FORMS.get(name).is_some_and(|operator| operator["gradients"][argument] == "formula")
}

/// The operators, by the name of their first form, whose derivative is the node of this name in a graph: `AddBackward0`.
pub fn operators_of_node(node: &str) -> impl Iterator<Item = String> {
    static NODES: LazyLock<HashMap<String, BTreeSet<String>>> = LazyLock::new(|| {
        let mut nodes: HashMap<String, BTreeSet<String>> = HashMap::new();
        for operator in FORMS.values() {
            if let Some(node) = operator["node"].as_str() {
                nodes.entry(node.to_owned()).or_default().insert(full_name(&operator["forms"][0]));
            }
        }
        nodes
    });
    NODES.get(node).into_iter().flatten().cloned()
}

/// The first form of the operator that a form belongs to.
pub fn operator_of(form: &str) -> Option<String> {
    Some(full_name(&FORMS.get(form)?["forms"][0]))
}
