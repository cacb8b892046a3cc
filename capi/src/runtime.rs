//! The process: threads, log, seed, determinism, cancelling.
//!
//! These settings hold for the whole process. Nothing is started before the first call that needs it, and `rlt_runtime_shutdown`
//! takes everything back.
//!
//! ```c
//! const int64_t size = 2;
//! rlt_tensor *x = NULL;
//! int32_t status = rlt_set_num_threads(1);  // results do not depend on it
//! if (!status) status = rlt_cancel_set(1);  // from any thread: ends what is under way
//! if (!status && rlt_tensor_zeros(&size, 1, NULL, &x) == RLT_ERROR_CANCELLED) printf("cancelled\n");  // prints cancelled
//! rlt_cancel_set(0);
//! ```

use crate::support::callback::{self, Context};
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, out, restore_hook};
use rushlight_base::runtime::{self, Determinism, LogHook, ParallelForHook, ShareFn};
use rushlight_base::{DType, err};
use std::ffi::{c_char, c_void};

// ---- Levels of a log line ----

/// What happens, for those who look.
pub const RLT_LOG_INFO: i32 = 0;
/// Something that probably is not meant.
pub const RLT_LOG_WARNING: i32 = 1;

// ---- Determinism ----

/// Nothing is asked of operators that could give other bits in the next run.
pub const RLT_DETERMINISM_OFF: i32 = 0;
/// They warn.
pub const RLT_DETERMINISM_WARN: i32 = 1;
/// They fail.
pub const RLT_DETERMINISM_ERROR: i32 = 2;

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

// ---- Threads ----

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
        let run = hook.run.ok_or_else(|| sized::missing("parallel_for", "run"))?;
        let context = Context::new(hook.ctx, None);
        let run = move |shares, body: ShareFn, body_ctx| {
            callback::call("the parallel-for hook", || {
                // SAFETY: the hook was given for these arguments; `body_ctx` lives until it returns.
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

// ---- Log ----

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
        let write = hook.write.ok_or_else(|| sized::missing("log", "write"))?;
        runtime::set_log(Some(LogHook { context: hook.ctx, write }));
        Ok(())
    })
}

// ---- Determinism ----

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

// ---- Cancelling ----

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

// ---- Shutting down ----

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
