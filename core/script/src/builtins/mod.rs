//! The operators without tensors, and those that only read a tensor's properties: one table of schemas and functions.
//!
//! [`rows`] lists them in PyTorch's grammar; the compiler chooses among them and the operators of `rushlight-tensor`.
//! A row of a file's subject is in `table`, its function in the file of the subject.

mod args;
mod attention;
mod dicts;
mod format;
mod internal;
mod lists;
mod math;
mod numbers;
mod objects;
mod prepacked;
mod resize;
mod strings;
mod table;
mod tensors;
mod words;

pub use args::{Args, Context};
pub(crate) use lists::position;
pub(crate) use numbers::{floor_divide, floor_remainder};
pub(crate) use objects::call;

use crate::runtime::value::Value;
use rushlight_base::Result;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The function of an operator. It may take its arguments out of `args`. Several results are a tuple; no result is None.
pub type Builtin = fn(&mut Args<'_>) -> Result<Value>;

/// An operator.
pub struct Row {
    /// Its schema.
    pub schema: &'static str,
    /// Its function.
    pub run: Builtin,
}

impl Row {
    /// `aten::add`
    pub fn name(&self) -> &'static str {
        let full = self.full_name();
        let start = full.find("::").map_or(0, |at| at + 2);
        match full.get(start..).and_then(|name| name.find('.')) {
            // A name may begin with a dot only in the overload.
            Some(dot) => full.get(..start + dot).unwrap_or(full),
            None => full,
        }
    }

    /// `int` of `aten::add.int`; empty for the default overload.
    pub fn overload(&self) -> &'static str {
        self.full_name().get(self.name().len() + 1..).unwrap_or("")
    }

    /// `aten::add.int`
    pub fn full_name(&self) -> &'static str {
        self.schema.split('(').next().unwrap_or(self.schema)
    }

    /// The number of results, or `None` if the schema leaves it open.
    pub fn results(&self) -> Option<usize> {
        let results = self.schema.rsplit_once(" -> ").map_or("", |(_, results)| results);
        match results {
            "()" => Some(0),
            "..." => None,
            // A tuple in parentheses of its own is one result.
            tuple if tuple.starts_with('(') && !tuple.starts_with("((") => Some(1 + tuple.matches(',').count()),
            _ => Some(1),
        }
    }
}

/// All operators.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    table::ALL.iter().flat_map(|rows| rows.iter())
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut names: HashMap<&'static str, Vec<&'static Row>> = HashMap::new();
    for row in rows() {
        names.entry(row.name()).or_default().push(row);
    }
    names
});

/// The overloads of `aten::add`, in the order in which PyTorch's compiler tries them.
pub fn overloads(name: &str) -> &'static [&'static Row] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The operator `aten::add` with this overload.
pub fn find(name: &str, overload: &str) -> Option<&'static Row> {
    overloads(name).iter().copied().find(|row| row.overload() == overload)
}
