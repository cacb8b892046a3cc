//! `rushlight/core.h`: version, errors, and the process-wide runtime with its hooks.

use crate::support::callback::Context;
use crate::support::handle::{self, Handle};
use crate::support::last_error::{self, CError};
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, guard_free, out, restore_hook};
use rushlight_base::memory::{self, AllocatorHooks};
use rushlight_base::runtime::{self, Determinism, LogHook, ParallelForHook};
use rushlight_base::{DType, Error, ErrorKind, Payload, ensure, err, handles};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// The version of this interface. It grows when functions are added; nothing is ever changed or removed.
pub const RLT_ABI_VERSION: i32 = 1;

/// Success.
pub const RLT_OK: i32 = 0;
/// The operation is not possible: shapes that do not fit, misuse of in-place writes, ... (`RuntimeError`).
pub const RLT_ERROR_RUNTIME: i32 = 1;
/// An index or dimension is out of range (`IndexError`).
pub const RLT_ERROR_INDEX: i32 = 2;
/// An argument's value is not acceptable (`ValueError`).
pub const RLT_ERROR_VALUE: i32 = 3;
/// An argument has the wrong type or dtype (`TypeError`).
pub const RLT_ERROR_TYPE: i32 = 4;
/// There is no kernel, layer or option for this combination (`NotImplementedError`).
pub const RLT_ERROR_NOT_IMPLEMENTED: i32 = 5;
/// An allocation failed (`OutOfMemoryError`).
pub const RLT_ERROR_OUT_OF_MEMORY: i32 = 6;
/// A linear algebra routine did not converge or met a singular matrix (`LinAlgError`).
pub const RLT_ERROR_LINALG: i32 = 7;
/// A pointer argument is NULL that must not be.
pub const RLT_ERROR_NULL_POINTER: i32 = 8;
/// A handle is closed, or not of the kind that the function expects.
pub const RLT_ERROR_INVALID_HANDLE: i32 = 9;
/// The cancel flag is set.
pub const RLT_ERROR_CANCELLED: i32 = 10;
/// A callback of the caller failed.
pub const RLT_ERROR_CALLBACK: i32 = 11;
/// A file could not be read, written or understood.
pub const RLT_ERROR_IO: i32 = 12;
/// A bug in Rushlight: something inside panicked. The library stays usable.
pub const RLT_ERROR_INTERNAL: i32 = 13;
/// There is no operator of that name or overload, or its family is not in this build.
pub const RLT_ERROR_UNKNOWN_OPERATOR: i32 = 14;

/// Level of a log line: what happens, for those who look.
pub const RLT_LOG_INFO: i32 = 0;
/// Level of a log line: something that probably is not meant.
pub const RLT_LOG_WARNING: i32 = 1;

/// Nothing is asked of operators that could give other bits in the next run.
pub const RLT_DETERMINISM_OFF: i32 = 0;
/// They warn.
pub const RLT_DETERMINISM_WARN: i32 = 1;
/// They fail.
pub const RLT_DETERMINISM_ERROR: i32 = 2;

/// Frees the context of a callback. NULL where there is nothing to free.
pub type rlt_deleter = Option<unsafe extern "C" fn(ctx: *mut c_void)>;

/// An error that outlives the next failing call. Made by `rlt_last_error_take`.
pub struct rlt_error {
    _private: [u8; 0],
}

impl Handle for rlt_error {
    type Rust = Box<CError>;
}

/// An allocator of the embedder. Both functions may be called from any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_allocator {
    /// `sizeof(rlt_allocator)`
    pub struct_size: usize,
    /// Handed to both functions.
    pub ctx: *mut c_void,
    /// Returns `size` bytes aligned to `alignment` (a power of two), or NULL.
    pub allocate: Option<unsafe extern "C" fn(ctx: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Takes back what `allocate` returned for the same size and alignment.
    pub deallocate: Option<unsafe extern "C" fn(ctx: *mut c_void, block: *mut c_void, size: usize, alignment: usize)>,
}

// SAFETY: repr(C), begins with its size, and any pointer values are valid.
unsafe impl SizedStruct for rlt_allocator {
    const UNSET: Self = rlt_allocator { struct_size: 0, ctx: std::ptr::null_mut(), allocate: None, deallocate: None };
    const NAME: &'static str = "rlt_allocator";
}

/// A log of the embedder. It may be called from any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_log {
    /// `sizeof(rlt_log)`
    pub struct_size: usize,
    /// Handed to `write`.
    pub ctx: *mut c_void,
    /// Receives a level (`RLT_LOG_*`) and a text that is valid during the call.
    pub write: Option<unsafe extern "C" fn(ctx: *mut c_void, level: i32, text: *const c_char)>,
}

// SAFETY: repr(C), begins with its size, and any pointer values are valid.
unsafe impl SizedStruct for rlt_log {
    const UNSET: Self = rlt_log { struct_size: 0, ctx: std::ptr::null_mut(), write: None };
    const NAME: &'static str = "rlt_log";
}

/// One share of a parallel loop.
pub type rlt_share = unsafe extern "C" fn(body_ctx: *mut c_void, share: i64);

/// A parallel loop of the embedder. It may be called from any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_parallel_for {
    /// `sizeof(rlt_parallel_for)`
    pub struct_size: usize,
    /// Handed to `run`.
    pub ctx: *mut c_void,
    /// Calls `body(body_ctx, share)` once for each share from 0 to `shares - 1`, on any threads and in any
    /// order, and returns 0 when all of them have returned.
    pub run: Option<unsafe extern "C" fn(ctx: *mut c_void, shares: i64, body: rlt_share, body_ctx: *mut c_void) -> i32>,
}

// SAFETY: repr(C), begins with its size, and any pointer values are valid.
unsafe impl SizedStruct for rlt_parallel_for {
    const UNSET: Self = rlt_parallel_for { struct_size: 0, ctx: std::ptr::null_mut(), run: None };
    const NAME: &'static str = "rlt_parallel_for";
}

/// What the allocator of tensor memory has handed out, in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_memory_stats {
    /// `sizeof(rlt_memory_stats)`, set by the caller.
    pub struct_size: usize,
    /// In live blocks.
    pub allocated: i64,
    /// The most that `allocated` has been.
    pub peak: i64,
    /// Taken from the system: live blocks and those kept for the next request.
    pub reserved: i64,
}

// SAFETY: repr(C), begins with its size, and any integers are valid.
unsafe impl SizedStruct for rlt_memory_stats {
    const UNSET: Self = rlt_memory_stats { struct_size: 0, allocated: 0, peak: 0, reserved: 0 };
    const NAME: &'static str = "rlt_memory_stats";
}

/// The version of the interface that this library implements: at least `RLT_ABI_VERSION` of the header that a
/// program was compiled with, or the library is too old for it.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_abi_version() -> i32 {
    RLT_ABI_VERSION
}

/// The version of the library as text, such as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("the version ends with its only NUL"),
    };
    VERSION.as_ptr()
}

/// The code of this thread's last error; `RLT_OK` if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_code() -> i32 {
    last_error::with(|error| error.map_or(RLT_OK, CError::code))
}

/// The text of this thread's last error; empty if there was none, never NULL. Borrowed: valid until the next
/// call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_message() -> *const c_char {
    last_error::message_ptr()
}

/// What is known of this thread's last error besides its text, such as the forward call whose derivative failed in anomaly
/// mode: the first note is number 0, and NULL follows the last one. Valid as the text is.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_note(index: i64) -> *const c_char {
    let note = |error: &CError| Some(error.notes().get(usize::try_from(index).ok()?)?.as_ptr());
    last_error::with(|error| error.and_then(note).unwrap_or(std::ptr::null()))
}

/// Moves this thread's last error into a handle, so that it can be kept or given to another thread. `*out` is
/// NULL if there was none. Afterwards the thread has no last error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_last_error_take(out: *mut *mut rlt_error) -> i32 {
    guard("rlt_last_error_take", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let out = unsafe { out::handle(out, "out") }?;
        out.give_opt(last_error::take().map(Box::new))
    })
}

/// Sets this thread's last error, from a callback that is about to fail. Returns `code`, so that a callback
/// can end with `return rlt_set_last_error(RLT_ERROR_VALUE, "...");`. A number that is no error code becomes
/// `RLT_ERROR_CALLBACK`, and a NULL message the fixed text `unknown error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_last_error(code: i32, message: *const c_char) -> i32 {
    guard("rlt_set_last_error", || {
        let message = if message.is_null() { c"unknown error".as_ptr() } else { message };
        // SAFETY: the caller keeps to docs/c-abi.md.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        Err(Error::new(ErrorKind::from_code(code).unwrap_or(ErrorKind::Callback), message))
    })
}

/// As `rlt_set_last_error`; the error carries `payload` through every thread that it comes by, to whoever asks for it with
/// `rlt_last_error_payload`. `deleter` frees it when nobody has the error any more: on any thread, once.
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
        // SAFETY: the caller keeps to docs/c-abi.md.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        let kind = ErrorKind::from_code(code).unwrap_or(ErrorKind::Callback);
        Err(Error::new(kind, message).carrying(Some(payload.clone())))
    })
}

/// What this thread's last error carries, if it was given with this `deleter`, which tells whose it is; else NULL. Valid as
/// the text is.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_last_error_payload(deleter: rlt_deleter) -> *mut c_void {
    let own = |error: &CError| {
        let context = error.payload()?.downcast_ref::<Context>()?;
        context.is_freed_by(deleter).then(|| context.get())
    };
    last_error::with(|error| error.and_then(own).unwrap_or(std::ptr::null_mut()))
}

/// The code of an error; `RLT_ERROR_NULL_POINTER` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_error_code(error: *const rlt_error) -> i32 {
    // SAFETY: the caller keeps to docs/c-abi.md.
    unsafe { handle::borrow_opt(error) }.map_or(RLT_ERROR_NULL_POINTER, |error| error.code())
}

/// The text of an error, borrowed from it; empty for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_error_message(error: *const rlt_error) -> *const c_char {
    // SAFETY: the caller keeps to docs/c-abi.md.
    unsafe { handle::borrow_opt(error) }.map_or(c"".as_ptr(), |error| error.as_ptr())
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_error_free(error: *mut rlt_error) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_error_free", || drop(unsafe { handle::take(error) }));
}

/// Back to the state before the first call: settings at their defaults, hooks removed, threads ended, memory
/// that was kept for reuse returned. Handles stay valid. No other call may be under way in any thread; the
/// next call starts the runtime anew. Unloading the library does this by itself.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_runtime_shutdown() -> i32 {
    let status = guard("rlt_runtime_shutdown", || {
        rushlight_tensor::shutdown();
        Ok(())
    });
    restore_hook();
    status
}

/// What unloading does, where nobody is left to hear of an error.
pub(crate) fn shutdown() {
    rlt_runtime_shutdown();
}

/// Sets how many threads an operator may use. Results do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_num_threads(threads: i32) -> i32 {
    guard("rlt_set_num_threads", || runtime::set_num_threads(i64::from(threads)))
}

/// How many threads an operator may use: what was set, else the environment variables `MKL_NUM_THREADS` and
/// `OMP_NUM_THREADS`, else the number of cores.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_num_threads(out: *mut i32) -> i32 {
    guard("rlt_get_num_threads", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let out = unsafe { out::value(out, "out") }?;
        out.set(i32::try_from(runtime::num_threads()).unwrap_or(i32::MAX))
    })
}

/// Seeds the default random generators.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_manual_seed(seed: u64) -> i32 {
    guard("rlt_manual_seed", || {
        rushlight_tensor::manual_seed(seed);
        Ok(())
    })
}

/// Sets the dtype of tensors that are made without one, where nothing else decides on it: a `RLT_DTYPE_*`. Elementary
/// functions need a floating-point one.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_default_dtype(dtype: i32) -> i32 {
    guard("rlt_set_default_dtype", || {
        runtime::set_default_dtype(DType::from_code(dtype)?);
        Ok(())
    })
}

/// The dtype of floating-point tensors that are made without one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_default_dtype(out: *mut i32) -> i32 {
    guard("rlt_get_default_dtype", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::value(out, "out") }?.set(runtime::default_dtype() as i32)
    })
}

/// Lets tensor memory come from the embedder from now on; NULL: from Rushlight's own allocator again. Blocks
/// that are live go back to where they came from, so the functions must stay callable as long as tensors live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_allocator(allocator: *const rlt_allocator) -> i32 {
    guard("rlt_set_allocator", || {
        if allocator.is_null() {
            memory::set_allocator(None);
            return Ok(());
        }
        // SAFETY: the caller keeps to docs/c-abi.md.
        let hooks = unsafe { sized::read(allocator, "allocator") }?;
        let (Some(allocate), Some(deallocate)) = (hooks.allocate, hooks.deallocate) else {
            return Err(missing("allocator", "allocate and deallocate"));
        };
        memory::set_allocator(Some(AllocatorHooks { context: hooks.ctx, allocate, deallocate }));
        Ok(())
    })
}

/// Sends log lines to the embedder; NULL: drops them. Rushlight never prints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_log(log: *const rlt_log) -> i32 {
    guard("rlt_set_log", || {
        if log.is_null() {
            runtime::set_log(None);
            return Ok(());
        }
        // SAFETY: the caller keeps to docs/c-abi.md.
        let hook = unsafe { sized::read(log, "log") }?;
        let write = hook.write.ok_or_else(|| missing("log", "write"))?;
        runtime::set_log(Some(LogHook { context: hook.ctx, write }));
        Ok(())
    })
}

/// Runs the loops of operators on the embedder's threads; NULL: on Rushlight's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_parallel_for(parallel_for: *const rlt_parallel_for) -> i32 {
    guard("rlt_set_parallel_for", || {
        if parallel_for.is_null() {
            runtime::set_parallel_for(None);
            return Ok(());
        }
        // SAFETY: the caller keeps to docs/c-abi.md.
        let hook = unsafe { sized::read(parallel_for, "parallel_for") }?;
        let run = hook.run.ok_or_else(|| missing("parallel_for", "run"))?;
        runtime::set_parallel_for(Some(ParallelForHook { context: hook.ctx, run }));
        Ok(())
    })
}

#[cold]
fn missing(argument: &str, functions: &str) -> Error {
    Error::new(ErrorKind::NullPointer, format!("argument `{argument}`: {functions} must not be NULL"))
}

/// Asks for the same bits in every run (`RLT_DETERMINISM_*`), in the whole process: PyTorch's
/// `use_deterministic_algorithms`. Every operator of this library gives them anyway, on any number of threads. What changes
/// is memory that nobody has written (`rlt_set_fill_uninitialized_memory`), and what `rlt_alert_not_deterministic` answers.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_determinism(determinism: i32) -> i32 {
    guard("rlt_set_determinism", || {
        runtime::set_determinism(match determinism {
            RLT_DETERMINISM_OFF => Determinism::Off,
            RLT_DETERMINISM_WARN => Determinism::Warn,
            RLT_DETERMINISM_ERROR => Determinism::Error,
            other => return Err(err!(Value, "{other} is no level of determinism: they are 0, 1 and 2")),
        });
        Ok(())
    })
}

/// What is asked for (`RLT_DETERMINISM_*`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_determinism(out: *mut i32) -> i32 {
    guard("rlt_get_determinism", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::value(out, "out") }?.set(runtime::determinism() as i32)
    })
}

/// Where determinism is asked for, lets `empty`, `resize_` and their kin fill the elements that they would leave unset, with
/// NaN or the largest number of an integer dtype (the default), or not.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_fill_uninitialized_memory(on: i32) -> i32 {
    guard("rlt_set_fill_uninitialized_memory", || {
        runtime::set_fill_unset_memory(arg::bool(on));
        Ok(())
    })
}

/// As `rlt_set_fill_uninitialized_memory` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_fill_uninitialized_memory(out: *mut i32) -> i32 {
    guard("rlt_get_fill_uninitialized_memory", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(runtime::fill_unset_memory())
    })
}

/// For operators of the program that could give other bits in the next run: an error in PyTorch's words if determinism is
/// asked for, or a warning to the log if that was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_alert_not_deterministic(operator_name: *const c_char) -> i32 {
    guard("rlt_alert_not_deterministic", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        runtime::alert_not_deterministic(unsafe { arg::string(operator_name, "operator_name") }?)
    })
}

/// Sets or clears the cancel flag of the process. While it is set, operators and backward end with
/// `RLT_ERROR_CANCELLED`, also those under way. Any thread may set it.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cancel_set(on: i32) -> i32 {
    guard("rlt_cancel_set", || {
        runtime::set_cancelled(arg::bool(on));
        Ok(())
    })
}

/// Is the cancel flag set?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cancel_get(out: *mut i32) -> i32 {
    guard("rlt_cancel_get", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::bool(out, "out") }?.set(runtime::is_cancelled())
    })
}

/// How many handles of every kind are live: handed out and not freed. A program that frees what it was given
/// ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_live_handles(out: *mut i64) -> i32 {
    guard("rlt_live_handles", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::value(out, "out") }?.set(handles::live())
    })
}

/// What the allocator of tensor memory has handed out. The caller sets `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_memory_get_stats(stats: *mut rlt_memory_stats) -> i32 {
    guard("rlt_memory_get_stats", || {
        let now = memory::memory_stats();
        let value =
            rlt_memory_stats { allocated: now.allocated, peak: now.peak, reserved: now.reserved, ..SizedStruct::UNSET };
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { sized::write(stats, &value, "stats") }
    })
}

/// Lets the high-water mark of `rlt_memory_get_stats` start again from what is allocated now.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_reset_peak() -> i32 {
    guard("rlt_memory_reset_peak", || {
        memory::reset_peak_memory();
        Ok(())
    })
}

/// Gives memory that is kept for the next request back to the system.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_trim() -> i32 {
    guard("rlt_memory_trim", || {
        memory::trim_memory();
        Ok(())
    })
}

/// Keeps at most `bytes` bytes of freed memory for the next request, 0 for none; it starts with an eighth of the machine's
/// memory, at most 1 GiB, or what the environment variable `RUSHLIGHT_CACHE_LIMIT` says.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_memory_set_cache_limit(bytes: i64) -> i32 {
    guard("rlt_memory_set_cache_limit", || memory::set_cache_limit(bytes))
}

/// For tests of the border alone: panics inside with `message`, which comes back as `RLT_ERROR_INTERNAL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_debug_panic(message: *const c_char) -> i32 {
    guard("rlt_debug_panic", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let message = unsafe { arg::string(message, "message") }?;
        ensure!(!message.is_empty(), Value, "argument `message` is empty");
        panic!("{message}")
    })
}
