//! The error type: a kind with a frozen number, and a message that names operator, shapes and dtypes.
//!
//! There is one error type for all crates. A kind is a status of the C ABI, an exception class of C++
//! (`c10::IndexError`) and an exception class of Java (`TensorIndexException`).

use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Result of every fallible function of Rushlight.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error kind. The numbers are the C ABI's error codes: they are frozen and never reused (0 is success).
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An operation that PyTorch reports as `RuntimeError` (incompatible shapes, in-place misuse, ...).
    Runtime = 1,
    /// An index or dimension out of range (`IndexError`).
    Index = 2,
    /// An invalid argument value (`ValueError`).
    Value = 3,
    /// An argument of the wrong type or dtype (`TypeError`).
    Type = 4,
    /// No kernel, layer or option for this combination (`NotImplementedError`).
    NotImplemented = 5,
    /// An allocation failed.
    OutOfMemory = 6,
    /// A linear algebra routine did not converge or met a singular matrix (`LinAlgError`).
    LinAlg = 7,
    /// A required pointer argument was NULL.
    NullPointer = 8,
    /// A handle that was closed, or has another type than the function expects.
    InvalidHandle = 9,
    /// The cancel flag was set.
    Cancelled = 10,
    /// A user callback failed.
    Callback = 11,
    /// A file could not be read, written or parsed.
    Io = 12,
    /// A bug in Rushlight: a panic that the guard at the ABI boundary caught.
    Internal = 13,
    /// No operator of that name (or overload), or its family is not in this build.
    UnknownOperator = 14,
}

impl ErrorKind {
    /// Every kind, in the order of its number.
    pub const ALL: [ErrorKind; 14] = [
        ErrorKind::Runtime,
        ErrorKind::Index,
        ErrorKind::Value,
        ErrorKind::Type,
        ErrorKind::NotImplemented,
        ErrorKind::OutOfMemory,
        ErrorKind::LinAlg,
        ErrorKind::NullPointer,
        ErrorKind::InvalidHandle,
        ErrorKind::Cancelled,
        ErrorKind::Callback,
        ErrorKind::Io,
        ErrorKind::Internal,
        ErrorKind::UnknownOperator,
    ];

    /// Whether it can interrupt a kernel. Invalid arguments are found before a kernel writes.
    pub const fn ends_kernels(self) -> bool {
        matches!(self, ErrorKind::OutOfMemory | ErrorKind::Cancelled | ErrorKind::Callback | ErrorKind::Internal)
    }

    /// The frozen number of this kind.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The kind with this number.
    pub fn from_code(code: i32) -> Option<ErrorKind> {
        ErrorKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// An error: kind and message. One pointer wide, so that `Result<Tensor>` stays small on the fast path.
#[derive(Clone)]
pub struct Error(ManuallyDrop<Box<Inner>>);

impl Drop for Error {
    // Out of line: every function with a `Result` has this on a rarely taken code path.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: the field is dropped only here, and the error is not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    notes: Vec<String>,
    payload: Option<Payload>,
}

/// The payload of an error, for example an exception of the calling language.
pub type Payload = Arc<dyn Any + Send + Sync>;

impl Error {
    /// Creates an error of `kind` with a message.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(ManuallyDrop::new(Box::new(Inner { kind, message: message.into(), notes: Vec::new(), payload: None })))
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, as every binding shows it.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Notes besides the message, such as the forward call whose derivative failed.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The payload.
    pub fn payload(&self) -> Option<&Payload> {
        self.0.payload.as_ref()
    }

    /// The same error with `payload`.
    #[cold]
    #[must_use]
    pub fn carrying(mut self, payload: Option<Payload>) -> Error {
        self.0.payload = payload;
        self
    }

    /// The same error with another kind.
    #[cold]
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Error {
        self.0.kind = kind;
        self
    }

    /// The same error with one more note.
    #[cold]
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(note.into());
        self
    }

    /// The same error with `line` below its message.
    #[cold]
    #[must_use]
    pub fn with_line(mut self, line: impl fmt::Display) -> Error {
        self.0.message = format!("{}\n  {line}", self.0.message);
        self
    }

    /// The same error with a second line that names its operator. The innermost operator stays: an error that already
    /// has such a line is unchanged.
    #[cold]
    pub fn in_operator(mut self, operator: &str) -> Error {
        const MARK: &str = "\n  in operator ";
        if !self.0.message.contains(MARK) {
            self.0.message.push_str(MARK);
            self.0.message.push_str(operator);
        }
        self
    }

    /// The same error with `context` before its message, as in `add.Tensor: ...`.
    #[cold]
    pub fn context(mut self, context: impl fmt::Display) -> Error {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new(ErrorKind::Io, error.to_string())
    }
}

/// Creates an [`Error`] of a kind, with a formatted message: `err!(Index, "dimension {dim} is out of range")`.
#[macro_export]
macro_rules! err {
    ($kind:ident, $($text:tt)+) => {
        $crate::Error::new($crate::ErrorKind::$kind, format!($($text)+))
    };
}

/// Returns an [`err!`] from the function.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($text:tt)+) => {
        return Err($crate::err!($kind, $($text)+))
    };
}

/// Returns an [`err!`] unless the condition holds: `ensure!(k <= n, Runtime, "k ({k}) exceeds {n}")`.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($text:tt)+) => {
        // Named, so that a comparison of floats may be passed: NaN then fails it, as it should.
        let holds: bool = $condition;
        if !holds {
            $crate::bail!($kind, $($text)+)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_frozen_and_dense() {
        for (index, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.code(), index as i32 + 1);
            assert_eq!(ErrorKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(ErrorKind::from_code(0), None);
    }

    #[test]
    fn context_names_the_operator_first() {
        assert_eq!(err!(Value, "k is {}", 3).context("topk").message(), "topk: k is 3");
    }
}
