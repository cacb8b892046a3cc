//! The C++ face: `ATen/generated/methods.h` (inside the body of `class Tensor`) and `ATen/generated/functions.h`; and
//! `ATen/generated/meta_functions.h`, the names that `ATen/MetaFunctions.h` makes functions of.
//!
//! Signatures are libtorch's, so that its programs compile unchanged: `self` is the receiver of a method, an out
//! form exists as `add_out` (outputs first, defaults kept) and `add_outf` (outputs last, no defaults).

use crate::emit::{Emitter, OutFile, first_line};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, FormKind, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use rushlight_schema::{Constant, Default};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "cpp", folders: &["cpp-frontend/include/ATen/generated"], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let file = |name: &str, text: String| OutFile { path: format!("cpp-frontend/include/ATen/generated/{name}"), text };
    Ok(vec![
        file("methods.h", methods(families)),
        file("functions.h", functions(families)),
        file("meta_functions.h", meta_functions(families)),
    ])
}

/// `cpp-frontend/include/ATen/generated/meta_functions.h`: the operators that make tensors of tensors.
fn meta_functions(families: &[Family]) -> String {
    let is_tensor = |kind| matches!(kind, Kind::Tensor | Kind::TensorList);
    let names: BTreeSet<String> = families
        .iter()
        .flat_map(Face::of)
        .filter(|face| face.form.function && face.form.kind == FormKind::Functional && face.returns != Returns::Nothing)
        .filter(|face| face.params.iter().any(|param| is_tensor(param.kind)))
        .map(|face| names::cxx_function(face.form))
        .collect();
    let mut text = first_line(FOLDER);
    text.push_str("// ATen/MetaFunctions.h includes this where the macro is defined.\n");
    names.iter().for_each(|name| text.push_str(&format!("RLT_META({name})\n")));
    text
}

/// `cpp-frontend/include/ATen/generated/methods.h`
fn methods(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str("// Members of class Tensor: ATen/core/TensorBody.h includes this inside the class.\n");
    for family in families {
        let faces = Face::of(family);
        let members: String = faces.iter().filter(|face| face.form.method).map(method).collect();
        if !members.is_empty() {
            let _ = write!(text, "\n// {}: {}\n{members}", family.name, family.doc);
        }
    }
    text
}

/// `cpp-frontend/include/ATen/generated/functions.h`
fn functions(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "// The operators as free functions of namespace at (torch uses the same names).\n#pragma once\n\n\
         #include <ATen/core/TensorBody.h>\n\nnamespace at {\nRLT_NAMESPACE_BEGIN\n",
    );
    for family in families {
        let faces = Face::of(family);
        let _ = write!(text, "\n// {}: {}\n", family.name, family.doc);
        for face in faces.iter().filter(|face| face.form.function) {
            text.push_str(&if face.form.kind == FormKind::Out { out_functions(face) } else { function(face) });
        }
    }
    text + "\nRLT_NAMESPACE_END\n} // namespace at\n"
}

/// How a form is declared: the function, the method, or the function that writes into given tensors.
pub fn declarations(face: &Face) -> Vec<String> {
    let out = face.form.kind == FormKind::Out;
    let mut declarations = Vec::new();
    if face.form.function {
        declarations.push(if out { out_heads(face).0 } else { function_head(face) });
    }
    if face.form.method {
        declarations.push(method_head(face, "Tensor::"));
    }
    declarations
}

fn method_head(face: &Face, class: &str) -> String {
    let params: Vec<String> = face.params.iter().filter(|p| p.name != "self").map(|p| declare(face, p, true)).collect();
    let name = names::cxx_function(face.form);
    format!("{} {class}{name}({}) const", body(face, "*this", "").0, params.join(", "))
}

fn method(face: &Face) -> String {
    let (_, body) = body(face, "*this", "const_cast<Tensor&>(*this)");
    format!("{}{} {{\n{body}}}\n", comment(face), method_head(face, ""))
}

fn function_head(face: &Face) -> String {
    let in_place = face.form.kind == FormKind::InPlace;
    let params: Vec<String> = face
        .params
        .iter()
        .map(|p| {
            if in_place && p.name == "self" && p.kind == Kind::Tensor {
                "Tensor& self".into()
            } else {
                declare(face, p, true)
            }
        })
        .collect();
    format!("{} {}({})", body(face, "self", "self").0, names::cxx_function(face.form), params.join(", "))
}

fn function(face: &Face) -> String {
    let (_, body) = body(face, "self", "self");
    format!("{}inline {} {{\n{body}}}\n", comment(face), function_head(face))
}

/// Of an out form: outputs first with defaults, and outputs last without.
fn out_heads(face: &Face) -> (String, String) {
    let outs: Vec<String> = face.outs.iter().map(|out| format!("Tensor& {out}")).collect();
    let with = |defaults| face.params.iter().map(|p| declare(face, p, defaults)).collect::<Vec<String>>();
    let (first, last) = ([outs.clone(), with(true)].concat(), [with(false), outs].concat());
    let (result, name) = (out_result(face), names::cxx_function(face.form));
    (format!("{result} {name}({})", first.join(", ")), format!("{result} {name}f({})", last.join(", ")))
}

fn out_result(face: &Face) -> String {
    match face.outs.len() {
        1 => "Tensor&".to_string(),
        n => format!("std::tuple<{}>", vec!["Tensor&"; n].join(", ")),
    }
}

fn out_functions(face: &Face) -> String {
    let back = match &face.outs[..] {
        [out] => format!("return {out};"),
        outs => format!("return {}({});", out_result(face), outs.join(", ")),
    };
    let (first, last) = out_heads(face);
    format!(
        "{}inline {last} {{\n  rlt::check({}({}));\n  {back}\n}}\n\
         {}inline {first} {{\n  return {}f({});\n}}\n",
        comment(face),
        symbol(face),
        values(face, "self").join(", "),
        comment(face),
        names::cxx_function(face.form),
        face.params.iter().map(|p| p.name.clone()).chain(face.outs.iter().cloned()).collect::<Vec<_>>().join(", "),
    )
}

/// Result type and body; `receiver` is what `self` is called here, `written` what an in-place form returns.
fn body(face: &Face, receiver: &str, written: &str) -> (String, String) {
    let call = symbol(face);
    let mut values = values(face, receiver);
    match face.returns {
        Returns::Nothing => {
            let line = format!("  rlt::check({call}({}));\n", values.join(", "));
            if face.has_self() {
                ("Tensor&".into(), format!("{line}  return {written};\n"))
            } else {
                ("void".into(), line)
            }
        }
        Returns::TensorList => {
            values.push("&out0".into());
            let body = format!(
                "  rlt_tensor_list* out0 = nullptr;\n  rlt::check({call}({}));\n  return rlt::adopt_list(out0);\n",
                values.join(", ")
            );
            ("std::vector<Tensor>".into(), body)
        }
        Returns::Tensor | Returns::Tensors(_) => {
            let count = if let Returns::Tensors(count) = face.returns { count } else { 1 };
            let outs: Vec<String> = (0..count).map(|index| format!("out{index}")).collect();
            values.extend(outs.iter().map(|out| format!("&{out}")));
            let locals: String = outs.iter().map(|out| format!("  rlt_tensor* {out} = nullptr;\n")).collect();
            let adopted: Vec<String> = outs.iter().map(|out| format!("Tensor({out})")).collect();
            let (result, back) = match &adopted[..] {
                [one] => ("Tensor".to_string(), one.clone()),
                many => (
                    format!("std::tuple<{}>", vec!["Tensor"; many.len()].join(", ")),
                    format!("{{{}}}", many.join(", ")),
                ),
            };
            // The C interface's factories do not know of gradients, so that asking for them is the last step. What
            // converts (`to`) has nothing to ask them of.
            let takes = |kind| face.params.iter().any(|param| param.kind == kind);
            let factory = face.form.function && takes(Kind::Options);
            let converts = !face.form.function && takes(Kind::Options) && takes(Kind::MemoryFormatOptional);
            let begin = if converts {
                "  if (C10_UNLIKELY(options.requires_grad())) rlt::refuse_requires_grad();\n"
            } else {
                ""
            };
            let end = if factory {
                format!(
                    "  Tensor result = {back};\n  if (options.requires_grad()) result.set_requires_grad(true);\n  return result;\n"
                )
            } else {
                format!("  return {back};\n")
            };
            (result, format!("{begin}{locals}  rlt::check({call}({}));\n{end}", values.join(", ")))
        }
    }
}

fn symbol(face: &Face) -> String {
    face.c_function()
}

fn comment(face: &Face) -> String {
    format!("/// {}\n/// `{}`\n", face.op.doc.summary, face.op.doc.formula)
}

/// The arguments of the C call.
fn values(face: &Face, receiver: &str) -> Vec<String> {
    let mut values: Vec<String> =
        face.params.iter().map(|p| value(p.kind, if p.name == "self" { receiver } else { &p.name })).collect();
    values.extend(face.outs.iter().map(|out| value(Kind::Tensor, out)));
    values
}

fn declare(face: &Face, param: &Parameter, defaults: bool) -> String {
    let required = !defaults || face.op.cxx_required.contains(&param.name);
    let default = param.default.as_ref().filter(|_| !required);
    // `{}` is None too, and no constructor of std::optional has to be chosen.
    let spell = |value: &Default| if *value == Default::None { "{}".into() } else { default_value(param.kind, value) };
    let tail = default.map_or(String::new(), |value| format!(" = {}", spell(value)));
    format!("{} {}{tail}", param.kind.spelling().cxx, names::c_identifier(&param.name))
}

/// One argument of the C call. Programs compile every operator whether they call it or not, and what costs then is choosing
/// among overloads: so a value passes through a member or a function of its kind's own, never through an overloaded one.
fn value(kind: Kind, x: &str) -> String {
    match kind {
        Kind::Tensor if x == "*this" => "handle()".into(),
        Kind::Tensor => format!("{x}.handle()"),
        Kind::Scalar | Kind::Device | Kind::Options => format!("&{x}.raw()"),
        Kind::Int | Kind::Float | Kind::Bool => x.into(),
        Kind::DType | Kind::MemoryFormat => format!("static_cast<int32_t>({x})"),
        Kind::Str => format!("rlt::text({x})"),
        Kind::TensorList => format!("rlt::handles({x}), rlt::length({x}.size())"),
        Kind::TensorOptionalList => format!("rlt::index_handles({x}).data(), rlt::length({x}.size())"),
        Kind::ScalarList => format!("rlt::scalars({x}), rlt::length({x}.size())"),
        Kind::IntList | Kind::FloatList => format!("{x}.data(), rlt::length({x}.size())"),
        Kind::IntListOptional | Kind::FloatListOptional => format!("{x}.raw_data(), {x}.raw_length()"),
        Kind::BoolList => format!("rlt::flags({x}), rlt::length({x}.size())"),
        Kind::TensorOptional => format!("rlt::optional_tensor({x})"),
        Kind::GeneratorOptional => format!("rlt::optional_generator({x})"),
        Kind::ScalarOptional => format!("rlt::optional_scalar({x})"),
        Kind::IntOptional => format!("rlt::optional_int({x})"),
        Kind::FloatOptional => format!("rlt::optional_float({x})"),
        Kind::BoolOptional => format!("rlt::optional_bool({x})"),
        Kind::DTypeOptional => format!("rlt::optional_dtype({x})"),
        Kind::LayoutOptional => format!("rlt::optional_layout({x})"),
        Kind::MemoryFormatOptional => format!("rlt::optional_memory_format({x})"),
        Kind::StrOptional => format!("rlt::optional_text({x})"),
        Kind::DeviceOptional => format!("rlt::optional_device({x})"),
    }
}

/// A default as the language writes it.
pub fn default_value(kind: Kind, value: &Default) -> String {
    match (kind, value) {
        (Kind::Options | Kind::TensorOptional, Default::None) => "{}".into(),
        (_, Default::None) => "std::nullopt".into(),
        (_, Default::Bool(value)) => value.to_string(),
        (Kind::Float | Kind::FloatOptional, Default::Int(value)) => format!("{value}.0"),
        (_, Default::Int(value)) => value.to_string(),
        (_, Default::Float(value)) => format!("{value:?}"),
        (_, Default::Str(text)) => format!("{text:?}"),
        (_, Default::List(values)) => {
            let values: Vec<String> = values.iter().map(|value| default_value(Kind::Int, value)).collect();
            format!("{{{}}}", values.join(", "))
        }
        (_, Default::Constant(constant)) => match constant {
            Constant::Mean => "at::Reduction::Mean",
            Constant::Sum => "at::Reduction::Sum",
            Constant::Long => "at::kLong",
            Constant::Float => "at::kFloat",
            Constant::Double => "at::kDouble",
            Constant::Bool => "at::kBool",
            Constant::Strided => "at::kStrided",
            Constant::ContiguousFormat => "MemoryFormat::Contiguous",
            Constant::PreserveFormat => "MemoryFormat::Preserve",
        }
        .into(),
    }
}
