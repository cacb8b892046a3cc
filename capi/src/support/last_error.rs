//! The last error of each thread, in the form that C reads.

use rushlight_base::{Error, ErrorKind, Payload};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// An error in the form that C reads: the message is NUL-terminated.
pub struct CError {
    kind: ErrorKind,
    message: CString,
    notes: Vec<CString>,
    payload: Option<Payload>,
}

impl CError {
    /// Converts an error for C. A NUL inside the message would truncate it, so it becomes a space.
    pub fn new(error: &Error) -> CError {
        let text = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        CError {
            kind: error.kind(),
            message: text(error.message()),
            notes: error.notes().iter().map(|note| text(note)).collect(),
            payload: error.payload().cloned(),
        }
    }

    /// Information besides the message.
    pub fn notes(&self) -> &[CString] {
        &self.notes
    }

    /// Its code.
    pub fn code(&self) -> i32 {
        self.kind.code()
    }

    /// Its message, borrowed.
    pub fn as_ptr(&self) -> *const c_char {
        self.message.as_ptr()
    }

    /// Its message, for Rust.
    pub fn message(&self) -> &str {
        self.message.to_str().unwrap_or_default()
    }

    /// The original Rust error.
    pub fn to_error(&self) -> Error {
        let notes = self.notes.iter().filter_map(|note| note.to_str().ok());
        let error = notes.fold(Error::new(self.kind, self.message()), |error, note| error.with_note(note));
        error.carrying(self.payload.clone())
    }

    /// Its payload.
    pub fn payload(&self) -> Option<&Payload> {
        self.payload.as_ref()
    }
}

thread_local! {
    static LAST: RefCell<Option<CError>> = const { RefCell::new(None) };
}

/// Sets `error` as this thread's last one. Late in a thread's exit the slot no longer exists.
#[cold]
pub fn set(error: Error) {
    let error = CError::new(&error);
    let _ = LAST.try_with(|last| last.replace(Some(error)));
}

/// Moves the last error out of the thread.
pub fn take() -> Option<CError> {
    LAST.try_with(RefCell::take).ok().flatten()
}

/// Passes the last error to `look`.
pub fn with<R>(look: impl FnOnce(Option<&CError>) -> R) -> R {
    // Late in a thread's exit the slot no longer exists: there is no error then.
    let last = LAST.try_with(|last| last.as_ptr()).unwrap_or(std::ptr::null_mut());
    // SAFETY: the slot belongs to this thread and exists until its end; `look` cannot replace the error, because it
    // only receives a shared reference and calls nothing that sets it.
    look(unsafe { last.as_ref() }.and_then(Option::as_ref))
}

/// The message of the last error, or an empty one; valid until the next error of this thread.
pub fn message_ptr() -> *const c_char {
    const NONE: &CStr = c"";
    with(|error| error.map_or(NONE.as_ptr(), CError::as_ptr))
}

/// Sets an error that [`take`] took.
pub fn put_back(error: CError) {
    let _ = LAST.try_with(|last| last.replace(Some(error)));
}
