//! `docs/operators.md`: the table of operators, family by family.

use crate::emit::{Emitter, OutFile, header};
use crate::load::FOLDER;
use crate::model::{Body, Family, FormKind, Op};
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "operators-md", folders: &[], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    Ok(vec![OutFile { path: "docs/operators.md".into(), text: page(families) }])
}

/// The whole page.
fn page(families: &[Family]) -> String {
    let public: usize = families.iter().flat_map(|family| &family.ops).filter(|op| !op.internal).count();
    let all: usize = families.iter().map(|family| family.ops.len()).sum();
    let mut text = format!(
        "<!-- {} -->\n\n# Operators\n\n\
         {all} operators, {public} of them public, in {} families. Each family is a cargo feature `op-<family>`.\n\
         *Forms*: `f` function, `m` method, `_` in place, `out` writes into given tensors. *Gradient*: the inputs that \
         get one; `by parts` where the operator is made of others that have theirs.\n\
         Internal operators serve derivatives and kernels; they can be called, but need not stay.\n",
        header(FOLDER),
        families.len()
    );
    for family in families {
        let _ = write!(text, "\n## {}\n\n{}\n\n", family.name, family.doc);
        text.push_str("| operator | what it does | forms | dtypes | gradient |\n|---|---|---|---|---|\n");
        for op in family.ops.iter().filter(|op| !op.internal) {
            text.push_str(&row(op));
        }
        let internal: Vec<String> =
            family.ops.iter().filter(|op| op.internal).map(|op| format!("`{}`", op.primary().signature)).collect();
        if !internal.is_empty() {
            let _ = write!(text, "\nInternal: {}.\n", internal.join(", "));
        }
        for op in family.ops.iter().filter(|op| !op.exceptions.is_empty()) {
            for exception in &op.exceptions {
                let _ = write!(text, "\nException `{}` of `{}`: {}\n", exception.field, op.name(), exception.reason);
            }
        }
    }
    text
}

fn row(op: &Op) -> String {
    let mut forms = Vec::new();
    for form in &op.forms {
        match form.kind {
            FormKind::Functional => {
                forms.extend(form.function.then_some("f"));
                forms.extend(form.method.then_some("m"));
            }
            FormKind::InPlace => forms.push("_"),
            FormKind::Out => forms.push("out"),
        }
    }
    let inputs: Vec<String> =
        op.derivative.iter().flat_map(|formula| &formula.inputs).map(|input| format!("`{input}`")).collect();
    let gradient = match (&op.body, inputs.is_empty()) {
        (_, false) => inputs.join(", "),
        (Body::Composite(_), true) => "by parts".into(),
        (_, true) => "none".into(),
    };
    let name = op.name();
    let linked = if op.doc.source.starts_with("http") { format!("[{name}]({})", op.doc.source) } else { name };
    format!(
        "| {linked}<br>`{}` | {} `{}` | {} | {} | {gradient} |\n",
        escaped(&op.primary().signature.to_string()),
        escaped(&op.doc.summary),
        escaped(&op.doc.formula),
        forms.join(" "),
        op.dtypes.name(),
    )
}

/// A pipe ends a table cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
