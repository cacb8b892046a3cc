//! The examples in Java, as functions of `Torch` or methods of Tensor: one JUnit test for each.

use super::{Case, Special, word};
use crate::emit::{first_line, java};
use crate::example::literal::{DType, Literal};
use crate::example::tensor::{Element, TensorLiteral};
use crate::example::value::Value;
use crate::example::{Example, written};
use crate::load::FOLDER;
use crate::model::{Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::fmt::Write;

const SPECIAL: Special = Special { nan: "Double.NaN", infinity: "Double.POSITIVE_INFINITY" };

/// The test class.
pub(super) fn program(cases: &[Case]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "package org.rushlight;\n\nimport org.junit.jupiter.api.Test;\n\n\
         /** Every example of the public operators' documentation. */\nclass OperatorExamplesTest {\n",
    );
    // Java has no internal operators.
    for (index, case) in cases.iter().filter(|case| !case.op.internal).enumerate() {
        let blank = if index == 0 { "" } else { "\n" };
        let _ = write!(
            text,
            "{blank}    @Test\n    void example_{}() {{\n        Examples.check(\"{}\", () -> {});\n    }}\n",
            case.symbol(),
            case.example.packed(),
            supplier(case),
        );
    }
    text + "}\n"
}

/// The body of the lambda that returns the results.
fn supplier(case: &Case) -> String {
    let form = case.op.primary();
    if form.returns() != Returns::Nothing || !form.signature.returns.is_empty() {
        return call(case.op, &case.example);
    }
    // Lists that are written are named, and the results are read from them.
    let parameters = form.parameters();
    let mut text = String::from("{ ");
    let mut lists = Vec::new();
    let mut arguments = Vec::new();
    let given = parameters.iter().zip(&case.example.values);
    for (index, (parameter, value)) in given.enumerate() {
        let mut spelled =
            value.as_ref().map_or_else(|| java::default_value(parameter), |value| argument(parameter.kind, value));
        if written(form, &parameters).any(|other| other.name == parameter.name) {
            let _ = write!(text, "Tensor[] list{index} = {spelled}; ");
            spelled = format!("list{index}");
            lists.push(spelled.clone());
        }
        arguments.push(spelled);
    }
    let name = names::java_method(form);
    let _ = write!(text, "Torch.{name}({}); return new Object[] {{{}}}; }}", arguments.join(", "), lists.join(", "));
    text
}

/// The call of an example.
pub fn call(op: &Op, example: &Example) -> String {
    let form = op.primary();
    let parameters = form.parameters();
    let mut arguments = arguments(&parameters, example);
    let receiver = match parameters.iter().position(|parameter| !form.function && parameter.name == "self") {
        Some(index) => arguments.remove(index),
        None => "Torch".into(),
    };
    format!("{receiver}.{}({})", names::java_method(form), arguments.join(", "))
}

/// The arguments up to the last one that the example gives. There are overloads for primitive numbers and for objects
/// that may be null, but none that mixes them: the arguments select one.
fn arguments(parameters: &[Parameter], example: &Example) -> Vec<String> {
    let required = parameters.iter().rposition(|parameter| parameter.default.is_none()).map_or(0, |last| last + 1);
    let count = example.values.iter().rposition(Option::is_some).map_or(0, |last| last + 1).max(required);
    let given = || parameters.iter().zip(&example.values).take(count);
    let is_optional = |kind: Kind| matches!(kind, Kind::IntOptional | Kind::FloatOptional);
    let optionals = || given().filter(|(parameter, _)| is_optional(parameter.kind));
    let is_none = |(parameter, value): (&Parameter, &Option<Value>)| {
        value.as_ref().unwrap_or(&Value::default(parameter)) == &Value::None
    };
    let boxed = optionals().any(is_none);
    let any = optionals().next().is_some();
    let spell = |(parameter, value): (&Parameter, &Option<Value>)| {
        let text =
            value.as_ref().map_or_else(|| java::default_value(parameter), |value| argument(parameter.kind, value));
        match (parameter.kind, value) {
            (kind, Some(Value::Plain(_))) if boxed && is_optional(kind) => {
                format!("{}.valueOf({text})", java::public_type(kind))
            }
            // Where these are boxed by the compiler both overloads fit.
            (Kind::BoolOptional, Some(Value::Plain(_))) if boxed => format!("Boolean.valueOf({text})"),
            (Kind::Scalar | Kind::ScalarOptional, Some(Value::Plain(Literal::Number(_)))) if any => {
                format!("Scalar.of({text})")
            }
            _ => text,
        }
    };
    given().map(spell).collect()
}

fn argument(kind: Kind, value: &Value) -> String {
    match value {
        Value::None => format!("({}) null", java::public_type(kind)),
        Value::Tensor(value) => tensor(value),
        Value::Tensors(tensors) => {
            let items: Vec<String> = tensors.iter().map(|item| item.as_ref().map_or("null".into(), tensor)).collect();
            format!("new Tensor[] {{{}}}", items.join(", "))
        }
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| plain(kind.element(), item)).collect();
            format!("new {} {{{}}}", java::public_type(kind), items.join(", "))
        }
        Value::Plain(literal) => plain(kind, literal),
        Value::Options(parts) => options(parts),
    }
}

fn options(parts: &[(String, Literal)]) -> String {
    let parts = parts.iter().map(|(part, literal)| match part.as_str() {
        "dtype" => format!(".withDtype({})", constant(word(literal))),
        "layout" => format!(".withLayout({})", constant(word(literal))),
        "device" => format!(".withDevice({})", constant(word(literal))),
        _ => format!(".withPinMemory({})", word(literal)),
    });
    let text = parts.collect::<String>();
    match text.strip_prefix(".withDtype") {
        Some(rest) => format!("TensorOptions.of{rest}"),
        None => format!("TensorOptions.DEFAULT{text}"),
    }
}

fn plain(kind: Kind, literal: &Literal) -> String {
    match (kind, literal) {
        (Kind::Scalar | Kind::ScalarOptional, Literal::Bool(flag)) => format!("Scalar.of({flag})"),
        (_, Literal::Complex(re, im)) => format!("Scalar.complex({}, {})", SPECIAL.float(re), SPECIAL.float(im)),
        (_, Literal::Text(text)) => format!("{text:?}"),
        (_, Literal::Word(word)) => constant(word),
        (Kind::Float | Kind::FloatOptional, Literal::Number(number)) => SPECIAL.float(number),
        (Kind::IntOptional, Literal::Number(number)) => format!("{number}L"),
        (_, Literal::Number(number)) if number.parse::<i32>().is_err() && number.parse::<i64>().is_ok() => {
            format!("{number}L")
        }
        (_, Literal::Number(number)) => SPECIAL.number(number),
        (_, literal) => word(literal).to_owned(),
    }
}

fn constant(word: &str) -> String {
    if DType::parse(word).is_some() {
        return format!("DType.{}", word.to_uppercase());
    }
    match word {
        "strided" => "Layout.STRIDED".into(),
        "cpu" => "Device.CPU".into(),
        "meta" => "Device.META".into(),
        format => format!("MemoryFormat.{}", format.trim_end_matches("_format").to_uppercase()),
    }
}

/// A tensor of an example.
fn tensor(value: &TensorLiteral) -> String {
    match value.dtype {
        DType::Bool => array(value, "boolean", real),
        DType::Int32 => array(value, "int", real),
        DType::Int64 => array(value, "long", real),
        DType::Float32 => array(value, "float", real),
        DType::Float64 => array(value, "double", real),
        DType::Complex32 => format!("{}.to(DType.COMPLEX32)", complex(value, "float")),
        DType::Complex64 => complex(value, "float"),
        DType::Complex128 => complex(value, "double"),
        DType::UInt8 | DType::Int8 | DType::Int16 | DType::Float16 | DType::BFloat16 => {
            let ty = if value.dtype.is_float() { "double" } else { "long" };
            format!("{}.to({})", array(value, ty, real), constant(value.dtype.name()))
        }
    }
}

fn complex(value: &TensorLiteral, ty: &str) -> String {
    format!("Torch.complex({}, {})", array(value, ty, real), array(value, ty, imaginary))
}

fn array(value: &TensorLiteral, ty: &str, part: fn(&Element) -> &str) -> String {
    let sizes: Vec<String> = value.sizes.iter().map(usize::to_string).collect();
    let items: Vec<String> = value.elements.iter().map(|element| number(part(element), ty)).collect();
    format!("Tensor.of(new {ty}[] {{{}}}, new long[] {{{}}})", items.join(", "), sizes.join(", "))
}

fn real(element: &Element) -> &str {
    match element {
        Element::Bool(true) => "true",
        Element::Bool(false) => "false",
        Element::Real(re) | Element::Complex(re, _) => re,
    }
}

fn imaginary(element: &Element) -> &str {
    match element {
        Element::Complex(_, im) => im,
        Element::Bool(_) | Element::Real(_) => "0",
    }
}

/// An element of an array of this type.
fn number(text: &str, ty: &str) -> String {
    const FLOAT: Special = Special { nan: "Float.NaN", infinity: "Float.POSITIVE_INFINITY" };
    match ty {
        "float" if text.ends_with(['n', 'f']) => FLOAT.float(text),
        "float" => format!("{}f", FLOAT.float(text)),
        "double" => SPECIAL.float(text),
        "long" if text.parse::<i32>().is_err() => format!("{text}L"),
        _ => text.to_owned(),
    }
}
