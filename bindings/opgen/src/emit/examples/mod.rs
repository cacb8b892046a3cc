//! Programs that run every example of the declarations, one for each language. They check the examples in the
//! documentation.
//!
//! Each is a table of name, call and expected results as one string (`Example::packed`). The hand-written support code
//! next to them seeds the generator, makes the call and compares the results.

mod c;
mod cpp;
pub mod java;
mod opening;
pub mod rust;

use crate::emit::{Emitter, OutFile, Place};
use crate::example::Example;
use crate::example::literal::{Literal, is_integer};
use crate::model::{Family, Op};
pub use opening::opening;

/// Generates the C and C++ programs.
pub const EMITTER: Emitter = Emitter { name: "examples", place: Place::Build, folders: &[], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let cases = cases(families)?;
    Ok(vec![
        OutFile { path: "tests/examples.c".into(), text: c::program(&cases) },
        OutFile { path: "tests/examples.cpp".into(), text: cpp::program(&cases) },
    ])
}

/// Generates the Java program.
pub const JAVA: Emitter = Emitter { name: "java-examples", place: Place::JavaTest, folders: &["org"], emit: emit_java };

fn emit_java(families: &[Family]) -> Result<Vec<OutFile>, String> {
    Ok(vec![OutFile { path: "org/rushlight/OperatorExamplesTest.java".into(), text: java::program(&cases(families)?) }])
}

fn cases(families: &[Family]) -> Result<Vec<Case<'_>>, String> {
    let mut cases = Vec::new();
    for family in families {
        cases.extend(cases_of(family)?);
    }
    Ok(cases)
}

fn cases_of(family: &Family) -> Result<Vec<Case<'_>>, String> {
    let mut cases = Vec::new();
    for op in &family.ops {
        if let Some(example) = Example::parse(op) {
            let example = example.map_err(|problem| format!("{}: {}: {problem}", family.source, op.name()))?;
            cases.push(Case { op, example });
        }
    }
    Ok(cases)
}

/// One example, ready to render.
struct Case<'a> {
    op: &'a Op,
    example: Example,
}

impl Case<'_> {
    /// The name of the operator in a function name: `add_Tensor`.
    fn symbol(&self) -> String {
        self.op.name().replace('.', "_")
    }

    /// The example as a comment.
    fn text(&self) -> &str {
        self.op.doc.example.as_deref().unwrap_or_default()
    }
}

/// The spelling of NaN and infinity in a language.
struct Special {
    nan: &'static str,
    infinity: &'static str,
}

impl Special {
    /// A floating point number.
    fn float(&self, number: &str) -> String {
        match number {
            "nan" | "-nan" => self.nan.into(),
            "inf" => self.infinity.into(),
            "-inf" => format!("-{}", self.infinity),
            number if is_integer(number) => format!("{number}.0"),
            number => number.into(),
        }
    }

    /// A number that stays an integer if it is written as one.
    fn number(&self, number: &str) -> String {
        if is_integer(number) { number.into() } else { self.float(number) }
    }
}

/// A number, word or string without quotes.
fn word(literal: &Literal) -> &str {
    match literal {
        Literal::Number(text) | Literal::Word(text) | Literal::Text(text) => text,
        Literal::Bool(true) => "true",
        Literal::Bool(false) => "false",
        _ => "",
    }
}
