//! Files: named tensors, as `.pt` and safetensors.
//!
//! A state dict holds named tensors in order: the parameters of a model. Files are exchanged with Python in both
//! directions; a pickle is read without executing anything.
//!
//! ```c
//! rlt_state_dict *model = NULL, *file = NULL;
//! rlt_tensor *bias = NULL, *loaded = NULL;
//! rlt_scalar value = {0};
//! int32_t status = rlt_state_dict_new(&model);
//! if (!status) status = rlt_tensor_full(NULL, 0, RLT_FLOAT(0.25), NULL, &bias);
//! if (!status) status = rlt_state_dict_insert(model, "fc.bias", bias);
//! if (!status) status = rlt_state_dict_save(model, "model.pt", RLT_FORMAT_AUTO);
//! if (!status) status = rlt_state_dict_load("model.pt", RLT_FORMAT_AUTO, &file);
//! if (!status) status = rlt_state_dict_get(file, "fc.bias", &loaded);
//! if (!status) status = rlt_tensor_item(loaded, &value);
//! if (!status) printf("%g\n", value.re);  // prints 0.25
//! rlt_tensor_free(loaded);
//! rlt_tensor_free(bias);
//! rlt_state_dict_free(file);
//! rlt_state_dict_free(model);
//! ```
//!
//! `examples/digits/c/infer.c` runs a network from a file.

use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, err, list};
use rushlight_io::{Entry, pt, safetensors};
use rushlight_tensor::Tensor;
use std::ffi::{CString, c_char};
use std::path::Path;

// ---- File formats ----

/// when saving, safetensors if the name ends in `.safetensors`, else `.pt`; when loading, detected from the contents
pub const RLT_FORMAT_AUTO: i32 = 0;
/// PyTorch's zip archive with a pickle, which is read without executing anything
pub const RLT_FORMAT_PT: i32 = 1;
/// safetensors
pub const RLT_FORMAT_SAFETENSORS: i32 = 2;

/// Named tensors in order, such as the parameters of a model.
pub struct rlt_state_dict {
    _private: [u8; 0],
}

impl Handle for rlt_state_dict {
    type Rust = Box<StateDict>;
}

/// The contents of a state dict handle. One thread at a time may modify it.
#[derive(Default)]
pub struct StateDict(std::sync::RwLock<Vec<(CString, Tensor)>>);

impl StateDict {
    /// A dict of these entries.
    #[cfg(feature = "script")]
    pub(crate) fn new(entries: Vec<(CString, Tensor)>) -> StateDict {
        StateDict(entries.into())
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Vec<(CString, Tensor)>> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Vec<(CString, Tensor)>> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

// ---- State dicts ----

/// Creates an empty state dict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_new(out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_state_dict_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::handle(out, "out") }?.give(Box::default())
    })
}

/// Frees a state dict and its references to tensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_free(dict: *mut rlt_state_dict) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_state_dict_free", || drop(unsafe { handle::take(dict) }));
}

/// Returns the number of entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_len(dict: *const rlt_state_dict, out: *mut i64) -> i32 {
    guard("rlt_state_dict_len", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let dict = arg::handle(dict, "dict")?;
            out::value(out, "out")?.set(dict.read().len() as i64)
        }
    })
}

/// Adds a reference to `tensor` under `name`, at the end; an existing entry of that name is replaced in its position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_insert(
    dict: *mut rlt_state_dict,
    name: *const c_char,
    tensor: *const rlt_tensor,
) -> i32 {
    guard("rlt_state_dict_insert", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` and `tensor` are NULL or live
        // handles, and `name` is NULL or a NUL-terminated string.
        let (dict, name, tensor) = unsafe {
            (arg::handle(dict.cast_const(), "dict")?, arg::string(name, "name")?, arg::tensor(tensor, "tensor")?)
        };
        let name = CString::new(name).map_err(|_| err!(Value, "a name has a NUL inside"))?;
        let mut entries = dict.write();
        match entries.iter_mut().find(|(other, _)| *other == name) {
            Some((_, before)) => *before = Tensor::clone(&tensor),
            None => entries.push((name, Tensor::clone(&tensor))),
        }
        Ok(())
    })
}

/// Returns an owned reference to the tensor called `name`; `RLT_ERROR_INDEX` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_get(
    dict: *const rlt_state_dict,
    name: *const c_char,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_state_dict_get", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` is NULL or a live handle,
        // `name` is NULL or a NUL-terminated string, and `out` is NULL or writable.
        let (dict, name, out) =
            unsafe { (arg::handle(dict, "dict")?, arg::string(name, "name")?, out::tensor(out, "out")?) };
        let entries = dict.read();
        let found = entries.iter().find(|(other, _)| other.to_bytes() == name.as_bytes());
        out.give(found.ok_or_else(|| err!(Index, "there is no entry '{name}' in the state dict"))?.1.clone())
    })
}

/// Returns the name of the entry at `index`, counted from 0. Borrowed until the state dict is modified or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_name_at(
    dict: *const rlt_state_dict,
    index: i64,
    out: *mut *const c_char,
) -> i32 {
    guard("rlt_state_dict_name_at", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (dict, out) = unsafe { (arg::handle(dict, "dict")?, out::value(out, "out")?) };
        out.set(entry(&dict.read(), index)?.0.as_ptr())
    })
}

/// Returns an owned reference to the tensor of the entry at `index`, counted from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_tensor_at(
    dict: *const rlt_state_dict,
    index: i64,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_state_dict_tensor_at", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (dict, out) = unsafe { (arg::handle(dict, "dict")?, out::tensor(out, "out")?) };
        out.give(entry(&dict.read(), index)?.1.clone())
    })
}

fn entry(entries: &[(CString, Tensor)], index: i64) -> Result<&(CString, Tensor)> {
    let found = usize::try_from(index).ok().and_then(|index| entries.get(index));
    found.ok_or_else(|| err!(Index, "index {index} is out of range for a state dict of {}", entries.len()))
}

// ---- Files ----

/// Saves the state dict. The file is replaced atomically. Entries that share memory also share it in the file if the
/// format supports that (`.pt`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_save(dict: *const rlt_state_dict, path: *const c_char, format: i32) -> i32 {
    guard("rlt_state_dict_save", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `dict` is NULL or a live handle, and
        // `path` is NULL or a NUL-terminated string.
        let (dict, path) = unsafe { (arg::handle(dict, "dict")?, Path::new(arg::string(path, "path")?)) };
        let entries = list::try_collect(dict.read().iter().map(|(name, tensor)| to_entry(name, tensor)))?;
        match format {
            RLT_FORMAT_AUTO => rushlight_io::save(path, &entries),
            RLT_FORMAT_PT => pt::save(path, &entries),
            RLT_FORMAT_SAFETENSORS => safetensors::save(path, &entries, None),
            _ => Err(unknown_format(format)),
        }
    })
}

/// Loads the tensors of a file to the CPU, in the file's order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_load(path: *const c_char, format: i32, out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_state_dict_load", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `path` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (path, out) = unsafe { (Path::new(arg::string(path, "path")?), out::handle(out, "out")?) };
        let entries = match format {
            RLT_FORMAT_AUTO => rushlight_io::load(path)?,
            RLT_FORMAT_PT => pt::load(path)?.entries,
            RLT_FORMAT_SAFETENSORS => safetensors::load(path)?.entries,
            _ => return Err(unknown_format(format)),
        };
        out.give(from_entries(entries)?)
    })
}

/// Loads the contents of a file to the CPU, in the file's order: its tensors and, as tensors whose names state the
/// type, the other values of a `.pt` file (`lr:double`, a tensor of one element; likewise `:int`, `:bool` and
/// `:complex`; `:str`, the bytes of a string; `:none`, no bytes; `:list`, `:int_list`, `:double_list`, `:bool_list` and
/// `:tensor_list`, the length of a list, whose elements are `key.0`, `key.1` and so on).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_load_all(path: *const c_char, out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_state_dict_load_all", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `path` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (path, out) = unsafe { (Path::new(arg::string(path, "path")?), out::handle(out, "out")?) };
        out.give(from_entries(rushlight_io::load_all(path)?)?)
    })
}

// ---- Copying into a model ----

/// Copies the tensors of `source` into those of `target` with the same names (`load_state_dict`), without recording.
/// With `strict`, both must have the same names; shapes must always be equal. All mismatches are reported at once, with
/// `model` as the class of the module, and then nothing is written. `missing` and `unexpected` receive the names that
/// only `target` or only `source` has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_copy_into(
    source: *const rlt_state_dict,
    target: *const rlt_state_dict,
    model: *const c_char,
    strict: i32,
    missing: *mut *mut rlt_state_dict,
    unexpected: *mut *mut rlt_state_dict,
) -> i32 {
    guard("rlt_state_dict_copy_into", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `source` and `target` are NULL or
        // live handles, and `model` is NULL or a NUL-terminated string.
        let (source, target, model) =
            unsafe { (arg::handle(source, "source")?, arg::handle(target, "target")?, arg::string(model, "model")?) };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `missing` and `unexpected` are NULL
        // or writable.
        let (missing, unexpected) =
            unsafe { (out::handle(missing, "missing")?, out::handle(unexpected, "unexpected")?) };
        // Copies of the lists: one dict may be both arguments, and hooks of a copy may access them.
        let (source, target) = (source.read().clone(), target.read().clone());
        let left_alone = rushlight_io::copy_state(&named(&source), &named(&target), model, strict != 0)?;
        missing.give(picked(&target, &left_alone.missing))?;
        unexpected.give(picked(&source, &left_alone.unexpected))
    })
}

fn picked(entries: &[(CString, Tensor)], at: &[usize]) -> Box<StateDict> {
    Box::new(StateDict(at.iter().map(|at| entries[*at].clone()).collect::<Vec<_>>().into()))
}

fn named(entries: &[(CString, Tensor)]) -> Vec<(&str, &Tensor)> {
    // Names are checked on insertion, so the conversion loses nothing.
    entries.iter().map(|(name, tensor)| (name.to_str().unwrap_or_default(), tensor)).collect()
}

fn to_entry(name: &CString, tensor: &Tensor) -> Result<Entry> {
    Entry::from_tensor(name.to_string_lossy().into_owned(), tensor)
}

fn from_entries(entries: Vec<Entry>) -> Result<Box<StateDict>> {
    let tensors = list::try_collect(entries.into_iter().map(from_entry))?;
    Ok(Box::new(StateDict(tensors.into())))
}

fn from_entry(mut entry: Entry) -> Result<(CString, Tensor)> {
    let name = std::mem::take(&mut entry.name);
    let name = CString::new(name).map_err(|_| err!(Io, "the name of an entry has a NUL inside"))?;
    Ok((name, entry.into_tensor()?))
}

fn unknown_format(format: i32) -> rushlight_base::Error {
    err!(Value, "{format} is not the number of a file format")
}
