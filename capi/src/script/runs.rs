//! Calls of methods that go on step by step, and the plans of compiled methods.

use super::methods::describe;
use super::{arguments, rlt_module};
use crate::dispatch::{rlt_named_value, rlt_value};
use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out, value};
use rushlight_base::err;
use rushlight_script::plan::{Compiled, Run};
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A call of a method that goes on step by step.
pub struct rlt_run {
    _private: [u8; 0],
}

impl Handle for rlt_run {
    type Rust = Box<Mutex<Run>>;
}

/// Threads take turns.
fn locked(run: &Mutex<Run>) -> MutexGuard<'_, Run> {
    run.lock().unwrap_or_else(PoisonError::into_inner)
}

// ---- Runs in steps ----

/// Begins a call of the method `method` that [`rlt_run_step`] carries out, like [`rlt_module_run`] otherwise. A program that
/// draws frames can so run a network within the time that each frame leaves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_begin(
    module: *const rlt_module,
    method: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    out: *mut *mut rlt_run,
) -> i32 {
    guard("rlt_module_begin", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` and the names of `kwargs` are NULL or NUL-terminated strings, `args` is NULL or points to `n_args`
        // values whose payloads match their tags, `kwargs` is NULL or points to `n_kwargs` such elements, and `out` is NULL
        // or writable.
        unsafe {
            let (module, method) = (arg::handle(module, "module")?, arg::string(method, "method")?);
            let (args, kwargs) = arguments((args, n_args), (kwargs, n_kwargs))?;
            let out = out::handle(out, "out")?;
            out.give(Box::new(Mutex::new(module.printing().begin_boxed(method, args, &kwargs)?)))
        }
    })
}

/// Runs operators of a call until it is done or `seconds` are over, and writes 1 to `done` if it is done, else 0. At least one
/// operator runs, and an operator that has begun is not interrupted. After an error the call has ended. Threads may take turns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_run_step(run: *mut rlt_run, seconds: f64, done: *mut i32) -> i32 {
    guard("rlt_run_step", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `run` is NULL or a live handle, and `done`
        // is NULL or writable.
        let (run, done) = unsafe { (arg::handle(run.cast_const(), "run")?, out::bool(done, "done")?) };
        if seconds.is_nan() || seconds < 0.0 {
            return Err(err!(Value, "`seconds` must be a number of seconds from 0 on, not {seconds}"));
        }
        let budget = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        done.set(locked(&run).step(budget)?)
    })
}

/// Writes the part of the operators of a call that have run, from 0 to 1; -1 if it is not known, because the method is not
/// compiled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_run_progress(run: *const rlt_run, out: *mut f64) -> i32 {
    guard("rlt_run_progress", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `run` is NULL or a live handle, and `out`
        // is NULL or writable.
        let (run, out) = unsafe { (arg::handle(run, "run")?, out::value(out, "out")?) };
        out.set(locked(&run).progress().unwrap_or(-1.0))
    })
}

/// Returns the result of a call that is done: an owned value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_run_result(run: *const rlt_run, out: *mut rlt_value) -> i32 {
    guard("rlt_run_result", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `run` is NULL or a live handle, and `out`
        // is NULL or writable.
        let (run, out) = unsafe { (arg::handle(run, "run")?, out::value(out, "out")?) };
        out.set(value::write(locked(&run).result_boxed()?))
    })
}

/// Frees a call, done or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_run_free(run: *mut rlt_run) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `run` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_run_free", || drop(unsafe { handle::take(run) }));
}

// ---- Plans ----

/// Returns the plans of a compiled method as text: for each combination of shapes and dtypes with which it was called, the
/// steps with the places of their results, or the reason why the interpreter runs it. Empty for other methods.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_plan(
    module: *const rlt_module,
    method: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_method_plan", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe {
            describe(module, method, out, |function| function.plans().map(Compiled::describe).unwrap_or_default())
        }
    })
}

/// Writes the bytes of the memory for intermediate results of the plan that a compiled method ran last, and the bytes that the
/// results would take without sharing memory; -1 to both if it has no plan. `unshared` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_memory(
    module: *const rlt_module,
    method: *const c_char,
    bytes: *mut i64,
    unshared: *mut i64,
) -> i32 {
    guard("rlt_module_method_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `bytes` and `unshared` are NULL or writable.
        let (module, method, bytes) =
            unsafe { (arg::handle(module, "module")?, arg::string(method, "method")?, out::value(bytes, "bytes")?) };
        let function = module.method(method)?;
        let memory = function.plans().and_then(Compiled::memory);
        let (own, all) = memory.map_or((-1, -1), |(own, all)| (own as i64, all as i64));
        if !unshared.is_null() {
            // SAFETY: docs/c-abi.md obliges the caller: a pointer that is not NULL is writable.
            unsafe { out::value(unshared, "unshared") }?.set(all)?;
        }
        bytes.set(own)
    })
}

/// Writes the bytes of the weights and other constants that the steps of the plan that a compiled method ran last read, in the
/// precision in which they are kept; -1 if it has no plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_weights(
    module: *const rlt_module,
    method: *const c_char,
    bytes: *mut i64,
) -> i32 {
    guard("rlt_module_method_weights", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `bytes` is NULL or writable.
        let (module, method, bytes) =
            unsafe { (arg::handle(module, "module")?, arg::string(method, "method")?, out::value(bytes, "bytes")?) };
        let weights = module.method(method)?.plans().and_then(Compiled::weights);
        bytes.set(weights.map_or(-1, |bytes| bytes as i64))
    })
}
