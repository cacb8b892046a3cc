//! The examples in Rust, as methods of the crate `rushlight`: `examples.rs`, which `bindings/rust/tests` includes.

use super::{Case, Special, cases, word};
use crate::emit::rust_api::Member;
use crate::emit::rust_api::names::Names;
use crate::emit::rust_api::types::is_reduction;
use crate::emit::{Emitter, OutFile, Place, first_line};
use crate::example::literal::{DType, Literal};
use crate::example::tensor::TensorLiteral;
use crate::example::value::Value;
use crate::example::written;
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, Parameter};
use crate::names::rust_identifier;
use crate::types::Kind;

/// Generates the file.
pub const EMITTER: Emitter =
    Emitter { name: "rust-examples", place: Place::Crate("bindings/rust"), folders: &[], emit };

const SPECIAL: Special = Special { nan: "f64::NAN", infinity: "f64::INFINITY" };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let names = Names::new(families)?;
    let mut text = first_line(FOLDER);
    text.push_str(
        "/// Every example of the public operators: name, call, results.\npub const EXAMPLES: &[Example] = &[\n",
    );
    // Operators that are called by name have no method.
    for case in cases(families)?.iter().filter(|case| !case.op.internal && !case.op.primary().is_by_name_only()) {
        let (name, packed) = (case.op.name(), case.example.packed());
        text.push_str(&format!("    ({name:?}, |out| {{ {} }}, {packed:?}),\n", call(case, &names)));
    }
    Ok(vec![OutFile { path: "examples.rs".into(), text: text + "];\n" }])
}

/// Statements that add the results to `out`.
fn call(case: &Case, names: &Names) -> String {
    let face = Face::new(case.op, case.op.primary());
    let member = Member::new(&face, names);
    let mut receiver = "Tensor::".to_owned();
    let (mut required, mut optional) = (Vec::new(), Vec::new());
    let (mut before, mut lists) = (String::new(), Vec::new());
    for (index, (parameter, value)) in face.params.iter().zip(&case.example.values).enumerate() {
        let is_optional = parameter.default.is_some();
        if let (true, Some(Value::Tensor(literal))) = (member.receiver() == Some(index), value) {
            receiver = format!("{}.", tensor(literal));
        } else if !is_optional {
            let value = value.clone().unwrap_or_else(|| Value::default(parameter));
            let mut text = argument(parameter, &value, false);
            // Lists that are written are named, and the results are read from them.
            if member.receiver().is_none() && written(face.form, &face.params).any(|one| one.name == parameter.name) {
                let list = format!("list{index}");
                before.push_str(&format!("let {list} = {text}; "));
                lists.push(list.clone());
                text = list;
            }
            required.push(text);
        } else if let Some(value) = value {
            optional.push((parameter, value));
        }
    }
    let name = if optional.is_empty() { member.name().plain() } else { member.name().complete() };
    if !optional.is_empty() && member.optional().len() == 1 {
        required.extend(optional.iter().map(|(parameter, value)| argument(parameter, value, false)));
    } else if !optional.is_empty() {
        let fields = optional.iter().map(|(parameter, value)| {
            format!("{}: {}, ", rust_identifier(&parameter.name), argument(parameter, value, true))
        });
        let rest = if optional.len() < member.optional().len() { "..Default::default() " } else { "" };
        required.push(format!("options::{} {{ {}{rest}}}", member.struct_name(), fields.collect::<String>()));
    }
    let call = format!("{receiver}{name}({})?", required.join(", "));
    match lists.is_empty() {
        true => format!("{call}.report(out); Ok(())"),
        false => {
            let gathered: Vec<String> = lists.iter().map(|list| format!("{list}.report(out);")).collect();
            format!("{before}{call}; {} Ok(())", gathered.join(" "))
        }
    }
}

/// A value as an argument, or as a field of a struct of optional arguments.
fn argument(parameter: &Parameter, value: &Value, is_field: bool) -> String {
    let kind = parameter.kind;
    // Options of lists, strings and numbers; a required list of integers takes the list itself.
    let optional = |text: String| match kind {
        Kind::IntListOptional if !is_field => text,
        kind if kind.is_optional() && kind != Kind::Options => format!("Some({text})"),
        _ => text,
    };
    match value {
        Value::None => "None".into(),
        Value::Tensor(literal) => optional(format!("&{}", tensor(literal))),
        Value::Tensors(tensors) => {
            let item = |item: &Option<TensorLiteral>| match (item, kind) {
                (None, _) => "None".to_owned(),
                (Some(literal), Kind::TensorOptionalList) => format!("Some({})", tensor(literal)),
                (Some(literal), _) if is_field => format!("&{}", tensor(literal)),
                (Some(literal), _) => tensor(literal),
            };
            match tensors.is_empty() {
                true => "&[] as &[Tensor]".into(),
                false => format!("&[{}]", tensors.iter().map(item).collect::<Vec<_>>().join(", ")),
            }
        }
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| plain(kind.element(), item)).collect();
            optional(format!("&[{}]", items.join(", ")))
        }
        Value::Plain(literal) if is_reduction(parameter) => {
            let names = ["None", "Mean", "Sum"];
            let number: usize = word(literal).parse().unwrap_or(0);
            format!("Reduction::{}", names.get(number).unwrap_or(&"None"))
        }
        Value::Plain(literal) => optional(plain(kind, literal)),
        Value::Options(parts) => {
            let part = |(part, literal): &(String, Literal)| format!("{part}: Some({}), ", plain(kind, literal));
            let parts: String = parts.iter().map(part).collect();
            format!("TensorOptions {{ {parts}..TensorOptions::DEFAULT }}")
        }
    }
}

fn plain(kind: Kind, literal: &Literal) -> String {
    match (kind, literal) {
        (Kind::Scalar | Kind::ScalarOptional, Literal::Bool(flag)) => format!("Scalar::Bool({flag})"),
        (Kind::Scalar | Kind::ScalarOptional, Literal::Number(number)) => match number.parse::<i64>() {
            Ok(_) => format!("Scalar::Int({number})"),
            Err(_) => format!("Scalar::Float({})", SPECIAL.float(number)),
        },
        (_, Literal::Complex(re, im)) => {
            format!("Scalar::Complex(Complex::new({}, {}))", SPECIAL.float(re), SPECIAL.float(im))
        }
        (_, Literal::Text(text)) => format!("{text:?}"),
        (_, Literal::Word(word)) => constant(word),
        (Kind::Float | Kind::FloatOptional, Literal::Number(number)) => SPECIAL.float(number),
        (_, literal) => word(literal).to_owned(),
    }
}

fn constant(word: &str) -> String {
    if DType::parse(word).is_some() {
        return format!("dtype({word:?})");
    }
    match word {
        "strided" => "Layout::Strided".into(),
        "cpu" => "Device::CPU".into(),
        "meta" => "Device::META".into(),
        "channels_last" => "MemoryFormat::ChannelsLast".into(),
        "channels_last_3d" => "MemoryFormat::ChannelsLast3d".into(),
        "preserve_format" => "MemoryFormat::Preserve".into(),
        _ => "MemoryFormat::Contiguous".into(),
    }
}

fn tensor(literal: &TensorLiteral) -> String {
    format!("tensor({:?})", literal.packed())
}
