//! Saving of modules.

use super::rlt_module;
use crate::dispatch::{named, rlt_named_value};
use crate::support::{arg, guard, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{DType, Result, bail, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;
use std::ffi::c_char;

// ---- Saving ----

/// Extra files by name.
///
/// # Safety
/// For the duration of the call, `extra` is NULL or points to `n_extra` elements whose names are NULL or NUL-terminated
/// strings, and whose payloads match their tags and are live.
unsafe fn files(extra: *const rlt_named_value, n_extra: i64) -> Result<Vec<(String, Vec<u8>)>> {
    // SAFETY: the caller of this function guarantees what these reads need.
    let values = unsafe { named(arg::slice(extra, n_extra, "extra")?)? };
    list::try_collect(values.into_iter().map(|(name, value)| {
        let bytes = match value {
            Value::Str(text) => list::copied(text.as_bytes())?,
            Value::Tensor(tensor) => contents(&name, &tensor)?,
            other => bail!(Type, "the extra file '{name}' must be a string or a tensor of bytes, not {}", other.kind()),
        };
        Ok((name, bytes))
    }))
}

fn contents(name: &str, tensor: &Tensor) -> Result<Vec<u8>> {
    if tensor.dtype() != DType::U8 || tensor.ndim() != 1 {
        bail!(
            Type,
            "the extra file '{name}' must be a tensor of bytes with one dimension, not of {} with {}",
            tensor.dtype(),
            tensor.ndim()
        );
    }
    tensor.to_vec()
}

fn borrowed(files: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect()
}

/// Saves the module as a file that `torch.jit.load` of PyTorch reads. The file is replaced atomically. `extra` are files
/// to put into the archive: their contents are strings, or tensors of bytes (`RLT_DTYPE_UINT8`) with one dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_save(
    module: *const rlt_module,
    path: *const c_char,
    extra: *const rlt_named_value,
    n_extra: i64,
) -> i32 {
    guard("rlt_module_save", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `path` and the names of `extra` are NULL or NUL-terminated strings, and `extra` is NULL or points to `n_extra`
        // elements.
        let (module, path, extra) =
            unsafe { (arg::handle(module, "module")?, arg::string(path, "path")?, files(extra, n_extra)?) };
        module.save(path, &borrowed(&extra))
    })
}

/// Returns the contents of the file that [`rlt_module_save`] writes, as a tensor of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_save_memory(
    module: *const rlt_module,
    extra: *const rlt_named_value,
    n_extra: i64,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_module_save_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `extra` is NULL or points to `n_extra` elements whose names are NULL or NUL-terminated strings, and `out` is
        // NULL or writable.
        let (module, out, extra) =
            unsafe { (arg::handle(module, "module")?, out::tensor(out, "out")?, files(extra, n_extra)?) };
        let bytes = module.to_bytes(&borrowed(&extra))?;
        out.give(Tensor::from_slice(&bytes, &[bytes.len() as i64])?)
    })
}

/// Saves the module as a file that the lite interpreter of PyTorch reads (`_load_for_lite_interpreter`, `_load_for_mobile`),
/// and `torch.jit.load` too. The file is replaced atomically. `extra` is that of [`rlt_module_save`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_save_lite(
    module: *const rlt_module,
    path: *const c_char,
    extra: *const rlt_named_value,
    n_extra: i64,
) -> i32 {
    guard("rlt_module_save_lite", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `path` and the names of `extra` are NULL or NUL-terminated strings, and `extra` is NULL or points to `n_extra`
        // elements.
        let (module, path, extra) =
            unsafe { (arg::handle(module, "module")?, arg::string(path, "path")?, files(extra, n_extra)?) };
        module.save_lite(path, &borrowed(&extra))
    })
}

/// Returns the contents of the file that [`rlt_module_save_lite`] writes, as a tensor of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_module_save_lite_memory(
    module: *const rlt_module,
    extra: *const rlt_named_value,
    n_extra: i64,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_module_save_lite_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `module` is NULL or a live handle,
        // `extra` is NULL or points to `n_extra` elements whose names are NULL or NUL-terminated strings, and `out` is
        // NULL or writable.
        let (module, out, extra) =
            unsafe { (arg::handle(module, "module")?, out::tensor(out, "out")?, files(extra, n_extra)?) };
        let bytes = module.to_lite_bytes(&borrowed(&extra))?;
        out.give(Tensor::from_slice(&bytes, &[bytes.len() as i64])?)
    })
}
