//! Status, errors, version.
//!
//! A function returns a status: `RLT_OK`, or an error number. The error message belongs to the calling thread, names
//! the operator, the shapes and the dtypes, and stays until that thread's next failed call. A failed call leaves its
//! arguments and outputs unchanged, unless it was interrupted: a failed backward may have accumulated gradients in some
//! leaves, and an in-place or `out` target holds unspecified values if the call was cancelled, ran out of memory or met
//! a failing callback. Such a write bumps the tensor's version, so that backward rejects it.
//!
//! ```c
//! const float values[6] = {1, 2, 3, 4, 5, 6};
//! const int64_t sizes[2] = {2, 3};
//! rlt_tensor *x = NULL, *product = NULL;
//! int32_t status = rlt_tensor_from_data(values, sizeof values, sizes, 2, RLT_DTYPE_FLOAT32, &x);
//! if (!status && rlt_tensor_mm(x, x, &product) == RLT_ERROR_RUNTIME)
//!   printf("%s\n", rlt_last_error_message());  // prints mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
//!                                              // prints   in operator mm
//! rlt_tensor_free(x);
//! ```

use crate::support::callback::Context;
use crate::support::handle::{self, Handle};
use crate::support::last_error::{self, CError};
use crate::support::{arg, guard, guard_free, out};
use rushlight_base::{Error, ErrorKind, Payload, ensure};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// The version of this interface. It grows when functions are added; nothing is ever changed or removed.
pub const RLT_ABI_VERSION: i32 = 1;

// ---- Status ----

/// Success.
pub const RLT_OK: i32 = 0;
/// The operation is not possible: incompatible shapes, invalid in-place writes, ... (`RuntimeError`).
pub const RLT_ERROR_RUNTIME: i32 = 1;
/// An index or dimension is out of range (`IndexError`).
pub const RLT_ERROR_INDEX: i32 = 2;
/// An argument has an invalid value (`ValueError`).
pub const RLT_ERROR_VALUE: i32 = 3;
/// An argument has the wrong type or dtype (`TypeError`).
pub const RLT_ERROR_TYPE: i32 = 4;
/// There is no kernel, layer or option for this combination (`NotImplementedError`).
pub const RLT_ERROR_NOT_IMPLEMENTED: i32 = 5;
/// An allocation failed (`OutOfMemoryError`).
pub const RLT_ERROR_OUT_OF_MEMORY: i32 = 6;
/// A linear algebra routine did not converge or met a singular matrix (`LinAlgError`).
pub const RLT_ERROR_LINALG: i32 = 7;
/// A required pointer argument is NULL.
pub const RLT_ERROR_NULL_POINTER: i32 = 8;
/// A handle was freed, or has another type than the function takes. Detected only with `RUSHLIGHT_CHECK_HANDLES=1` in
/// the environment, from the first handle on.
pub const RLT_ERROR_INVALID_HANDLE: i32 = 9;
/// The cancel flag is set.
pub const RLT_ERROR_CANCELLED: i32 = 10;
/// A callback of the caller failed.
pub const RLT_ERROR_CALLBACK: i32 = 11;
/// A file could not be read, written or parsed.
pub const RLT_ERROR_IO: i32 = 12;
/// A bug in Rushlight: an internal panic. The library stays usable.
pub const RLT_ERROR_INTERNAL: i32 = 13;
/// There is no operator of that name or overload, or its family is not in this build.
pub const RLT_ERROR_UNKNOWN_OPERATOR: i32 = 14;

/// Frees the context of a callback. NULL if there is nothing to free.
pub type rlt_deleter = Option<unsafe extern "C" fn(ctx: *mut c_void)>;

/// An error that outlives the next failing call. Created by `rlt_last_error_take`.
pub struct rlt_error {
    _private: [u8; 0],
}

impl Handle for rlt_error {
    type Rust = Box<CError>;
}

// ---- Version ----

/// Returns the version of the interface that this library implements. If it is less than the `RLT_ABI_VERSION` that a
/// program was compiled with, the library is too old for the program.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_abi_version() -> i32 {
    RLT_ABI_VERSION
}

/// Returns the version of the library as a string, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("the version ends with its only NUL"),
    };
    VERSION.as_ptr()
}

// ---- The calling thread's last error ----

/// Returns the code of this thread's last error; `RLT_OK` if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_code() -> i32 {
    last_error::with(|error| error.map_or(RLT_OK, CError::code))
}

/// Returns the message of this thread's last error; empty if there was none, never NULL. Borrowed: valid until the
/// thread's next failed call.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_message() -> *const c_char {
    last_error::message_ptr()
}

/// Returns further information on this thread's last error, such as the forward call whose derivative failed in anomaly
/// mode: the first note has index 0, and NULL follows the last one. Valid as long as the message.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_note(index: i64) -> *const c_char {
    let note = |error: &CError| Some(error.notes().get(usize::try_from(index).ok()?)?.as_ptr());
    last_error::with(|error| error.and_then(note).unwrap_or(std::ptr::null()))
}

/// Moves this thread's last error into a handle that can be kept or passed to another thread. `*out` is NULL if there
/// was none. Afterwards the thread has no last error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_last_error_take(out: *mut *mut rlt_error) -> i32 {
    guard("rlt_last_error_take", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::handle(out, "out") }?;
        out.give_opt(last_error::take().map(Box::new))
    })
}

// ---- Errors in callbacks ----

/// Sets this thread's last error, from a callback that is about to fail. Returns `code`, so that a callback can end
/// with `return rlt_set_last_error(RLT_ERROR_VALUE, "...");`. A number that is not an error code becomes
/// `RLT_ERROR_CALLBACK`, and a NULL message becomes `unknown error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_last_error(code: i32, message: *const c_char) -> i32 {
    guard("rlt_set_last_error", || {
        let message = if message.is_null() { c"unknown error".as_ptr() } else { message };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `message` is NULL or a NUL-terminated
        // string.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        Err(Error::new(ErrorKind::from_code(code).unwrap_or(ErrorKind::Callback), message))
    })
}

/// Like `rlt_set_last_error`; in addition the error carries `payload` across threads, for `rlt_last_error_payload`.
/// `deleter` frees it once, on any thread, when the error is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_last_error_carrying(
    code: i32,
    message: *const c_char,
    payload: *mut c_void,
    deleter: rlt_deleter,
) -> i32 {
    let payload: Payload = Arc::new(Context::new(payload, deleter));
    guard("rlt_set_last_error_carrying", || {
        let message = if message.is_null() { c"unknown error".as_ptr() } else { message };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `message` is NULL or a NUL-terminated
        // string.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        let kind = ErrorKind::from_code(code).unwrap_or(ErrorKind::Callback);
        Err(Error::new(kind, message).carrying(Some(payload.clone())))
    })
}

/// Returns the payload of this thread's last error if it was set with this `deleter`, which identifies its origin;
/// otherwise NULL. Valid as long as the message.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_payload(deleter: rlt_deleter) -> *mut c_void {
    let own = |error: &CError| {
        let context = error.payload()?.downcast_ref::<Context>()?;
        context.is_freed_by(deleter).then(|| context.get())
    };
    last_error::with(|error| error.and_then(own).unwrap_or(std::ptr::null_mut()))
}

// ---- Error handles ----

/// Returns the code of an error; `RLT_ERROR_NULL_POINTER` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_error_code(error: *const rlt_error) -> i32 {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `error` is NULL or a live handle.
    unsafe { handle::borrow(error, "error") }.map_or_else(|invalid| invalid.kind().code(), |error| error.code())
}

/// Returns the message of an error, borrowed from it; empty for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_error_message(error: *const rlt_error) -> *const c_char {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `error` is NULL or a live handle.
    unsafe { handle::borrow(error, "error") }.map_or(c"".as_ptr(), |error| error.as_ptr())
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_error_free(error: *mut rlt_error) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `error` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_error_free", || drop(unsafe { handle::take(error) }));
}

// ---- For tests ----

/// For tests of the ABI boundary only: panics with `message`, which is returned as `RLT_ERROR_INTERNAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_debug_panic(message: *const c_char) -> i32 {
    guard("rlt_debug_panic", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `message` is NULL or a NUL-terminated
        // string.
        let message = unsafe { arg::string(message, "message") }?;
        ensure!(!message.is_empty(), Value, "argument `message` is empty");
        panic!("{message}")
    })
}
