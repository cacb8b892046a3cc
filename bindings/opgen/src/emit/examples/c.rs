//! The examples in C99, through the typed functions of the C interface.

use super::{Case, elements, integers, plain};
use crate::emit::first_line;
use crate::example::{ElementKind, Literal, TensorLiteral};
use crate::load::FOLDER;
use crate::model::Parameter;
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
            _ => arguments.push(argument(parameter, value)),
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

/// What is no tensor.
fn argument(parameter: &Parameter, value: Option<&Literal>) -> String {
    match (parameter.kind, value) {
        (Kind::IntList | Kind::IntListOptional, Some(literal)) => {
            let numbers = integers(literal);
            format!("(const int64_t[]){{{}}}, {}", numbers.join(", "), numbers.len())
        }
        (Kind::IntList, None) => default_list(parameter),
        (Kind::IntListOptional | Kind::FloatListOptional, None) => "NULL, 0".into(),
        (Kind::Scalar | Kind::ScalarOptional, Some(literal)) => scalar(literal),
        (Kind::Scalar, None) => scalar(&Literal::Number(default_number(parameter))),
        (Kind::IntOptional, Some(literal)) => format!("&(const int64_t){{{}}}", plain(literal)),
        (Kind::FloatOptional, Some(literal)) => format!("&(const double){{{}}}", plain(literal)),
        (Kind::Bool, Some(Literal::Bool(value))) => i32::from(*value).to_string(),
        (Kind::Bool | Kind::Int | Kind::Float, None) => default_number(parameter),
        (_, Some(literal)) => plain(literal),
        (_, None) => default_text(parameter),
    }
}

/// Columns of a line of an example in a header, where a comment stands around it.
const WIDTH: usize = 110;

/// The most elements that the result of an example in a header has.
const FEW: usize = 6;

/// An example as the body of a function that has a `status`, without helpers, which prints the result: what opens a header.
/// None where that would be long.
pub fn opening(case: &Case) -> Option<Vec<String>> {
    let (ty, format, cast) = match case.expected.dtype {
        ElementKind::Bool => ("uint8_t", "%d", ""),
        ElementKind::Int => ("int64_t", "%d", "(int)"),
        ElementKind::Float => ("float", "%g", ""),
    };
    let mut data = Vec::new();
    let mut handles = Vec::new();
    let mut steps = Vec::new();
    let mut arguments = Vec::new();
    for (index, parameter) in case.op.primary().parameters().iter().enumerate() {
        let value = case.example.values.get(index).and_then(Option::as_ref);
        match (parameter.kind, value) {
            (Kind::Tensor | Kind::TensorOptional, Some(literal)) => {
                let tensor = TensorLiteral::of(literal)?;
                let name = names::c_identifier(&parameter.name);
                let sizes: Vec<String> = tensor.sizes.iter().map(usize::to_string).collect();
                let (ty, dtype) = element_type(&tensor);
                data.push(format!("const {ty} {name}_data[] = {{{}}};", c_elements(&tensor)));
                let mut sizes_of = "NULL".to_owned();
                if !sizes.is_empty() {
                    sizes_of = format!("{name}_sizes");
                    data.push(format!("const int64_t {sizes_of}[] = {{{}}};", sizes.join(", ")));
                }
                let count = sizes.len();
                steps.push(format!(
                    "rlt_tensor_from_data({name}_data, sizeof {name}_data, {sizes_of}, {count}, {dtype}, &{name})"
                ));
                arguments.push(name.clone());
                handles.push(name);
            }
            (Kind::TensorList | Kind::TensorOptionalList, _) => return None,
            _ => arguments.push(argument(parameter, value)),
        }
    }
    let count = case.expected.elements.len();
    if handles.len() > 3 || !(1..=FEW).contains(&count) {
        return None;
    }
    arguments.push("&out".into());
    handles.push("out".into());
    steps.push(format!("{}({})", names::c_function(&case.op.primary().signature), arguments.join(", ")));
    steps.push("rlt_tensor_data_ptr(out, &result)".into());

    let mut body = vec![format!("// {}", case.text())];
    body.extend(data);
    let declared: Vec<String> = handles.iter().map(|name| format!("*{name} = NULL")).collect();
    body.push(format!("rlt_tensor {};", declared.join(", ")));
    body.push("void *result = NULL;".into());
    for (at, step) in steps.iter().enumerate() {
        let line = if at == 0 { format!("int32_t status = {step};") } else { format!("if (!status) status = {step};") };
        body.extend(wrapped(line));
    }
    let formats = vec![format; count].join(" ");
    let values: Vec<String> = (0..count).map(|at| format!("{cast}values[{at}]")).collect();
    let printed: Option<Vec<String>> = case.expected.elements.iter().map(|element| printed(element)).collect();
    body.push("if (!status) {".into());
    body.push(format!("  const {ty} *values = (const {ty} *)result;"));
    body.push(format!("  printf(\"{formats}\\n\", {});  // prints {}", values.join(", "), printed?.join(" ")));
    body.push("}".into());
    body.extend(handles.iter().rev().map(|name| format!("rlt_tensor_free({name});")));
    body.iter().all(|line| line.len() <= WIDTH).then_some(body)
}

/// A call on one line, or on two, broken behind a comma.
fn wrapped(line: String) -> Vec<String> {
    if line.len() <= WIDTH {
        return vec![line];
    }
    match line[..WIDTH].rfind(", ") {
        Some(comma) => vec![line[..=comma].to_owned(), format!("        {}", &line[comma + 2..])],
        None => vec![line],
    }
}

/// An element as `%g` prints it; None where it would round.
fn printed(element: &str) -> Option<String> {
    match element {
        "true" => return Some("1".into()),
        "false" => return Some("0".into()),
        _ => {}
    }
    let value: f64 = element.parse().ok()?;
    let digits = element.chars().filter(char::is_ascii_digit).count();
    (digits <= 6).then(|| value.to_string())
}

fn default_number(parameter: &Parameter) -> String {
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
fn default_list(parameter: &Parameter) -> String {
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

fn default_text(parameter: &Parameter) -> String {
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

fn element_type(tensor: &TensorLiteral) -> (&'static str, &'static str) {
    match tensor.dtype {
        ElementKind::Bool => ("uint8_t", "RLT_DTYPE_BOOL"),
        ElementKind::Int => ("int64_t", "RLT_DTYPE_INT64"),
        ElementKind::Float => ("float", "RLT_DTYPE_FLOAT32"),
    }
}

fn c_elements(tensor: &TensorLiteral) -> String {
    elements(tensor).replace("true", "1").replace("false", "0")
}

/// `data, number of bytes, sizes, number of sizes, dtype`
fn data(tensor: &TensorLiteral) -> String {
    let (ty, dtype) = element_type(tensor);
    let values = c_elements(tensor);
    let sizes: Vec<String> = tensor.sizes.iter().map(usize::to_string).collect();
    let sizes = if sizes.is_empty() {
        "NULL, 0".into()
    } else {
        format!("(const int64_t[]){{{}}}, {}", sizes.join(", "), sizes.len())
    };
    format!("(const {ty}[]){{{values}}}, {} * sizeof({ty}), {sizes}, {dtype}", tensor.elements.len())
}

fn scalar(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => format!("RLT_BOOL({})", i32::from(*value)),
        Literal::Number(text) if text.parse::<i64>().is_err() => format!("RLT_FLOAT({text})"),
        literal => format!("RLT_INT({})", plain(literal)),
    }
}
