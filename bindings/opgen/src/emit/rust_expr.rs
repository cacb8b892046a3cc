//! Every operator that formulas can write as a method of `Expr`: `expr.rs`, with a line for each, of which the macro `methods`
//! (`core/tensor/src/autograd/expr.rs`) makes the method.

use super::rust_ops::condition;
use super::rust_ops::text::ident;
use super::{Emitter, OutFile, Place, first_line};
use crate::load::FOLDER;
use crate::model::{Family, FormKind, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;

/// The emitter.
pub const EMITTER: Emitter = Emitter {
    name: "rust-expr",
    place: Place::Crate("core/tensor"),
    folders: &[],
    emit: |families| Ok(vec![file(families)]),
};

/// Generates the file.
fn file(families: &[Family]) -> OutFile {
    let mut text = first_line(FOLDER);
    for family in families {
        let methods: Vec<String> = family.ops.iter().filter(|op| is_method(op)).map(method).collect();
        if !methods.is_empty() {
            text.push_str(&format!("\n{}methods! {{\n{}}}\n", condition(family), methods.concat()));
        }
    }
    OutFile { path: "expr.rs".into(), text }
}

/// Functional forms with a tensor as first argument and one tensor as result, except for the methods that `Expr`
/// defines by hand.
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

/// `elu_backward(alpha: Scalar, is_result: (bool), self_or_result: Tensor);`: types in parentheses are those of the operator.
fn method(op: &Op) -> String {
    let form = op.primary();
    let declared = |parameter: &Parameter| {
        let ty = match parameter.kind {
            kind @ (Kind::Tensor | Kind::TensorOptional | Kind::Scalar) => format!("{kind:?}"),
            kind => format!("({})", kind.spelling().rust),
        };
        format!("{}: {ty}", ident(parameter))
    };
    let rest: Vec<String> = form.parameters()[1..].iter().map(declared).collect();
    format!("{}({});\n", names::rust_function(&form.signature), rest.join(", "))
}
