//! The public typed functions: which layer a call goes to.

use super::text::{arguments, code, doc, function_head, ident};
use super::{forward, gradient};
use crate::model::{Batching, Form, FormKind, Op, Parameter};
use crate::names;
use crate::types::Kind;

/// The public function of `form`.
pub fn function(op: &Op, form: &Form) -> String {
    let name = names::rust_function(&form.signature);
    let constant = names::rust_static(&form.signature);
    let parameters = form.parameters();
    let arguments = arguments(&parameters);
    let keys = keys(op, form, &parameters);
    let boxed = format!("dispatch::boxed(&{constant}, keys, &[{}])", boxed_values(&parameters));
    let plain = if forward::exists(op, form) {
        format!("forward::{name}({arguments})")
    } else {
        forward::composite_call(op, form)
    };
    let mut text = documentation(op, form);
    text.push_str(&function_head("pub", form));
    text.push_str(" {\n");
    let active = if shares_memory(op, form) { "active_for_view" } else { "active" };
    text.push_str(&format!("let keys = dispatch::{active}({keys});\n"));
    if gradient::exists(op, form) {
        text.push_str(&format!("if keys.is_empty() {{ return {plain}; }}\n"));
        text.push_str(&format!("if keys.is_boxed() {{ return {boxed}; }}\n"));
        text.push_str(&format!("gradient::{name}({arguments})\n"));
    } else {
        text.push_str(&format!("if keys.is_boxed() {{ return {boxed}; }}\n"));
        text.push_str(&format!("{plain}\n"));
    }
    text.push_str("}\n");
    text
}

/// Does the form return views of its arguments, or an argument itself, or make an argument a view of what it was? What was
/// put off then stays so.
fn shares_memory(op: &Op, form: &Form) -> bool {
    let aliases = |ty: &rushlight_schema::Type| ty.alias.as_ref().is_some_and(|alias| !alias.write);
    op.batching == Batching::View || form.signature.returns.iter().any(|ret| aliases(&ret.ty))
}

/// The keys of the tensor arguments. A differentiable view is always tracked, so that it has the autograd key itself.
fn keys(op: &Op, form: &Form, parameters: &[Parameter]) -> String {
    let mut keys: Vec<String> = Vec::new();
    for parameter in parameters {
        let name = ident(parameter);
        match parameter.kind {
            Kind::Tensor => keys.push(format!("{name}.keys()")),
            Kind::TensorOptional => keys.push(format!("{name}.map_or(KeySet::EMPTY, Tensor::keys)")),
            Kind::TensorList => keys.push(format!("dispatch::keys_of({name})")),
            Kind::TensorOptionalList => keys.push(format!("dispatch::keys_of_some({name})")),
            _ => {}
        }
    }
    if op.is_view() && gradient::exists(op, form) {
        keys.push("KeySet::AUTOGRAD".into());
    }
    if keys.is_empty() { "KeySet::EMPTY".into() } else { keys.join(" | ") }
}

fn boxed_values(parameters: &[Parameter]) -> String {
    let values = parameters.iter().flat_map(|parameter| {
        let name = ident(parameter);
        match parameter.kind {
            Kind::Options => ["dtype", "layout", "device", "pin_memory"]
                .iter()
                .map(|field| format!("&{name}.{field}"))
                .collect::<Vec<_>>(),
            _ => vec![format!("&{name}")],
        }
    });
    values.collect::<Vec<_>>().join(", ")
}

fn documentation(op: &Op, form: &Form) -> String {
    let primary = op.primary();
    let link = names::rust_function(&primary.signature);
    let written: Vec<String> = form.written().iter().map(|parameter| format!("`{}`", ident(parameter))).collect();
    let copied = if op.is_copied(form) { " (by copying)" } else { "" };
    if !std::ptr::eq(form, primary) {
        let what = match form.kind {
            FormKind::InPlace => format!("[`{link}`] in place: the result goes into `self_`{copied}."),
            _ => format!("[`{link}`] into {}, resized as needed{copied}.", written.join(" and ")),
        };
        return doc(&what, 0);
    }
    let mut text = doc(&op.doc.summary, 0);
    text.push_str("///\n");
    text.push_str(&doc(&code(&op.doc.formula), 0));
    text.push_str("///\n");
    let shapes = format!("Shapes: {}. Dtypes: {}. {}", code(&op.doc.shapes), op.dtypes.name(), op.doc.errors);
    text.push_str(&doc(&shapes, 0));
    if op.doc.source.starts_with("http") {
        text.push_str(&format!("///\n/// Source: <{}>\n", op.doc.source));
    }
    text
}
