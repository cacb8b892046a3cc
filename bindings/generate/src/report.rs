//! Prints the number of operators, and how many of them are exceptions.

use opgen::model::{Family, Op};

/// One line of counts, followed by every exception and its reason if `list` is set.
pub fn counts(families: &[Family], list: bool) -> String {
    let ops: Vec<&Op> = families.iter().flat_map(|family| &family.ops).collect();
    let forms: usize = ops.iter().map(|op| op.forms.len()).sum();
    let mut text = format!("{} families, {} operators in {forms} forms", families.len(), ops.len());
    let mut listed = String::new();
    for field in
        ["copied_form", "cast_through", "contiguous_entry", "tolerance", "trivial_example", "no_example", "on_host"]
    {
        let exceptions: Vec<_> = ops
            .iter()
            .flat_map(|op| op.exceptions.iter().map(move |exception| (op.name(), exception)))
            .filter(|(_, exception)| exception.field == field)
            .collect();
        text.push_str(&format!(", {} {field}", exceptions.len()));
        for (name, exception) in exceptions.iter().filter(|_| list) {
            listed.push_str(&format!("\n  {field}: {name}: {}", exception.reason));
        }
    }
    text + &listed
}
