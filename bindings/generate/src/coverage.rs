//! Counts which of PyTorch's operators there are: `make operators`.

use opgen::model::{Family, Form, Op};
use rushlight_schema::Signature;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

/// The list of PyTorch's operators, from the root of the repository.
const LIST: &str = "tests/data/operators.tsv";

/// Why operators are left out: a table of names, with `*` for any part, and reasons.
const REASONS: &str = "docs/operators-left-out.md";

const KINDS: [(&str, &str); 3] = [("func", "functional"), ("inplace", "in-place"), ("out", "out")];

/// A table of families and one of what is missing, with reasons; `list` names each missing operator.
pub fn report(root: &Path, families: &[Family], list: bool) -> Result<String, String> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"));
    let (operators, reasons) = (read(LIST)?, reasons(&read(REASONS)?));
    let mut family_of: HashMap<String, &str> = HashMap::new();
    for family in families {
        for form in family.ops.iter().flat_map(forms) {
            family_of.insert(form.signature.to_string(), &family.name);
        }
    }
    let mut present: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut missing: BTreeMap<&str, ([usize; 3], Vec<&str>)> = BTreeMap::new();
    let mut totals = [[0; 3]; 2];
    for line in operators.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [kind, _, schema] = columns[..] else { return Err(format!("{LIST}: not three columns: {line}")) };
        let kind = KINDS.iter().position(|(name, _)| *name == kind).ok_or(format!("{LIST}: unknown kind: {line}"))?;
        totals[1][kind] += 1;
        let signature: Signature = schema.parse().map_err(|error| format!("{LIST}: {error}"))?;
        if let Some(family) = family_of.get(&signature.to_string()) {
            totals[0][kind] += 1;
            present.entry(family).or_default()[kind] += 1;
            continue;
        }
        let name = schema.split('(').next().unwrap_or_default();
        let reason = reasons.iter().find(|(pattern, _)| matches(pattern, name));
        let entry = missing.entry(reason.map_or("not there yet", |(_, reason)| reason)).or_default();
        entry.0[kind] += 1;
        entry.1.push(name);
    }
    Ok(tables(&present, &missing, totals, list))
}

fn forms(op: &Op) -> impl Iterator<Item = &Form> {
    op.forms.iter().chain(op.aliases.iter().map(|alias| &alias.form))
}

fn tables(
    present: &BTreeMap<&str, [usize; 3]>,
    missing: &BTreeMap<&str, ([usize; 3], Vec<&str>)>,
    [found, all]: [[usize; 3]; 2],
    list: bool,
) -> String {
    let mut text = String::new();
    let row = |text: &mut String, name: &str, cells: [String; 3]| {
        let _ = writeln!(text, "{name:60} {:>12} {:>12} {:>12}", cells[0], cells[1], cells[2]);
    };
    row(&mut text, "present, by family", KINDS.map(|(_, name)| name.to_string()));
    for (family, counts) in present {
        row(&mut text, family, counts.map(|count| count.to_string()));
    }
    row(&mut text, "all", std::array::from_fn(|kind| format!("{} of {}", found[kind], all[kind])));
    text.push('\n');
    row(&mut text, "missing, by reason", KINDS.map(|(_, name)| name.to_string()));
    for (reason, (counts, names)) in missing {
        row(&mut text, reason, counts.map(|count| count.to_string()));
        if list {
            let _ = writeln!(text, "    {}", names.join(" "));
        }
    }
    text
}

/// The rows of the Markdown table: names in backquotes, then the reason.
fn reasons(text: &str) -> Vec<(String, String)> {
    let mut reasons = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if let [names, reason, ..] = cells[..]
            && names.starts_with('`')
        {
            let names = names.split(", ").map(|name| name.trim_matches('`'));
            reasons.extend(names.map(|name| (name.to_string(), reason.to_string())));
        }
    }
    reasons
}

/// Whether `name` is of this pattern.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            let Some(rest) = name.strip_prefix(head) else { return false };
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| matches(tail, rest)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_any_part_of_a_name() {
        for (pattern, name) in
            [("stft", "stft"), ("*.dimname", "all.dimname"), ("sparse_*_tensor*", "sparse_coo_tensor.size")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("stft", "stft.center"), ("*.dimname", "all.dim"), ("sparse_*", "to_sparse")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_table_of_reasons_is_read() {
        let text = "# Title\n\n| names | reason | error |\n|---|---|---|\n| `a.*`, `b` | no names | x |\n";
        assert_eq!(reasons(text), [("a.*".into(), "no names".into()), ("b".into(), "no names".into())]);
    }

    /// The C++ functions that only raise an error stand in the document, by names or patterns.
    #[test]
    fn functions_that_raise_an_error_are_left_out() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let reasons = reasons(&read(REASONS));
        let headers = ["MissingFunctions.h", "internal_functions/methods.h"];
        let text: String = headers.map(|header| read(&format!("cpp-frontend/include/ATen/{header}"))).concat();
        let calls = text.lines().filter_map(|line| line.strip_prefix("RLT_MISSING")?.strip_suffix(')'));
        let arguments =
            calls.flat_map(|call| call.split_once('(').map(|(kind, arguments)| (kind, arguments.split(", "))));
        let names: Vec<&str> =
            arguments.filter_map(|(kind, mut each)| each.nth(usize::from(kind == "_VALUE"))).collect();
        assert!(names.len() > 100, "{} functions", names.len());
        for name in names {
            assert!(reasons.iter().any(|(pattern, _)| matches(pattern, name)), "{name} is not in {REASONS}");
        }
    }

    /// What the documents promise: no operator that is there is listed as left out.
    #[test]
    fn operators_that_are_there_are_not_left_out() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let reasons = reasons(&std::fs::read_to_string(root.join(REASONS)).unwrap());
        let families = opgen::load().unwrap();
        for form in families.iter().flat_map(|family| &family.ops).filter(|op| !op.internal).flat_map(forms) {
            let name = form.signature.full_name();
            assert!(!reasons.iter().any(|(pattern, _)| matches(pattern, &name)), "{name}");
        }
    }
}
