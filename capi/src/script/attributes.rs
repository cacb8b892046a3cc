//! Attributes, parameters and buffers of modules.

use super::{Loaded, rlt_module};
use crate::dispatch::rlt_value;
use crate::io::{StateDict, rlt_state_dict};
use crate::support::{arg, guard, out, value};
use crate::tensor::rlt_device;
use rushlight_base::{Result, err, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;
use std::ffi::{CString, c_char};

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
