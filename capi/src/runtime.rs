//! Process-wide settings: threads, log, seed, determinism.
//!
//! These settings apply to the whole process. Nothing is started before the first call that needs it, and
//! `rlt_runtime_shutdown` releases everything.
//!
//! ```c
//! int32_t threads = 0;
//! int32_t status = rlt_set_num_threads(1);  // results do not depend on it
//! if (!status) status = rlt_get_num_threads(&threads);
//! if (!status) printf("%d\n", threads);  // prints 1
//! ```

use crate::support::callback::{self, Context};
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, out, restore_hook};
use rushlight_base::runtime::{self, Determinism, LogHook, ParallelForHook, ShareFn};
use rushlight_base::{DType, err};
use std::ffi::{c_char, c_void};

// ---- Levels of a log line ----

/// Informational message.
pub const RLT_LOG_INFO: i32 = 0;
/// Warning: probably a mistake.
pub const RLT_LOG_WARNING: i32 = 1;

// ---- Determinism ----

/// Operators need not be deterministic.
pub const RLT_DETERMINISM_OFF: i32 = 0;
/// Nondeterministic operators warn.
pub const RLT_DETERMINISM_WARN: i32 = 1;
/// Nondeterministic operators fail.
pub const RLT_DETERMINISM_ERROR: i32 = 2;

/// A log of the embedder. It may be called from any thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_log {
    /// `sizeof(rlt_log)`
    pub struct_size: usize,
    /// Passed to `write`.
    pub ctx: *mut c_void,
    /// Receives a level (`RLT_LOG_*`) and a string that is valid during the call.
    pub write: Option<unsafe extern "C" fn(ctx: *mut c_void, level: i32, text: *const c_char)>,
}

// SAFETY: `rlt_log` is repr(C) and begins with `struct_size`; its other fields are a pointer and an optional function,
// for which every value from C is valid.
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
    /// Passed to `run`.
    pub ctx: *mut c_void,
    /// Calls `body(body_ctx, share)` once for each share from 0 to `shares - 1`, on any threads and in any
    /// order, and returns 0 when all of them have returned.
    pub run: Option<unsafe extern "C" fn(ctx: *mut c_void, shares: i64, body: rlt_share, body_ctx: *mut c_void) -> i32>,
}

// SAFETY: `rlt_parallel_for` is repr(C) and begins with `struct_size`; its other fields are a pointer and an optional
// function, for which every value from C is valid.
unsafe impl SizedStruct for rlt_parallel_for {
    const UNSET: Self = rlt_parallel_for { struct_size: 0, ctx: std::ptr::null_mut(), run: None };
    const NAME: &'static str = "rlt_parallel_for";
}

// ---- Threads ----

/// Sets the number of threads that an operator may use. Results do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_num_threads(threads: i32) -> i32 {
    guard("rlt_set_num_threads", || runtime::set_num_threads(i64::from(threads)))
}

/// Returns the number of threads that an operator may use: the value set, else the environment variables
/// `MKL_NUM_THREADS` and `OMP_NUM_THREADS`, else the number of cores.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_num_threads(out: *mut i32) -> i32 {
    guard("rlt_get_num_threads", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::value(out, "out") }?;
        out.set(i32::try_from(runtime::num_threads()).unwrap_or(i32::MAX))
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `parallel_for` is NULL or points to
        // `struct_size` readable bytes.
        let hook = unsafe { sized::read(parallel_for, "parallel_for") }?;
        let run = hook.run.ok_or_else(|| sized::missing("parallel_for", "run"))?;
        let context = Context::new(hook.ctx, None);
        let run = move |shares, body: ShareFn, body_ctx| {
            callback::call("the parallel-for hook", || {
                // SAFETY: `run` has this signature and the context it was registered with; `body_ctx` lives until `run`
                // returns, which it does after all shares have returned.
                unsafe { run(context.get(), shares, body, body_ctx) }
            })
        };
        runtime::set_parallel_for(Some(ParallelForHook { run: Box::new(run) }));
        Ok(())
    })
}

// ---- Defaults ----

/// Seeds the default random generators.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_manual_seed(seed: u64) -> i32 {
    guard("rlt_manual_seed", || {
        rushlight_tensor::manual_seed(seed);
        Ok(())
    })
}

/// Sets the default dtype of tensors, an `RLT_DTYPE_*`. Elementary functions need a floating-point one.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_default_dtype(dtype: i32) -> i32 {
    guard("rlt_set_default_dtype", || {
        runtime::set_default_dtype(DType::from_code(dtype)?);
        Ok(())
    })
}

/// Returns the default floating-point dtype.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_default_dtype(out: *mut i32) -> i32 {
    guard("rlt_get_default_dtype", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::value(out, "out") }?.set(runtime::default_dtype() as i32)
    })
}

// ---- Log ----

/// Sends log lines to the embedder; NULL: discards them. Rushlight never prints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_set_log(log: *const rlt_log) -> i32 {
    guard("rlt_set_log", || {
        if log.is_null() {
            runtime::set_log(None);
            return Ok(());
        }
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `log` is NULL or points to
        // `struct_size` readable bytes.
        let hook = unsafe { sized::read(log, "log") }?;
        let write = hook.write.ok_or_else(|| sized::missing("log", "write"))?;
        runtime::set_log(Some(LogHook { context: hook.ctx, write }));
        Ok(())
    })
}

// ---- Determinism ----

/// Sets deterministic mode (`RLT_DETERMINISM_*`) of the process: PyTorch's `use_deterministic_algorithms`. Every
/// operator of this library is deterministic anyway, with any number of threads. The mode changes whether uninitialized
/// memory is filled (`rlt_set_fill_uninitialized_memory`), and the result of `rlt_alert_not_deterministic`.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_determinism(determinism: i32) -> i32 {
    guard("rlt_set_determinism", || {
        runtime::set_determinism(match determinism {
            RLT_DETERMINISM_OFF => Determinism::Off,
            RLT_DETERMINISM_WARN => Determinism::Warn,
            RLT_DETERMINISM_ERROR => Determinism::Error,
            other => return Err(err!(Value, "{other} is not a level of determinism (0, 1 or 2)")),
        });
        Ok(())
    })
}

/// Returns the deterministic mode (`RLT_DETERMINISM_*`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_determinism(out: *mut i32) -> i32 {
    guard("rlt_get_determinism", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::value(out, "out") }?.set(runtime::determinism() as i32)
    })
}

/// Sets whether deterministic mode fills the elements that `empty`, `resize_` and similar operators leave
/// uninitialized, with NaN or the largest number of an integer dtype (default 1).
#[unsafe(no_mangle)]
pub extern "C" fn rlt_set_fill_uninitialized_memory(on: i32) -> i32 {
    guard("rlt_set_fill_uninitialized_memory", || {
        runtime::set_fill_unset_memory(arg::bool(on));
        Ok(())
    })
}

/// Returns the setting of `rlt_set_fill_uninitialized_memory`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_get_fill_uninitialized_memory(out: *mut i32) -> i32 {
    guard("rlt_get_fill_uninitialized_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::bool(out, "out") }?.set(runtime::fill_unset_memory())
    })
}

/// For custom operators that are not deterministic: returns an error with PyTorch's message in deterministic mode, or
/// logs a warning if the mode only warns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_alert_not_deterministic(operator_name: *const c_char) -> i32 {
    guard("rlt_alert_not_deterministic", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `operator_name` is NULL or a
        // NUL-terminated string.
        runtime::alert_not_deterministic(unsafe { arg::string(operator_name, "operator_name") }?)
    })
}

// ---- Shutting down ----

/// Returns to the state before the first call: settings have their defaults, hooks are removed, threads are ended,
/// cached memory is released. Handles stay valid. No other call may be running in any thread; the next call starts the
/// runtime again. Unloading the library does this automatically.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_runtime_shutdown() -> i32 {
    let status = guard("rlt_runtime_shutdown", || {
        rushlight_tensor::shutdown();
        Ok(())
    });
    restore_hook();
    status
}

/// The same on unloading, when no caller is left to receive an error.
#[cfg(target_os = "linux")]
pub(crate) fn shutdown() {
    rlt_runtime_shutdown();
}
