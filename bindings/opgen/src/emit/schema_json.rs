//! `bindings/schema.json`: the declarations as data, for whoever makes a face for another language.
//!
//! It ships with the library. Everything that the emitters here use is in it: each form's signature and C function,
//! what is documented, dtypes, and the data of later layers (autocast, batching).

use crate::emit::{Emitter, OutFile};
use crate::face::Face;
use crate::model::{Body, Family, FormKind};
use crate::names;
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "schema-json", folders: &[], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    Ok(vec![OutFile { path: "bindings/schema.json".into(), text: document(families) }])
}

/// The whole file.
fn document(families: &[Family]) -> String {
    let mut text = String::from("{\n");
    text.push_str("  \"generated\": \"by `make opgen` from core/schema/ops; do not edit\",\n");
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
            let mut text = format!("        {{\n          \"name\": {},\n", quoted(&format!("aten::{}", op.name())));
            let _ = writeln!(text, "          \"forms\": [\n{}\n          ],", forms.join(",\n"));
            let body = match &op.body {
                Body::Kernel { .. } => "kernel",
                Body::View(_) => "view",
                Body::Composite(_) => "composite",
            };
            let gradients =
                op.derivative.iter().flat_map(|formula| formula.inputs.iter().map(|input| (input, formula.kind())));
            let gradients: Vec<String> =
                gradients.map(|(input, kind)| format!("{}: {}", quoted(input), quoted(kind))).collect();
            let cuda = matches!(&op.body, Body::Kernel { cuda: Some(_), .. });
            let _ = writeln!(text, "          \"body\": {},", quoted(body));
            if matches!(op.body, Body::Kernel { .. }) {
                let devices = if cuda { "\"cpu\", \"cuda\"" } else { "\"cpu\"" };
                let _ = writeln!(text, "          \"kernels\": [{devices}],");
            }
            let _ = writeln!(text, "          \"gradients\": {{{}}},", gradients.join(", "));
            if op.is_differentiable() {
                let _ = writeln!(text, "          \"node\": {},", quoted(&op.node));
            }
            let _ = writeln!(text, "          \"dtypes\": {},", quoted(op.dtypes.name()));
            let _ = writeln!(text, "          \"autocast\": {},", quoted(op.autocast.name()));
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
