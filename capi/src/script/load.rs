//! Loading of modules.

use super::{Loaded, rlt_module};
use crate::support::{arg, guard, guard_free, handle, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{err, list};
use rushlight_script::module::Module;
use rushlight_tensor::Tensor;
use std::ffi::{c_char, c_void};

// ---- Loading ----

/// Loads a module from a file that `torch.jit.save` or `_save_for_lite_interpreter` of PyTorch wrote, to the CPU. A file of
/// named tensors (`torch.save` of a state dict) is a module without methods.
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

/// Loads a module from a file that `_save_for_lite_interpreter` of PyTorch wrote, an archive or a flatbuffer, with its
/// code for the lite interpreter. `rlt_module_load` reads such files too; it prefers the source code that archives have
/// beside that code. Methods of the module have no graph, so it cannot be frozen or saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_load_lite(path: *const c_char, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_load_lite", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `path` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (path, out) = unsafe { (arg::string(path, "path")?, out::handle(out, "out")?) };
        out.give(Loaded::new(Module::load_lite(path)?))
    })
}

/// `rlt_module_load_lite` from the contents of a file, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_load_lite_memory(data: *const c_void, len: i64, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_load_lite_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `data` is NULL or points to `len`
        // bytes, and `out` is NULL or writable.
        let (data, out) = unsafe { (arg::slice(data.cast::<u8>(), len, "data")?, out::handle(out, "out")?) };
        out.give(Loaded::new(Module::lite_from_bytes(list::copied(data)?)?))
    })
}

/// Loads a module from a file, as `rlt_module_load` does, but maps the tensors of an archive instead of reading them: their
/// memory is shared with other processes that map the file, until it is changed. Changes stay in memory. The file must not
/// be shortened or overwritten while the module or one of its tensors exists: the operating system ends a process that
/// accesses a mapped page behind the end of a file (SIGBUS). Checksums of tensors are not compared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_load_mapped(path: *const c_char, out: *mut *mut rlt_module) -> i32 {
    guard("rlt_module_load_mapped", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `path` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (path, out) = unsafe { (arg::string(path, "path")?, out::handle(out, "out")?) };
        out.give(Loaded::new(Module::load_mapped(path)?))
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
