//! Callbacks of the caller: their context, its deleter, and the meaning of their status.

use super::last_error;
use crate::core::rlt_deleter;
use rushlight_base::{Error, ErrorKind, Result, err};
use std::ffi::c_void;

/// The context of a callback. Its deleter runs once, when nothing can call it any more.
pub struct Context {
    ctx: *mut c_void,
    deleter: rlt_deleter,
}

// SAFETY: docs/c-abi.md: a callback and its context may be used from any thread; this type only passes the pointer on.
unsafe impl Send for Context {}
// SAFETY: a shared `Context` only copies the pointer; docs/c-abi.md lets any thread use the context.
unsafe impl Sync for Context {}

impl Context {
    /// Takes ownership of `ctx`.
    pub fn new(ctx: *mut c_void, deleter: rlt_deleter) -> Context {
        Context { ctx, deleter }
    }

    /// The pointer that is passed to the callback.
    pub fn get(&self) -> *mut c_void {
        self.ctx
    }

    /// Gives the context back to the caller: its deleter is not called.
    pub fn forget(mut self) {
        self.deleter = None;
    }

    /// Whether `deleter` is the deleter of this context.
    pub fn is_freed_by(&self, deleter: rlt_deleter) -> bool {
        self.deleter.map(|own| own as usize) == deleter.map(|other| other as usize)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter.take() {
            // SAFETY: the deleter was registered for this context; a `Context` is dropped once, and nothing calls the
            // callback afterwards.
            unsafe { deleter(self.ctx) }
        }
    }
}

/// Runs a callback and converts its status to a result. `what` names it in messages.
///
/// A failing callback sets the error with `rlt_set_last_error` (or returns the status of a failing call of the
/// library).
pub fn call(what: &str, callback: impl FnOnce() -> i32) -> Result<()> {
    let before = last_error::take();
    let status = callback();
    let said = last_error::take();
    if status == 0 {
        // An error left by an inner call does not belong to this callback.
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
        (None, _) => err!(Callback, "the callback of {what} failed with status {status} and no message"),
    }
}
