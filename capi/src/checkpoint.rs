//! Checkpoints: `.pt` files as nested values, with learning rates, epochs and strings beside tensors.
//!
//! A checkpoint is a dict, list or other value as `torch.save` of Python writes it: dicts with strings or integers as
//! keys, lists, tuples, numbers, strings, None, dtypes and tensors. A saved one is read by
//! `torch.load(path, weights_only=True)`. `rlt_state_dict_load` reads the tensors alone, under names joined by dots.
//!
//! ```c
//! rlt_tensor *bytes = NULL;
//! void *data = NULL;
//! int64_t len = 0;
//! rlt_value entries[4] = {{0}}, whole = {0}, loaded = {0};
//! entries[0].tag = entries[2].tag = RLT_VALUE_STRING;
//! entries[0].as.string = "epoch";
//! entries[1].tag = RLT_VALUE_INT;
//! entries[1].as.i = 3;
//! entries[2].as.string = "lr";
//! entries[3].tag = RLT_VALUE_FLOAT;
//! entries[3].as.f = 0.25;
//! whole.tag = RLT_VALUE_DICT;
//! whole.len = 2;
//! whole.as.values = entries;
//! int32_t status = rlt_checkpoint_save_memory(&whole, &bytes);
//! if (!status) status = rlt_tensor_data_ptr(bytes, &data);
//! if (!status) status = rlt_tensor_numel(bytes, &len);
//! if (!status) status = rlt_checkpoint_load_memory(data, len, &loaded);
//! for (int64_t i = 0; !status && i < loaded.len; ++i) {
//!   const rlt_value *key = &loaded.as.values[2 * i], *value = key + 1;
//!   if (value->tag == RLT_VALUE_FLOAT) printf("%s = %g\n", key->as.string, value->as.f);  // prints lr = 0.25
//! }
//! rlt_value_free(&loaded);
//! rlt_tensor_free(bytes);
//! ```

use crate::dispatch::rlt_value;
use crate::support::{arg, guard, out, value};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, err};
use rushlight_io::pt;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;
use std::ffi::{c_char, c_void};
use std::io::Cursor;
use std::path::Path;

/// Reads the value of a pointer.
///
/// # Safety
/// For the duration of the call, `pointer` is NULL or points to a readable value whose payload matches its tag.
unsafe fn read(pointer: *const rlt_value) -> Result<Value> {
    // SAFETY: the caller of this function guarantees that `pointer` is NULL or readable, and that the payload matches.
    unsafe {
        match arg::slice(pointer, 1, "value")? {
            [found] => value::read(found, "value"),
            _ => Err(err!(NullPointer, "argument `value` is NULL")),
        }
    }
}

// ---- Files ----

/// Writes a value to a file. The file is replaced atomically. Tensors that share memory also share it in the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_checkpoint_save(value: *const rlt_value, path: *const c_char) -> i32 {
    guard("rlt_checkpoint_save", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `value` is NULL or a readable value
        // whose payload matches its tag, and `path` is NULL or a NUL-terminated string.
        let (value, path) = unsafe { (read(value)?, Path::new(arg::string(path, "path")?)) };
        pt::save_value(path, &value)
    })
}

/// Loads the value of a file that `rlt_checkpoint_save` or `torch.save` wrote, with its tensors on the CPU. The result is
/// owned. Objects of libtorch's archives are dicts of their attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_checkpoint_load(path: *const c_char, out: *mut rlt_value) -> i32 {
    guard("rlt_checkpoint_load", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `path` is NULL or a NUL-terminated
        // string, and `out` is NULL or writable.
        let (path, out) = unsafe { (Path::new(arg::string(path, "path")?), out::value(out, "out")?) };
        out.set(value::write(pt::load_value(path)?))
    })
}

// ---- Files in memory ----

/// Writes a value as a file into a tensor of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_checkpoint_save_memory(value: *const rlt_value, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_checkpoint_save_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `value` is NULL or a readable value
        // whose payload matches its tag, and `out` is NULL or writable.
        let (value, out) = unsafe { (read(value)?, out::tensor(out, "out")?) };
        let bytes = pt::value_to_bytes(&value)?;
        out.give(Tensor::from_slice(&bytes, &[bytes.len() as i64])?)
    })
}

/// Returns the value of a file of `len` bytes, like `rlt_checkpoint_load`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_checkpoint_load_memory(data: *const c_void, len: i64, out: *mut rlt_value) -> i32 {
    guard("rlt_checkpoint_load_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `data` is NULL or points to `len`
        // bytes, and `out` is NULL or writable.
        let (data, out) = unsafe { (arg::slice(data.cast::<u8>(), len, "data")?, out::value(out, "out")?) };
        out.set(value::write(pt::read_value(Cursor::new(data))?))
    })
}
