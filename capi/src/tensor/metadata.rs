//! Metadata of tensors, access to their elements and storage, identity, wrapped numbers.

use super::{rlt_device, rlt_scalar, rlt_tensor};
use crate::support::{arg, guard, out};
use rushlight_base::{MemoryFormat, ensure, err};
use rushlight_tensor::autograd;
use std::ffi::{CStr, c_char, c_void};

// ---- Metadata ----

/// Returns the number of dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_ndim(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_ndim", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.ndim() as i64)
        }
    })
}

/// Returns pointers to sizes and strides (in elements), `*ndim` of each. Borrowed: valid until the tensor is resized,
/// its shape or data are replaced, or it is freed. A nested tensor has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_geometry(
    tensor: *const rlt_tensor,
    sizes: *mut *const i64,
    strides: *mut *const i64,
    ndim: *mut i64,
) -> i32 {
    guard("rlt_tensor_geometry", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `sizes`, `strides` and `ndim` are NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            let (sizes, strides) = (out::value(sizes, "sizes")?, out::value(strides, "strides")?);
            let ndim = out::value(ndim, "ndim")?;
            ensure!(
                !tensor.is_nested(),
                Runtime,
                "a nested tensor has neither sizes nor strides: its tensors may differ"
            );
            let (first_size, first_stride, count) = tensor.geometry_parts();
            sizes.set(first_size)?;
            strides.set(first_stride)?;
            ndim.set(count as i64)
        }
    })
}

/// Returns the number of elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_numel(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_numel", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.numel())
        }
    })
}

/// Returns the element type: `RLT_DTYPE_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_dtype(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_dtype", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.dtype() as i32)
        }
    })
}

/// Returns the device of the tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_device(tensor: *const rlt_tensor, out: *mut rlt_device) -> i32 {
    guard("rlt_tensor_device", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.device().into())
        }
    })
}

/// Returns the layout: `RLT_LAYOUT_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_layout(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_layout", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.layout() as i32)
        }
    })
}

/// Whether the tensor is a batch of tensors whose sizes differ.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_nested(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_nested", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(i32::from(tensor.is_nested()))
        }
    })
}

/// Returns the number of specified elements of a sparse tensor; an error for a strided one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_nnz(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_nnz", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.nnz()?)
        }
    })
}

/// Returns the number of dimensions with coordinates of a sparse tensor: 0 for a strided one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_sparse_dim(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_sparse_dim", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.sparse_dim())
        }
    })
}

/// Returns the number of dimensions of each value of a sparse tensor; the number of dimensions of a strided one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_dense_dim(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_dense_dim", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.dense_dim())
        }
    })
}

/// Returns the quantization scheme of a quantized tensor, with c10's number; an error for any other tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_qscheme(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_qscheme", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            let out = out::value(out, "out")?;
            let quantizer = tensor.quantizer();
            let quantizer = quantizer.ok_or_else(|| {
                err!(NotImplemented, "qscheme: the tensor has dtype {} and is not quantized", tensor.dtype())
            })?;
            out.set(quantizer.scheme() as i32)
        }
    })
}

/// Returns whether the coordinates of a tensor in COO format are sorted and distinct; an error for other layouts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_coalesced(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_coalesced", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_coalesced()?)
        }
    })
}

/// Returns the number of bytes per element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_element_size(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_element_size", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.dtype().size() as i64)
        }
    })
}

/// Returns the number of bytes of all elements: elements times bytes per element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_nbytes(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_nbytes", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.numel().saturating_mul(tensor.dtype().size() as i64))
        }
    })
}

/// Returns the offset of the first element in the storage, in elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_storage_offset(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_storage_offset", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.storage_offset())
        }
    })
}

/// Returns whether the conj bit is set: the elements are those of the storage, conjugated lazily. `rlt_tensor_data_ptr`
/// points to the stored elements; `rlt_tensor_resolve_conj` materializes the conjugation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_conj(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_conj", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_conj())
        }
    })
}

/// Returns whether the neg bit is set: the elements are those of the storage, negated lazily. `rlt_tensor_data_ptr`
/// points to the stored elements; `rlt_tensor_resolve_neg` materializes the negation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_neg(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_neg", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_neg())
        }
    })
}

// ---- Elements and storage ----

/// Returns the address of the first element. Borrowed: valid as long as the tensor keeps its storage, which
/// `rlt_tensor_set_data` and resizing to more elements replace; a tensor from an earlier `rlt_tensor_detach` keeps it.
/// Writes through it do not bump the version counter. NULL for a tensor without elements; an error on the meta device,
/// which has no data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_data_ptr(tensor: *const rlt_tensor, out: *mut *mut c_void) -> i32 {
    guard("rlt_tensor_data_ptr", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let dense = tensor.dense()?;
        ensure!(
            !dense.is_meta(),
            Runtime,
            "Cannot access data pointer of Tensor that doesn't have storage: it is on the meta device"
        );
        // A tensor without elements has no address, even if it is a view of a tensor that has elements.
        out.set(if dense.numel() == 0 { std::ptr::null_mut() } else { dense.ptr().cast() })
    })
}

/// Returns start and size in bytes of the storage that the tensor and its views share. `*data` is NULL on the meta
/// device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_storage(
    tensor: *const rlt_tensor,
    data: *mut *mut c_void,
    nbytes: *mut i64,
) -> i32 {
    guard("rlt_tensor_storage", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `data` and `nbytes` are NULL or writable.
        let (tensor, data, nbytes) =
            unsafe { (arg::tensor(tensor, "tensor")?, out::value(data, "data")?, out::value(nbytes, "nbytes")?) };
        let storage = tensor.dense()?.storage.clone();
        data.set(storage.data().cast())?;
        nbytes.set(storage.bytes() as i64)
    })
}

/// Returns the name of dimension `dim`; NULL: it has none. Borrowed: valid until the tensor is renamed or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_dim_name(tensor: *const rlt_tensor, dim: i64, out: *mut *const c_char) -> i32 {
    guard("rlt_tensor_dim_name", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let ndim = tensor.ndim();
        let index = usize::try_from(dim).ok().filter(|index| *index < ndim);
        let index = index.ok_or_else(|| err!(Index, "dimension {dim} is out of range for {ndim} dimensions"))?;
        // The tensor still holds the names after this reference is dropped.
        let names = tensor.names();
        let name = names.as_ref().and_then(|names| names[index].as_ref());
        out.set(name.map_or(std::ptr::null(), |name| name.as_ptr()))
    })
}

/// Sets a name for each dimension, NULL for none; `names` NULL removes the names. Names are labels: operators ignore
/// them, and their results have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_names(
    tensor: *const rlt_tensor,
    names: *const *const c_char,
    n_names: i64,
) -> i32 {
    guard("rlt_tensor_set_names", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        let tensor = unsafe { arg::tensor(tensor, "tensor")? };
        if names.is_null() {
            return tensor.set_names(None);
        }
        // SAFETY: docs/c-abi.md obliges the caller: `names` points to `n_names` elements.
        let names = unsafe { arg::slice(names, n_names, "names")? };
        let named = |name: &*const c_char| {
            // SAFETY: docs/c-abi.md obliges the caller: each element is NULL or a NUL-terminated string.
            Ok((!name.is_null()).then(|| unsafe { CStr::from_ptr(*name) }))
        };
        let names = arg::list::<_, [Option<&CStr>; 8]>(names, named)?;
        tensor.set_names(Some(&names))
    })
}

/// Returns the value of a tensor with one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_item(tensor: *const rlt_tensor, out: *mut rlt_scalar) -> i32 {
    guard("rlt_tensor_item", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            let out = out::scalar(out, "out")?;
            out.set(tensor.item()?)
        }
    })
}

/// Returns whether the tensor is contiguous in this memory format (`RLT_MEMORY_FORMAT_*`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_contiguous(tensor: *const rlt_tensor, memory_format: i32, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_contiguous", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::bool(out, "out")?) };
        out.set(tensor.is_contiguous(MemoryFormat::from_code(memory_format)?))
    })
}

// ---- Identity ----

/// Returns the version counter: the number of in-place writes to the tensor's storage, through it or its views. Tensors
/// created in inference mode have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_version(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_version", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            ensure!(!tensor.is_inference(), Runtime, "Inference tensors do not track version counter.");
            out::value(out, "out")?.set(i64::from(tensor.version()))
        }
    })
}

/// Bumps the version counter for a write that the library has not seen, such as one through `rlt_tensor_data_ptr`:
/// saved copies for backward are then out of date. An error for a tensor created in inference mode, outside of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_bump_version(tensor: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_bump_version", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        let tensor = unsafe { arg::tensor(tensor, "tensor") }?;
        autograd::check_inference_write(&tensor)?;
        tensor.bump_version();
        Ok(())
    })
}

/// Returns whether two tensors share a storage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_alias_of(a: *const rlt_tensor, b: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_alias_of", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `a` and `b` are NULL or live handles,
        // and `out` is NULL or writable.
        unsafe {
            let (a, b) = (arg::tensor(a, "a")?, arg::tensor(b, "b")?);
            out::bool(out, "out")?.set(a.storage().is(&b.storage()))
        }
    })
}

/// Returns the reference count of the tensor: handles, and references inside Rushlight.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_use_count(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_use_count", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.use_count() as i64)
        }
    })
}

/// Returns the number of weak references to the tensor, and 1 for its other references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_weak_use_count(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_weak_use_count", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.weak_use_count() as i64)
        }
    })
}

/// Replaces the storage, dtype and shape of `tensor` by those of `data`. Its identity and gradient stay; other tensors
/// over its previous storage keep that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_data(tensor: *const rlt_tensor, data: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_set_data", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` and `data` are NULL or live
        // handles.
        unsafe {
            let (tensor, data) = (arg::tensor(tensor, "tensor")?, arg::tensor(data, "data")?);
            tensor.set_data(&data)
        }
    })
}

// ---- Wrapped numbers ----

/// Returns whether this 0-dim tensor is a wrapped number, which has lower priority in type promotion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_wrapped_number(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_wrapped_number", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_wrapped_number())
        }
    })
}

/// Sets whether this 0-dim tensor is a wrapped number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_wrapped_number(tensor: *const rlt_tensor, on: i32) -> i32 {
    guard("rlt_tensor_set_wrapped_number", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        unsafe { arg::tensor(tensor, "tensor") }?.set_wrapped_number(arg::bool(on))
    })
}
