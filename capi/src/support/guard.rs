//! The wrapper around every `extern "C"` body: errors become codes, panics become errors, and nothing unwinds into C.

use super::name::{Function, Name};
use super::{last_error, panics};
use rushlight_base::{Error, ErrorKind, Result, callee, err};
use rushlight_tensor::dispatch::OpDef;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`, the whole of the C function called `function`, and converts its result to a status.
///
/// An error becomes the thread's last error. A panic becomes `RLT_ERROR_INTERNAL` with its message.
#[inline]
pub fn guard(function: &'static str, mut body: impl FnMut() -> Result<()>) -> i32 {
    guarded(Caller::Named(&function), Body::new(&mut body))
}

/// [`guard`] for the C function of an operator.
#[inline]
pub fn guard_op(op: &'static OpDef, mut body: impl FnMut() -> Result<()>) -> i32 {
    guarded_op(op, OpBody::new(&mut body))
}

/// [`guard`] for functions that free a handle: they have no status, so a failure only sets the last error.
#[inline]
pub fn guard_free(function: &'static str, mut body: impl FnMut()) {
    guard(function, || {
        body();
        Ok(())
    });
}

/// The C function that is running, in two registers.
#[derive(Clone, Copy)]
pub(super) enum Caller<'a> {
    /// A hand-written one.
    Named(&'a &'static str),
    /// That of an operator.
    Row(&'static OpDef),
}

impl Display for Caller<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Caller::Named(name) => f.write_str(name),
            Caller::Row(op) => Function(op).fmt(f),
        }
    }
}

callee! {
    /// The body of a C function.
    struct Body: fn() -> Result<()>;
}

callee! {
    /// The body of the C function of an operator, by whose name the machine code of operators is counted.
    struct OpBody: fn() -> Result<()>;
}

/// `catch_unwind` for hand-written functions, outlined: a copy in each function would dominate the size of the glue.
#[inline(never)]
fn guarded(function: Caller<'_>, mut body: Body) -> i32 {
    caught(function, || body.call())
}

/// The same for operators.
#[inline(never)]
fn guarded_op(op: &'static OpDef, mut body: OpBody) -> i32 {
    caught(Caller::Row(op), || body.call())
}

#[inline(always)]
fn caught(function: Caller<'_>, body: impl FnOnce() -> Result<()>) -> i32 {
    let _quiet = panics::Quiet::enter();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => failed(function, error),
        Err(payload) => failed(function, panics::to_error(function, payload)),
    }
}

#[cold]
fn failed(function: Caller<'_>, error: Error) -> i32 {
    let error = match error.kind() {
        // The message names an argument; only here is the function known.
        ErrorKind::NullPointer => error.context(function),
        _ => error,
    };
    let code = error.kind().code();
    last_error::set(error);
    code
}

/// The error of a required pointer that is NULL.
#[cold]
pub(crate) fn null(name: impl Name) -> Error {
    err!(NullPointer, "argument `{name}` is NULL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_internal_error_with_its_text() {
        let code = guard("rlt_test", || panic!("the sky fell"));
        assert_eq!(code, ErrorKind::Internal.code());
        let text = last_error::with(|error| error.unwrap().message().to_owned());
        assert!(text.starts_with("rlt_test: internal error: the sky fell (at "), "{text}");
    }

    #[test]
    fn an_error_keeps_its_code_and_text() {
        assert_eq!(guard("rlt_test", || Err(err!(Index, "index 3 is out of range"))), ErrorKind::Index.code());
        assert_eq!(guard("rlt_test", || Ok(())), 0);
        last_error::with(|error| assert_eq!(error.unwrap().message(), "index 3 is out of range"));
    }
}
