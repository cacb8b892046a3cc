//! Files: named tensors, as `.pt` and safetensors.
//!
//! A state dict holds tensors under names, in order: the parameters of a model. Python reads what is written here, and the
//! other way round; a pickle is read without executing anything.
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
use rushlight_base::{Result, err};
use rushlight_io::{Entry, pt, safetensors};
use rushlight_tensor::Tensor;
use std::ffi::{CString, c_char};
use std::path::Path;

// ---- File formats ----

/// when saving, safetensors if the name ends in `.safetensors`, else `.pt`; when loading, what the
/// content says
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

/// What a state dict handle owns. One thread at a time may change it.
#[derive(Default)]
pub struct StateDict(std::sync::RwLock<Vec<(CString, Tensor)>>);

impl StateDict {
    fn read(&self) -> std::sync::RwLockReadGuard<'_, Vec<(CString, Tensor)>> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Vec<(CString, Tensor)>> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

// ---- State dicts ----

/// An empty state dict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_new(out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_state_dict_new", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::handle(out, "out") }?.give(Box::default())
    })
}

/// Frees a state dict and its references to tensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_free(dict: *mut rlt_state_dict) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_state_dict_free", || drop(unsafe { handle::take(dict) }));
}

/// Number of entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_len(dict: *const rlt_state_dict, out: *mut i64) -> i32 {
    guard("rlt_state_dict_len", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let dict = arg::handle(dict, "dict")?;
            out::value(out, "out")?.set(dict.read().len() as i64)
        }
    })
}

/// Adds a reference to `tensor` under `name`, at the end; an entry of that name is replaced where it stands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_insert(
    dict: *mut rlt_state_dict,
    name: *const c_char,
    tensor: *const rlt_tensor,
) -> i32 {
    guard("rlt_state_dict_insert", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
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

/// An owned reference to the tensor called `name`; `RLT_ERROR_INDEX` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_get(
    dict: *const rlt_state_dict,
    name: *const c_char,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_state_dict_get", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (dict, name, out) =
            unsafe { (arg::handle(dict, "dict")?, arg::string(name, "name")?, out::tensor(out, "out")?) };
        let entries = dict.read();
        let found = entries.iter().find(|(other, _)| other.to_bytes() == name.as_bytes());
        out.give(found.ok_or_else(|| err!(Index, "there is no entry '{name}' in the state dict"))?.1.clone())
    })
}

/// The name of the entry at `index`, counted from 0. Borrowed until the state dict is changed or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_name_at(
    dict: *const rlt_state_dict,
    index: i64,
    out: *mut *const c_char,
) -> i32 {
    guard("rlt_state_dict_name_at", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (dict, out) = unsafe { (arg::handle(dict, "dict")?, out::value(out, "out")?) };
        out.set(entry(&dict.read(), index)?.0.as_ptr())
    })
}

/// An owned reference to the tensor of the entry at `index`, counted from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_tensor_at(
    dict: *const rlt_state_dict,
    index: i64,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_state_dict_tensor_at", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (dict, out) = unsafe { (arg::handle(dict, "dict")?, out::tensor(out, "out")?) };
        out.give(entry(&dict.read(), index)?.1.clone())
    })
}

fn entry(entries: &[(CString, Tensor)], index: i64) -> Result<&(CString, Tensor)> {
    let found = usize::try_from(index).ok().and_then(|index| entries.get(index));
    found.ok_or_else(|| err!(Index, "index {index} is out of range for a state dict of {}", entries.len()))
}

// ---- Files ----

/// Saves the state dict. The file is replaced whole, or not at all. Entries that share memory share it in the
/// file, too, where the format can say so (`.pt`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_save(dict: *const rlt_state_dict, path: *const c_char, format: i32) -> i32 {
    guard("rlt_state_dict_save", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (dict, path) = unsafe { (arg::handle(dict, "dict")?, Path::new(arg::string(path, "path")?)) };
        let entries = dict.read().iter().map(|(name, tensor)| to_entry(name, tensor)).collect::<Result<Vec<_>>>()?;
        match format {
            RLT_FORMAT_AUTO => rushlight_io::save(path, &entries),
            RLT_FORMAT_PT => pt::save(path, &entries),
            RLT_FORMAT_SAFETENSORS => safetensors::save(path, &entries, None),
            _ => Err(unknown_format(format)),
        }
    })
}

/// Loads the tensors of a file, on the CPU, in the file's order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_load(path: *const c_char, format: i32, out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_state_dict_load", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
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

/// Loads what a file holds, on the CPU, in the file's order: its tensors and, as tensors under names that tell the type,
/// the values beside them in a `.pt` file (`lr:double`, a tensor of one element; likewise `:int`, `:bool` and `:complex`;
/// `:str`, the bytes of a text; `:none`, no bytes; `:list`, `:int_list`, `:double_list`, `:bool_list` and `:tensor_list`, the
/// length of a list, whose elements are `key.0`, `key.1` and so on).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_state_dict_load_all(path: *const c_char, out: *mut *mut rlt_state_dict) -> i32 {
    guard("rlt_state_dict_load_all", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (path, out) = unsafe { (Path::new(arg::string(path, "path")?), out::handle(out, "out")?) };
        out.give(from_entries(rushlight_io::load_all(path)?)?)
    })
}

// ---- Into a model ----

/// Copies the tensors of `source` into those of `target` that have their names (`load_state_dict`), without recording. If
/// `strict`, each name must stand in both; shapes must be equal always. Faults are told all at once, with `model` for the class
/// of the module, and then nothing is written. `missing` and `unexpected` get what was left alone in `target` and in
/// `source`.
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
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (source, target, model) =
            unsafe { (arg::handle(source, "source")?, arg::handle(target, "target")?, arg::string(model, "model")?) };
        // SAFETY: as above.
        let (missing, unexpected) =
            unsafe { (out::handle(missing, "missing")?, out::handle(unexpected, "unexpected")?) };
        // Copies of the lists: one dict may be both, and hooks of a copy may look at them.
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
    // Names are checked where they come in: nothing is lost.
    entries.iter().map(|(name, tensor)| (name.to_str().unwrap_or_default(), tensor)).collect()
}

fn to_entry(name: &CString, tensor: &Tensor) -> Result<Entry> {
    Entry::from_tensor(name.to_string_lossy().into_owned(), tensor)
}

fn from_entries(entries: Vec<Entry>) -> Result<Box<StateDict>> {
    let tensors = entries.into_iter().map(from_entry).collect::<Result<Vec<_>>>()?;
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
