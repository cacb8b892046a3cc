//! The examples in C99, through the typed functions of the C interface.

use super::{Case, elements, integers, plain};
use crate::emit::first_line;
use crate::example::{ElementKind, Literal, TensorLiteral};
use crate::load::FOLDER;
use crate::names;
use crate::types::Kind;
use std::fmt::Write;

/// The program.
pub fn program(cases: &[Case]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str("// Runs every example of the operators' documentation.\n#include \"../examples_support.h\"\n");
    for case in cases {
        text.push_str(&function(case));
    }
    text.push_str("\nint main(void) {\n");
    for case in cases {
        let _ = writeln!(text, "    {}();", name(case));
    }
    text + "    return example_report();\n}\n"
}

fn name(case: &Case) -> String {
    format!("example_{}", case.symbol())
}

fn function(case: &Case) -> String {
    let mut before = String::new();
    let mut after = String::new();
    let mut arguments = Vec::new();
    for (index, parameter) in case.op.primary().parameters().iter().enumerate() {
        let value = case.example.values.get(index).and_then(Option::as_ref);
        match (parameter.kind, value) {
            (Kind::Tensor | Kind::TensorOptional, Some(literal)) => {
                let variable = format!("{}{index}", parameter.name);
                let _ = writeln!(before, "    rlt_tensor *{variable} = {};", tensor(literal));
                let _ = writeln!(after, "    rlt_tensor_free({variable});");
                arguments.push(variable);
            }
            (Kind::TensorList | Kind::TensorOptionalList, Some(Literal::List(items))) => {
                let variable = &parameter.name;
                let items: Vec<String> = items.iter().map(tensor).collect();
                let count = items.len();
                let _ = writeln!(before, "    rlt_tensor *{variable}[] = {{{}}};", items.join(", "));
                for item in 0..count {
                    let _ = writeln!(after, "    rlt_tensor_free({variable}[{item}]);");
                }
                arguments.push(format!("(const rlt_tensor *const *){variable}, {count}"));
            }
            (Kind::IntList | Kind::IntListOptional, Some(literal)) => {
                let numbers = integers(literal);
                arguments.push(format!("(const int64_t[]){{{}}}, {}", numbers.join(", "), numbers.len()));
            }
            (Kind::IntList, None) => arguments.push(default_list(parameter)),
            (Kind::IntListOptional | Kind::FloatListOptional, None) => arguments.push("NULL, 0".into()),
            (Kind::Scalar | Kind::ScalarOptional, Some(literal)) => arguments.push(scalar(literal)),
            (Kind::Scalar, None) => arguments.push(scalar(&Literal::Number(default_number(parameter)))),
            (Kind::IntOptional, Some(literal)) => arguments.push(format!("&(const int64_t){{{}}}", plain(literal))),
            (Kind::FloatOptional, Some(literal)) => arguments.push(format!("&(const double){{{}}}", plain(literal))),
            (Kind::Bool, Some(Literal::Bool(value))) => arguments.push(i32::from(*value).to_string()),
            (Kind::Bool | Kind::Int | Kind::Float, None) => arguments.push(default_number(parameter)),
            (_, Some(literal)) => arguments.push(plain(literal)),
            (_, None) => arguments.push(default_text(parameter)),
        }
    }
    arguments.push("&out".into());
    let expected = &case.expected;
    format!(
        "\n// {}\nstatic void {}(void) {{\n{before}    rlt_tensor *out = NULL;\n    example_ok({}({}), \"{}\");\n    \
         example_expect(out, \"{}\", {});\n{after}}}\n",
        case.text(),
        name(case),
        names::c_function(&case.op.primary().signature),
        arguments.join(", "),
        case.op.name(),
        case.op.name(),
        data(expected),
    )
}

fn default_number(parameter: &crate::model::Parameter) -> String {
    use rushlight_schema::Default;
    match &parameter.default {
        Some(Default::Int(value)) => value.to_string(),
        Some(Default::Float(value)) => format!("{value:?}"),
        Some(Default::Bool(value)) => i32::from(*value).to_string(),
        Some(Default::Constant(constant)) => constant.value().to_string(),
        _ => "0".into(),
    }
}

/// A number stands for a list of it alone, as in a call.
fn default_list(parameter: &crate::model::Parameter) -> String {
    use rushlight_schema::Default;
    let numbers: Vec<String> = match &parameter.default {
        Some(Default::Int(value)) => vec![value.to_string()],
        Some(Default::List(values)) => values
            .iter()
            .filter_map(|value| if let Default::Int(value) = value { Some(value.to_string()) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    if numbers.is_empty() {
        return "NULL, 0".into();
    }
    format!("(const int64_t[]){{{}}}, {}", numbers.join(", "), numbers.len())
}

fn default_text(parameter: &crate::model::Parameter) -> String {
    match &parameter.default {
        Some(rushlight_schema::Default::Str(text)) => format!("{text:?}"),
        _ => "NULL".into(),
    }
}

fn tensor(literal: &Literal) -> String {
    match TensorLiteral::of(literal) {
        Some(value) => format!("example_tensor({})", data(&value)),
        None => "NULL".into(),
    }
}

/// `data, number of bytes, sizes, number of sizes, dtype`
fn data(tensor: &TensorLiteral) -> String {
    let (ty, dtype) = match tensor.dtype {
        ElementKind::Bool => ("uint8_t", "RLT_DTYPE_BOOL"),
        ElementKind::Int => ("int64_t", "RLT_DTYPE_INT64"),
        ElementKind::Float => ("float", "RLT_DTYPE_FLOAT32"),
    };
    let values = elements(tensor).replace("true", "1").replace("false", "0");
    let sizes: Vec<String> = tensor.sizes.iter().map(usize::to_string).collect();
    let sizes = if sizes.is_empty() {
        "NULL, 0".into()
    } else {
        format!("(const int64_t[]){{{}}}, {}", sizes.join(", "), sizes.len())
    };
    format!("(const {ty}[]){{{values}}}, {} * sizeof({ty}), {sizes}, {dtype}", tensor.elements.len())
}

fn scalar(literal: &Literal) -> String {
    let fields = match literal {
        Literal::Bool(value) => format!("RLT_SCALAR_BOOL, 0, {}, 0.0, 0.0", i32::from(*value)),
        Literal::Number(text) if text.contains('.') => format!("RLT_SCALAR_FLOAT, 0, 0, {text}, 0.0"),
        literal => format!("RLT_SCALAR_INT, 0, {}, 0.0, 0.0", plain(literal)),
    };
    format!("&(const rlt_scalar){{{fields}}}")
}
