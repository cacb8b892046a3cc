//! `schema.json`: the declarations as data, for bindings of other languages.
//!
//! It is installed with the library. It contains all input of the emitters: the signature and C function of each form,
//! the documentation, dtypes, and the vmap rules of operators.

use crate::emit::{Emitter, OutFile, Place};
use crate::face::Face;
use crate::model::{Body, Family, FormKind};
use crate::names;
use std::fmt::Write;

/// Generates the file.
pub const EMITTER: Emitter = Emitter { name: "schema-json", place: Place::Build, folders: &[], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    Ok(vec![OutFile { path: "schema.json".into(), text: document(families) }])
}

/// The contents of the file.
pub fn document(families: &[Family]) -> String {
    let mut text = String::from("{\n");
    text.push_str("  \"generated\": \"by opgen from core/schema/ops; do not edit\",\n");
    text.push_str("  \"format\": 1,\n  \"families\": [\n");
    let families: Vec<String> = families.iter().map(family_object).collect();
    text.push_str(&families.join(",\n"));
    text + "\n  ]\n}\n"
}

fn family_object(family: &Family) -> String {
    let faces = Face::of(family);
    let ops: Vec<String> = family
        .ops
        .iter()
        .map(|op| {
            let forms = faces.iter().filter(|face| std::ptr::eq(face.op, op));
            let forms: Vec<String> = forms.map(form_object).collect();
            let namespace = &*op.primary().signature.namespace;
            let namespace = if namespace.is_empty() { "aten" } else { namespace };
            let mut text =
                format!("        {{\n          \"name\": {},\n", quoted(&format!("{namespace}::{}", op.name())));
            let _ = writeln!(text, "          \"forms\": [\n{}\n          ],", forms.join(",\n"));
            let aliases = op.aliases.iter().map(|alias| quoted(&alias.form.signature.to_string()));
            let aliases: Vec<String> = aliases.collect();
            if !aliases.is_empty() {
                let _ = writeln!(text, "          \"aliases\": [{}],", aliases.join(", "));
            }
            let body = match &op.body {
                Body::Kernel { .. } => "kernel",
                Body::View(_) => "view",
                Body::Composite(_) | Body::Each { .. } => "composite",
            };
            let gradients =
                op.derivative.iter().flat_map(|formula| formula.inputs.iter().map(|input| (input, formula.kind())));
            let gradients: Vec<String> =
                gradients.map(|(input, kind)| format!("{}: {}", quoted(input), quoted(kind))).collect();
            let _ = writeln!(text, "          \"body\": {},", quoted(body));
            let _ = writeln!(text, "          \"gradients\": {{{}}},", gradients.join(", "));
            if op.is_differentiable() {
                let _ = writeln!(text, "          \"node\": {},", quoted(&op.node));
            }
            let _ = writeln!(text, "          \"dtypes\": {},", quoted(op.dtypes.name()));
            let _ = writeln!(text, "          \"batching\": {},", quoted(op.batching.name()));
            let _ = writeln!(text, "          \"overlap\": {},", quoted(op.overlap.name()));
            let _ = writeln!(text, "          \"devices\": {},", quoted(op.devices.name()));
            let _ = writeln!(text, "          \"shape_by_data\": {},", quoted(op.shape_by_data.name()));
            let _ = writeln!(text, "          \"internal\": {},", op.internal);
            let _ = writeln!(text, "          \"nondeterministic\": {},", op.nondeterministic);
            let _ = writeln!(text, "          \"since\": {},", quoted(&op.since));
            let _ = writeln!(text, "          \"summary\": {},", quoted(&op.doc.summary));
            let _ = writeln!(text, "          \"formula\": {},", quoted(&op.doc.formula));
            let _ = writeln!(text, "          \"shapes\": {},", quoted(&op.doc.shapes));
            let _ = writeln!(text, "          \"errors\": {},", quoted(&op.doc.errors));
            if let Some(example) = &op.doc.example {
                let _ = writeln!(text, "          \"example\": {},", quoted(example));
            }
            let _ = write!(text, "          \"source\": {}\n        }}", quoted(&op.doc.source));
            text
        })
        .collect();
    format!(
        "    {{\n      \"name\": {},\n      \"doc\": {},\n      \"operators\": [\n{}\n      ]\n    }}",
        quoted(&family.name),
        quoted(&family.doc),
        ops.join(",\n")
    )
}

fn form_object(face: &Face) -> String {
    let kind = match face.form.kind {
        FormKind::Functional => "functional",
        FormKind::InPlace => "in-place",
        FormKind::Out => "out",
    };
    let mut variants = Vec::new();
    if face.form.function {
        variants.push(quoted("function"));
    }
    if face.form.method {
        variants.push(quoted("method"));
    }
    format!(
        "            {{\"kind\": {}, \"name\": {}, \"overload\": {}, \"schema\": {}, \"call\": {}, \"c\": {}, \"variants\": [{}]}}",
        quoted(kind),
        quoted(&names::qualified(&face.form.signature)),
        quoted(&face.form.signature.overload),
        quoted(&face.form.signature.to_string()),
        quoted(&names::cxx_function(face.form)),
        quoted(&face.c_function()),
        variants.join(", ")
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            character if u32::from(character) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out + "\""
}
