//! `core/tensor/src/autograd/expr/methods`: every operator that formulas can write as a method, a file per family.

use super::rust_ops::condition;
use super::rust_ops::text::{comment, ident, mentions, without_texts};
use super::{Emitter, OutFile, header};
use crate::model::{Family, FormKind, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;

/// Where the files go.
pub const FOLDER: &str = "core/tensor/src/autograd/expr/methods";

/// The emitter.
pub const EMITTER: Emitter = Emitter { name: "rust-expr", folders: &[FOLDER], emit: |_, families| Ok(emit(families)) };

/// The files.
pub fn emit(families: &[Family]) -> Vec<OutFile> {
    let mut root = format!("// {}\n", header(&format!("{}/*.toml", crate::load::FOLDER)));
    let role = "The operators as methods of expressions, under their Rust names: the receiver is the first argument. \
                An error among the arguments is the error of the result.";
    root.push_str(&comment("//!", role, 0));
    root.push('\n');
    let mut files = Vec::new();
    for family in families {
        let methods: Vec<String> = family.ops.iter().filter(|op| is_method(op)).map(method).collect();
        if methods.is_empty() {
            continue;
        }
        root.push_str(&format!("{}mod {};\n", condition(family), family.name));
        files.push(OutFile { path: format!("{FOLDER}/{}.rs", family.name), text: file(family, &methods.join("\n")) });
    }
    files.push(OutFile { path: format!("{FOLDER}/mod.rs"), text: root });
    files
}

fn file(family: &Family, methods: &str) -> String {
    let mut text = format!("// {}\n", header(&family.source));
    text.push_str(&comment("//!", &format!("Methods of the family `{}`.", family.name), 0));
    let code = without_texts(methods);
    let used =
        |names: &[&'static str]| -> Vec<&str> { names.iter().copied().filter(|name| mentions(&code, name)).collect() };
    text.push_str("\nuse crate::autograd::Expr;\nuse crate::ops;\n");
    for (path, names) in [
        ("crate", used(&["Generator", "Options"])),
        ("rushlight_base", used(&["DType", "Device", "MemoryFormat", "Scalar"])),
    ] {
        if !names.is_empty() {
            text.push_str(&format!("use {path}::{{{}}};\n", names.join(", ")));
        }
    }
    text + "\nimpl Expr {\n" + methods + "}\n"
}

/// Functional, one tensor in front, one tensor out; names that `Expr` writes by hand stay free.
fn is_method(op: &Op) -> bool {
    const BY_HAND: [&str; 3] = ["clone", "conj", "new_zeros"];
    let form = op.primary();
    let parameters = form.parameters();
    form.kind == FormKind::Functional
        && form.returns() == Returns::Tensor
        && parameters.first().is_some_and(|first| first.kind == Kind::Tensor)
        && parameters.iter().all(|parameter| !matches!(parameter.kind, Kind::TensorList | Kind::TensorOptionalList))
        && !BY_HAND.contains(&names::rust_function(&form.signature).as_str())
}

fn method(op: &Op) -> String {
    let form = op.primary();
    let name = names::rust_function(&form.signature);
    let parameters = form.parameters();
    let rest = &parameters[1..];
    let mut declared = vec!["&self".to_string()];
    let mut passed = vec!["self.tensor()?".to_string()];
    for parameter in rest {
        let (ty, value) = parameter_of(parameter);
        declared.push(format!("{}: {ty}", ident(parameter)));
        passed.push(value);
    }
    let many = if declared.len() > 7 {
        "#[allow(clippy::too_many_arguments, reason = \"the signature is PyTorch's\")]\n"
    } else {
        ""
    };
    format!(
        "{}{many}pub fn {name}({}) -> Expr {{\nExpr::of(|| ops::{name}({}))\n}}\n",
        comment("///", &format!("`{}`: {}", form.signature.full_name(), op.doc.summary), 4),
        declared.join(", "),
        passed.join(", ")
    )
}

fn parameter_of(parameter: &Parameter) -> (String, String) {
    let name = ident(parameter);
    match parameter.kind {
        Kind::Tensor => ("impl Into<Expr>".into(), format!("{name}.into().tensor()?")),
        Kind::TensorOptional => ("Option<&Expr>".into(), format!("{name}.map(Expr::tensor).transpose()?")),
        Kind::Scalar => ("impl Into<Scalar>".into(), format!("{name}.into()")),
        kind => (kind.spelling().rust.to_string(), name),
    }
}
