//! Functions of the caller that Rushlight calls: their context, its deleter, and what their status means.

use super::last_error;
use crate::core::rlt_deleter;
use rushlight_base::{Error, ErrorKind, Result, err};
use std::ffi::c_void;

/// The context of a callback. Its deleter runs once, when nothing can call any more.
pub struct Context {
    ctx: *mut c_void,
    deleter: rlt_deleter,
}

// SAFETY: whoever registers a callback promises that it and its context may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Take over `ctx`.
    pub fn new(ctx: *mut c_void, deleter: rlt_deleter) -> Context {
        Context { ctx, deleter }
    }

    /// What the callback is handed.
    pub fn get(&self) -> *mut c_void {
        self.ctx
    }

    /// Was it given with this deleter?
    pub fn is_freed_by(&self, deleter: rlt_deleter) -> bool {
        self.deleter.map(|own| own as usize) == deleter.map(|other| other as usize)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter.take() {
            // SAFETY: the deleter was given for this context and is called once.
            unsafe { deleter(self.ctx) }
        }
    }
}

/// Run a callback, and turn the status it returns into a result. `what` names it in messages.
///
/// A callback that fails says why with `rlt_set_last_error` (or by a failing call of the library, whose
/// status it returns).
pub fn call(what: &str, callback: impl FnOnce() -> i32) -> Result<()> {
    let before = last_error::take();
    let status = callback();
    let said = last_error::take();
    if status == 0 {
        // What an inner call left behind is nobody's error now.
        if let Some(before) = before {
            last_error::put_back(before);
        }
        return Ok(());
    }
    Err(failure(what, status, said.map(|error| error.to_error())))
}

#[cold]
fn failure(what: &str, status: i32, said: Option<Error>) -> Error {
    match (said, ErrorKind::from_code(status)) {
        (Some(error), kind) => error.of_kind(kind.unwrap_or(ErrorKind::Callback)),
        (None, _) => err!(Callback, "the callback of {what} failed with status {status} and no text"),
    }
}
