//! The C functions of the operators: `ops/<family>.rs` with a line for each, the module list, which `capi` includes, and
//! `calls.rs`, the code that the functions of a call class share. `bindings/generate` makes the headers of [`declarations`].

mod calls;

use crate::class::Class;
use crate::emit::rust_ops::text::filled;
use crate::emit::{Emitter, OutFile, Place, first_line, include};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, Parameter, Returns};
use crate::names;
use crate::types::{Kind, ResultKind};
use std::fmt::Write;

/// Generates the files.
pub const EMITTER: Emitter = Emitter { name: "capi", place: Place::Crate("capi"), folders: &[], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files = vec![
        OutFile { path: "ops.rs".into(), text: modules(families) },
        OutFile { path: "calls.rs".into(), text: calls::text(families) },
    ];
    let of = |family: &Family| OutFile { path: path(family), text: code(family) };
    files.extend(families.iter().map(of));
    Ok(files)
}

/// `ops/<family>.rs`
pub fn path(family: &Family) -> String {
    format!("ops/{}.rs", family.name)
}

/// The functions of one family: a line for each, of which the macro `functions` makes the C function.
fn code(family: &Family) -> String {
    let mut text = first_line(&family.source) + "use crate::support::calls::*;\n\nfunctions! {\n";
    let aliases = Face::aliases(family).into_iter().map(|(alias, _)| alias);
    for face in Face::of(family).into_iter().chain(aliases) {
        let class = Class::of(face.form);
        let row = names::rust_static(&face.form.signature);
        text.push_str(&filled(&[format!("{} = {row}", face.c_function()), class.line().trim_end().to_string()]));
    }
    text + "}\n"
}

/// The functions of one family as declarations with documentation, for cbindgen, which does not see through macros.
pub fn declarations(family: &Family) -> String {
    let body = sections(&Face::of(family)) + &aliases(family);
    let mut text = first_line(&family.source);
    if body.contains("rlt_generator") {
        text.push_str("use crate::generator::rlt_generator;\n");
    }
    if body.contains("rlt_value") {
        text.push_str("use crate::dispatch::rlt_value;\n");
    }
    text.push_str("use crate::tensor::rlt_tensor;\n");
    text + &body
}

/// The functions of aliases, behind a heading of their own.
fn aliases(family: &Family) -> String {
    let mut text = String::new();
    for (alias, target) in Face::aliases(family) {
        if text.is_empty() {
            text.push_str("\n// ---- Aliases ----\n");
        }
        text.push_str(&documented(
            &alias,
            &[format!("`{}`: alias of `{}`.", alias.form.signature, target.c_function())],
        ));
    }
    text
}

/// The functions, with a section (a heading in the header) for each operator and its overloads.
fn sections(faces: &[Face]) -> String {
    let mut text = String::new();
    for section in faces.chunk_by(|a, b| operator(a) == operator(b)) {
        let _ = writeln!(text, "\n// ---- {} ----", operator(&section[0]));
        text.extend(section.iter().map(declaration));
    }
    text
}

/// `mul`, for `mul.Tensor`, `mul_.Tensor` and `mul.out`
fn operator<'a>(face: &Face<'a>) -> &'a str {
    names::base(&face.op.primary().signature)
}

/// `ops.rs`
fn modules(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    for family in families {
        let _ = writeln!(text, "/// {}\n#[cfg(feature = {:?})]\npub {}", family.doc, family.feature(), include(family));
    }
    text
}

/// The function as the header declares it.
pub fn prototype(face: &Face) -> String {
    let parameters: Vec<String> = all_parameters(face).iter().map(|parameter| c_parameter(parameter)).collect();
    format!("int32_t {}({})", face.c_function(), parameters.join(", "))
}

/// Every parameter of the function: arguments, then what an out form writes, then the slots of results.
fn all_parameters(face: &Face) -> Vec<String> {
    let given = face.params.iter().flat_map(parameters);
    let written = face.outs.iter().map(|out| format!("{}: *const rlt_tensor", names::rust_identifier(out)));
    let slots = match face.returns {
        Returns::Nothing => Vec::new(),
        Returns::TensorList => vec!["out0: *mut *mut rlt_tensor_list".to_string()],
        Returns::Tensor => vec![slot(0)],
        Returns::Tensors(count) => (0..count).map(slot).collect(),
        Returns::Value(kind) => vec![format!("out0: {}", slot_type(kind))],
        // Such an operator is called by name only.
        Returns::Mixed(_) => Vec::new(),
    };
    given.chain(written).chain(slots).collect()
}

/// Where C receives a result.
fn slot(index: usize) -> String {
    format!("out{index}: *mut *mut rlt_tensor")
}

/// Where C receives a result that is not a tensor.
fn slot_type(kind: ResultKind) -> String {
    let ty = match kind.spelling().c {
        "int64_t" => "i64",
        "int32_t" => "i32",
        "double" => "f64",
        other => other,
    };
    format!("*mut {ty}")
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

/// The function as cbindgen reads it.
fn declaration(face: &Face) -> String {
    documented(face, &face.documentation())
}

/// The function with this documentation.
fn documented(face: &Face, documentation: &[String]) -> String {
    let mut text = String::from("\n");
    for line in documentation {
        let _ = writeln!(text, "{}", format!("/// {line}").trim_end());
    }
    let parameters = all_parameters(face).join(", ");
    let _ = writeln!(
        text,
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {}({parameters}) -> i32 {{}}",
        face.c_function()
    );
    text
}

/// The parameters of one argument, `name: type`: one, or two for a list.
fn parameters(param: &Parameter) -> Vec<String> {
    let mut parameters = vec![format!("{}: {}", names::rust_identifier(&param.name), c_type(param.kind))];
    if param.kind.is_list() {
        parameters.push(format!("{}_len: i64", param.name));
    }
    parameters
}

/// How C passes an argument of this kind, as Rust writes it: the table of C types.
fn c_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor | Kind::TensorOptional => "*const rlt_tensor",
        Kind::TensorList | Kind::TensorOptionalList => "*const *const rlt_tensor",
        Kind::Scalar | Kind::ScalarOptional | Kind::ScalarList => "*const rlt_scalar",
        Kind::Int => "i64",
        Kind::IntOptional | Kind::IntList | Kind::IntListOptional => "*const i64",
        Kind::Float => "f64",
        Kind::FloatOptional | Kind::FloatList | Kind::FloatListOptional => "*const f64",
        Kind::Bool | Kind::DType | Kind::MemoryFormat => "i32",
        Kind::BoolOptional
        | Kind::BoolList
        | Kind::DTypeOptional
        | Kind::LayoutOptional
        | Kind::MemoryFormatOptional => "*const i32",
        Kind::Str | Kind::StrOptional => "*const c_char",
        Kind::Device | Kind::DeviceOptional => "*const rlt_device",
        Kind::GeneratorOptional => "*const rlt_generator",
        Kind::Options => "*const rlt_tensor_options",
        // Such a form has no function.
        Kind::Value => "",
    }
}
