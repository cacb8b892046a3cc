//! The example at the beginning of the header of a family, as a C program without helper functions.

use super::c::argument;
use super::{Case, cases_of};
use crate::example::literal::DType;
use crate::example::tensor::{Element, TensorLiteral};
use crate::example::value::Value;
use crate::model::{Family, Returns};
use crate::names;

/// The number of columns of an example in a header, inside a comment.
const WIDTH: usize = 110;

/// The maximum number of elements in the result of an example in a header.
const FEW: usize = 6;

/// The first operator of a family with a short example, preferably one with a result of several elements. Views come
/// last, because their elements need not be contiguous in memory.
pub fn opening(family: &Family) -> Result<Vec<String>, String> {
    let mut cases = cases_of(family)?;
    cases.retain(|case| {
        !case.op.internal && !case.op.nondeterministic && case.op.primary().returns() == Returns::Tensor
    });
    cases.sort_by_key(|case| (case.op.is_view(), elements(case) < 2));
    Ok(cases.iter().find_map(body).unwrap_or_default())
}

fn elements(case: &Case) -> usize {
    case.example.outputs().flatten().map(|tensor| tensor.elements.len()).sum()
}

/// The example as the body of a function that has a `status` and prints the result; None if it would be long.
fn body(case: &Case) -> Option<Vec<String>> {
    let expected = case.example.outputs().flatten().next()?;
    let (ty, _) = c_type(expected.dtype)?;
    let (format, cast) = match expected.dtype {
        DType::Bool => ("%d", ""),
        DType::Int64 => ("%d", "(int)"),
        _ => ("%g", ""),
    };
    let mut data = Vec::new();
    let mut handles = Vec::new();
    let mut steps = Vec::new();
    let mut arguments = Vec::new();
    for (parameter, value) in case.op.primary().parameters().iter().zip(&case.example.values) {
        let value = value.clone().unwrap_or_else(|| Value::default(parameter));
        match &value {
            Value::Tensor(tensor) => {
                let name = names::c_identifier(&parameter.name);
                steps.push(creation(tensor, &name, &mut data)?);
                arguments.push(name.clone());
                handles.push(name);
            }
            Value::Tensors(_) => return None,
            value => arguments.push(argument(parameter, value)),
        }
    }
    let count = expected.elements.len();
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
    let printed: Option<Vec<String>> = expected.elements.iter().map(printed).collect();
    body.push("if (!status) {".into());
    body.push(format!("  const {ty} *values = (const {ty} *)result;"));
    body.push(format!("  printf(\"{formats}\\n\", {});  // prints {}", values.join(", "), printed?.join(" ")));
    body.push("}".into());
    body.extend(handles.iter().rev().map(|name| format!("rlt_tensor_free({name});")));
    body.iter().all(|line| line.len() <= WIDTH).then_some(body)
}

/// The call that creates a tensor, with its arrays in `data`.
fn creation(tensor: &TensorLiteral, name: &str, data: &mut Vec<String>) -> Option<String> {
    let (ty, dtype) = c_type(tensor.dtype)?;
    let values: Option<Vec<String>> = tensor.elements.iter().map(|element| c_element(element, tensor.dtype)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    data.push(format!("const {ty} {name}_data[] = {{{}}};", values.join(", ")));
    let count = tensor.sizes.len();
    let mut sizes = "NULL".to_owned();
    if count > 0 {
        sizes = format!("{name}_sizes");
        let numbers: Vec<String> = tensor.sizes.iter().map(usize::to_string).collect();
        data.push(format!("const int64_t {sizes}[] = {{{}}};", numbers.join(", ")));
    }
    Some(format!("rlt_tensor_from_data({name}_data, sizeof {name}_data, {sizes}, {count}, {dtype}, &{name})"))
}

/// The type in C; None for dtypes that a plain array cannot represent.
fn c_type(dtype: DType) -> Option<(&'static str, &'static str)> {
    match dtype {
        DType::Bool => Some(("uint8_t", "RLT_DTYPE_BOOL")),
        DType::Int64 => Some(("int64_t", "RLT_DTYPE_INT64")),
        DType::Float32 => Some(("float", "RLT_DTYPE_FLOAT32")),
        _ => None,
    }
}

/// The number; None for NaN, infinity and complex numbers.
fn c_element(element: &Element, dtype: DType) -> Option<String> {
    match element {
        Element::Bool(flag) => Some(u8::from(*flag).to_string()),
        Element::Real(text) if text.ends_with(['n', 'f']) => None,
        Element::Real(text) if dtype == DType::Float32 && text.contains(['.', 'e', 'E']) => Some(format!("{text}f")),
        Element::Real(text) if dtype == DType::Float32 => Some(format!("{text}.0f")),
        Element::Real(text) => Some(text.clone()),
        Element::Complex(..) => None,
    }
}

/// A call on one line, or on two lines, broken after a comma.
fn wrapped(line: String) -> Vec<String> {
    if line.len() <= WIDTH {
        return vec![line];
    }
    match line[..WIDTH].rfind(", ") {
        Some(comma) => vec![line[..=comma].to_owned(), format!("        {}", &line[comma + 2..])],
        None => vec![line],
    }
}

/// An element in the format of `%g`; None if it would be rounded or printed with an exponent, or if the example is
/// rounded.
fn printed(element: &Element) -> Option<String> {
    match element {
        Element::Bool(flag) => Some(u8::from(*flag).to_string()),
        Element::Complex(..) => None,
        Element::Real(text) => {
            let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
            let digits = text.chars().filter(char::is_ascii_digit).count();
            let exact = f64::from(value as f32) == value;
            (exact && digits <= 6 && !text.contains(['e', 'E'])).then(|| value.to_string())
        }
    }
}
