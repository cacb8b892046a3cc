//! The reference of the operators: `docs/operators.md`, the list of all, and `docs/operators/<family>.md`, a page per
//! family with an entry per operator.

use crate::emit::{Emitter, OutFile, capi, cpp, header, java};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Body, Family, Op, ShapeByData};
use crate::names;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "operators-md", folders: &["docs/operators"], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files = vec![OutFile { path: "docs/operators.md".into(), text: index(families) }];
    files.extend(families.iter().map(|family| OutFile { path: path(family), text: page(family) }));
    Ok(files)
}

fn path(family: &Family) -> String {
    format!("docs/operators/{}.md", family.name)
}

fn public(family: &Family) -> impl Iterator<Item = &Op> {
    family.ops.iter().filter(|op| !op.internal)
}

/// How pages write an entry's heading, and what a link to it ends with.
fn anchor(op: &Op) -> String {
    op.name().replace('.', "").to_lowercase()
}

/// `docs/operators.md`
fn index(families: &[Family]) -> String {
    let all: usize = families.iter().map(|family| family.ops.len()).sum();
    let shown: usize = families.iter().map(|family| public(family).count()).sum();
    let mut text = format!(
        "<!-- {} -->\n\n# Operators\n\n{all} operators, {shown} of them public, in {} families. A family is a page, a C header \
         (`rushlight/ops/<family>.h`) and a cargo feature (`op-<family>`).\n\n{LEGEND}\n## Families\n\n| family | operators | |\n|---|---|---|\n",
        header(FOLDER),
        families.len()
    );
    for family in families {
        let name = &family.name;
        let _ = writeln!(text, "| [{name}](operators/{name}.md) | {} | {} |", public(family).count(), family.doc);
    }
    text.push_str("\n## All operators\n");
    let mut letters: BTreeMap<char, BTreeMap<String, String>> = BTreeMap::new();
    for (family, op) in families.iter().flat_map(|family| public(family).map(move |op| (family, op))) {
        let name = names::base(&op.primary().signature);
        let letter = name.trim_start_matches('_').chars().next().unwrap_or('_').to_ascii_lowercase();
        let link = format!("[{name}](operators/{}.md#{})", family.name, anchor(op));
        // The first overload leads to the others, which follow it.
        letters.entry(letter).or_default().entry(name.to_string()).or_insert(link);
    }
    for (letter, links) in letters {
        let links: Vec<String> = links.into_values().collect();
        let _ = write!(text, "\n**{letter}**\n{}\n", links.join(",\n"));
    }
    text
}

const LEGEND: &str = "\
An entry shows the operator in the grammar of PyTorch's schemas, its definition, and how each language declares its forms: the function, the method, \
the one that writes into `self` (`_`) and the one that writes into given tensors (`out`).

- **C++**: functions are in namespace `torch` (and `at`). An out form exists with the outputs last, too: `add_outf`.
- **Java**: trailing arguments that have a default may be left out, numbers and lists may be given plainly, and what is optional may be null.
- **C**: all arguments are given; NULL is None, and stands for all defaults of `rlt_tensor_options`. Outputs are named `out0`, ... ([conventions](c-abi.md)).
- By name (`rlt_op_call`, `torch::Dispatcher`, `Library`), an operator is called as its schema says, with `aten::` before the name.

`(*)` in shapes is any shape. Examples are run by the tests of C, C++ and Java.
Internal operators, at the end of a page, serve derivatives and kernels; they are called by name only and need not stay.
";

/// `docs/operators/<family>.md`
fn page(family: &Family) -> String {
    let mut text = format!("<!-- {} -->\n\n# Operators: {}\n\n{}\n", header(&family.source), family.name, family.doc);
    let faces = Face::of(family);
    for op in public(family) {
        let own: Vec<&Face> = faces.iter().filter(|face| std::ptr::eq(face.op, op)).collect();
        text.push_str(&entry(op, &own));
    }
    let internal: Vec<&Op> = family.ops.iter().filter(|op| op.internal).collect();
    if !internal.is_empty() {
        text.push_str("\n## Internal operators\n\n");
        for op in internal {
            let _ = writeln!(text, "- `{}`", op.primary().signature);
        }
    }
    text
}

fn entry(op: &Op, faces: &[&Face]) -> String {
    let doc = &op.doc;
    let mut text = format!("\n## `{}`\n\n{}", op.name(), doc.summary);
    if doc.source.starts_with("http") {
        let _ = write!(text, " ([PyTorch]({}))", doc.source);
    }
    let _ = write!(text, "\n\n```text\n{}\n\n{}\n```\n\n", doc.formula, op.primary().signature);
    let _ = writeln!(text, "- Shapes: `{}`", doc.shapes.replace('`', ""));
    let _ = writeln!(text, "- Dtypes: {}", op.dtypes.meaning().to_lowercase());
    let _ = writeln!(text, "- Gradient: {}", gradient(op));
    let _ = writeln!(text, "- Errors: {}", doc.errors);
    if let Some(example) = &doc.example {
        let _ = writeln!(text, "- Example: `{example}`");
    }
    if op.is_view() {
        text.push_str("- The result is a view: it shares the memory of its input.\n");
    }
    if op.nondeterministic {
        text.push_str("- Draws random numbers.\n");
    }
    match op.shape_by_data {
        ShapeByData::Never => {}
        ShapeByData::Sometimes => {
            text.push_str("- The shape of the result may depend on elements; the meta device refuses such calls.\n")
        }
        ShapeByData::Always => {
            text.push_str("- The shape of the result depends on elements; the meta device refuses it.\n")
        }
    }
    for exception in &op.exceptions {
        let _ = writeln!(text, "- Exception `{}`: {}", exception.field, exception.reason);
    }
    text.push_str("\n```cpp\n");
    declarations(&mut text, "C++", faces.iter().flat_map(|face| cpp::declarations(face)));
    declarations(&mut text, "Java", faces.iter().flat_map(|face| java::declarations(face)));
    declarations(&mut text, "C", faces.iter().map(|face| capi::prototype(face)));
    text.push_str("```\n");
    text
}

fn declarations(text: &mut String, language: &str, lines: impl Iterator<Item = String>) {
    let _ = writeln!(text, "// {language}");
    for line in lines {
        let _ = writeln!(text, "{line};");
    }
}

/// Which inputs get one, and how.
fn gradient(op: &Op) -> String {
    let of = |kind: &str| -> Vec<String> {
        let formulas = op.derivative.iter().filter(|formula| formula.kind() == kind);
        formulas.flat_map(|formula| &formula.inputs).map(|input| format!("`{input}`")).collect()
    };
    let mut parts = Vec::new();
    for (kind, words) in [("formula", ""), ("zero", "zero for "), ("refused", "an error for ")] {
        let inputs = of(kind);
        if !inputs.is_empty() {
            parts.push(format!("{words}{}", inputs.join(", ")));
        }
    }
    match (&op.body, parts.is_empty()) {
        (_, false) => parts.join("; "),
        (Body::Composite(_), true) => "by its parts, which are other operators".into(),
        (_, true) => "none".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    /// The pages declare C functions as the headers do, which cbindgen writes.
    #[test]
    fn prototypes_are_those_of_the_headers() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for family in load::load(root).unwrap() {
            let header =
                std::fs::read_to_string(root.join(format!("include/rushlight/ops/{}.h", family.name))).unwrap();
            let header = squeezed(&header);
            for face in Face::of(&family) {
                let prototype = capi::prototype(&face);
                assert!(header.contains(&format!("{prototype};")), "{prototype}");
            }
        }
    }

    /// A link of the index leads to one entry.
    #[test]
    fn entries_have_anchors_of_their_own() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        for family in load::load(root).unwrap() {
            let mut seen = std::collections::BTreeSet::new();
            for op in public(&family) {
                assert!(seen.insert(anchor(op)), "{}", op.name());
            }
        }
    }
}
