//! The reference of the operators: `docs/operators/index.md`, the list of all operators, and
//! `docs/operators/<family>.md`, a page per family with an entry per operator. The hand-written `docs/operators.md`
//! explains the entries.

use crate::emit::{Emitter, OutFile, Place, capi, cpp, header, java, math};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Body, Family, Form, Op, ShapeByData};
use crate::names;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Generates the files.
pub const EMITTER: Emitter = Emitter { name: "operators-md", place: Place::Build, folders: &["docs/operators"], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files = vec![OutFile { path: "docs/operators/index.md".into(), text: index(families) }];
    files.extend(families.iter().map(|family| OutFile { path: path(family), text: page(family) }));
    Ok(files)
}

fn path(family: &Family) -> String {
    format!("docs/operators/{}.md", family.name)
}

fn public(family: &Family) -> impl Iterator<Item = &Op> {
    family.ops.iter().filter(|op| !op.internal)
}

/// The format of the heading of an entry, and the anchor of a link to it.
fn anchor(op: &Op) -> String {
    op.name().replace('.', "").to_lowercase()
}

/// `docs/operators/index.md`
fn index(families: &[Family]) -> String {
    let all: usize = families.iter().map(|family| family.ops.len()).sum();
    let shown: usize = families.iter().map(|family| public(family).count()).sum();
    let mut text = format!(
        "<!-- {} -->\n\n# All operators\n\n{all} operators, {shown} of them public, in {} families. A family is a page, a C header \
         (`rushlight/ops/<family>.h`) and a cargo feature (`op-<family>`).\n\n## Families\n\n| family | operators | |\n|---|---|---|\n",
        header(FOLDER),
        families.len()
    );
    for family in families {
        let name = &family.name;
        let _ = writeln!(text, "| [{name}]({name}.md) | {} | {} |", public(family).count(), family.doc);
    }
    text.push_str("\n## By name\n");
    let mut letters: BTreeMap<char, BTreeMap<String, String>> = BTreeMap::new();
    for (family, op) in families.iter().flat_map(|family| public(family).map(move |op| (family, op))) {
        let name = names::base(&op.primary().signature);
        let letter = name.trim_start_matches('_').chars().next().unwrap_or('_').to_ascii_lowercase();
        let link = format!("[{name}]({}.md#{})", family.name, anchor(op));
        // The link leads to the first overload; the others follow it.
        letters.entry(letter).or_default().entry(name.to_string()).or_insert(link);
        for alias in alias_names(op) {
            let letter = alias.trim_start_matches('_').chars().next().unwrap_or('_').to_ascii_lowercase();
            let link = format!("[{alias}]({}.md#{})", family.name, anchor(op));
            letters.entry(letter).or_default().entry(alias).or_insert(link);
        }
    }
    for (letter, links) in letters {
        let links: Vec<String> = links.into_values().collect();
        let _ = write!(text, "\n**{letter}**\n{}\n", links.join(",\n"));
    }
    text
}

/// The base names of the aliases of an operator, each once.
fn alias_names(op: &Op) -> Vec<String> {
    let names = op.aliases.iter().map(|alias| names::base(&alias.form.signature).to_owned());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

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
    let names =
        op.forms.iter().flat_map(Form::parameters).map(|parameter| parameter.name).chain(op.output_names()).collect();
    let _ = write!(text, "\n\n<p class=\"formula\">{}</p>\n", math::html(&doc.formula, &names));
    let _ = write!(text, "\n```text\n{}\n```\n\n", op.primary().signature);
    if op.doc.has_curve() {
        let name = op.name();
        let _ = writeln!(text, "<img class=\"curve\" src=\"curves/{name}.svg\" alt=\"The curve of {name}\">\n");
    }
    let aliases: Vec<String> = alias_names(op).iter().map(|name| format!("`{name}`")).collect();
    if !aliases.is_empty() {
        let _ = writeln!(text, "- Aliases: {}", aliases.join(", "));
    }
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
        text.push_str("- Generates random numbers.\n");
    }
    match op.shape_by_data {
        ShapeByData::Never => {}
        ShapeByData::Sometimes => {
            text.push_str("- The shape of the result may depend on elements; the meta device rejects such calls.\n")
        }
        ShapeByData::Always => {
            text.push_str("- The shape of the result depends on elements; the meta device rejects the call.\n")
        }
    }
    // The reason why an example is trivial is not for users.
    for exception in op.exceptions.iter().filter(|exception| !exception.field.ends_with("_example")) {
        let _ = writeln!(text, "- Exception `{}`: {}", exception.field, exception.reason);
    }
    let languages = [
        ("C++", "cpp", faces.iter().flat_map(|face| cpp::declarations(face)).collect()),
        ("Java", "java", faces.iter().flat_map(|face| java::declarations(face)).collect()),
        ("C", "c", faces.iter().map(|face| capi::prototype(face)).collect()),
    ];
    text.push_str(&tabs(&anchor(op), &languages));
    text
}

/// A tab per language with its declarations. `docs/theme/languages.css` shows the chosen one.
fn tabs(anchor: &str, languages: &[(&str, &str, Vec<String>)]) -> String {
    let mut text = String::from("\n<div class=\"languages\">\n");
    for (index, (language, short, _)) in languages.iter().enumerate() {
        let checked = if index == 0 { " checked" } else { "" };
        let _ = writeln!(
            text,
            "<input type=\"radio\" name=\"{anchor}\" id=\"{anchor}-{short}\" value=\"{short}\"{checked}>\
             <label for=\"{anchor}-{short}\">{language}</label>"
        );
    }
    for (_, short, lines) in languages {
        let lines: String = lines.iter().map(|line| format!("{line};\n")).collect();
        let _ = write!(text, "\n```{short}\n{lines}```\n");
    }
    text + "\n</div>\n"
}

/// The differentiable inputs, and how their gradients are computed.
fn gradient(op: &Op) -> String {
    let of = |kind: &str| -> Vec<String> {
        let formulas = op.derivative.iter().filter(|formula| formula.kind() == kind);
        formulas.flat_map(|formula| &formula.inputs).map(|input| format!("`{input}`")).collect()
    };
    let mut parts = Vec::new();
    for (kind, words) in [("formula", ""), ("zero", "zero for "), ("rejected", "an error for ")] {
        let inputs = of(kind);
        if !inputs.is_empty() {
            parts.push(format!("{words}{}", inputs.join(", ")));
        }
    }
    match (&op.body, parts.is_empty()) {
        (_, false) => parts.join("; "),
        (Body::Composite(_) | Body::Each { .. }, true) => "by its parts, which are other operators".into(),
        (_, true) => "none".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of the index leads to one entry.
    #[test]
    fn entries_have_anchors_of_their_own() {
        for family in crate::load().unwrap() {
            let mut seen = BTreeSet::new();
            for op in public(&family) {
                assert!(seen.insert(anchor(op)), "{}", op.name());
            }
        }
    }
}
