//! The examples in C99, written with the typed functions of the C interface.

use super::{Case, Special, word};
use crate::emit::first_line;
use crate::example::literal::{DType, Literal};
use crate::example::tensor::TensorLiteral;
use crate::example::value::Value;
use crate::example::written;
use crate::load::FOLDER;
use crate::model::{Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::fmt::Write;

const SPECIAL: Special = Special { nan: "NAN", infinity: "INFINITY" };

/// The program.
pub fn program(cases: &[Case]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str("// Runs every example of the operators' documentation.\n#include \"examples_support.h\"\n");
    let mut rows = String::new();
    for case in cases {
        let (call, inputs) = call(case);
        let name = format!("example_of_{}", case.symbol());
        let _ = write!(
            text,
            "\n// {}\nstatic int32_t {name}(rlt_tensor **in, rlt_tensor **out) {{\n    (void)in;\n    return {call};\n}}\n",
            case.text(),
        );
        let _ = writeln!(
            rows,
            "    {{\"{}\", {name}, \"{}\", \"{}\"}},",
            case.op.name(),
            inputs.join("; "),
            case.example.packed()
        );
    }
    let _ = write!(
        text,
        "\nstatic const example_case cases[] = {{\n{rows}}};\n\n\
         int main(void) {{\n    return example_run(cases, sizeof cases / sizeof cases[0]);\n}}\n"
    );
    text
}

/// The call, with the tensors of `in` in order.
fn call(case: &Case) -> (String, Vec<String>) {
    let form = case.op.primary();
    let parameters = form.parameters();
    let mut inputs: Vec<String> = Vec::new();
    let mut places = Vec::new();
    let mut arguments = Vec::new();
    for (parameter, value) in parameters.iter().zip(&case.example.values) {
        let value = value.clone().unwrap_or_else(|| Value::default(parameter));
        let place = inputs.len();
        let packed = |tensor: &Option<TensorLiteral>| tensor.as_ref().map_or("none".into(), TensorLiteral::packed);
        let mut count = 1;
        match value {
            Value::Tensor(tensor) => {
                inputs.push(tensor.packed());
                arguments.push(format!("in[{place}]"));
            }
            Value::Tensors(tensors) => {
                count = tensors.len();
                inputs.extend(tensors.iter().map(packed));
                arguments.push(format!("TENSORS({place}, {count})"));
            }
            value => arguments.push(argument(parameter, &value)),
        }
        places.push((parameter.name.clone(), place, count));
    }
    let (before, after) = match form.returns() {
        Returns::Tensor => (vec!["&out[0]".to_owned()], String::new()),
        Returns::Tensors(count) => ((0..count).map(|index| format!("&out[{index}]")).collect(), String::new()),
        Returns::TensorList => (vec!["EXAMPLE_LIST".to_owned()], ", out".to_owned()),
        Returns::Nothing => {
            let written: Vec<_> = written(form, &parameters).map(|parameter| parameter.name.as_str()).collect();
            let moved = places.iter().filter(|(name, ..)| written.contains(&name.as_str()));
            let moved: String = moved.map(|(_, place, count)| format!(" | RANGE({place}, {count})")).collect();
            (Vec::new(), format!(", in, out, {}", moved.trim_start_matches(" | ")))
        }
        // Examples show tensors only.
        Returns::Value(_) | Returns::Mixed(_) => (Vec::new(), String::new()),
    };
    arguments.extend(before);
    let call = format!("{}({})", names::c_function(&form.signature), arguments.join(", "));
    let call = match form.returns() {
        Returns::TensorList => format!("example_list({call}{after})"),
        Returns::Nothing => format!("example_written({call}{after})"),
        Returns::Tensor | Returns::Tensors(_) | Returns::Value(_) | Returns::Mixed(_) => call,
    };
    (call, inputs)
}

/// An argument that is not a tensor.
pub fn argument(parameter: &Parameter, value: &Value) -> String {
    match (parameter.kind, value) {
        (Kind::Options, Value::Options(parts)) => options(parts),
        (kind, Value::List(items)) => list(kind, items),
        (kind, Value::Plain(literal)) => plain(kind, literal),
        (
            Kind::IntList
            | Kind::IntListOptional
            | Kind::FloatList
            | Kind::FloatListOptional
            | Kind::ScalarList
            | Kind::BoolList,
            _,
        ) => "NULL, 0".into(),
        _ => "NULL".into(),
    }
}

fn list(kind: Kind, items: &[Literal]) -> String {
    if items.is_empty() {
        return if matches!(kind, Kind::IntListOptional | Kind::FloatListOptional) {
            // NULL is None.
            format!("(const {}[]){{0}}, 0", if kind == Kind::IntListOptional { "int64_t" } else { "double" })
        } else {
            "NULL, 0".into()
        };
    }
    let (ty, element) = match kind {
        Kind::IntList | Kind::IntListOptional => ("int64_t", Kind::Int),
        Kind::FloatList | Kind::FloatListOptional => ("double", Kind::Float),
        Kind::BoolList => ("int32_t", Kind::Bool),
        _ => ("rlt_scalar", Kind::Scalar),
    };
    let star = if kind == Kind::ScalarList { "*" } else { "" };
    let items: Vec<String> = items.iter().map(|item| format!("{star}{}", plain(element, item))).collect();
    format!("(const {ty}[]){{{}}}, {}", items.join(", "), items.len())
}

fn plain(kind: Kind, literal: &Literal) -> String {
    let optional = |ty: &str, kind: Kind| format!("&(const {ty}){{{}}}", plain(kind, literal));
    match kind {
        Kind::Scalar | Kind::ScalarOptional => scalar(literal),
        Kind::IntOptional => optional("int64_t", Kind::Int),
        Kind::FloatOptional => optional("double", Kind::Float),
        Kind::BoolOptional => optional("int32_t", Kind::Bool),
        Kind::DTypeOptional | Kind::LayoutOptional | Kind::MemoryFormatOptional => optional("int32_t", Kind::DType),
        Kind::Float => SPECIAL.float(word(literal)),
        Kind::Bool => u8::from(*literal == Literal::Bool(true)).to_string(),
        Kind::Str | Kind::StrOptional => format!("{:?}", word(literal)),
        Kind::DType | Kind::MemoryFormat => constant(word(literal)),
        Kind::Device | Kind::DeviceOptional => {
            format!("&(const rlt_device){{RLT_DEVICE_{}, -1}}", word(literal).to_uppercase())
        }
        _ => word(literal).to_owned(),
    }
}

fn constant(word: &str) -> String {
    if DType::parse(word).is_some() {
        return format!("RLT_DTYPE_{}", word.to_uppercase());
    }
    match word {
        "strided" => "RLT_LAYOUT_STRIDED".into(),
        format => format!("RLT_MEMORY_FORMAT_{}", format.trim_end_matches("_format").to_uppercase()),
    }
}

/// `RLT_TENSOR_OPTIONS_INIT` with the given options.
fn options(parts: &[(String, Literal)]) -> String {
    let given = |name: &str| parts.iter().find(|(part, _)| part == name).map(|(_, literal)| literal);
    let number = |name: &str| given(name).map_or("-1".to_owned(), |literal| constant(word(literal)));
    let device = given("device").map_or("-1".to_owned(), |name| format!("RLT_DEVICE_{}", word(name).to_uppercase()));
    let pinned = given("pin_memory").map_or("-1".to_owned(), |flag| plain(Kind::Bool, flag));
    format!(
        "&(const rlt_tensor_options){{sizeof(rlt_tensor_options), {}, {}, {device}, -1, {pinned}, -1}}",
        number("dtype"),
        number("layout")
    )
}

fn scalar(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => format!("RLT_BOOL({})", u8::from(*value)),
        Literal::Complex(re, im) => format!("RLT_COMPLEX({}, {})", SPECIAL.float(re), SPECIAL.float(im)),
        Literal::Number(text) if text.parse::<i64>().is_err() => format!("RLT_FLOAT({})", SPECIAL.float(text)),
        literal => format!("RLT_INT({})", word(literal)),
    }
}
