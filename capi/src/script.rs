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

use crate::core::rlt_deleter;
use crate::dispatch::{named, rlt_named_value, rlt_value};
use crate::io::{StateDict, rlt_state_dict};
use crate::support::callback::Context;
use crate::support::handle::{self, Handle};
use crate::support::name::Element;
use crate::support::{arg, guard, guard_free, out, value};
use crate::tensor::{rlt_device, rlt_tensor};
use rushlight_base::{Result, err, list};
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::Sink;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;
use std::ffi::{CString, c_char, c_void};
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

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

/// Receives what programs print: `len` bytes of UTF-8, not terminated by NUL. Called on the thread that runs the program.
pub type rlt_print_callback = Option<unsafe extern "C" fn(ctx: *mut c_void, text: *const c_char, len: i64)>;

/// The positional arguments.
///
/// # Safety
/// The contract of [`value::read`], for each of them.
unsafe fn positional(args: &[rlt_value]) -> Result<Vec<Value>> {
    let each = args.iter().enumerate().map(|(index, value)| {
        // SAFETY: the caller guarantees that the payload of each value matches its tag and is live.
        unsafe { value::read(value, Element("args", index)) }
    });
    list::try_collect(each)
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
            let script = arg::handle(script, "script")?;
            let name = arg::string(name, "name")?;
            let args = positional(arg::slice(args, n_args, "args")?)?;
            let kwargs = named(arg::slice(kwargs, n_kwargs, "kwargs")?)?;
            let out = out::value(out, "out")?;
            out.set(value::write(script.call_boxed(name, args, &kwargs)?))
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

// ---- Loading ----

/// Loads a module from a file that `torch.jit.save` wrote, to the CPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_load(path: *const c_char, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_load", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `path` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (path, out) = unsafe { (arg::string(path, "path")?, out::handle(out, "out")?) };
        out.give(Loaded::new(Module::load(path)?))
    })
}

/// Loads a module from the contents of a file, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_load_memory(data: *const c_void, len: i64, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_load_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `data` is NULL or points to `len`
        // bytes, and `out` is NULL or writable.
        let (data, out) = unsafe { (arg::slice(data.cast::<u8>(), len, "data")?, out::handle(out, "out")?) };
        out.give(Loaded::new(Module::from_bytes(list::copied(data)?)?))
    })
}

/// Returns another handle of the same module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_retain(module: *const rlt_module, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(Loaded::new(Module::clone(&module)))
    })
}

/// Returns a module of the same classes with copies of all tensors and containers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_clone(module: *const rlt_module, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_clone", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(Loaded::new(module.deep_copy()?))
    })
}

/// Frees a handle of a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_free(module: *mut rlt_module) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_module_free", || drop(unsafe { handle::take(module) }));
}

/// Returns an extra file of the archive, as a tensor of bytes; `RLT_ERROR_INDEX` if there is none of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_extra_file(
    module: *const rlt_module,
    name: *const c_char,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_module_extra_file", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        let (module, name, out) =
            unsafe { (arg::handle(module, "module")?, arg::string(name, "name")?, out::tensor(out, "out")?) };
        let found = module.extra_file(name)?;
        let bytes = found.ok_or_else(|| err!(Index, "the archive has no extra file '{name}'"))?;
        out.give(Tensor::from_slice(&bytes, &[bytes.len() as i64])?)
    })
}

// ---- Methods ----

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
            let module = arg::handle(module, "module")?;
            let method = arg::string(method, "method")?;
            let args = positional(arg::slice(args, n_args, "args")?)?;
            let kwargs = named(arg::slice(kwargs, n_kwargs, "kwargs")?)?;
            let out = out::value(out, "out")?;
            out.set(value::write(module.printing().run_boxed(method, args, &kwargs)?))
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
        let (module, method, out) =
            unsafe { (arg::handle(module, "module")?, arg::string(method, "method")?, out::value(out, "out")?) };
        out.set(value::write(Value::from(module.method(method)?.schema.to_string().as_str())))
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
        let (module, method, out) =
            unsafe { (arg::handle(module, "module")?, arg::string(method, "method")?, out::value(out, "out")?) };
        out.set(value::write(Value::from(module.method(method)?.graph.to_string().as_str())))
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

// ---- Attributes ----

/// Returns an attribute, as an owned value: `scale`, or `layer.weight` of a submodule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_attribute(
    module: *const rlt_module,
    name: *const c_char,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_module_attribute", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        let (module, name, out) =
            unsafe { (arg::handle(module, "module")?, arg::string(name, "name")?, out::value(out, "out")?) };
        out.set(value::write(module.attribute_boxed(name)?))
    })
}

/// Sets an attribute, whose type must be that of the value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_set_attribute(
    module: *const rlt_module,
    name: *const c_char,
    value: *const rlt_value,
) -> i32 {
    guard("rlt_module_set_attribute", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `value` is NULL or a readable value whose payload matches its
        // tag.
        unsafe {
            let module = arg::handle(module, "module")?;
            let name = arg::string(name, "name")?;
            let [value] = arg::slice(value, 1, "value")? else {
                return Err(err!(NullPointer, "argument `value` is NULL"));
            };
            module.set_attribute_boxed(name, value::read(value, "value")?)
        }
    })
}

/// Returns the names of the attributes that are modules, as a list of strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_children(module: *const rlt_module, out: *mut rlt_value) -> i32 {
    guard("rlt_module_children", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::value(out, "out")?) };
        let names = module.children().into_iter().map(|(name, _)| name.into());
        out.set(value::write(Value::Strings(list::collect(names)?)))
    })
}

/// Returns the module that is the attribute `name`, which shares its tensors with `module`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_child(
    module: *const rlt_module,
    name: *const c_char,
    out: *mut *mut rlt_module,
) -> i32 {
    guard("rlt_module_child", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        let (module, name, out) =
            unsafe { (arg::handle(module, "module")?, arg::string(name, "name")?, out::handle(out, "out")?) };
        let found = module.children().into_iter().find(|(child, _)| child == name);
        out.give(Loaded::new(found.ok_or_else(|| err!(Index, "the module has no submodule '{name}'"))?.1))
    })
}

// ---- Parameters ----

fn dict(tensors: Vec<(String, Tensor)>) -> Result<Box<StateDict>> {
    let entries = tensors.into_iter().map(|(name, tensor)| {
        let name = CString::new(name).map_err(|_| err!(Value, "a name has a NUL inside"))?;
        Ok((name, tensor))
    });
    Ok(Box::new(StateDict::new(list::try_collect(entries)?)))
}

/// Returns the parameters of a module and of the modules inside of it, with their names joined by dots. The tensors are
/// those of the module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_parameters(module: *const rlt_module, out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_module_parameters", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(dict(module.parameters())?)
    })
}

/// Returns the buffers of a module and of the modules inside of it, like [`rlt_module_parameters`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_buffers(module: *const rlt_module, out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_module_buffers", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (module, out) = unsafe { (arg::handle(module, "module")?, out::handle(out, "out")?) };
        out.give(dict(module.buffers())?)
    })
}

/// Sets the training mode of a module and of the modules inside of it; 0 is evaluation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_train(module: *const rlt_module, on: i32) -> i32 {
    guard("rlt_module_train", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle.
        unsafe { arg::handle(module, "module") }?.train(arg::bool(on))
    })
}

/// Moves parameters and buffers to a device, and converts those with a floating-point dtype to a dtype. NULL leaves the
/// device or the dtype.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_to(module: *const rlt_module, device: *const rlt_device, dtype: *const i32) -> i32 {
    guard("rlt_module_to", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle, and
        // `device` and `dtype` are NULL or readable.
        unsafe { arg::handle(module, "module")?.to(arg::device_opt(device)?, arg::dtype_opt(dtype)?) }
    })
}
