//! `core/tensor/src/autograd/expr/methods.rs`: every operator that formulas can write as a method.

use super::rust_ops::text::{comment, ident};
use super::{Emitter, OutFile, header};
use crate::model::{Family, FormKind, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;

/// Where the file goes.
pub const PATH: &str = "core/tensor/src/autograd/expr/methods.rs";

/// The emitter.
pub const EMITTER: Emitter = Emitter { name: "rust-expr", folders: &[], emit: |_, families| Ok(emit(families)) };

/// The file.
pub fn emit(families: &[Family]) -> Vec<OutFile> {
    let mut text = format!("// {}\n", header(&format!("{}/*.toml", crate::load::FOLDER)));
    let role = "The operators as methods of expressions, under their Rust names: the receiver is the first argument. \
                An error among the arguments is the error of the result.";
    text.push_str(&comment("//!", role, 0));
    let mut methods = String::new();
    for family in families {
        let own: Vec<String> = family.ops.iter().filter(|op| is_method(op)).map(method).collect();
        if !own.is_empty() {
            methods.push_str(&format!(
                "/// Operators of the family `{}`.\n{}impl Expr {{\n{}}}\n\n",
                family.name,
                super::rust_ops::condition(family),
                own.join("\n")
            ));
        }
    }
    let code = super::rust_ops::text::without_texts(&methods);
    text.push_str("\nuse super::Expr;\n");
    if super::rust_ops::text::mentions(&code, "Options") {
        text.push_str("use crate::Options;\n");
    }
    text.push_str("use crate::ops;\n");
    let base: Vec<&str> = ["DType", "Device", "MemoryFormat", "Scalar"]
        .into_iter()
        .filter(|name| super::rust_ops::text::mentions(&code, name))
        .collect();
    text.push_str(&format!("use rushlight_base::{{{}}};\n\n{methods}", base.join(", ")));
    vec![OutFile { path: PATH.into(), text }]
}

/// Functional, one tensor in front, one tensor out; names that `Expr` writes by hand stay free.
fn is_method(op: &Op) -> bool {
    const BY_HAND: [&str; 2] = ["clone", "conj"];
    let form = op.primary();
    let parameters = form.parameters();
    form.kind == FormKind::Functional
        && form.returns() == Returns::Tensor
        && parameters.first().is_some_and(|first| first.kind == Kind::Tensor)
        && parameters.iter().all(|parameter| parameter.kind != Kind::TensorList)
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
        "/// `{}`\n{many}pub fn {name}({}) -> Expr {{\nExpr::of(|| ops::{name}({}))\n}}\n",
        form.signature.full_name(),
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
        // Only optional families use it: an import would be unused without them.
        Kind::GeneratorOptional => ("Option<&crate::Generator>".into(), name),
        kind => (kind.spelling().rust.to_string(), name),
    }
}
