//! Passes over the graphs of modules.

use super::{Loaded, rlt_module};
use crate::dispatch::rlt_value;
use crate::support::name::Element;
use crate::support::{arg, guard, out, value};
use rushlight_base::{Result, list};
use rushlight_script::graph::Graph;
use rushlight_script::passes;
use rushlight_tensor::dispatch::Value;
use std::ffi::c_char;

// ---- Passes ----

/// The strings of an array.
///
/// # Safety
/// For the duration of the call, `names` is NULL or points to `n` elements that are NULL or NUL-terminated strings.
unsafe fn strings<'a>(names: *const *const c_char, n: i64, name: &'static str) -> Result<Vec<&'a str>> {
    // SAFETY: the caller of this function guarantees what each of these reads needs.
    unsafe {
        let names = arg::slice(names, n, name)?.iter().enumerate();
        list::try_collect(names.map(|(index, &text)| arg::string(text, Element(name, index))))
    }
}

/// Returns a copy of a module in which the attributes that its methods only read are constants of the graphs. It has the
/// method `forward` and the `n_preserved` methods and attributes of `preserved`; the others are gone, except for
/// attributes that methods change. Its tensors are those of the module, without gradients. The module must be in
/// evaluation mode. If `optimize_numerics` is not 0, batch norms are folded into the layers before them, which changes
/// results by rounding.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_freeze(
    module: *const rlt_module,
    preserved: *const *const c_char,
    n_preserved: i64,
    optimize_numerics: i32,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_module_freeze", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `preserved` is NULL or points to `n_preserved` strings, and `out` is NULL or writable.
        let (module, preserved, out) = unsafe {
            (arg::handle(module, "module")?, strings(preserved, n_preserved, "preserved")?, out::handle(out, "out")?)
        };
        out.give(Loaded::new(passes::freeze(&module, &preserved, optimize_numerics != 0)?))
    })
}

/// Returns a copy of a module that is made to run fast: it is frozen with `forward` and the `n_other` methods of
/// `other_methods`, batch norms are folded, dropout is removed. The module must be in evaluation mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_optimize_for_inference(
    module: *const rlt_module,
    other_methods: *const *const c_char,
    n_other: i64,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_module_optimize_for_inference", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `other_methods` is NULL or points to `n_other` strings, and `out` is NULL or writable.
        let (module, others, out) = unsafe {
            (
                arg::handle(module, "module")?,
                strings(other_methods, n_other, "other_methods")?,
                out::handle(out, "out")?,
            )
        };
        out.give(Loaded::new(passes::optimize_for_inference(&module, &others)?))
    })
}

/// Like [`rlt_module_optimize_for_inference`], with the weights of linear layers in the dtype `weights`: `RLT_DTYPE_FLOAT32`,
/// `RLT_DTYPE_BFLOAT16`, or `RLT_DTYPE_INT8` with a scale for each output, which is 1 / 127 of the largest magnitude of its
/// weights. Inputs and sums stay in `float32`: results are those of the module with its weights rounded to nearest, ties to
/// even, up to the rounding of sums. [`rlt_module_method_plan`] names the dtype of the weights of each layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_compile(
    module: *const rlt_module,
    other_methods: *const *const c_char,
    n_other: i64,
    weights: i32,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_module_compile", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `other_methods` is NULL or points to `n_other` strings, and `out` is NULL or writable.
        let (module, others, out) = unsafe {
            (
                arg::handle(module, "module")?,
                strings(other_methods, n_other, "other_methods")?,
                out::handle(out, "out")?,
            )
        };
        out.give(Loaded::new(passes::compile(&module, &others, arg::dtype(weights)?)?))
    })
}

/// Returns the graph of a method as text, with the nodes of the methods and functions that it calls in place of the
/// calls, as an owned string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_method_inlined_graph(
    module: *const rlt_module,
    method: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_method_inlined_graph", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `method` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        let (module, method, out) =
            unsafe { (arg::handle(module, "module")?, arg::string(method, "method")?, out::value(out, "out")?) };
        let mut graph = Graph::clone(&module.method(method)?.graph);
        passes::inline(&mut graph, &**module.program())?;
        out.set(value::write(Value::from(graph.to_string().as_str())))
    })
}
