//! The C functions of the operators: `capi/src/ops/<family>.rs` and the module list.
//!
//! Plain source, because cbindgen does not see through macros (`headers.rs` makes the headers from this text).
//! A function checks its pointers in order, then calls the typed Rust function; `capi/src/support` has the pieces.

use crate::emit::{Emitter, OutFile, first_line};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "capi", folders: &["capi/src/ops"], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files = vec![OutFile { path: "capi/src/ops/mod.rs".into(), text: modules(families) }];
    files.extend(families.iter().map(|family| OutFile { path: path(family), text: source(family) }));
    Ok(files)
}

/// `capi/src/ops/<family>.rs`
pub fn path(family: &Family) -> String {
    format!("capi/src/ops/{}.rs", family.name)
}

/// The text of one family.
pub fn source(family: &Family) -> String {
    let body = sections(&Face::of(family));
    let mut text = first_line(&family.source);
    let _ = writeln!(text, "//! C functions of the operators of the family `{}`. {}", family.name, family.doc);
    text.push('\n');
    let mut support = vec!["guard"];
    for (word, name) in [("arg::", "arg"), ("out::", "out")] {
        if body.contains(word) {
            support.push(name);
        }
    }
    if body.contains("rlt_generator") {
        text.push_str("use crate::generator::rlt_generator;\n");
    }
    support.sort();
    let _ = writeln!(text, "use crate::support::{};", braces(&support));
    let types: Vec<&str> = ["rlt_device", "rlt_scalar", "rlt_tensor", "rlt_tensor_list", "rlt_tensor_options"]
        .into_iter()
        .filter(|name| body.contains(&format!("const {name},")) || body.contains(&format!("mut {name},")))
        .collect();
    let _ = writeln!(text, "use crate::tensor::{};", braces(&types));
    text.push_str("use rushlight_tensor::ops;\n");
    if body.contains("const c_char") {
        text.push_str("use std::ffi::c_char;\n");
    }
    text + &body
}

/// The functions, with a section (a heading in the header) for each operator and its overloads.
fn sections(faces: &[Face]) -> String {
    let mut text = String::new();
    for section in faces.chunk_by(|a, b| operator(a) == operator(b)) {
        let _ = writeln!(text, "\n// ---- {} ----", operator(&section[0]));
        text.extend(section.iter().map(function));
    }
    text
}

/// `mul`, for `mul.Tensor`, `mul_.Tensor` and `mul.out`
fn operator<'a>(face: &Face<'a>) -> &'a str {
    names::base(&face.op.primary().signature)
}

/// `capi/src/ops/mod.rs`
fn modules(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "//! The C functions of the operators, one module for each family, each behind the family's cargo feature.\n\
         //! What holds for all of them (pointers, ownership, errors) stands in docs/c-abi.md.\n\n\
         #![allow(clippy::missing_safety_doc, reason = \"docs/c-abi.md says it once for every function\")]\n\
         #![allow(clippy::too_many_arguments, reason = \"the signatures are the operators'\")]\n\n",
    );
    for family in families {
        let _ = writeln!(text, "#[cfg(feature = \"op-{0}\")]\npub mod {0};", family.name);
    }
    text
}

fn braces(names: &[&str]) -> String {
    if names.len() == 1 { names[0].to_string() } else { format!("{{{}}}", names.join(", ")) }
}

/// The function as the header declares it.
pub fn prototype(face: &Face) -> String {
    let outs = match face.returns {
        Returns::Nothing => Vec::new(),
        Returns::TensorList => vec![TENSOR_LIST_OUT.to_string()],
        Returns::Tensor => vec![tensor_out(0)],
        Returns::Tensors(count) => (0..count).map(tensor_out).collect(),
    };
    let given = face.params.iter().flat_map(|param| Row::of(param).parameters);
    let written = face.outs.iter().map(|out| written(out));
    let parameters: Vec<String> = given.chain(written).chain(outs).map(|parameter| c_parameter(&parameter)).collect();
    format!("int32_t {}({})", face.c_function(), parameters.join(", "))
}

/// `x: *const rlt_tensor` as C writes it.
fn c_parameter(parameter: &str) -> String {
    let (name, mut ty) = parameter.split_once(": ").unwrap_or((parameter, ""));
    let name = names::c_parameter(name);
    let mut stars = String::new();
    let mut constant = Vec::new();
    while let Some((is_const, rest)) =
        ty.strip_prefix("*const ").map(|rest| (true, rest)).or(ty.strip_prefix("*mut ").map(|rest| (false, rest)))
    {
        constant.push(is_const);
        ty = rest;
    }
    let base = match ty {
        "i64" => "int64_t",
        "i32" => "int32_t",
        "f64" => "double",
        "c_char" => "char",
        other => other,
    };
    // The innermost pointer says whether the base is constant, each other one whether the pointer within is.
    for outer in constant.iter().rev().skip(1) {
        stars.push_str(if *outer { "*const " } else { "*" });
    }
    if !constant.is_empty() {
        stars.push('*');
    }
    let qualifier = if constant.last() == Some(&true) { "const " } else { "" };
    format!("{qualifier}{base} {stars}{name}")
}

const TENSOR_LIST_OUT: &str = "out0: *mut *mut rlt_tensor_list";

fn tensor_out(index: usize) -> String {
    format!("out{index}: *mut *mut rlt_tensor")
}

/// The parameter of an out form that is written.
fn written(name: &str) -> String {
    format!("{name}: *const rlt_tensor")
}

fn function(face: &Face) -> String {
    let symbol = face.c_function();
    let mut parameters = Vec::new();
    let mut checks = Vec::new();
    let mut values = Vec::new();
    for param in &face.params {
        let row = Row::of(param);
        parameters.extend(row.parameters);
        checks.extend(row.check);
        values.push(row.value);
    }
    for out in &face.outs {
        parameters.push(written(out));
        checks.push(format!("let {out} = arg::tensor({out}, \"{out}\")?;"));
        values.push(format!("&{out}"));
    }
    let call = format!("{}({})", face.rust_function(), values.join(", "));
    let end = match face.returns {
        Returns::Nothing => call,
        Returns::TensorList => {
            parameters.push(TENSOR_LIST_OUT.into());
            checks.push("let out0 = out::tensor_list(out0, \"out0\")?;".into());
            format!("out0.give({call}?)")
        }
        Returns::Tensor => {
            parameters.push(tensor_out(0));
            checks.push("let out0 = out::tensor(out0, \"out0\")?;".into());
            format!("out0.give({call}?)")
        }
        Returns::Tensors(count) => {
            for index in 0..count {
                parameters.push(tensor_out(index));
                checks.push(format!("let out{index} = out::tensor(out{index}, \"out{index}\")?;"));
            }
            let results: Vec<String> = (0..count).map(|index| format!("result{index}")).collect();
            let last = count - 1;
            let gives: String = (0..last).map(|index| format!("out{index}.give(result{index})?;\n")).collect();
            format!("let ({}) = {call}?;\n{gives}out{last}.give(result{last})", results.join(", "))
        }
    };
    let mut text = String::from("\n");
    for line in face.documentation() {
        let _ = writeln!(text, "{}", format!("/// {line}").trim_end());
    }
    let _ = write!(
        text,
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {symbol}({}) -> i32 {{\n\
         guard(\"{symbol}\", move || {{\n\
         // SAFETY: the caller passes pointers that are valid for the call (docs/c-abi.md).\n\
         unsafe {{\n{}\n{end}\n}}\n}})\n}}\n",
        parameters.iter().map(|p| format!("{p},")).collect::<String>(),
        checks.join("\n"),
    );
    text
}

/// How C passes one kind of argument.
struct Row {
    /// `name: type`, one or two.
    parameters: Vec<String>,
    /// The line that checks and converts.
    check: Option<String>,
    /// What the typed function is given.
    value: String,
}

impl Row {
    fn of(param: &Parameter) -> Row {
        let schema = &param.name;
        let x = names::rust_identifier(schema);
        let pointer = |ty: &str, checked: &str, value: &str| Row {
            parameters: vec![format!("{x}: {ty}")],
            check: Some(format!("let {x} = {};", checked.replace('$', &x).replace('%', schema))),
            value: value.replace('$', &x),
        };
        let list = |ty: &str, checked: &str, value: &str| Row {
            parameters: vec![format!("{x}: {ty}"), format!("{schema}_len: i64")],
            check: Some(format!("let {x} = {};", checked.replace('$', &x).replace('%', schema))),
            value: value.replace('$', &x),
        };
        let plain = |ty: &str, value: &str| Row {
            parameters: vec![format!("{x}: {ty}")],
            check: None,
            value: value.replace('$', &x),
        };
        match param.kind {
            Kind::Tensor => pointer("*const rlt_tensor", "arg::tensor($, \"%\")?", "&$"),
            Kind::TensorOptional => pointer("*const rlt_tensor", "arg::tensor_opt($)", "$.as_deref()"),
            Kind::TensorList => list("*const *const rlt_tensor", "arg::tensors($, %_len, \"%\")?", "&$.refs()"),
            Kind::TensorOptionalList => {
                list("*const *const rlt_tensor", "arg::tensors_opt($, %_len, \"%\")?", "&$.refs()")
            }
            Kind::Scalar => pointer("*const rlt_scalar", "arg::scalar($, \"%\")?", "$"),
            Kind::ScalarOptional => pointer("*const rlt_scalar", "arg::scalar_opt($, \"%\")?", "$"),
            Kind::ScalarList => list("*const rlt_scalar", "arg::scalars($, %_len, \"%\")?", "&$"),
            Kind::Int => plain("i64", "$"),
            Kind::IntOptional => pointer("*const i64", "arg::int_opt($)", "$"),
            Kind::IntList => list("*const i64", "arg::ints($, %_len, \"%\")?", "$"),
            Kind::IntListOptional => list("*const i64", "arg::ints_opt($, %_len, \"%\")?", "$"),
            Kind::Float => plain("f64", "$"),
            Kind::FloatOptional => pointer("*const f64", "arg::float_opt($)", "$"),
            Kind::FloatList => list("*const f64", "arg::floats($, %_len, \"%\")?", "$"),
            Kind::FloatListOptional => list("*const f64", "arg::floats_opt($, %_len, \"%\")?", "$"),
            Kind::Bool => plain("i32", "arg::bool($)"),
            Kind::BoolOptional => pointer("*const i32", "arg::bool_opt($)", "$"),
            Kind::BoolList => list("*const i32", "arg::bools($, %_len, \"%\")?", "&$"),
            Kind::Str => pointer("*const c_char", "arg::string($, \"%\")?", "$"),
            Kind::StrOptional => pointer("*const c_char", "arg::string_opt($, \"%\")?", "$"),
            Kind::DType => pointer("i32", "arg::dtype($)?", "$"),
            Kind::DTypeOptional => pointer("*const i32", "arg::dtype_opt($)?", "$"),
            Kind::LayoutOptional => pointer("*const i32", "arg::layout_opt($)?", "$"),
            Kind::MemoryFormat => pointer("i32", "arg::memory_format($)?", "$"),
            Kind::MemoryFormatOptional => pointer("*const i32", "arg::memory_format_opt($)?", "$"),
            Kind::Device => pointer("*const rlt_device", "arg::device($, \"%\")?", "$"),
            Kind::DeviceOptional => pointer("*const rlt_device", "arg::device_opt($)?", "$"),
            Kind::GeneratorOptional => pointer("*const rlt_generator", "arg::generator_opt($)", "$.as_deref()"),
            Kind::Options => pointer("*const rlt_tensor_options", "arg::options($)?", "$"),
        }
    }
}
