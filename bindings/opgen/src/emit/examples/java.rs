//! The examples in Java, as functions of `Torch` or methods of Tensor: one JUnit test for each.

use super::{Case, elements, integers, plain};
use crate::emit::{first_line, java};
use crate::example::{ElementKind, Example, Literal, TensorLiteral};
use crate::load::FOLDER;
use crate::model::Op;
use crate::names;
use crate::types::Kind;
use std::fmt::Write;

/// The test class.
pub(super) fn program(cases: &[Case]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "package org.rushlight;\n\nimport org.junit.jupiter.api.Test;\n\n\
         /** Every example of the operators' documentation. */\nclass OperatorExamplesTest {\n",
    );
    for (index, case) in cases.iter().enumerate() {
        let blank = if index == 0 { "" } else { "\n" };
        let _ = write!(
            text,
            "{blank}    @Test\n    void example_{}() {{\n        Examples.check(() -> {}, () -> {});\n    }}\n",
            case.symbol(),
            call(case.op, &case.example),
            tensor(&case.example.result)
        );
    }
    text + "}\n"
}

/// The call of an example.
pub fn call(op: &Op, example: &Example) -> String {
    let form = op.primary();
    let mut receiver = String::new();
    let mut arguments = Vec::new();
    for (parameter, value) in form.parameters().iter().zip(&example.values) {
        let text = match (parameter.kind, value) {
            (_, None) => java::default_value(parameter),
            (Kind::Tensor | Kind::TensorOptional, Some(literal)) => tensor(literal),
            (Kind::TensorList | Kind::TensorOptionalList, Some(Literal::List(items))) => {
                format!("new Tensor[] {{{}}}", items.iter().map(tensor).collect::<Vec<_>>().join(", "))
            }
            (Kind::IntList | Kind::IntListOptional, Some(literal)) => {
                format!("new long[] {{{}}}", integers(literal).join(", "))
            }
            (_, Some(literal)) => plain(literal),
        };
        if !form.function && parameter.name == "self" {
            receiver = text;
        } else {
            arguments.push(text);
        }
    }
    let name = names::java_method(form);
    let arguments = arguments.join(", ");
    if form.function { format!("Torch.{name}({arguments})") } else { format!("{receiver}.{name}({arguments})") }
}

/// A tensor of an example.
pub fn tensor(literal: &Literal) -> String {
    let Some(value) = TensorLiteral::of(literal) else { return "null".into() };
    let ty = match value.dtype {
        ElementKind::Bool => "boolean",
        ElementKind::Int => "long",
        ElementKind::Float => "float",
    };
    let sizes: Vec<String> = value.sizes.iter().map(usize::to_string).collect();
    format!("Tensor.of(new {ty}[] {{{}}}, new long[] {{{}}})", elements(&value), sizes.join(", "))
}
