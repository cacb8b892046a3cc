//! The one wrapper around every `extern "C"` body: errors become codes, panics become errors, and nothing
//! unwinds into C.

use super::{last_error, panics};
use rushlight_base::{Error, ErrorKind, Result, callee, err};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Run `body`, the whole of the C function called `function`, and turn its result into a status.
///
/// An error is kept as the thread's last error. A panic becomes `RLT_ERROR_INTERNAL` with the panic's text.
#[inline]
pub fn guard(function: &'static str, mut body: impl FnMut() -> Result<()>) -> i32 {
    guarded(function, Body::new(&mut body))
}

/// [`guard`] for functions that free a handle: they have no status, so a failure only reaches the last error.
#[inline]
pub fn guard_free(function: &'static str, mut body: impl FnMut()) {
    guard(function, || {
        body();
        Ok(())
    });
}

callee! {
    /// The whole of a C function.
    struct Body: fn() -> Result<()>;
}

/// The one place that catches: a copy in each of the many functions would be most of what they are.
#[inline(never)]
fn guarded(function: &'static str, mut body: Body) -> i32 {
    let _quiet = panics::Quiet::enter();
    match catch_unwind(AssertUnwindSafe(|| body.call())) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => failed(function, error),
        Err(payload) => failed(function, panics::to_error(function, payload)),
    }
}

#[cold]
fn failed(function: &'static str, error: Error) -> i32 {
    let error = match error.kind() {
        // The text names an argument; only here is it known of which function.
        ErrorKind::NullPointer => error.context(function),
        _ => error,
    };
    let code = error.kind().code();
    last_error::set(error);
    code
}

/// The error of a required pointer that is NULL.
#[cold]
pub(crate) fn null(name: &str) -> Error {
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
