//! `core/tensor/src/ops/generated`: the typed functions of every operator with their forward assembly, autograd
//! wrapper and row of the operator table. One folder per family, one file per base name (`mul.rs` holds every
//! overload and form of `mul`; where they are many, one file per overload).

mod api;
mod forward;
mod gradient;
mod table;
pub mod text;

use super::{Emitter, OutFile, header};
use crate::model::{Body, Family, Form, Op};
use crate::names;
use std::collections::BTreeMap;
use text::{comment, mentions};

/// Where the files go.
pub const FOLDER: &str = "core/tensor/src/ops/generated";

/// How many forms a file holds without becoming too long to read.
const FORMS_PER_FILE: usize = 9;

/// The emitter.
pub const EMITTER: Emitter = Emitter { name: "rust-ops", folders: &[FOLDER], emit: |_, families| Ok(emit(families)) };

/// Every file.
pub fn emit(families: &[Family]) -> Vec<OutFile> {
    let mut files = vec![root(families)];
    for family in families {
        let modules = modules(family);
        files.push(family_module(family, &modules));
        for (module, ops) in &modules {
            files.push(OutFile { path: format!("{FOLDER}/{}/{module}.rs", family.name), text: file(family, ops) });
        }
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

/// The operators of a family by the module that holds them, in the order of the file.
fn modules(family: &Family) -> Vec<(String, Vec<&Op>)> {
    let mut modules: Vec<(String, Vec<&Op>)> = Vec::new();
    for op in &family.ops {
        let name = names::rust_module(&op.primary().signature);
        match modules.iter_mut().find(|(module, _)| *module == name) {
            Some((_, ops)) => ops.push(op),
            None => modules.push((name, vec![op])),
        }
    }
    // A base name with many overloads gets a file for each of them, which may have another base name: `scatter.reduce` and
    // `scatter_reduce`.
    let mut files: BTreeMap<String, Vec<&Op>> = BTreeMap::new();
    for (module, ops) in modules {
        let has_room = forms(&ops).count() <= FORMS_PER_FILE;
        for op in ops {
            let name = if has_room { module.clone() } else { names::rust_function(&op.primary().signature) };
            files.entry(name).or_default().push(op);
        }
    }
    files.into_iter().collect()
}

fn forms<'a>(ops: &'a [&'a Op]) -> impl Iterator<Item = (&'a Op, &'a Form)> {
    ops.iter().flat_map(|op| op.forms.iter().map(|form| (*op, form)))
}

fn root(families: &[Family]) -> OutFile {
    let mut text = format!("// {}\n", header(&format!("{}/*.toml", crate::load::FOLDER)));
    let role = "The operators, family by family. Each family is a cargo feature (`op-<family>`) that cuts the operator \
                table; the code of those that autograd is written in is in every build.";
    text.push_str(&comment("//!", role, 0));
    text.push('\n');
    text.push_str("use crate::dispatch::OpDef;\n\n");
    for family in families {
        text.push_str(&format!("{}mod {};\n", condition(family), family.name));
    }
    text.push('\n');
    for family in families {
        text.push_str(&format!("{}pub use {}::*;\n", condition(family), family.name));
    }
    text.push_str("\n/// The operator table of this build.\npub static FAMILIES: &[&[&OpDef]] = &[\n");
    for family in families {
        text.push_str(&format!("#[cfg(feature = \"op-{0}\")]\n{1},\n", family.name, family.name.to_uppercase()));
    }
    text.push_str("];\n");
    OutFile { path: format!("{FOLDER}/mod.rs"), text }
}

fn family_module(family: &Family, modules: &[(String, Vec<&Op>)]) -> OutFile {
    let mut text = format!("// {}\n", header(&family.source));
    text.push_str(&comment("//!", &family.doc, 0));
    text.push_str("\nuse crate::dispatch::OpDef;\n\n");
    for (module, _) in modules {
        if *module == family.name {
            let reason = "the operator and its family have one name";
            text.push_str(&format!("#[allow(clippy::module_inception, reason = \"{reason}\")]\n"));
        }
        text.push_str(&format!("mod {module};\n"));
    }
    text.push('\n');
    for (module, ops) in modules {
        let mut list: Vec<String> = forms(ops).map(|(_, form)| names::rust_function(&form.signature)).collect();
        list.sort();
        text.push_str(&format!("pub use {module}::{{{}}};\n", list.join(", ")));
    }
    let constant = family.name.to_uppercase();
    text.push_str("\n/// The rows of this family in the operator table.\n");
    text.push_str(&format!("pub static {constant}: &[&OpDef] = &[\n"));
    for (module, ops) in modules {
        for (_, form) in forms(ops) {
            text.push_str(&format!("&{module}::{},\n", names::rust_static(&form.signature)));
        }
    }
    text.push_str("];\n");
    OutFile { path: format!("{FOLDER}/{}/mod.rs", family.name), text }
}

/// The file of one base name.
fn file(family: &Family, ops: &[&Op]) -> String {
    let mut body = String::new();
    for (op, form) in forms(ops) {
        body.push_str(&api::function(op, form));
        body.push('\n');
    }
    let mut section = |role: &str, name: &str, parts: Vec<String>| {
        if !parts.is_empty() {
            body.push_str(&format!("/// {role}\nmod {name} {{\nuse super::*;\n\n{}}}\n\n", parts.join("\n")));
        }
    };
    let forward: Vec<String> = forms(ops)
        .filter(|(op, form)| forward::exists(op, form))
        .map(|(op, form)| forward::function(op, form))
        .collect();
    section("Below every layer: shape rule, memory, kernel.", "forward", forward);
    let mut gradients: Vec<String> = Vec::new();
    for op in ops {
        for form in op.forms.iter().filter(|form| gradient::exists(op, form)) {
            gradients.push(gradient::wrapper(op, form));
        }
        if op.is_differentiable() {
            gradients.push(gradient::node(op));
        }
    }
    section("The autograd layer.", "gradient", gradients);
    let boxed: Vec<String> = forms(ops).map(|(_, form)| table::boxed(form)).collect();
    section("Calls with boxed values.", "boxed", boxed);
    for (op, form) in forms(ops) {
        body.push_str(&table::row(op, form));
        body.push('\n');
    }
    let name = names::base(&ops[0].primary().signature).trim_start_matches('_');
    let summary = comment("//!", &format!("`{name}`: {}", ops[0].doc.summary), 0);
    format!("// {}\n{summary}\n{}\n{body}", header(&family.source), imports(&body, ops))
}

/// The `use` lines for what `body` mentions.
fn imports(body: &str, ops: &[&Op]) -> String {
    let body = &text::without_texts(body);
    let pick = |names: &[&str]| -> Vec<String> {
        names.iter().filter(|name| mentions(body, name)).map(|name| name.to_string()).collect()
    };
    let group = |path: &str, mut names: Vec<String>| -> String {
        names.sort();
        match names.as_slice() {
            [] => String::new(),
            [single] => format!("use {path}::{single};\n"),
            several => format!("use {path}::{{{}}};\n", several.join(", ")),
        }
    };
    // Modules of hand-written code: what the paths of declarations and formulas begin with.
    let mut modules: Vec<String> = Vec::new();
    for op in ops {
        let paths: Vec<&String> = match &op.body {
            Body::Kernel { shape, cpu, .. } => shape.iter().chain([cpu]).collect(),
            Body::View(path) | Body::Composite(path) => vec![path],
        };
        modules.extend(paths.iter().filter_map(|path| path.split("::").next()).map(str::to_string));
    }
    modules.sort();
    modules.dedup();
    let mut autograd =
        pick(&["Backward", "BackwardCall", "Edges", "Expr", "Gradients", "Meta", "MetaList", "Saved", "formulas"]);
    if body.contains("autograd::") {
        autograd.push("self".into());
    }
    let mut dispatch =
        pick(&["Args", "Autocast", "Batching", "Form", "KeySet", "Kind", "OpDef", "Overlap", "Values", "assembly"]);
    dispatch.push("self".into());
    let mut own = pick(&["Dense", "Generator", "Options", "Tensor"]);
    let mut text = group("crate::autograd", autograd);
    text.push_str(&group("crate::dispatch", dispatch));
    if body.contains("ops::copy_(") {
        own.push("ops".into());
    }
    text.push_str(&group("crate::ops", modules));
    text.push_str(&group("crate", own));
    let base = pick(&["DType", "Device", "DimVec", "Layout", "MemoryFormat", "Result", "Scalar"]);
    text.push_str(&group("rushlight_base", base));
    text
}
