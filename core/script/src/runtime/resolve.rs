//! From a node to the operator that it calls. A graph has the name of an operator; the types of the inputs choose the
//! overload.

use crate::builtins::{self, Row};
use crate::schema::{Bindings, Schema};
use crate::types::{Resolver, Type};
use rushlight_base::{Result, err};
use rushlight_tensor::Op;
use rushlight_tensor::dispatch::by_name;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// What a node calls.
pub(crate) enum Target {
    Builtin(&'static Row),
    Operator(Op),
}

/// An overload.
pub(crate) struct Candidate {
    pub(crate) schema: Arc<Schema>,
    pub(crate) target: Target,
}

type Overloads = Arc<[Arc<Candidate>]>;

type Known = RwLock<HashMap<String, Overloads>>;

/// The overloads of the names that graphs have used. Operators that a program defines are looked up again each time.
static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);

/// All overloads of `aten::add`.
fn candidates(kind: &str) -> Overloads {
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(kind) {
        return known.clone();
    }
    let rows = builtins::overloads(kind).iter().filter_map(|row| {
        Some(Candidate { schema: Schema::parse(row.schema).ok()?.into(), target: Target::Builtin(row) })
    });
    let operators = by_name::overloads(kind).into_iter().filter_map(|op| {
        Some(Candidate { schema: Schema::from_signature(&op.signature()).ok()?.into(), target: Target::Operator(op) })
    });
    let found: Overloads = rows.chain(operators).map(Arc::new).collect();
    if kind.starts_with("aten::") || kind.starts_with("prim::") {
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(kind.to_owned(), found.clone());
    }
    found
}

/// The operator of this name with this overload.
pub(crate) fn overload(kind: &str, overload: &str) -> Option<Arc<Candidate>> {
    candidates(kind).iter().find(|candidate| &*candidate.schema.overload == overload).cloned()
}

/// The schema of the operator that a node of this kind calls with inputs of these types.
pub(crate) fn schema_of(kind: &str, inputs: &[Type], types: &dyn Resolver) -> Result<Arc<Schema>> {
    Ok(resolve(kind, inputs, types)?.schema.clone())
}

/// The operator that a node of this kind calls with inputs of these types.
pub(crate) fn resolve(kind: &str, inputs: &[Type], types: &dyn Resolver) -> Result<Arc<Candidate>> {
    let candidates = candidates(kind);
    let of_length = |candidate: &&Arc<Candidate>| {
        let count = candidate.schema.arguments.len();
        count == inputs.len() || candidate.schema.vararg && count <= inputs.len()
    };
    let fitting = candidates.iter().filter(of_length).find(|candidate| accepts(&candidate.schema, inputs, types));
    if let Some(found) = fitting {
        return Ok(found.clone());
    }
    // One overload of this length: the values decide, when it is called.
    let mut rest = candidates.iter().filter(of_length);
    match (rest.next(), rest.next()) {
        (Some(only), None) => Ok(only.clone()),
        _ => Err(unknown(kind, inputs, &candidates)),
    }
}

fn accepts(schema: &Schema, inputs: &[Type], types: &dyn Resolver) -> bool {
    let mut bindings = Bindings::new();
    schema.arguments.iter().zip(inputs).all(|(argument, actual)| {
        argument.kind.bind(actual, &mut bindings, types).is_ok_and(|formal| actual.is_subtype_of(&formal, types))
    })
}

#[cold]
fn unknown(kind: &str, inputs: &[Type], candidates: &[Arc<Candidate>]) -> rushlight_base::Error {
    let types: Vec<String> = inputs.iter().map(Type::schema_str).collect();
    if candidates.is_empty() {
        return err!(UnknownOperator, "Unknown builtin op: {kind}. It is not in this build");
    }
    let known: Vec<String> = candidates.iter().map(|candidate| candidate.schema.to_string()).collect();
    err!(UnknownOperator, "{kind} has no overload for ({}); it has:\n  {}", types.join(", "), known.join("\n  "))
}
