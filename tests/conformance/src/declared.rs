//! The properties that the declarations state beyond signatures: opgen's `schema.json`, by the name of a form
//! (`aten::index.Tensor`).

use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/schema.json"))).expect("JSON"));

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

static FORMS: LazyLock<HashMap<String, Value>> = LazyLock::new(|| {
    let operators = list(&SCHEMA, "families").iter().flat_map(|family| list(family, "operators"));
    let names = |operator: &Value| -> Vec<String> {
        list(operator, "forms").iter().map(full_name).chain(aliases(operator)).collect()
    };
    operators.flat_map(|operator| names(operator).into_iter().map(move |name| (name, operator.clone()))).collect()
});

/// The full names of the aliases of an operator.
fn aliases(operator: &Value) -> impl Iterator<Item = String> {
    let schemas = list(operator, "aliases").iter().filter_map(Value::as_str);
    schemas.map(|schema| qualified(schema.split('(').next().unwrap_or_default()))
}

/// The name with its namespace, `aten` if it has none.
fn qualified(name: &str) -> String {
    if name.contains("::") { name.to_owned() } else { format!("aten::{name}") }
}

/// `aten::index.Tensor`
fn full_name(form: &Value) -> String {
    let part = |key: &str| form[key].as_str().unwrap_or_default();
    if part("overload").is_empty() { part("name").to_owned() } else { format!("{}.{}", part("name"), part("overload")) }
}

/// Whether the shape of the result depends on the elements of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeByData {
    /// Shapes follow from shapes.
    Never,
    /// For some arguments.
    Sometimes,
    /// In every call.
    Always,
}

/// By the name of an operator without its overload (`aten::max`).
static FAMILIES: LazyLock<HashMap<String, BTreeSet<&'static str>>> = LazyLock::new(|| {
    let mut families = HashMap::<String, BTreeSet<&'static str>>::new();
    for family in list(&SCHEMA, "families") {
        for operator in list(family, "operators") {
            // Operators that are only called by name have no forms.
            let own = operator["name"].as_str().unwrap_or_default().to_owned();
            let forms = list(operator, "forms").iter().map(full_name);
            for name in [own].into_iter().chain(forms).chain(aliases(operator)) {
                let base = name.split('.').next().unwrap_or_default();
                families.entry(base.to_owned()).or_default().extend(family["name"].as_str());
            }
        }
    }
    families
});

/// The families that declare an operator of this name, whatever its overload.
pub fn families(name: &str) -> Option<&'static BTreeSet<&'static str>> {
    FAMILIES.get(name)
}

/// Whether the operator is element-wise: each element of the result depends on the elements at its index.
pub fn is_pointwise(name: &str) -> bool {
    FORMS.get(name).is_some_and(|operator| operator["batching"] == "pointwise")
}

/// An element-wise operator.
pub struct Pointwise {
    /// `aten::add.Tensor`
    pub name: String,
    /// Its functional and in-place forms.
    pub forms: Vec<Form>,
    /// Whether its results are random numbers.
    pub is_random: bool,
}

/// A form of an operator.
pub struct Form {
    /// `add_.Tensor(Tensor(a!) self, ...`
    pub schema: &'static str,
    /// Whether it writes its first argument.
    pub is_in_place: bool,
}

/// The element-wise operators, in the order of their declarations.
pub fn pointwise() -> Vec<Pointwise> {
    let operators = list(&SCHEMA, "families").iter().flat_map(|family| list(family, "operators"));
    let declared = operators.filter(|operator| operator["batching"] == "pointwise");
    let form = |form: &'static Value| {
        let is_in_place = form["kind"] == "in-place";
        let is_computed = is_in_place || form["kind"] == "functional";
        Some(Form { schema: form["schema"].as_str().filter(|_| is_computed)?, is_in_place })
    };
    let described = declared.filter_map(|operator| {
        let forms = list(operator, "forms");
        let name = full_name(forms.first()?);
        let is_random = operator["nondeterministic"] == true;
        Some(Pointwise { name, forms: forms.iter().filter_map(form).collect(), is_random })
    });
    described.collect()
}

/// According to the declaration of the operator.
pub fn shape_by_data(name: &str) -> ShapeByData {
    match FORMS.get(name).and_then(|operator| operator["shape_by_data"].as_str()) {
        Some("always") => ShapeByData::Always,
        Some("sometimes") => ShapeByData::Sometimes,
        _ => ShapeByData::Never,
    }
}

/// The operators with their own nonzero derivative and without random numbers, by the name of their first form.
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

/// Whether the operator has a formula for the gradient of this argument.
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

/// The first form of the operator of a form.
pub fn operator_of(form: &str) -> Option<String> {
    Some(full_name(&FORMS.get(form)?["forms"][0]))
}
