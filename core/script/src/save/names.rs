//! Names of values in printed functions, and qualified names of classes and functions.

use crate::ast::Name;
use std::collections::{HashMap, HashSet};

/// Words that no value may have as its name: keywords, and what printed code calls by name.
const RESERVED: [&str; 67] = [
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "exec",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "CONSTANTS",
    "__torch__",
    "annotate",
    "aten",
    "attribute",
    "awaitable",
    "fork",
    "getattr",
    "inf",
    "infj",
    "isinstance",
    "nan",
    "nanj",
    "ops",
    "print",
    "torch",
    "uninitialized",
    "unchecked_cast",
    // Names of functions: an argument keeps such a name, another value gets a number.
    "bool",
    "complex",
    "float",
    "int",
    "range",
    "sorted",
    "str",
    "Dict",
    "List",
    "Optional",
    "Tensor",
    "Tuple",
    "Union",
];
/// Where the names of functions begin in [`RESERVED`].
const FUNCTIONS: usize = 54;

/// Whether code can name an attribute or a value so.
pub(super) fn is_identifier(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(word)
}

/// Whether code can name an attribute so.
pub(super) fn is_attribute(name: &str) -> bool {
    is_identifier(name) && !RESERVED.iter().take(FUNCTIONS).any(|word| *word == name)
}

/// The name with `_` in place of what no name may contain.
fn identifier(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = name.chars().map(word).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// The names of the values of a function.
#[derive(Default)]
pub(super) struct Locals {
    used: HashSet<String>,
    next: HashMap<String, u64>,
}

impl Locals {
    /// A name for an argument: callers may give it by its name.
    pub(super) fn argument(&mut self, name: &str) -> String {
        let name = identifier(name);
        let free = !RESERVED.iter().take(FUNCTIONS).any(|word| *word == name) && !self.used.contains(&name);
        if free {
            self.used.insert(name.clone());
            return name;
        }
        self.fresh(&name)
    }

    /// A new name like `x`, which may be the name of a value of a graph: of `x.7` the name is `x`.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let base = match name.rsplit_once('.') {
            Some((base, number)) if !base.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) => base,
            _ => name,
        };
        let base = identifier(base);
        let mut candidate = base.clone();
        while self.used.contains(&candidate) || RESERVED.contains(&candidate.as_str()) {
            let next = self.next.entry(base.clone()).or_insert(0);
            candidate = format!("{base}{next}");
            *next += 1;
        }
        self.used.insert(candidate.clone());
        candidate
    }

    /// A new name for a value without name: `_0`, `_1`, ...
    pub(super) fn number(&mut self) -> String {
        loop {
            let next = self.next.entry("_".to_owned()).or_insert(0);
            let candidate = format!("_{next}");
            *next += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// The qualified names in a file. PyTorch finds what begins with `__torch__.`, other names get it as a prefix.
#[derive(Default)]
pub(super) struct Qualified {
    names: HashMap<Name, Name>,
    used: HashSet<Name>,
}

impl Qualified {
    /// The name in the file of the class or function `name`.
    pub(super) fn of(&mut self, name: &str) -> Name {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let parts: Vec<String> = name.split('.').map(identifier).collect();
        let rooted = parts.first().is_some_and(|first| first == "__torch__") && parts.len() > 1;
        let path = if rooted { parts.join(".") } else { format!("__torch__.{}", parts.join(".")) };
        let free = self.free(&path);
        self.used.insert(free.clone());
        self.names.insert(name.into(), free.clone());
        free
    }

    /// The function in the file of a function that belongs to a class.
    pub(super) fn of_static(&mut self, class: &str, function: &str) -> Name {
        let name = format!("{class}.{function}");
        if let Some(known) = self.names.get(name.as_str()) {
            return known.clone();
        }
        let free = format!("{}__{}", self.of(class), identifier(function));
        let free = self.free(&free);
        self.used.insert(free.clone());
        self.names.insert(name.into(), free.clone());
        free
    }

    fn free(&self, path: &str) -> Name {
        let mut candidate: Name = path.into();
        let (prefix, last) = path.rsplit_once('.').unwrap_or(("__torch__", path));
        let mut number = 0;
        while self.used.contains(&candidate) {
            candidate = format!("{prefix}.___torch_mangle_{number}.{last}").into();
            number += 1;
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_names_that_are_free() {
        let mut locals = Locals::default();
        assert_eq!((locals.argument("x"), locals.argument("range"), locals.argument("in")), own("x", "range", "in0"));
        assert_eq!((locals.fresh("x.4"), locals.fresh("x"), locals.fresh("int")), own("x0", "x1", "int0"));
        assert_eq!((locals.fresh("a b"), locals.number(), locals.number()), own("a_b", "_0", "_1"));
    }

    fn own(a: &str, b: &str, c: &str) -> (String, String, String) {
        (a.into(), b.into(), c.into())
    }

    #[test]
    fn classes_get_names_that_pytorch_finds() {
        let mut names = Qualified::default();
        assert_eq!(&*names.of("__torch__.a.B"), "__torch__.a.B");
        assert_eq!(&*names.of("a.B"), "__torch__.a.___torch_mangle_0.B");
        assert_eq!(&*names.of("f"), "__torch__.f");
        assert_eq!(&*names.of("f"), "__torch__.f");
        assert_eq!(&*names.of_static("__torch__.a.B", "make"), "__torch__.a.B__make");
    }
}
