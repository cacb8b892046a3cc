//! The recording layer: reports the operators that a thread calls to a listener.
//!
//! An example of a layer in one file: a handler for boxed calls here, a key in `keys.rs`, a row in `dispatch::LAYERS`.
//! Only the calls of the program are reported, not the inner calls of composite operators.

use super::{Op, Value, Values};
use crate::keys::{self, KeyGuard, KeySet};
use rushlight_base::runtime::{self, LogLevel};
use rushlight_base::{Result, format_sizes};
use std::cell::Cell;
use std::sync::Arc;

/// Receives the string of each call, such as `add.Tensor([2, 3] float32, [] float32, 1)`.
pub type Listener = Arc<dyn Fn(&str) + Send + Sync>;

struct Recording {
    listener: Option<Listener>,
}

thread_local! {
    /// A raw pointer, which has no destructor, so that the library can be unloaded while threads live; `stop` frees it.
    static CURRENT: Cell<*mut Recording> = const { Cell::new(std::ptr::null_mut()) };
}

/// Reports every operator call of this thread to `listener`; `None` writes to the log.
pub fn start(listener: Option<Listener>) {
    stop();
    CURRENT.set(Box::into_raw(Box::new(Recording { listener })));
    keys::set_included(KeySet::RECORD, true);
}

/// Stops reporting.
pub fn stop() {
    keys::set_included(KeySet::RECORD, false);
    let pointer = CURRENT.replace(std::ptr::null_mut());
    if !pointer.is_null() {
        // SAFETY: the pointer came from `Box::into_raw` in `start` and was just taken out of the cell, so it is freed
        // once.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// The layer's handler: tell, then call on below this layer.
pub(super) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    tell(op, args);
    let _below = KeyGuard::exclude(KeySet::RECORD);
    op.call_into(args, results)
}

fn tell(op: &Op, args: &[Value]) {
    // SAFETY: a non-null pointer is a live Recording of this thread; the listener is cloned before it is called,
    // so that it may stop the recording.
    let listener = unsafe { CURRENT.get().as_ref() }.and_then(|recording| recording.listener.clone());
    match listener {
        Some(listener) => listener(&describe(op, args)),
        None => runtime::log(LogLevel::Info, || describe(op, args)),
    }
}

fn describe(op: &Op, args: &[Value]) -> String {
    let args: Vec<String> = args.iter().map(describe_value).collect();
    format!("{}({})", op.full_name(), args.join(", "))
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::None => "None".into(),
        Value::Scalar(scalar) => scalar.to_string(),
        Value::Str(text) => format!("{text:?}"),
        Value::DType(dtype) => dtype.to_string(),
        Value::Device(device) => device.to_string(),
        Value::Ints(ints) => format_sizes(ints),
        Value::Tensor(tensor) => format!("{} {}", format_sizes(&tensor.sizes()), tensor.dtype()),
        Value::Tensors(tensors) => format!("{} tensors", tensors.len()),
        other => other.kind().into(),
    }
}
