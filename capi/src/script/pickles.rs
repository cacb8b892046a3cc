//! Values without a module as pickles and files.

use super::rlt_script;
use crate::dispatch::rlt_value;
use crate::support::{arg, guard, out, value};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, bail, err, list};
use rushlight_script::values;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;
use std::ffi::c_void;

// ---- Values as files ----

fn bytes(bytes: &[u8]) -> Result<Tensor> {
    Tensor::from_slice(bytes, &[bytes.len() as i64])
}

/// Reads the value of a pointer.
///
/// # Safety
/// For the duration of the call, `pointer` is NULL or points to a readable value whose payload matches its tag.
unsafe fn read(pointer: *const rlt_value, name: &'static str) -> Result<Value> {
    // SAFETY: the caller of this function guarantees what these reads need.
    unsafe {
        match arg::slice(pointer, 1, name)? {
            [value] => value::read(value, name),
            _ => Err(err!(NullPointer, "argument `{name}` is NULL")),
        }
    }
}

/// Pickles a value into a tensor of bytes. Its tensors are written to `*table` as a list, and the pickle has their
/// numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_pickle(
    value: *const rlt_value,
    out: *mut *mut rlt_tensor,
    table: *mut rlt_value,
) -> i32 {
    guard("rlt_value_pickle", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `value` is NULL or a readable value
        // whose payload matches its tag, and `out` and `table` are NULL or writable.
        let (value, out, table) =
            unsafe { (read(value, "value")?, out::tensor(out, "out")?, out::value(table, "table")?) };
        let mut tensors = Vec::new();
        let pickle = bytes(&values::pickle(value, &mut tensors)?)?;
        table.set(value::write(Value::Tensors(list::collect(tensors.into_iter().map(Some))?)))?;
        out.give(pickle)
    })
}

/// Returns the value of a pickle of `len` bytes. `table` is the list of its tensors, or NULL. Its objects have the classes
/// of `script`, which may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_unpickle(
    data: *const c_void,
    len: i64,
    table: *const rlt_value,
    script: *const rlt_script,
    out: *mut rlt_value,
) -> i32 {
    guard("rlt_value_unpickle", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `data` is NULL or points to `len`
        // bytes, `table` is NULL or a readable value whose payload matches its tag, `script` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let (data, out) = (arg::slice(data.cast::<u8>(), len, "data")?, out::value(out, "out")?);
            let tensors = match table.is_null() {
                true => Vec::new(),
                false => tensors(read(table, "table")?)?,
            };
            let script = match script.is_null() {
                true => None,
                false => Some(arg::handle(script, "script")?),
            };
            out.set(value::write(values::unpickle(data, &tensors, script.as_deref())?))
        }
    })
}

fn tensors(table: Value) -> Result<Vec<Tensor>> {
    match table {
        Value::Tensors(tensors) => list::collect(tensors.into_iter().flatten()),
        Value::List(items) => list::try_collect(items.iter().map(|item| match item {
            Value::Tensor(tensor) => Ok(tensor.clone()),
            other => bail!(Type, "the table of a pickle must be a list of tensors, not of {}", other.kind()),
        })),
        other => bail!(Type, "the table of a pickle must be a list of tensors, not {}", other.kind()),
    }
}

/// Writes a value as a file that `torch.load` of PyTorch reads, into a tensor of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_save_memory(value: *const rlt_value, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_value_save_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `value` is NULL or a readable value
        // whose payload matches its tag, and `out` is NULL or writable.
        let (value, out) = unsafe { (read(value, "value")?, out::tensor(out, "out")?) };
        out.give(bytes(&values::save_value(value)?)?)
    })
}

/// Returns the value of a file of `len` bytes that `rlt_value_save_memory` or `torch.save` wrote.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_value_load_memory(data: *const c_void, len: i64, out: *mut rlt_value) -> i32 {
    guard("rlt_value_load_memory", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `data` is NULL or points to `len`
        // bytes, and `out` is NULL or writable.
        let (data, out) = unsafe { (arg::slice(data.cast::<u8>(), len, "data")?, out::value(out, "out")?) };
        out.set(value::write(values::load_value(list::copied(data)?)?))
    })
}
