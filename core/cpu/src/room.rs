//! Working memory whose size depends on the input: running out of it is an error, not the end.

use rushlight_base::{Result, err};

/// An empty vector with room for `count` elements.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(count)
        .map_err(|_| err!(OutOfMemory, "not enough memory: a kernel needs {count} elements to work with"))?;
    Ok(values)
}

/// A vector of `count` times `value`.
pub(crate) fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut values = room(count)?;
    values.resize(count, value);
    Ok(values)
}
