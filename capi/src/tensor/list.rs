//! Lists of tensors.

use super::{rlt_tensor, rlt_tensor_list};
use crate::support::handle;
use crate::support::{arg, guard, guard_free, out};
use rushlight_base::err;

// ---- Lists of tensors ----

/// Creates a list with one more reference to each of `len` tensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_new(
    tensors: *const *const rlt_tensor,
    len: i64,
    out: *mut *mut rlt_tensor_list,
) -> i32 {
    guard("rlt_tensor_list_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensors` is NULL or points to `len`
        // live or NULL handles, and `out` is NULL or writable.
        unsafe {
            let tensors = arg::tensors(tensors, len, "tensors")?;
            out::tensor_list(out, "out")?.give(tensors.to_vec())
        }
    })
}

/// Returns the number of tensors in a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_len(list: *const rlt_tensor_list, out: *mut i64) -> i32 {
    guard("rlt_tensor_list_len", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `list` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let list = arg::handle(list, "list")?;
            out::value(out, "out")?.set(list.len() as i64)
        }
    })
}

/// Returns an owned reference to the tensor at `index`, counted from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_get(
    list: *const rlt_tensor_list,
    index: i64,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_tensor_list_get", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `list` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (list, out) = unsafe { (arg::handle(list, "list")?, out::tensor(out, "out")?) };
        let tensor = usize::try_from(index).ok().and_then(|index| list.get(index));
        out.give(
            tensor.ok_or_else(|| err!(Index, "index {index} is out of range for a list of {}", list.len()))?.clone(),
        )
    })
}

/// Frees a list and its references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_free(list: *mut rlt_tensor_list) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `list` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_tensor_list_free", || drop(unsafe { handle::take(list) }));
}
