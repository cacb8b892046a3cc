//! Dropping values without recursion: a list in a list in a list, however deep, is released in a loop.

use super::value::Value;
use std::cell::RefCell;

thread_local! {
    /// Values that are still to be dropped; `Some` while a drop is running on this thread.
    static PENDING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

/// Drops the contents of a container.
pub(super) fn release(values: Vec<Value>) {
    if !values.iter().any(Value::is_container) {
        return;
    }
    let mut values = Some(values);
    let is_outermost = PENDING.try_with(|pending| {
        let mut pending = pending.borrow_mut();
        match (&mut *pending, values.take()) {
            (Some(list), Some(values)) => {
                list.extend(values);
                false
            }
            (list, values) => {
                *list = values;
                true
            }
        }
    });
    if is_outermost != Ok(true) {
        return;
    }
    // Each drop may add more, in nested calls of this function.
    let next = || PENDING.with(|pending| pending.borrow_mut().as_mut().and_then(Vec::pop));
    while let Some(value) = next() {
        drop(value);
    }
    PENDING.with(|pending| *pending.borrow_mut() = None);
}
