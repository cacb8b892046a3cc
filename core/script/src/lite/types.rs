//! The types in files of the lite interpreter: annotations as in source code, in which NamedTuples bring their fields:
//! `__torch__.Point[NamedTuple, [[x, Tensor], [y, int]]]`.

use crate::types::{NamedTuple, Resolver, Type, parse_type};
use rushlight_base::{Result, bail, ensure, err};
use std::collections::HashMap;
use std::sync::Arc;

/// NamedTuples in one type.
const MAX_NESTED: usize = 64;
const MARK: &str = "[NamedTuple";

/// Reads types; remembers the NamedTuples among them.
#[derive(Default)]
pub(super) struct Types {
    classes: HashMap<String, Arc<NamedTuple>>,
}

impl Types {
    /// The type that a string means.
    pub(super) fn parse(&mut self, text: &str) -> Result<Type> {
        let mut text = text.to_owned();
        for _ in 0..MAX_NESTED {
            // The last one has no other in its fields.
            let Some(at) = text.rfind(MARK) else { return parse_type(&text, self) };
            text = self.named_tuple(&text, at)?;
        }
        bail!(Io, "a type has more than {MAX_NESTED} NamedTuples")
    }

    /// The NamedTuples that were read.
    pub(super) fn into_named_tuples(self) -> Vec<Arc<NamedTuple>> {
        self.classes.into_values().collect()
    }

    /// Reads the NamedTuple at a place, and returns the text with its name only.
    fn named_tuple(&mut self, text: &str, at: usize) -> Result<String> {
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
        let start = before.trim_end_matches(is_name).len();
        let (_, name) = before.split_at_checked(start).unwrap_or(("", before));
        let end = closing(after).ok_or_else(|| err!(Io, "the type '{}' has no end", text.escape_debug()))?;
        let (inside, rest) = after.split_at_checked(end).unwrap_or((after, ""));
        let malformed = || err!(Io, "the fields of the NamedTuple '{}' are malformed", name.escape_debug());
        let fields = inside.strip_prefix(MARK).and_then(|fields| fields.trim_start().strip_prefix(','));
        let fields = fields.and_then(|fields| fields.trim().strip_prefix('[')?.strip_suffix(']'));
        let mut fields = fields.ok_or_else(malformed)?.trim();
        let mut found = Vec::new();
        while !fields.is_empty() {
            let end = closing(fields).ok_or_else(malformed)?;
            let (field, rest) = fields.split_at_checked(end).ok_or_else(malformed)?;
            let (label, kind) =
                field.strip_prefix('[').and_then(|field| field.split_once(',')).ok_or_else(malformed)?;
            ensure!(!kind.contains(MARK), Internal, "a NamedTuple in a NamedTuple was not read");
            found.push((label.trim().into(), parse_type(kind.trim(), self)?));
            fields = rest.strip_prefix(']').ok_or_else(malformed)?.trim_start_matches([',', ' ']);
        }
        let class = NamedTuple { name: name.into(), fields: found };
        if let Some(known) = self.classes.get(name) {
            ensure!(**known == class, Io, "two NamedTuples are called '{}'", name.escape_debug());
        }
        self.classes.insert(name.to_owned(), class.into());
        Ok(format!("{before}{}", rest.strip_prefix(']').unwrap_or(rest)))
    }
}

/// Where the bracket is closed with which a text begins.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

impl Resolver for Types {
    fn resolve(&self, name: &str) -> Option<Type> {
        if let Some(class) = self.classes.get(name) {
            return Some(Type::NamedTuple(class.clone()));
        }
        name.starts_with("__torch__.").then(|| Type::Class(name.into()))
    }

    fn implements(&self, _name: &str, _interface: &str) -> bool {
        false
    }
}
