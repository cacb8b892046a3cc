//! Weak references to tensors, which do not keep them alive.

use super::rlt_tensor;
use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out};
use rushlight_tensor::WeakTensor;

/// A reference to a tensor that does not keep it alive.
pub struct rlt_weak_tensor {
    _private: [u8; 0],
}

impl Handle for rlt_weak_tensor {
    type Rust = Box<WeakTensor>;
}

// ---- Weak references ----

/// Creates a weak reference to a tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_weak_tensor_new(tensor: *const rlt_tensor, out: *mut *mut rlt_weak_tensor) -> i32 {
    guard("rlt_weak_tensor_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::handle(out, "out")?.give(Box::new(tensor.downgrade()))
        }
    })
}

/// Creates another weak reference to the same tensor, which may be gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_weak_tensor_clone(weak: *const rlt_weak_tensor, out: *mut *mut rlt_weak_tensor) -> i32 {
    guard("rlt_weak_tensor_clone", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `weak` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let weak = arg::handle(weak, "weak")?;
            out::handle(out, "out")?.give(Box::new(WeakTensor::clone(&weak)))
        }
    })
}

/// Returns a handle of the tensor, or NULL if its last handle was freed and nothing inside Rushlight refers to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_weak_tensor_lock(weak: *const rlt_weak_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_weak_tensor_lock", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `weak` is NULL or a live handle, and
        // `out` is NULL or writable.
        unsafe {
            let weak = arg::handle(weak, "weak")?;
            out::tensor(out, "out")?.give_opt(weak.upgrade())
        }
    })
}

/// Returns the reference count of the tensor, 0 if it is gone, and the number of its weak references: one more while the
/// tensor is alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_weak_tensor_use_count(
    weak: *const rlt_weak_tensor,
    out: *mut i64,
    out_weak: *mut i64,
) -> i32 {
    guard("rlt_weak_tensor_use_count", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `weak` is NULL or a live handle, and
        // `out` and `out_weak` are NULL or writable.
        let (weak, out, out_weak) =
            unsafe { (arg::handle(weak, "weak")?, out::value(out, "out")?, out::value(out_weak, "out_weak")?) };
        out.set(weak.use_count() as i64)?;
        out_weak.set(weak.weak_use_count() as i64)
    })
}

/// Frees a weak reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_weak_tensor_free(weak: *mut rlt_weak_tensor) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `weak` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_weak_tensor_free", || drop(unsafe { handle::take(weak) }));
}
