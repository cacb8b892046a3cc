//! The examples in C++, as functions of `at` or methods of Tensor.

use super::{Case, integers, plain};
use crate::emit::{cpp, first_line};
use crate::example::{Literal, TensorLiteral};
use crate::load::FOLDER;
use crate::names;
use crate::types::Kind;
use std::fmt::Write;

/// The program.
pub fn program(cases: &[Case]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "// Runs every example of the operators' documentation.\n#include \"../examples_support.h\"\n\nint main() {\n",
    );
    for case in cases {
        let expected = tensor(&case.example.result);
        let _ = writeln!(text, "  example(\"{}\", [] {{ return {}; }}, {expected});", case.op.name(), call(case));
    }
    text + "  return example_report();\n}\n"
}

fn call(case: &Case) -> String {
    let form = case.op.primary();
    let mut receiver = String::new();
    let mut arguments = Vec::new();
    for (parameter, value) in form.parameters().iter().zip(&case.example.values) {
        let text = match (parameter.kind, value) {
            (kind, None) => parameter.default.as_ref().map_or("{}".into(), |default| cpp::default_value(kind, default)),
            (Kind::Tensor | Kind::TensorOptional, Some(literal)) => tensor(literal),
            (Kind::TensorList | Kind::TensorOptionalList, Some(Literal::List(items))) => {
                format!("{{{}}}", items.iter().map(tensor).collect::<Vec<_>>().join(", "))
            }
            (Kind::IntList | Kind::IntListOptional, Some(literal)) => format!("{{{}}}", integers(literal).join(", ")),
            (_, Some(literal)) => plain(literal),
        };
        if !form.function && parameter.name == "self" {
            receiver = text;
        } else {
            arguments.push(text);
        }
    }
    let name = names::cxx_function(form);
    let arguments = arguments.join(", ");
    if form.function { format!("at::{name}({arguments})") } else { format!("{receiver}.{name}({arguments})") }
}

fn tensor(literal: &Literal) -> String {
    // A list with one number with a point is all floating point in C++ only if each element is.
    let float = TensorLiteral::of(literal).is_some_and(|tensor| tensor.dtype == crate::example::ElementKind::Float);
    format!("torch::tensor({})", braces(literal, float))
}

fn braces(literal: &Literal, float: bool) -> String {
    match literal {
        Literal::List(items) => {
            format!("{{{}}}", items.iter().map(|item| braces(item, float)).collect::<Vec<_>>().join(", "))
        }
        Literal::Number(text) if float && !text.contains('.') => format!("{text}.0"),
        literal => plain(literal),
    }
}
