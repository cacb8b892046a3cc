//! Classes that programs define at run time.

use crate::core::rlt_deleter;
use crate::dispatch::rlt_op_callback;
use crate::support::callback::{self, Context};
use crate::support::value::{Lent, Slots};
use crate::support::{arg, guard};
use rushlight_base::err;
use rushlight_script::classes;
use rushlight_tensor::dispatch::Value;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

// ---- Custom classes ----

/// Defines a class of objects that TorchScript cannot look into (`rlt_object_new`). The name begins with
/// `__torch__.torch.classes.`. Programs and files may use the class from then on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_class_define(class_name: *const c_char) -> i32 {
    guard("rlt_class_define", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `class_name` is NULL or a
        // NUL-terminated string.
        classes::define(unsafe { arg::string(class_name, "class_name") }?)
    })
}

/// Adds a method to a class that `rlt_class_define` defined. `schema` has no `self`: `push(Tensor x, int count=1) -> ()`.
/// The callback gets the object and the arguments, and has one slot for the result: several results are a tuple.
/// If `is_static` is not 0, there is no object. `__init__` and `__setstate__` get no object, and return it, whatever the
/// schema; `__getstate__` returns what is saved in files. `<name>_getter` and `<name>_setter` read and write an
/// attribute. `deleter(ctx)` is called once, when the class is removed, after the last running call; but not if this
/// function fails.
///
/// The callback may be called from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_class_method(
    class_name: *const c_char,
    schema: *const c_char,
    is_static: i32,
    callback: rlt_op_callback,
    ctx: *mut c_void,
    deleter: rlt_deleter,
) -> i32 {
    guard("rlt_class_method", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `class_name` and `schema` are NULL or
        // NUL-terminated strings.
        let (class, schema) = unsafe { (arg::string(class_name, "class_name")?, arg::string(schema, "schema")?) };
        let callback = callback.ok_or_else(|| err!(NullPointer, "argument `callback` is NULL"))?;
        let context = Arc::new(Context::new(ctx, deleter));
        let held = context.clone();
        let name = format!("{class}.{}", schema.split('(').next().unwrap_or_default());
        let defined = classes::define_method(
            class,
            schema,
            arg::bool(is_static),
            Arc::new(move |values: &[Value]| {
                let args = Lent::new(values);
                let mut outs = Slots::new(1);
                callback::call(&name, || {
                    let ((args, n_args), (outs, n_outs)) = (args.parts(), outs.parts());
                    // SAFETY: `callback` has this signature; `args` and `outs` point to arrays of these lengths that
                    // live until it returns.
                    unsafe { callback(held.get(), args, n_args, outs, n_outs) }
                })?;
                // SAFETY: the callback filled the slot as the documentation of the kernel type requires: the payload
                // of the slot matches its tag.
                let mut results = unsafe { outs.values() }?;
                Ok(results.0.first_mut().map(std::mem::take).unwrap_or_default())
            }),
        );
        if defined.is_err() {
            // The caller keeps `ctx` when this function fails.
            if let Some(context) = Arc::into_inner(context) {
                context.forget();
            }
        }
        defined
    })
}

/// Removes a class and its methods. Objects of it stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_class_remove(class_name: *const c_char) -> i32 {
    guard("rlt_class_remove", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `class_name` is NULL or a
        // NUL-terminated string.
        classes::remove(unsafe { arg::string(class_name, "class_name") }?);
        Ok(())
    })
}
