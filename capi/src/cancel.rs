//! Cancellation: tokens with deadlines for the calls of a thread, and a flag for all threads.
//!
//! A thread enters a token and leaves it. In between its operators and backward passes, including running ones, end with
//! `RLT_ERROR_CANCELLED` once any thread cancels the token, or its time is over. Threads that work for such a call, those of
//! the pool, end with it. Tensors that a cancelled call was writing to hold unspecified values.
//!
//! ```c
//! const int64_t size = 2;
//! rlt_tensor *x = NULL;
//! rlt_cancel_token *token = NULL;
//! int32_t status = rlt_cancel_token_new(&token);
//! if (!status) status = rlt_cancel_token_set_timeout(token, 0);  // in nanoseconds
//! if (!status) status = rlt_cancel_token_enter(token);
//! if (!status && rlt_tensor_zeros(&size, 1, NULL, &x) == RLT_ERROR_CANCELLED) printf("cancelled\n");  // prints cancelled
//! if (!status) status = rlt_cancel_token_leave(token);
//! if (!status && rlt_tensor_zeros(&size, 1, NULL, &x) == RLT_OK) printf("not cancelled\n");  // prints not cancelled
//! rlt_tensor_free(x);
//! rlt_cancel_token_free(token);
//! ```

use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out};
use rushlight_base::cancel::{self, CancelToken};
use std::sync::Arc;
use std::time::Duration;

/// Cancels the calls of those threads that have entered it.
pub struct rlt_cancel_token {
    _private: [u8; 0],
}

impl Handle for rlt_cancel_token {
    type Rust = Arc<CancelToken>;
}

// ---- Tokens ----

/// Creates a token that is not cancelled and has no deadline.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_new(out: *mut *mut rlt_cancel_token) -> i32 {
    guard("rlt_cancel_token_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::handle(out, "out") }?.give(CancelToken::new())
    })
}

/// Adds an owner of the same token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_retain(
    token: *const rlt_cancel_token,
    out: *mut *mut rlt_cancel_token,
) -> i32 {
    guard("rlt_cancel_token_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let token = arg::handle(token, "token")?;
            out::handle(out, "out")?.give(Arc::clone(&token))
        }
    })
}

/// Frees a token handle. Threads that have entered the token keep it until they leave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_free(token: *mut rlt_cancel_token) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_cancel_token_free", || drop(unsafe { handle::take(token) }));
}

/// Cancels the calls of the threads that have entered the token, for good. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_cancel(token: *const rlt_cancel_token) -> i32 {
    guard("rlt_cancel_token_cancel", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle.
        unsafe { arg::handle(token, "token") }?.cancel();
        Ok(())
    })
}

/// Cancels the token `nanoseconds` from now; a negative number removes the deadline. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_set_timeout(token: *const rlt_cancel_token, nanoseconds: i64) -> i32 {
    guard("rlt_cancel_token_set_timeout", || {
        let timeout = u64::try_from(nanoseconds).ok().map(Duration::from_nanos);
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle.
        unsafe { arg::handle(token, "token") }?.set_timeout(timeout);
        Ok(())
    })
}

/// Returns whether the token is cancelled or its deadline has passed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_is_cancelled(token: *const rlt_cancel_token, out: *mut i32) -> i32 {
    guard("rlt_cancel_token_is_cancelled", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let token = arg::handle(token, "token")?;
            out::bool(out, "out")?.set(token.is_cancelled())
        }
    })
}

/// Enters the token: calls of this thread end once it is cancelled. Tokens nest, up to 64; each of those entered ends a call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_enter(token: *const rlt_cancel_token) -> i32 {
    guard("rlt_cancel_token_enter", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle.
        let token = unsafe { arg::handle(token, "token") }?;
        cancel::enter(&token)
    })
}

/// Leaves the token, which must be the one that this thread entered last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_token_leave(token: *const rlt_cancel_token) -> i32 {
    guard("rlt_cancel_token_leave", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `token` is NULL or a live handle.
        let token = unsafe { arg::handle(token, "token") }?;
        cancel::leave(&token)
    })
}

// ---- The flag of the process ----

/// Sets or clears the cancel flag of the process. While it is set, operators and backward passes, including running
/// ones, end with `RLT_ERROR_CANCELLED`. Any thread may set it.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cancel_set(on: i32) -> i32 {
    guard("rlt_cancel_set", || {
        cancel::set_cancelled(arg::bool(on));
        Ok(())
    })
}

/// Returns whether the cancel flag is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_get(out: *mut i32) -> i32 {
    guard("rlt_cancel_get", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(cancel::cancelled_flag())
    })
}
