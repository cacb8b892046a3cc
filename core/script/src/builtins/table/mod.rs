//! The table: schemas in PyTorch's grammar, and their functions.

mod dicts;
mod internal;
mod lists;
mod math;
mod numbers;
mod objects;
mod prepacked;
mod strings;
mod tensors;

use super::{Builtin, Row};

/// All rows, by subject.
pub(super) const ALL: &[&[Row]] = &[
    numbers::ROWS,
    math::ROWS,
    lists::ROWS,
    dicts::ROWS,
    strings::ROWS,
    objects::ROWS,
    tensors::ROWS,
    internal::ROWS,
    prepacked::ROWS,
];

const fn row(schema: &'static str, run: Builtin) -> Row {
    Row { schema, run }
}
