//! The lines of forms, of which the macro `forms` (`core/tensor/src/dispatch/forms.rs`) makes the typed functions, the forward
//! functions and the rows of the operator table.

use super::table::Pool;
use super::text::{declarations, doc, filled, result_type};
use super::{forward, gradient};
use crate::model::{Alias, Batching, Form, FormKind, Op};
use crate::names;

/// The line of `form`: signature, row, keys, the layer above the forward function, and that function.
pub fn line(op: &Op, form: &Form, pool: &mut Pool) -> String {
    let documentation = if std::ptr::eq(form, op.primary()) { doc(&op.doc.summary, 0) } else { String::new() };
    let signature = format!(
        "{}({}) -> {},",
        names::rust_function(&form.signature),
        declarations(&form.parameters()),
        result_type(form)
    );
    let row = pool.row(form);
    let layers = format!("{} {}", keys(op, form), above(op, form));
    let body = format!("{{ {} }};", forward::line(op, form));
    documentation + &filled(&[signature, row, layers, body])
}

/// The line of an alias: its row, and the typed function that the row calls.
pub fn alias(op: &Op, alias: &Alias, pool: &mut Pool) -> String {
    let target = names::rust_function(&op.forms[alias.target].signature);
    format!("@ {} = {target};\n", pool.row(&alias.form))
}

/// What is above the forward function: the autograd wrapper, or the error of a call that cannot be recorded.
fn above(op: &Op, form: &Form) -> &'static str {
    match form.kind {
        _ if !gradient::exists(op, form) => "none",
        FormKind::Out => "rejected_out",
        FormKind::InPlace if !op.is_differentiable() => "rejected_write",
        FormKind::Functional if gradient::takes_result(op, form) => "recorded",
        FormKind::InPlace | FormKind::Functional => "gradient",
    }
}

/// Whether the form returns views of its arguments or an argument itself, or changes the view of an argument. Lazy
/// conjugation and negation are not materialized in such calls.
fn shares_memory(op: &Op, form: &Form) -> bool {
    let aliases = |ty: &rushlight_schema::Type| ty.alias.as_ref().is_some_and(|alias| !alias.write);
    op.batching == Batching::View || form.signature.returns.iter().any(|ret| aliases(&ret.ty))
}

/// The function that finds the layers of a call by the keys of its tensors. A differentiable view is always tracked.
fn keys(op: &Op, form: &Form) -> &'static str {
    match (shares_memory(op, form), op.is_view() && gradient::exists(op, form)) {
        (_, true) => "active_for_tracked_view",
        (true, false) => "active_for_view",
        (false, false) => "active",
    }
}
