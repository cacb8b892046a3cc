//! Tracing of the calls of a thread to modules.

use super::{Loaded, rlt_module};
use crate::dispatch::rlt_value;
use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out, value};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, err};
use rushlight_script::trace::{Kind, Trace};
use rushlight_tensor::dispatch::Value;
use std::ffi::c_char;

/// A trace: the operators that a thread calls, as the program of a module.
pub struct rlt_trace {
    _private: [u8; 0],
}

impl Handle for rlt_trace {
    type Rust = Box<Trace>;
}

// ---- Tracing ----

/// Begins to trace the operators that this thread calls. `class_name` is the class of the module that is traced, such as
/// `Net`; `training` is its mode. The caller declares submodules, parameters, buffers and arguments, runs its function, and
/// declares the output. `RLT_ERROR_RUNTIME` if the thread is tracing already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_begin(class_name: *const c_char, training: i32, out: *mut *mut rlt_trace) -> i32 {
    guard("rlt_trace_begin", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `class_name` is NULL or a
        // NUL-terminated string, and `out` is NULL or writable.
        let (class_name, out) = unsafe { (arg::string(class_name, "class_name")?, out::handle(out, "out")?) };
        out.give(Box::new(Trace::begin(class_name, arg::bool(training))?))
    })
}

/// Declares a module inside of the traced one by its path: `layers.0`. Outer modules are declared before inner ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_module(
    trace: *mut rlt_trace,
    path: *const c_char,
    class_name: *const c_char,
    training: i32,
) -> i32 {
    guard("rlt_trace_module", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` is NULL or a live handle, and
        // `path` and `class_name` are NULL or NUL-terminated strings.
        let (trace, path, class_name) = unsafe {
            (
                arg::handle(trace.cast_const(), "trace")?,
                arg::string(path, "path")?,
                arg::string(class_name, "class_name")?,
            )
        };
        trace.module(path, class_name, arg::bool(training))
    })
}

/// Declares a parameter.
///
/// # Safety
/// For the duration of the call, `trace` and `tensor` are NULL or live handles, and `path` is NULL or a NUL-terminated
/// string.
unsafe fn attribute(trace: *mut rlt_trace, path: *const c_char, tensor: *const rlt_tensor, kind: Kind) -> Result<()> {
    // SAFETY: the caller of this function guarantees what each of these reads needs.
    let (trace, path, tensor) = unsafe {
        (arg::handle(trace.cast_const(), "trace")?, arg::string(path, "path")?, arg::tensor(tensor, "tensor")?)
    };
    trace.attribute(path, &tensor, kind)
}

/// Declares a parameter by its path: `layers.0.weight`. The module of the trace has the tensor itself as this parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_parameter(
    trace: *mut rlt_trace,
    path: *const c_char,
    tensor: *const rlt_tensor,
) -> i32 {
    guard("rlt_trace_parameter", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` and `tensor` are NULL or live
        // handles, and `path` is NULL or a NUL-terminated string.
        unsafe { attribute(trace, path, tensor, Kind::Parameter) }
    })
}

/// Declares a buffer by its path, like [`rlt_trace_parameter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_buffer(
    trace: *mut rlt_trace,
    path: *const c_char,
    tensor: *const rlt_tensor,
) -> i32 {
    guard("rlt_trace_buffer", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` and `tensor` are NULL or live
        // handles, and `path` is NULL or a NUL-terminated string.
        unsafe { attribute(trace, path, tensor, Kind::Buffer) }
    })
}

/// A value of the caller.
///
/// # Safety
/// For the duration of the call, `value` is NULL or a readable value whose payload matches its tag.
unsafe fn read(value: *const rlt_value) -> Result<Value> {
    // SAFETY: the caller of this function guarantees what these reads need.
    unsafe {
        let [value] = arg::slice(value, 1, "value")? else {
            return Err(err!(NullPointer, "argument `value` is NULL"));
        };
        value::read(value, "value")
    }
}

/// Declares the next argument of the function with its value in this run: a tensor, or tuples, lists and dicts of tensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_input(trace: *mut rlt_trace, name: *const c_char, value: *const rlt_value) -> i32 {
    guard("rlt_trace_input", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` is NULL or a live handle, `name`
        // is NULL or a NUL-terminated string, and `value` is NULL or a readable value whose payload matches its tag.
        let (trace, name, value) =
            unsafe { (arg::handle(trace.cast_const(), "trace")?, arg::string(name, "name")?, read(value)?) };
        trace.input(name, &value)
    })
}

/// Declares what the function has returned, and ends the tracing of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_output(trace: *mut rlt_trace, value: *const rlt_value) -> i32 {
    guard("rlt_trace_output", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` is NULL or a live handle, and
        // `value` is NULL or a readable value whose payload matches its tag.
        let (trace, value) = unsafe { (arg::handle(trace.cast_const(), "trace")?, read(value)?) };
        trace.output(&value)
    })
}

/// Returns the traced function as a module with the method `forward`. `other` is NULL, or another trace of the same
/// function with examples of other sizes: numbers that differ between the two become expressions of the sizes of tensors;
/// other numbers are constants. If `check` is not 0, the module is run on the examples, and an error reports the first
/// difference from what the function has returned. The trace stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_finish(
    trace: *mut rlt_trace,
    other: *mut rlt_trace,
    check: i32,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_trace_finish", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` and `other` are NULL or live
        // handles, and `out` is NULL or writable.
        let (trace, other, out) = unsafe {
            let other = if other.is_null() { None } else { Some(arg::handle(other.cast_const(), "other")?) };
            (arg::handle(trace.cast_const(), "trace")?, other, out::handle(out, "out")?)
        };
        out.give(Loaded::new(trace.finish(other.as_deref().map(|other| &**other), arg::bool(check))?))
    })
}

/// Frees a trace. On the thread that began it, its tracing ends too: nothing is left of a function that failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_free(trace: *mut rlt_trace) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `trace` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_trace_free", || drop(unsafe { handle::take(trace) }));
}

/// Writes 1 if the operators that this thread calls are traced, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_trace_is_active(out: *mut i32) -> i32 {
    guard("rlt_trace_is_active", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::bool(out, "out")? };
        out.set(Trace::is_active())
    })
}
