//! Modules that programs build: new ones, attributes and methods that are added, copies, and their classes.

use super::{Loaded, rlt_module, rlt_script};
use crate::dispatch::rlt_value;
use crate::object::rlt_object;
use crate::support::{arg, guard, out, value};
use rushlight_base::{Result, err};
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::object::Object;
use rushlight_tensor::dispatch;
use std::ffi::c_char;
use std::sync::Arc;

// ---- Building modules ----

/// Creates a module without attributes and methods, of a new class called `name` (`Net` is `__torch__.Net`). If there is a
/// class of this name, another name is chosen. The class belongs to `script`, and to a new program if that is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_new(
    name: *const c_char,
    script: *const rlt_script,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_module_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `name` is NULL or a NUL-terminated
        // string, `script` is NULL or a live handle, and `out` is NULL or writable.
        unsafe {
            let (name, out) = (arg::string(name, "name")?, out::handle(out, "out")?);
            let program = match script.is_null() {
                true => Program::new(),
                false => {
                    let script = arg::handle(script, "script")?;
                    Arc::clone(&script)
                }
            };
            out.give(Loaded::new(Module::create(program, name)?))
        }
    })
}

/// Adds an attribute, or sets one of the same type. `type` is an annotation such as `List[int]`, NULL for the type of the
/// value; `role` is 0 for an attribute, 1 for a parameter and 2 for a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_register(
    module: *const rlt_module,
    name: *const c_char,
    r#type: *const c_char,
    value: *const rlt_value,
    role: i32,
) -> i32 {
    guard("rlt_module_register", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `name` and `type` are NULL or NUL-terminated strings, and `value` is NULL or a readable value whose payload
        // matches its tag.
        unsafe {
            let module = arg::handle(module, "module")?;
            let (name, kind) = (arg::string(name, "name")?, arg::string_opt(r#type, "type")?);
            let [value] = arg::slice(value, 1, "value")? else {
                return Err(err!(NullPointer, "argument `value` is NULL"));
            };
            module.register_boxed(name, kind, value::read(value, "value")?, Module::role(role)?)
        }
    })
}

/// Adds a submodule. Both modules must belong to the same program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_register_module(
    module: *const rlt_module,
    name: *const c_char,
    child: *const rlt_module,
) -> i32 {
    guard("rlt_module_register_module", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` and `child` are NULL or live
        // handles, and `name` is NULL or a NUL-terminated string.
        unsafe {
            let (module, child) = (arg::handle(module, "module")?, arg::handle(child, "child")?);
            module.register_module(arg::string(name, "name")?, &child)
        }
    })
}

/// Adds methods from source code: functions whose first parameter is `self`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_define(module: *const rlt_module, source: *const c_char) -> i32 {
    guard("rlt_module_define", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `source` is NULL or a NUL-terminated string.
        unsafe { arg::handle(module, "module")?.define_checked(arg::string(source, "source")?) }
    })
}

/// Returns a module of the same class with the same values: tensors and containers are shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_copy(module: *const rlt_module, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_copy", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(Loaded::new(module.shallow_copy()?))
    })
}

// ---- Classes of modules ----

/// Returns the qualified name of the class of a module, as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_class_name(module: *const rlt_module, out: *mut rlt_value) -> i32 {
    guard("rlt_module_class_name", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::value(out, "out")?) };
        out.set(value::write(dispatch::Value::from(&**module.class())))
    })
}

/// Returns the program that the class of a module belongs to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_script(module: *const rlt_module, out: *mut *mut rlt_script) -> i32 {
    guard("rlt_module_script", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(module.program().clone())
    })
}

/// Returns the module as an object, which can be a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_object(module: *const rlt_module, out: *mut *mut rlt_object) -> i32 {
    guard("rlt_module_object", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(dispatch::Object::new(module.class(), module.object().clone())?)
    })
}

/// Returns an object of a class of a program as a module, whose functions read its attributes and call its methods. It
/// need not be a module there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_of_object(
    script: *const rlt_script,
    object: *const rlt_object,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_module_of_object", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` and `object` are NULL or live
        // handles, and `out` is NULL or writable.
        unsafe {
            let (script, object) = (arg::handle(script, "script")?, arg::handle(object, "object")?);
            let out = out::handle(out, "out")?;
            let inner: Result<&Object> = object
                .content()
                .ok_or_else(|| err!(Type, "an object of {} has no attributes of TorchScript", object.class_name()));
            out.give(Loaded::new(Module::new(Arc::clone(&script), inner?.clone())))
        }
    })
}

/// Writes to `*out` a number that two handles have in common only if they are the same module, as long as both live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_identity(module: *const rlt_module, out: *mut i64) -> i32 {
    guard("rlt_module_identity", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::value(out, "out")?) };
        out.set(module.object().identity() as i64)
    })
}

/// Returns the signature of a method, as a schema (`rlt_schema_parse`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_signature(
    module: *const rlt_module,
    method: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_method_signature", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe {
            let (module, method) = (arg::handle(module, "module")?, arg::string(method, "method")?);
            let out = out::value(out, "out")?;
            out.set(value::write(module.method(method)?.schema.describe()?))
        }
    })
}
