//! Rejects examples that assert nothing: those that the zero function or the identity would pass.

use super::Example;
use crate::model::{Family, Op};

/// The problems of the examples of all families, each with file and operator.
pub fn problems(families: &[Family]) -> Vec<String> {
    let ops = families.iter().flat_map(|family| family.ops.iter().map(move |op| (family, op)));
    ops.filter_map(|(family, op)| Some(format!("{}: {}: {}", family.source, op.name(), problem(op)?))).collect()
}

/// The errors in the example of an operator.
fn problem(op: &Op) -> Option<String> {
    let reason = |field: &str| op.exceptions.iter().any(|exception| exception.field == field);
    let (missing, trivial) = (reason("no_example"), reason("trivial_example"));
    match Example::parse(op) {
        None if trivial => Some("`trivial_example` without an example".into()),
        None if missing || op.internal => None,
        None => Some("a public operator needs an `example`, or the reason in `no_example`".into()),
        Some(_) if missing => Some("both `example` and `no_example`".into()),
        Some(Err(problem)) => Some(problem),
        Some(Ok(example)) => match (passed_by(&example), trivial) {
            (Some(function), false) => Some(format!(
                "{function} would pass the example, which must show more, or give the reason in `trivial_example`: {}",
                op.doc.example.as_deref().unwrap_or_default()
            )),
            (None, true) => Some("`trivial_example` is not needed".into()),
            _ => None,
        },
    }
}

/// The function that returns the expected result without computing anything.
fn passed_by(example: &Example) -> Option<&'static str> {
    let outputs: Vec<_> = example.outputs().flatten().collect();
    if outputs.iter().all(|output| output.is_zero()) {
        return Some("the zero function");
    }
    let given = outputs.iter().all(|output| output.is_zero() || example.inputs().any(|input| input.equals(output)));
    given.then_some("the identity")
}
