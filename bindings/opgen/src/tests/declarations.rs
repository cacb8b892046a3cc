//! The declarations of the repository load, and their derived forms are PyTorch's.

use crate::load;
use std::collections::HashSet;
use std::path::Path;

fn root() -> &'static Path {
    // CARGO_MANIFEST_DIR is bindings/opgen.
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_declarations_load() {
    let families = load::load(root()).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    assert!(families.len() >= 12);
}

/// Every form is one of PyTorch's, with the same variants, when `RUSHLIGHT_OPERATORS` names the list of them.
#[test]
fn derived_forms_are_pytorchs() {
    let Ok(path) = std::env::var("RUSHLIGHT_OPERATORS") else { return };
    let table = std::fs::read_to_string(path).unwrap();
    let mut known = HashSet::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let signature: rushlight_schema::Signature = columns[4].parse().unwrap();
        let mut variants: Vec<&str> = columns[1].split(',').collect();
        variants.sort_unstable();
        known.insert((signature.to_string(), variants.join(",")));
    }
    let families = load::load(root()).unwrap();
    let mut strangers = Vec::new();
    for form in families.iter().flat_map(|family| &family.ops).filter(|op| !op.internal).flat_map(|op| &op.forms) {
        let variants = match (form.function, form.method) {
            (true, true) => "function,method",
            (true, false) => "function",
            _ => "method",
        };
        let text = form.signature.to_string();
        // The list leaves out PyTorch's private operators, and the functional form that it derives of `zero_`.
        if text.starts_with('_') || text.starts_with("zero(") {
            continue;
        }
        if !known.contains(&(text.clone(), variants.to_string())) {
            strangers.push(format!("{variants}: {text}"));
        }
    }
    assert!(strangers.is_empty(), "not in the list:\n{}", strangers.join("\n"));
}
