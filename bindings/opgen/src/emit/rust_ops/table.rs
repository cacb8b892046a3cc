//! The rows of the operator table, and the functions behind their boxed calls.

use super::text::{doc, ident};
use crate::model::{Autocast, Batching, Body, Form, FormKind, Op};
use crate::names;
use crate::types::Kind;

/// The `OpDef` static of `form`.
pub fn row(op: &Op, form: &Form) -> String {
    let signature = &form.signature;
    let kind = match op.body {
        Body::Kernel { .. } => "Kernel",
        Body::View(_) => "View",
        Body::Composite(_) => "Composite",
    };
    let form_kind = match form.kind {
        FormKind::Functional => "Function",
        FormKind::InPlace => "InPlace",
        FormKind::Out => "Out",
    };
    let autocast = match op.autocast {
        Autocast::None => "None",
        Autocast::Lower => "Lower",
        Autocast::Fp32 => "Fp32",
        Autocast::Promote => "Promote",
    };
    let batching = match op.batching {
        Batching::None => "None",
        Batching::Pointwise => "Pointwise",
        Batching::Reduction => "Reduction",
        Batching::View => "View",
    };
    let differentiable = op.is_differentiable() || op.is_composite();
    format!(
        "{}pub static {}: OpDef = OpDef {{\nschema: {:?},\n\
         form: Form::{form_kind},\nkind: Kind::{kind},\nautocast: Autocast::{autocast},\n\
         batching: Batching::{batching},\ndifferentiable: {differentiable},\nnondeterministic: {},\n\
         call: boxed::{},\n}};\n",
        doc(&format!("`{}` in the operator table.", signature.full_name()), 0),
        names::rust_static(signature),
        signature.to_string(),
        op.nondeterministic,
        names::rust_function(signature),
    )
}

/// The boxed call of `form`.
pub fn boxed(form: &Form) -> String {
    let function = names::rust_function(&form.signature);
    let written: Vec<String> = form.written().iter().map(ident).collect();
    let mut bindings = String::new();
    let mut list = Vec::new();
    for parameter in form.parameters() {
        let name = ident(&parameter);
        let index = parameter.index;
        let accessor = format!("args.{}({index})?", parameter.kind.spelling().boxed);
        list.push(match parameter.kind {
            Kind::Tensor if parameter.written && form.kind != FormKind::Functional => {
                bindings.push_str(&format!("let {name} = {accessor};\n"));
                name
            }
            Kind::TensorList
            | Kind::TensorOptionalList
            | Kind::ScalarList
            | Kind::IntList
            | Kind::FloatList
            | Kind::BoolList => format!("&{accessor}"),
            Kind::IntListOptional | Kind::FloatListOptional => format!("{accessor}.as_deref()"),
            _ => accessor,
        });
    }
    let call = format!("super::{function}({})?", list.join(", "));
    let body = match (form.kind, form.signature.returns.len()) {
        (FormKind::Functional, _) => format!("Ok({call}.into())"),
        (_, 0) => format!("{call};\nOk(().into())"),
        (_, 1) => format!("{bindings}{call};\nOk({}.clone().into())", written[0]),
        _ => {
            let clones: Vec<String> = written.iter().map(|name| format!("{name}.clone()")).collect();
            format!("{bindings}{call};\nOk(({}).into())", clones.join(", "))
        }
    };
    format!("pub fn {function}(args: Args<'_>) -> Result<Values> {{\n{body}\n}}\n")
}
