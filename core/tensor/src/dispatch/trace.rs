//! The tracing layer: hands the operator calls of a thread to a tracer, which makes the calls and writes a program of them.
//!
//! Only the calls of the program reach the tracer, not the inner calls of composite operators. It is above autograd: what
//! a trace computes can be differentiated again.

use super::{Op, Value, Values};
use crate::keys::{self, KeyGuard, KeySet};
use crate::tensor::Tensor;
use rushlight_base::{Result, ensure};
use std::cell::Cell;
use std::sync::Arc;

/// Receives the operator calls of a thread.
pub trait Tracer: Send + Sync {
    /// Makes a call, below the layer. The arguments are complete, in the order of the schema.
    fn call(&self, op: &Op, args: &[Value], results: &mut Values) -> Result<()>;

    /// The program reads a tensor as a number: the data flow ends here.
    fn read_number(&self, tensor: &Tensor);

    /// Whether the trace has ended, perhaps on another thread.
    fn is_over(&self) -> bool;
}

struct Current {
    tracer: Arc<dyn Tracer>,
}

thread_local! {
    /// A raw pointer, which has no destructor, so that the library can be unloaded while threads live; `stop` frees it.
    static CURRENT: Cell<*mut Current> = const { Cell::new(std::ptr::null_mut()) };
}

/// Hands the calls of this thread to `tracer`. An error if another one has them: traces do not nest.
pub fn start(tracer: Arc<dyn Tracer>) -> Result<()> {
    if let Some(over) = current().filter(|current| current.is_over()) {
        stop(&over);
    }
    ensure!(CURRENT.get().is_null(), Runtime, "this thread is tracing already: traces cannot be nested");
    CURRENT.set(Box::into_raw(Box::new(Current { tracer })));
    keys::set_included(KeySet::TRACE, true);
    Ok(())
}

/// Ends the tracing of this thread by `tracer`. Without effect if another tracer, or none, has its calls.
pub fn stop(tracer: &Arc<dyn Tracer>) {
    if current().is_some_and(|current| std::ptr::addr_eq(Arc::as_ptr(&current), Arc::as_ptr(tracer))) {
        keys::set_included(KeySet::TRACE, false);
        let pointer = CURRENT.replace(std::ptr::null_mut());
        // SAFETY: the pointer came from `Box::into_raw` in `start`, is not null because `current` found a tracer, and was
        // just taken out of the cell, so it is freed once.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// The tracer of this thread.
pub fn current() -> Option<Arc<dyn Tracer>> {
    // SAFETY: a non-null pointer is a live Current of this thread, which only `stop` on this thread frees; the tracer is
    // cloned before anything else runs.
    unsafe { CURRENT.get().as_ref() }.map(|current| current.tracer.clone())
}

/// The layer's handler. A call on a thread whose tracer is gone goes on below the layer.
pub(super) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    let tracer = current();
    let _below = KeyGuard::exclude(KeySet::TRACE);
    match tracer {
        Some(tracer) => tracer.call(op, args, results),
        None => op.call_into(args, results),
    }
}

/// Reports to the tracer of this thread, if it sees the calls that are made now, that a tensor is read as a number.
#[inline]
pub(crate) fn read_number(tensor: &Tensor) {
    if keys::active(KeySet::EMPTY).intersects(KeySet::TRACE) {
        report_number(tensor);
    }
}

#[cold]
fn report_number(tensor: &Tensor) {
    if let Some(tracer) = current() {
        let _below = KeyGuard::exclude(KeySet::TRACE);
        tracer.read_number(tensor);
    }
}
