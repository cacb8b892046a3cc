//! The C++ binding: `ATen/generated/methods.h` (inside the body of `class Tensor`) and `ATen/generated/functions.h`;
//! `ATen/generated/meta_functions.h`, the names from which `ATen/MetaFunctions.h` defines functions; and
//! `ATen/generated/operator_functions.h`, those from which `ATen/Operators.h` defines the structs of `at::_ops`. The module
//! `cpp_derived` adds functions that call others.
//!
//! Signatures are those of libtorch, so that its programs compile unchanged: `self` is the receiver of a method, and an
//! out form exists as `add_out` (outputs first, with defaults) and `add_outf` (outputs last, without defaults).

use crate::emit::{Emitter, OutFile, Place, cpp_derived, first_line};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, FormKind, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use rushlight_schema::{Constant, Default};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Generates the files.
pub const EMITTER: Emitter =
    Emitter { name: "cpp", place: Place::Repository, folders: &["cpp-frontend/include/ATen/generated"], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let file = |name: &str, text: String| OutFile { path: format!("cpp-frontend/include/ATen/generated/{name}"), text };
    Ok(vec![
        file("methods.h", methods(families)),
        file("functions.h", functions(families)),
        file("meta_functions.h", meta_functions(families)),
        file("copied_functions.h", cpp_derived::copied_functions(families)),
        file("named_functions.h", cpp_derived::named_functions(families)),
        file("operator_functions.h", operators(families)),
        file("linalg_functions.h", namespace_functions(families, "linalg_", "torch/linalg.h")),
        file("special_functions.h", namespace_functions(families, "special_", "torch/special.h")),
    ])
}

/// Every form of the operators and of their aliases.
pub fn all_forms(families: &[Family]) -> impl Iterator<Item = Face<'_>> {
    let aliases = |family| Face::aliases(family).into_iter().map(|(alias, _)| alias);
    families.iter().flat_map(move |family| Face::of(family).into_iter().chain(aliases(family)))
}

/// A file of sorted lines, each a function or a call of a macro, inside the header `reader`.
pub fn lines_of(reader: &str, lines: impl IntoIterator<Item = String>) -> String {
    let text = format!("{}// {reader} includes this.\n", first_line(FOLDER));
    let lines: BTreeSet<String> = lines.into_iter().collect();
    lines.into_iter().fold(text, |text, line| text + &line + "\n")
}

/// The operators and aliases of a namespace of `torch::`, by their names in it: `linalg_functions.h`, ...
fn namespace_functions(families: &[Family], prefix: &str, reader: &str) -> String {
    let name = format!("RLT_{}", prefix.trim_end_matches('_').to_uppercase());
    let functions = all_forms(families).filter(|face| face.form.function);
    let call = |face: Face| Some(format!("{name}({})", names::cxx_function(face.form).strip_prefix(prefix)?));
    lines_of(reader, functions.filter_map(call))
}

/// `cpp-frontend/include/ATen/generated/meta_functions.h`: the operators that compute tensors from tensors.
fn meta_functions(families: &[Family]) -> String {
    let is_tensor = |kind| matches!(kind, Kind::Tensor | Kind::TensorList);
    let computing = all_forms(families)
        .filter(|face| face.form.function && face.form.kind == FormKind::Functional && face.returns.are_tensors())
        .filter(|face| face.params.iter().any(|param| is_tensor(param.kind)));
    let call = |face: Face| format!("RLT_META({})", names::cxx_function(face.form));
    lines_of("ATen/MetaFunctions.h", computing.map(call))
}

/// `cpp-frontend/include/ATen/generated/operator_functions.h`: each overload, and the function or method that it calls.
fn operators(families: &[Family]) -> String {
    let call = |face: Face| {
        let name = names::cxx_function(face.form);
        let (kind, called) = match (face.form.kind, face.form.function) {
            (FormKind::Out, _) => ("FUNCTION", name + "f"),
            (_, true) => ("FUNCTION", name),
            (_, false) => ("METHOD", name),
        };
        let (name, overload) = (&face.form.signature.name, &face.form.signature.overload);
        let separator = if overload.is_empty() { "" } else { "_" };
        format!("RLT_{kind}({name}{separator}{overload}, {name:?}, {overload:?}, {called})")
    };
    let callable = all_forms(families).filter(|face| face.form.function || face.form.method);
    lines_of("ATen/Operators.h", callable.map(call))
}

/// `cpp-frontend/include/ATen/generated/methods.h`
fn methods(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str("// Members of class Tensor: ATen/core/TensorBody.h includes this inside the class.\n");
    for family in families {
        let faces = Face::of(family);
        let aliases = Face::aliases(family);
        let aliases =
            aliases.iter().filter(|(alias, _)| alias.form.method).map(|(alias, target)| alias_method(alias, target));
        let members: String = faces.iter().filter(|face| face.form.method).map(method).chain(aliases).collect();
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
        for (alias, target) in Face::aliases(family).iter().filter(|(alias, _)| alias.form.function) {
            text.push_str(&alias_function(alias, target));
        }
    }
    text + "\nRLT_NAMESPACE_END\n} // namespace at\n"
}

/// The method of an alias, which calls the operator's method, or the alias' C function where the operator has no method.
fn alias_method(alias: &Face, target: &Face) -> String {
    if !target.form.method {
        return format!("{} {{\n{}}}\n", method_head(alias, ""), body(alias, "*this", "itself()").1);
    }
    let names = alias.params.iter().filter(|p| p.name != "self").map(|p| names::c_identifier(&p.name));
    let head = method_head(alias, "");
    let target = names::cxx_function(target.form);
    format!("{head} {{ return {target}({}); }}\n", names.collect::<Vec<_>>().join(", "))
}

/// The function of an alias, which calls the operator's function, or its method where it has no function.
fn alias_function(alias: &Face, target: &Face) -> String {
    let names: Vec<String> = alias.params.iter().map(|p| names::c_identifier(&p.name)).collect();
    let name = names::cxx_function(target.form);
    if alias.form.kind == FormKind::Out {
        let (first, last) = out_heads(alias);
        let (outs_first, outs_last) = ([&alias.outs[..], &names].concat(), [&names[..], &alias.outs].concat());
        return format!(
            "inline {first} {{ return at::{name}({}); }}\ninline {last} {{ return at::{name}f({}); }}\n",
            outs_first.join(", "),
            outs_last.join(", ")
        );
    }
    let head = function_head(alias);
    if target.form.function {
        return format!("inline {head} {{ return at::{name}({}); }}\n", names.join(", "));
    }
    let receiver = alias.params.iter().position(|p| p.name == "self").unwrap_or_default();
    let others: Vec<String> =
        names.iter().enumerate().filter(|(at, _)| *at != receiver).map(|(_, name)| name.clone()).collect();
    format!("inline {head} {{ return {}.{name}({}); }}\n", names[receiver], others.join(", "))
}

/// The declarations of a form: the function, the method, or the function that writes to given tensors.
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
    let (_, body) = body(face, "*this", "itself()");
    format!("{}{} {{\n{body}}}\n", comment(face, true), method_head(face, ""))
}

/// The type that a function returns.
pub fn result(face: &Face) -> String {
    body(face, "self", "self").0
}

/// The declaration of a function.
pub fn function_head(face: &Face) -> String {
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
    format!("{} {}({})", result(face), names::cxx_function(face.form), params.join(", "))
}

fn function(face: &Face) -> String {
    let (_, body) = body(face, "self", "self");
    format!("{}inline {} {{\n{body}}}\n", comment(face, false), function_head(face))
}

/// The declarations of an out form: outputs first with defaults, and outputs last without.
fn out_heads(face: &Face) -> (String, String) {
    let outs: Vec<String> = face.outs.iter().map(|out| format!("Tensor& {out}")).collect();
    let with = |defaults| face.params.iter().map(|p| declare(face, p, defaults)).collect::<Vec<String>>();
    let (first, last) = ([outs.clone(), with(true)].concat(), [with(false), outs].concat());
    let (result, name) = (out_result(face.outs.len()), names::cxx_function(face.form));
    (format!("{result} {name}({})", first.join(", ")), format!("{result} {name}f({})", last.join(", ")))
}

/// The arguments of a call of the function, with `options` as the options of new tensors.
pub fn function_arguments(face: &Face, options: &str) -> Vec<String> {
    let argument = |p: &Parameter| if p.kind == Kind::Options { options.into() } else { names::c_identifier(&p.name) };
    face.params.iter().map(argument).collect()
}

/// The result of a function that writes so many tensors.
pub fn out_result(outs: usize) -> String {
    match outs {
        1 => "Tensor&".to_string(),
        n => format!("std::tuple<{}>", vec!["Tensor&"; n].join(", ")),
    }
}

fn out_functions(face: &Face) -> String {
    let back = match &face.outs[..] {
        [out] => format!("return {out};"),
        outs => format!("return {{{}}};", outs.join(", ")),
    };
    let (first, last) = out_heads(face);
    format!(
        "inline {last} {{\n  rlt_check({}({}));\n  {back}\n}}\ninline {first} {{\n  return {}f({});\n}}\n",
        symbol(face),
        values(face, "self").join(", "),
        names::cxx_function(face.form),
        face.params.iter().map(|p| p.name.clone()).chain(face.outs.iter().cloned()).collect::<Vec<_>>().join(", "),
    )
}

/// Returns the result type and the body. `receiver` is the C++ name of `self`; `written` is the return value of an
/// in-place form.
fn body(face: &Face, receiver: &str, written: &str) -> (String, String) {
    let call = symbol(face);
    let mut values = values(face, receiver);
    match face.returns {
        Returns::Nothing => {
            let line = format!("  rlt_check({call}({}));\n", values.join(", "));
            if face.has_self() {
                ("Tensor&".into(), format!("{line}  return {written};\n"))
            } else {
                ("void".into(), line)
            }
        }
        Returns::TensorList => {
            values.push("&out0".into());
            let body = format!(
                "  rlt_tensor_list* out0 = nullptr;\n  rlt_check({call}({}));\n  return rlt::adopt_list(out0);\n",
                values.join(", ")
            );
            ("std::vector<Tensor>".into(), body)
        }
        Returns::Value(kind) => {
            values.push("&out0".into());
            let spelling = kind.spelling();
            let body = format!(
                "  {} out0{{}};\n  rlt_check({call}({}));\n  return {};\n",
                spelling.c,
                values.join(", "),
                spelling.adopted.replace('$', "out0")
            );
            (spelling.cxx.into(), body)
        }
        // `load.rs` leaves them without functions.
        Returns::Mixed(_) => (String::new(), String::new()),
        Returns::Tensor | Returns::Tensors(_) => {
            let count = if let Returns::Tensors(count) = face.returns { count } else { 1 };
            let outs: Vec<String> = (0..count).map(|index| format!("out{index}")).collect();
            values.extend(outs.iter().map(|out| format!("&{out}")));
            let locals = match &outs[..] {
                [one] => format!("  rlt_tensor* {one};\n"),
                many => format!("  rlt_tensor *{};\n", many.join(", *")),
            };
            // A call with the status and the result: half of the operators return a tensor.
            let call = format!("{call}({})", values.join(", "));
            let (result, back) = match &outs[..] {
                [_] => ("Tensor".to_string(), format!("rlt_adopt({call}, out0)")),
                many => (
                    format!("std::tuple<{}>", vec!["Tensor"; many.len()].join(", ")),
                    format!("rlt::adopt_all({call}, {})", many.join(", ")),
                ),
            };
            // The factories of the C interface do not set requires_grad, so the last step sets it. Conversions (`to`)
            // reject it.
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
            (result, format!("{begin}{locals}{end}"))
        }
    }
}

fn symbol(face: &Face) -> String {
    face.c_function()
}

/// The description of an operator, which stands once: at the function of its declared form, at the method if there is none.
fn comment(face: &Face, method: bool) -> String {
    if !std::ptr::eq(face.form, face.op.primary()) || method && face.form.function {
        return String::new();
    }
    format!("/// {}\n/// `{}`\n", face.op.doc.summary, face.op.doc.formula)
}

/// The arguments of the C call.
fn values(face: &Face, receiver: &str) -> Vec<String> {
    // A memory format may also be given in the options.
    let options = face.params.iter().find(|p| p.kind == Kind::Options);
    let of = |p: &Parameter| match options {
        Some(options) if p.kind == Kind::MemoryFormatOptional => {
            format!("rlt::memory_format_of({}, {})", options.name, p.name)
        }
        _ => value(p.kind, if p.name == "self" { receiver } else { &p.name }),
    };
    let mut values: Vec<String> = face.params.iter().map(of).collect();
    values.extend(face.outs.iter().map(|out| value(Kind::Tensor, out)));
    values
}

/// An argument in a declaration.
pub fn declare(face: &Face, param: &Parameter, defaults: bool) -> String {
    let required = !defaults || face.op.cxx_required.contains(&param.name);
    let default = param.default.as_ref().filter(|_| !required);
    // `{}` also means None, and needs no overload resolution of the constructors of std::optional.
    let spell = |value: &Default| {
        if *value == Default::None {
            "{}".to_string()
        } else {
            default_value(param.kind, value).trim_start_matches("at::").to_string()
        }
    };
    let tail = default.map_or(String::new(), |value| format!(" = {}", spell(value)));
    // at:: has the name `optional`. The compiler stores every token of the headers until their end.
    let ty = param.kind.spelling().cxx.replace("std::optional<", "optional<");
    format!("{ty} {}{tail}", names::c_identifier(&param.name))
}

/// One argument of the C call. Programs compile every operator, also those that they do not call, and overload
/// resolution dominates the compile time: a value is passed through a member or a function for its kind, never through
/// an overloaded one.
fn value(kind: Kind, x: &str) -> String {
    match kind {
        Kind::Tensor if x == "*this" => "handle()".into(),
        Kind::Tensor => format!("{x}.handle()"),
        Kind::Scalar | Kind::Device | Kind::Options => format!("&{x}.raw()"),
        Kind::Int | Kind::Float | Kind::Bool => x.into(),
        Kind::DType | Kind::MemoryFormat => format!("static_cast<int32_t>({x})"),
        Kind::Str => format!("rlt::text({x})"),
        Kind::TensorList => format!("rlt::handles({x}), {x}.raw_length()"),
        Kind::TensorOptionalList => format!("rlt::index_handles({x}).data(), rlt::index_count({x})"),
        Kind::ScalarList => format!("rlt::scalars({x}), {x}.raw_length()"),
        Kind::IntList | Kind::FloatList => format!("{x}.data(), {x}.raw_length()"),
        Kind::IntListOptional | Kind::FloatListOptional => format!("{x}.raw_data(), {x}.raw_length()"),
        Kind::BoolList => format!("rlt::flags({x}), {x}.raw_length()"),
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
        // Such a form has no function.
        Kind::Value => String::new(),
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
