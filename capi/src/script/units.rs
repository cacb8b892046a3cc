//! Programs: functions and classes by name, types, schemas.

use super::rlt_script;
use crate::dispatch::rlt_value;
use crate::support::{arg, guard, out, value};
use rushlight_base::list;
use rushlight_script::program::Program;
use rushlight_script::schema::Schema;
use rushlight_script::types::Type;
use rushlight_tensor::dispatch::Value;
use std::ffi::c_char;
use std::sync::Arc;

// ---- Programs ----

/// Creates a program without functions and classes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_new(out: *mut *mut rlt_script) -> i32 {
    guard("rlt_script_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::handle(out, "out") }?.give(Program::new())
    })
}

/// Returns another handle of the same program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_retain(script: *const rlt_script, out: *mut *mut rlt_script) -> i32 {
    guard("rlt_script_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (script, out) = unsafe { (arg::handle(script, "script")?, out::handle(out, "out")?) };
        out.give(Arc::clone(&script))
    })
}

/// Writes to `*out` a number that two handles have in common only if they are the same program, as long as both live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_identity(script: *const rlt_script, out: *mut i64) -> i32 {
    guard("rlt_script_identity", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (script, out) = unsafe { (arg::handle(script, "script")?, out::value(out, "out")?) };
        out.set(Arc::as_ptr(&script).addr() as i64)
    })
}

/// Adds functions and classes from source code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_define(script: *const rlt_script, source: *const c_char) -> i32 {
    guard("rlt_script_define", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle, and
        // `source` is NULL or a NUL-terminated string.
        unsafe { arg::handle(script, "script")?.define_checked(arg::string(source, "source")?) }
    })
}

/// Returns the names of the functions that were defined, as a list of strings. Methods are not among them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_functions(script: *const rlt_script, out: *mut rlt_value) -> i32 {
    guard("rlt_script_functions", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (script, out) = unsafe { (arg::handle(script, "script")?, out::value(out, "out")?) };
        let names = script.function_names().into_iter().map(Arc::from);
        out.set(value::write(Value::Strings(list::collect(names)?)))
    })
}

/// Returns the signature of a function, or of a method (`Class.method`), as a schema (`rlt_schema_parse`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_signature(
    script: *const rlt_script,
    name: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_script_signature", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe {
            let (script, name) = (arg::handle(script, "script")?, arg::string(name, "name")?);
            let out = out::value(out, "out")?;
            out.set(value::write(script.signature(name)?))
        }
    })
}

/// Returns the graph of a function or method as text, as an owned string; if `inlined` is not 0, with the nodes of the
/// functions that it calls in place of the calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_graph(
    script: *const rlt_script,
    name: *const c_char,
    inlined: i32,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_script_graph", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe {
            let (script, name) = (arg::handle(script, "script")?, arg::string(name, "name")?);
            let out = out::value(out, "out")?;
            out.set(value::write(Value::from(script.graph_text(name, arg::bool(inlined))?.as_str())))
        }
    })
}

// ---- Types and schemas ----

/// Returns a class, an interface, a NamedTuple or an Enum of a program: the tuple `(kind, type, attributes, constants,
/// methods, static methods, hooks before forward, hooks after it)`, the last four of them names. The kind is `Module`, `Class`, `Interface`, `ModuleInterface`, `NamedTuple`, `Enum` or
/// `Custom`. An attribute is a tuple `(name, type, role)`, whose role is that of `rlt_module_register`; a constant is
/// `(name, type, value)`; the members of an Enum are its constants. Types are those of `rlt_type_parse`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_script_class(
    script: *const rlt_script,
    class_name: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_script_class", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `script` is NULL or a live handle,
        // `class_name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        unsafe {
            let (script, name) = (arg::handle(script, "script")?, arg::string(class_name, "class_name")?);
            let out = out::value(out, "out")?;
            out.set(value::write(script.describe_class(name)?))
        }
    })
}

/// Returns the type that an annotation means: a tuple of its kind, its name, a tuple of the types inside of it, and the
/// names of its fields. The kind is `List`, `Dict`, `Optional`, `Tuple`, `Union`, `Future`, `RRef`, `Await`, `NamedTuple`,
/// `Enum`, `Class`, `Interface` or `Function`; of a type without parameters it is the annotation (`int`). Classes are
/// those of `script`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_type_parse(
    annotation: *const c_char,
    script: *const rlt_script,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_type_parse", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `annotation` is NULL or a
        // NUL-terminated string, `script` is NULL or a live handle, and `out` is NULL or writable.
        unsafe {
            let (annotation, out) = (arg::string(annotation, "annotation")?, out::value(out, "out")?);
            let kind = match script.is_null() {
                true => Type::parse(annotation)?,
                false => arg::handle(script, "script")?.parse_type(annotation)?,
            };
            out.set(value::write(kind.describe()?))
        }
    })
}

/// Returns a schema: the tuple `(text, name, overload, arguments, results, takes any more arguments, returns any more
/// results)`. An argument is `(name, type, has default, default, keyword only, length of its list or None, written,
/// alias sets)`; a result has the same form. Types are those of `rlt_type_parse`, and type variables have the kind
/// `Variable`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_schema_parse(schema: *const c_char, out: *mut rlt_value) -> i32 {
    guard("rlt_schema_parse", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `schema` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (schema, out) = unsafe { (arg::string(schema, "schema")?, out::value(out, "out")?) };
        out.set(value::write(Schema::parse(schema)?.describe()?))
    })
}
