//! What the C functions of a call class share: `calls.rs`, which `capi/src/support/calls.rs` includes. Its macro `classes` makes
//! a function of each line.

use super::{c_type, slot_type};
use crate::class::{self, Class};
use crate::emit::first_line;
use crate::load::FOLDER;
use crate::model::{Family, Returns};
use crate::types::Kind;
use std::collections::BTreeSet;
use std::fmt::Write;

/// `calls.rs`
pub fn text(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str("/// How C passes each kind of argument; a list as pointer and length.\nmacro_rules! c_type {\n");
    let classes = class::with_functions(families);
    let mut kinds: Vec<Kind> = classes.values().flat_map(|(class, _)| class.kinds.iter().copied()).collect();
    kinds.sort_by_key(|kind| format!("{kind:?}"));
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(text, "({kind:?}) => {{ {} }};", c_type(kind));
    }
    text.push_str("}\npub(crate) use c_type;\n\n");
    text.push_str(&slot_types(classes.values().map(|(class, _)| class)));
    text.push_str("classes! {\n");
    for (class, users) in classes.into_values() {
        text.push_str(&class::condition(users.into_iter()));
        text.push_str(&class.line());
    }
    text + "}\n"
}

/// The macro `slot_type`, where there are functions that return a value that is not a tensor.
fn slot_types<'a>(classes: impl Iterator<Item = &'a Class>) -> String {
    let line = |class: &Class| match class.returns {
        Returns::Value(kind) => Some(format!("({kind:?}) => {{ {} }};\n", slot_type(kind))),
        _ => None,
    };
    let lines: BTreeSet<String> = classes.filter_map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.into_iter().collect();
    format!(
        "/// Where C receives each kind of result that is not a tensor.\n\
         macro_rules! slot_type {{\n{lines}}}\npub(crate) use slot_type;\n\n"
    )
}
