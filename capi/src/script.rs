//! TorchScript: models that Python saved with `torch.jit.save`, and programs in source code.
//!
//! A module is loaded from a file or from memory; nothing in the file is executed while it is read. Methods are called
//! with values, and their results are values. Any number of threads may call the methods of one module. A loaded module
//! can be trained: its parameters are leaves that require gradients.
//!
//! ```c
//! const char *source = "def scaled(x: Tensor, factor: float = 2.0) -> Tensor:\n    return x * factor + 1\n";
//! rlt_script *script = NULL;
//! rlt_tensor *x = NULL;
//! rlt_scalar number = {0};
//! rlt_value argument = {RLT_VALUE_TENSOR, 0, 0, {0}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
//! int32_t status = rlt_script_compile(source, &script);
//! if (!status) status = rlt_tensor_full(NULL, 0, RLT_FLOAT(3.0), NULL, &x);
//! argument.as.tensor = x;
//! if (!status) status = rlt_script_run(script, "scaled", &argument, 1, NULL, 0, &result);
//! if (!status) status = rlt_tensor_item(result.as.tensor, &number);
//! if (!status) printf("%g\n", number.re);  // prints 7
//! rlt_value_free(&result);
//! rlt_tensor_free(x);
//! rlt_script_free(script);
//! ```

use crate::dispatch::{named, rlt_named_value, rlt_value};
use crate::support::handle::{self, Handle};
use crate::support::name::Element;
use crate::support::{arg, guard, guard_free, out, value};
use rushlight_base::{Result, list};
use rushlight_script::Changed;
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::Sink;
use rushlight_tensor::dispatch::Value;
use std::ffi::c_char;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

mod attributes;
mod build;
mod classes;
mod load;
mod methods;
mod passes;
mod pickles;
mod runs;
mod save;
mod trace;
mod units;

/// Functions and classes that were compiled from source code.
pub struct rlt_script {
    _private: [u8; 0],
}

impl Handle for rlt_script {
    type Rust = Arc<Program>;
}

/// A module of TorchScript: a saved model. Copies of the handle are the same module.
pub struct rlt_module {
    _private: [u8; 0],
}

impl Handle for rlt_module {
    type Rust = Box<Loaded>;
}

/// The contents of a module handle.
pub struct Loaded {
    module: Module,
    print: RwLock<Option<Sink>>,
}

impl Loaded {
    fn new(module: Module) -> Box<Loaded> {
        Box::new(Loaded { module, print: RwLock::new(None) })
    }

    fn print(&self) -> Option<Sink> {
        self.print.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The module, printing to the callback of this handle.
    fn printing(&self) -> Module {
        match self.print() {
            Some(sink) => self.module.clone().printing_to(sink),
            None => self.module.clone(),
        }
    }
}

impl Deref for Loaded {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.module
    }
}

/// Arguments: positional ones, and named ones.
type Arguments = (Vec<Value>, Vec<(String, Value)>);

/// Reads the arguments of a call.
///
/// # Safety
/// For the duration of the call, `args` is NULL or points to `n_args` values and `kwargs` to `n_kwargs` elements whose
/// names are NULL or NUL-terminated strings and whose payloads match their tags and are live.
unsafe fn arguments(
    (args, n_args): (*const rlt_value, i64),
    (kwargs, n_kwargs): (*const rlt_named_value, i64),
) -> Result<Arguments> {
    // SAFETY: the caller of this function guarantees what each of these reads needs.
    unsafe {
        let each = arg::slice(args, n_args, "args")?.iter().enumerate();
        let args = list::try_collect(each.map(|(index, value)| value::read(value, Element("args", index))))?;
        Ok((args, named(arg::slice(kwargs, n_kwargs, "kwargs")?)?))
    }
}

/// Calls a function or a method with boxed arguments: `run` takes positional and named arguments.
///
/// # Safety
/// The contract of [`arguments`], and `out` is NULL or writable for the duration of the call.
unsafe fn call(
    args: (*const rlt_value, i64),
    kwargs: (*const rlt_named_value, i64),
    out: *mut rlt_value,
    run: impl FnOnce(Vec<Value>, &[(String, Value)]) -> Result<Value>,
) -> Result<()> {
    // SAFETY: the caller of this function guarantees what both of these need.
    let ((args, kwargs), out) = unsafe { (arguments(args, kwargs)?, out::value(out, "out")?) };
    out.set(value::write(run(args, &kwargs)?))
}

/// [`call`], which also writes the lists and dicts among the arguments as the call leaves them.
///
/// # Safety
/// The contract of [`call`], and `changed` is writable for `n_args + n_kwargs` values for the duration of the call.
unsafe fn call_changing(
    args: (*const rlt_value, i64),
    kwargs: (*const rlt_named_value, i64),
    changed: *mut rlt_value,
    out: *mut rlt_value,
    run: impl FnOnce(Vec<Value>, &[(String, Value)]) -> Result<Changed>,
) -> Result<()> {
    // SAFETY: the caller of this function guarantees what both of these need.
    let ((args, kwargs), out) = unsafe { (arguments(args, kwargs)?, out::value(out, "out")?) };
    let (result, after) = run(args, &kwargs)?;
    for (at, value) in after.into_iter().enumerate() {
        // SAFETY: there is a value for each argument, and the caller guarantees that the slots of all are writable.
        unsafe { changed.add(at).write(value::write(value)) };
    }
    out.set(value::write(result))
}

// ---- Source code ----

/// Compiles functions and classes from source code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_compile(source: *const c_char, out: *mut *mut rlt_script) -> i32 {
    guard("rlt_script_compile", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `source` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (source, out) = unsafe { (arg::string(source, "source")?, out::handle(out, "out")?) };
        out.give(Program::compile(source)?)
    })
}

/// Calls the function `name`. Arguments are matched with the parameters of the function; missing ones take their
/// defaults. The result is owned: None, a value, or a tuple.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_run(
    script: *const rlt_script,
    name: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_script_run", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle,
        // `name` and the names of `kwargs` are NULL or NUL-terminated strings, `args` is NULL or points to `n_args`
        // values, `kwargs` is NULL or points to `n_kwargs` elements, and `out` is NULL or writable.
        unsafe {
            let (script, name) = (arg::handle(script, "script")?, arg::string(name, "name")?);
            call((args, n_args), (kwargs, n_kwargs), out, |args, kwargs| script.call_boxed(name, args, kwargs))
        }
    })
}

/// Calls the function `name`, like `rlt_script_run`. `changed` is NULL or an array of `n_args + n_kwargs` owned values, for
/// the positional and then the named arguments: those that are or contain lists or dicts as the call leaves them, None
/// for the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_run_v2(
    script: *const rlt_script,
    name: *const c_char,
    args: *const rlt_value,
    n_args: i64,
    kwargs: *const rlt_named_value,
    n_kwargs: i64,
    changed: *mut rlt_value,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_script_run_v2", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle,
        // `name` and the names of `kwargs` are NULL or NUL-terminated strings, `args` is NULL or points to `n_args`
        // values, `kwargs` is NULL or points to `n_kwargs` elements, `changed` is NULL or writable for a value for each
        // of them, and `out` is NULL or writable.
        unsafe {
            let (script, name) = (arg::handle(script, "script")?, arg::string(name, "name")?);
            let (args, kwargs) = ((args, n_args), (kwargs, n_kwargs));
            if changed.is_null() {
                return call(args, kwargs, out, |args, kwargs| script.call_boxed(name, args, kwargs));
            }
            call_changing(args, kwargs, changed, out, |args, kwargs| script.call_boxed_changing(name, args, kwargs))
        }
    })
}

/// Frees the handle of compiled source code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_free(script: *mut rlt_script) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_script_free", || drop(unsafe { handle::take(script) }));
}
