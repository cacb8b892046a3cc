//! The typed functions of every operator with their forward assembly, autograd wrapper and row of the operator table:
//! `ops.rs` and a file per family, which `core/tensor` includes.

mod api;
mod forward;
mod gradient;
pub mod table;
pub mod text;

use super::{Emitter, OutFile, Place, first_line, include};
use crate::load::FOLDER;
use crate::model::{Family, Form, Op, Overlap};
use table::Pool;
use text::mentions;

/// Generates the files.
pub const EMITTER: Emitter =
    Emitter { name: "rust-ops", place: Place::Crate("core/tensor"), folders: &[], emit: |families| Ok(emit(families)) };

fn emit(families: &[Family]) -> Vec<OutFile> {
    let mut pool = Pool::new(families);
    let mut files = vec![
        OutFile { path: "ops.rs".into(), text: root(families) },
        OutFile { path: "signatures.rs".into(), text: first_line(FOLDER) + &pool.text() },
    ];
    for family in families {
        files.push(OutFile { path: format!("ops/{}.rs", family.name), text: file(family, &mut pool) });
    }
    files
}

/// The condition under which a build contains a family's code.
pub fn condition(family: &Family) -> String {
    match family.required {
        Some(_) => String::new(),
        None => format!("#[cfg(feature = \"{}\")]\n", family.feature()),
    }
}

/// `ops.rs`
fn root(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str("use crate::dispatch::OpDef;\n\n");
    for family in families {
        text.push_str(&format!("/// {}\n{}{}\n", family.doc, condition(family), include(family)));
    }
    for family in families {
        text.push_str(&format!("{}pub use {}::*;\n", condition(family), family.name));
    }
    text.push_str(&format!(
        "\n/// The number that a caller which names rows by their place compares: it differs where the table differs.\n\
         pub const TABLE: u64 = {:#x};\n",
        table_number(families)
    ));
    text.push_str(
        "\n/// The operator table: the rows of each family, none if this build lacks it. The place of a row (its family, then \
         its index) is the same in every build.\npub static FAMILIES: &[&[&OpDef]] = &[\n",
    );
    for family in families {
        let (feature, rows) = (family.feature(), format!("{}_ROWS", family.name.to_uppercase()));
        text.push_str(&format!("#[cfg(feature = {feature:?})]\n{rows},\n#[cfg(not(feature = {feature:?}))]\n&[],\n"));
    }
    text + "];\n\n"
}

/// A hash (FNV-1a) of all schemas in order.
pub fn table_number(families: &[Family]) -> u64 {
    let schemas = families.iter().flat_map(|family| forms(&family.ops)).map(|(_, form)| form.signature.to_string());
    let bytes = schemas.flat_map(|schema| schema.into_bytes().into_iter().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn forms(ops: &[Op]) -> impl Iterator<Item = (&Op, &Form)> {
    ops.iter().flat_map(|op| op.forms.iter().map(move |form| (op, form)))
}

/// `ops/<family>.rs`
pub fn file(family: &Family, pool: &mut Pool) -> String {
    let ops = &family.ops;
    let mut lines: Vec<String> = forms(ops).map(|(op, form)| api::line(op, form, pool)).collect();
    for op in ops {
        lines.extend(op.aliases.iter().map(|alias| api::alias(op, alias, pool)));
    }
    let rows = format!("{}_ROWS", family.name.to_uppercase());
    let mut body = format!("forms! {{ {rows}:\n{}}}\n\n", lines.concat());
    let mut section = |role: &str, name: &str, parts: Vec<String>| {
        if !parts.is_empty() {
            body.push_str(&format!("/// {role}\nmod {name} {{\nuse super::*;\n\n{}}}\n\n", parts.join("\n")));
        }
    };
    let written = forms(ops).filter_map(|(op, form)| forward::function(op, form)).collect();
    section("Forward functions with more than a rule and a kernel.", "written", written);
    let mut gradients: Vec<String> = Vec::new();
    for op in ops {
        gradients.extend(
            op.forms.iter().filter(|form| gradient::exists(op, form)).filter_map(|form| gradient::wrapper(op, form)),
        );
        if op.is_differentiable() {
            gradients.push(gradient::node(op));
        }
    }
    section("The autograd layer.", "gradient", gradients);
    format!("{}\n{}\n{body}", first_line(&family.source), imports(&body))
}

/// The `use` lines for what `body` mentions.
fn imports(body: &str) -> String {
    let body = &text::without_strings(body);
    let pick = |names: &[&str]| -> Vec<String> {
        names.iter().filter(|name| mentions(body, name)).map(|name| name.to_string()).collect()
    };
    let group = |path: &str, mut names: Vec<String>| -> String {
        names.sort();
        match names.as_slice() {
            [] => String::new(),
            [single] if single == "self" => format!("use {path};\n"),
            [single] => format!("use {path}::{single};\n"),
            several => format!("use {path}::{{{}}};\n", several.join(", ")),
        }
    };
    let mut autograd = pick(&[
        "Backward",
        "BackwardCall",
        "Edges",
        "Expr",
        "Gradients",
        "Meta",
        "MetaList",
        "Saved",
        "derivative",
        "formulas",
        "kept",
        "recorded",
        "recorded_write",
    ]);
    if body.contains("autograd::") {
        autograd.push("self".into());
    }
    let mut dispatch = pick(&["forms"]);
    if body.contains("dispatch::") {
        dispatch.push("self".into());
    }
    let overlap = pick(&Overlap::CHOICES.iter().map(|(_, overlap)| overlap.variant()).collect::<Vec<_>>());
    let mut own = pick(&["Dense", "Generator", "Options", "Tensor", "Value"]);
    let mut text = group("crate::autograd", autograd);
    text.push_str(&group("crate::dispatch", dispatch));
    text.push_str(&group("crate::dispatch::Overlap", overlap));
    if body.contains("ops::") {
        own.push("ops".into());
    }
    text.push_str(&group("crate", own));
    let mut base = pick(&["DType", "Device", "DimVec", "Layout", "MemoryFormat", "Scalar"]);
    base.push("Result".into());
    text.push_str(&group("rushlight_base", base));
    text
}
