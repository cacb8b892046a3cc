//! Methods of modules.

use super::{call, call_changing, rlt_module};
use crate::core::rlt_deleter;
use crate::dispatch::{rlt_named_value, rlt_value};
use crate::support::callback::Context;
use crate::support::{arg, guard, out, value};
use rushlight_base::Result;
use rushlight_script::runtime::Sink;
use rushlight_script::runtime::function::Function;
use rushlight_tensor::dispatch::Value;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, PoisonError};

// ---- Methods ----

/// Receives what programs print: `len` bytes of UTF-8, not terminated by NUL. Called on the thread that runs the program.
pub type rlt_print_callback = Option<unsafe extern "C" fn(ctx: *mut c_void, text: *const c_char, len: i64)>;

/// Calls the method `method`, usually `forward`. Arguments are matched with the parameters of the method; missing ones
/// take their defaults. The result is owned: None, a value, or a tuple.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_run(
    module: *const rlt_module,
    method: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_run", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` and the names of `kwargs` are NULL or NUL-terminated strings, `args` is NULL or points to `n_args`
        // values, `kwargs` is NULL or points to `n_kwargs` elements, and `out` is NULL or writable.
        unsafe {
            let (module, method) = (arg::handle(module, "module")?, arg::string(method, "method")?);
            call((args, n_args), (kwargs, n_kwargs), out, |args, kwargs| {
                module.printing().run_boxed(method, args, kwargs)
            })
        }
    })
}

/// Calls the method `method`, like `rlt_module_run`. `changed` is NULL or an array of `n_args + n_kwargs` owned values, for
/// the positional and then the named arguments: those that are or contain lists or dicts as the call leaves them, None
/// for the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_run_v2(
    module: *const rlt_module,
    method: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    changed: *mut rlt_value,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_run_v2", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` and the names of `kwargs` are NULL or NUL-terminated strings, `args` is NULL or points to `n_args`
        // values, `kwargs` is NULL or points to `n_kwargs` elements, `changed` is NULL or writable for a value for each
        // of them, and `out` is NULL or writable.
        unsafe {
            let (module, method) = (arg::handle(module, "module")?, arg::string(method, "method")?);
            let (args, kwargs) = ((args, n_args), (kwargs, n_kwargs));
            let module = module.printing();
            if changed.is_null() {
                return call(args, kwargs, out, |args, kwargs| module.run_boxed(method, args, kwargs));
            }
            call_changing(args, kwargs, changed, out, |args, kwargs| module.run_boxed_changing(method, args, kwargs))
        }
    })
}

/// Returns the names of the methods, as a list of strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_methods(module: *const rlt_module, out: *mut rlt_value) -> i32 {
    guard("rlt_module_methods", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::value(out, "out")?) };
        out.set(value::write(Value::Strings(module.methods()?)))
    })
}

/// Writes a text about a method.
///
/// # Safety
/// For the duration of the call, `module` is NULL or a live handle, `method` is NULL or a NUL-terminated string, and
/// `out` is NULL or writable.
pub(super) unsafe fn describe(
    module: *const rlt_module,
    method: *const c_char,
    out: *mut rlt_value,
    text: impl FnOnce(&Function) -> String,
) -> Result<()> {
    // SAFETY: the caller of this function guarantees what each of these reads needs.
    let (module, method, out) =
        unsafe { (arg::handle(module, "module")?, arg::string(method, "method")?, out::value(out, "out")?) };
    let function = module.method(method)?;
    out.set(value::write(Value::from(text(&function).as_str())))
}

/// Returns the signature of a method, as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_schema(
    module: *const rlt_module,
    method: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_method_schema", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe { describe(module, method, out, |function| function.schema.to_string()) }
    })
}

/// Returns the graph of a method as text, as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_graph(
    module: *const rlt_module,
    method: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_method_graph", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe { describe(module, method, out, |function| function.graph.to_string()) }
    })
}

/// Sends what the methods of this handle print to `callback(ctx, ...)`; NULL discards it, as a new handle does. Other
/// handles of the module keep their callback. `deleter(ctx)` is called on any thread after the callback was replaced or the
/// handle freed, and the calls that use it have returned; but not if this function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_set_print(
    module: *mut rlt_module,
    callback: rlt_print_callback,
    ctx: *mut c_void,
    deleter: rlt_deleter,
) -> i32 {
    guard("rlt_module_set_print", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle.
        let module = unsafe { arg::handle(module.cast_const(), "module") }?;
        let sink = callback.map(|callback| {
            let ctx = Context::new(ctx, deleter);
            Arc::new(move |text: &[u8]| {
                // SAFETY: docs/c-abi.md obliges the caller: the callback can be called with `ctx` until the deleter was
                // called; the text is readable during the call.
                unsafe { callback(ctx.get(), text.as_ptr().cast(), text.len() as i64) }
            }) as Sink
        });
        let replaced = std::mem::replace(&mut *module.print.write().unwrap_or_else(PoisonError::into_inner), sink);
        // Outside of the lock: the deleter may use the handle.
        drop(replaced);
        Ok(())
    })
}
