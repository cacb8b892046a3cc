//! The examples in C++, as functions of `at` or methods of Tensor.

use super::{Case, Special, word};
use crate::emit::{cpp, first_line};
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
    text.push_str(
        "// Runs every example of the operators' documentation.\n#include \"examples_support.h\"\n\n\
         static const Example examples[] = {\n",
    );
    for case in cases {
        let _ = writeln!(
            text,
            "  {{\"{}\", [](Results& out) {{ {} }}, \"{}\"}},",
            case.op.name(),
            call(case),
            case.example.packed()
        );
    }
    text + "};\n\nint main() { return run(examples, sizeof examples / sizeof *examples); }\n"
}

/// Statements that add the results to `out`.
fn call(case: &Case) -> String {
    let form = case.op.primary();
    let parameters = form.parameters();
    // The written arguments are named. If the function returns nothing, they are the results.
    let named: Vec<&str> = match form.returns() {
        Returns::Nothing if form.function => {
            written(form, &parameters).map(|parameter| parameter.name.as_str()).collect()
        }
        _ => Vec::new(),
    };
    let values = &case.example.values;
    let is_required = |parameter: &Parameter| case.op.cxx_required.contains(&parameter.name);
    let needed = |(parameter, value): (&Parameter, &Option<Value>)| value.is_some() || is_required(parameter);
    let count = parameters.iter().zip(values).rposition(needed).map_or(0, |last| last + 1);
    let mut before = String::new();
    let mut receiver = String::new();
    let mut arguments = Vec::new();
    for (parameter, value) in parameters.iter().zip(values).take(count) {
        let mut text = match value {
            None => {
                parameter.default.as_ref().map_or("{}".into(), |default| cpp::default_value(parameter.kind, default))
            }
            Some(value) => argument(parameter.kind, value),
        };
        if named.contains(&parameter.name.as_str()) {
            let name = names::c_identifier(&parameter.name);
            let ty = if parameter.kind == Kind::TensorList { "std::vector<at::Tensor>" } else { "at::Tensor" };
            let _ = write!(before, "{ty} {name} = {text}; ");
            text = name;
        }
        if !form.function && parameter.name == "self" {
            receiver = text;
        } else {
            arguments.push(text);
        }
    }
    let name = names::cxx_function(form);
    let arguments = arguments.join(", ");
    let call =
        if form.function { format!("at::{name}({arguments})") } else { format!("{receiver}.{name}({arguments})") };
    if !form.signature.returns.is_empty() {
        return format!("{before}out.add({call});");
    }
    let added: String = named.iter().map(|name| format!(" out.add({});", names::c_identifier(name))).collect();
    format!("{before}{call};{added}")
}

fn argument(kind: Kind, value: &Value) -> String {
    match value {
        Value::None => format!("{}()", type_name(kind)),
        Value::Tensor(value) => tensor(value),
        Value::Tensors(tensors) => {
            let items: Vec<String> =
                tensors.iter().map(|item| item.as_ref().map_or("std::nullopt".into(), tensor)).collect();
            format!("{{{}}}", items.join(", "))
        }
        Value::List(items) if items.is_empty() => match kind {
            Kind::IntListOptional => "at::IntArrayRef()".into(),
            Kind::FloatListOptional => "at::ArrayRef<double>()".into(),
            kind => format!("{}()", type_name(kind)),
        },
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| plain(kind.element(), item)).collect();
            let items = items.join(", ");
            // Without a type, a list is ambiguous if overloads take other lists or a number.
            match kind {
                Kind::IntList | Kind::IntListOptional => format!("at::IntArrayRef({{{items}}})"),
                Kind::ScalarList => format!("at::ArrayRef<at::Scalar>({{{items}}})"),
                _ => format!("{{{items}}}"),
            }
        }
        Value::Plain(literal) => plain(kind, literal),
        Value::Options(parts) => {
            let parts = parts.iter().map(|(part, literal)| match part.as_str() {
                "pin_memory" => format!(".pinned_memory({})", word(literal)),
                part => format!(".{part}({})", constant(word(literal))),
            });
            format!("at::TensorOptions(){}", parts.collect::<String>())
        }
    }
}

/// The type of a parameter, without the reference.
fn type_name(kind: Kind) -> String {
    let spelled = kind.spelling().cxx.trim_start_matches("const ").trim_end_matches('&');
    let mut text = spelled.to_owned();
    for name in ["Tensor", "Scalar", "ScalarType", "Layout", "Device", "MemoryFormat", "Generator"] {
        text = text.replace(&format!("<{name}>"), &format!("<at::{name}>"));
    }
    if text.starts_with("std::") { text } else { format!("at::{text}") }
}

fn plain(kind: Kind, literal: &Literal) -> String {
    match (kind, literal) {
        (_, Literal::Complex(re, im)) => {
            format!("c10::complex<double>({}, {})", SPECIAL.float(re), SPECIAL.float(im))
        }
        (_, Literal::Text(text)) => format!("{text:?}"),
        (_, Literal::Word(word)) => constant(word),
        (Kind::Float | Kind::FloatOptional, Literal::Number(number)) => SPECIAL.float(number),
        // Typed, because a plain number or boolean matches another overload better.
        (Kind::BoolOptional, Literal::Bool(flag)) => format!("std::optional<bool>({flag})"),
        (Kind::IntOptional, Literal::Number(number)) => format!("std::optional<int64_t>({number})"),
        (_, Literal::Number(number)) => SPECIAL.number(number),
        (_, literal) => word(literal).to_owned(),
    }
}

fn constant(word: &str) -> String {
    if let Some(dtype) = DType::parse(word) {
        let name = match dtype {
            DType::Bool => "Bool",
            DType::UInt8 => "Byte",
            DType::Int8 => "Char",
            DType::Int16 => "Short",
            DType::Int32 => "Int",
            DType::Int64 => "Long",
            DType::Float16 => "Half",
            DType::BFloat16 => "BFloat16",
            DType::Float32 => "Float",
            DType::Float64 => "Double",
            DType::Complex32 => "ComplexHalf",
            DType::Complex64 => "ComplexFloat",
            DType::Complex128 => "ComplexDouble",
        };
        return format!("at::k{name}");
    }
    match word {
        "strided" => "at::kStrided",
        "cpu" => "at::kCPU",
        "meta" => "at::kMeta",
        "contiguous_format" => "at::MemoryFormat::Contiguous",
        "preserve_format" => "at::MemoryFormat::Preserve",
        "channels_last" => "at::MemoryFormat::ChannelsLast",
        _ => "at::MemoryFormat::ChannelsLast3d",
    }
    .into()
}

fn tensor(tensor: &TensorLiteral) -> String {
    format!("tensor(\"{}\")", tensor.packed())
}
