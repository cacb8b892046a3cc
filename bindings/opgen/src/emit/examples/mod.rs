//! Programs that run every example of the declarations, one for each language: what the documentation shows is true.
//!
//! The support they call (make a tensor, compare with what is expected) is hand-written beside them.

mod c;
mod cpp;
pub mod java;

use crate::emit::{Emitter, OutFile};
use crate::example::{ElementKind, Example, Literal, TensorLiteral};
use crate::model::{Family, Op};
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "examples", folders: &["tests/c/generated", "tests/cpp/generated"], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut cases = Vec::new();
    for family in families {
        cases.extend(cases_of(family)?);
    }
    Ok(vec![
        OutFile { path: "tests/c/generated/examples.c".into(), text: c::program(&cases) },
        OutFile { path: "tests/cpp/generated/examples.cpp".into(), text: cpp::program(&cases) },
        OutFile {
            path: "java/src/test/java/org/rushlight/OperatorExamplesTest.java".into(),
            text: java::program(&cases),
        },
    ])
}

fn cases_of(family: &Family) -> Result<Vec<Case<'_>>, String> {
    let mut cases = Vec::new();
    for op in &family.ops {
        if let Some(example) = Example::parse(op) {
            let problem = |text: String| format!("{}: {}: {text}", family.source, op.name());
            let example = example.map_err(problem)?;
            let expected =
                TensorLiteral::of(&example.result).ok_or_else(|| problem("the result is no tensor".into()))?;
            cases.push(Case { op, example, expected });
        }
    }
    Ok(cases)
}

/// The example in C that opens the header of a family: the first of its operators whose example is short, better one with a result of
/// several elements. Views come last, since their elements need not follow each other in memory.
pub fn opening(family: &Family) -> Result<Vec<String>, String> {
    let mut cases = cases_of(family)?;
    cases.retain(|case| !case.op.internal);
    cases.sort_by_key(|case| (case.op.is_view(), case.expected.elements.len() < 2));
    Ok(cases.iter().find_map(c::opening).unwrap_or_default())
}

/// One example, ready to render.
struct Case<'a> {
    op: &'a Op,
    example: Example,
    expected: TensorLiteral,
}

impl Case<'_> {
    /// The operator's name as a function's: `add_Tensor`.
    fn symbol(&self) -> String {
        self.op.name().replace('.', "_")
    }

    /// The example's text, for a comment.
    fn text(&self) -> &str {
        self.op.doc.example.as_deref().unwrap_or_default()
    }
}

/// A literal where a list of integers is expected: one number is a list of one.
fn integers(literal: &Literal) -> Vec<String> {
    match literal {
        Literal::List(items) => items.iter().flat_map(integers).collect(),
        Literal::Number(text) => vec![text.clone()],
        Literal::Bool(_) | Literal::Text(_) => Vec::new(),
    }
}

/// A number, truth value or text as C, C++ and Java write it.
fn plain(literal: &Literal) -> String {
    match literal {
        Literal::Number(text) => text.clone(),
        Literal::Bool(value) => value.to_string(),
        Literal::Text(text) => format!("{text:?}"),
        Literal::List(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
    }
}

/// The elements with the suffix that makes a C or Java float of a number with a point.
fn elements(tensor: &TensorLiteral) -> String {
    let elements: Vec<String> = tensor
        .elements
        .iter()
        .map(|element| match tensor.dtype {
            ElementKind::Float if element.contains('.') => format!("{element}f"),
            ElementKind::Float => format!("{element}.0f"),
            ElementKind::Int | ElementKind::Bool => element.clone(),
        })
        .collect();
    elements.join(", ")
}
