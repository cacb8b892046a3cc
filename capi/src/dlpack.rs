//! DLPack: exchanging tensors with other libraries, without a copy.
//!
//! Exports DLPack 1.0, and the struct that preceded it; imports any 1.x. The structs are those of `dlpack/dlpack.h`;
//! they are only declared here, so that a program can include both headers.
//!
//! ```c
//! struct DLManagedTensorVersioned *lent = NULL;
//! rlt_tensor *x = NULL, *same = NULL;
//! void *memory = NULL, *again = NULL;
//! int32_t status = rlt_tensor_ones(NULL, 0, NULL, &x);
//! if (!status) status = rlt_tensor_to_dlpack(x, &lent);
//! if (!status) status = rlt_tensor_from_dlpack(lent, &same);  // takes `lent` over
//! if (!status) status = rlt_tensor_data_ptr(x, &memory);
//! if (!status) status = rlt_tensor_data_ptr(same, &again);
//! if (!status) printf("%s\n", memory == again ? "one memory" : "a copy");  // prints one memory
//! rlt_tensor_free(same);
//! rlt_tensor_free(x);
//! ```

//@ /* Defined by <dlpack/dlpack.h>, which may be included before or after. */
//@ struct DLManagedTensor;
//@ struct DLManagedTensorVersioned;

use crate::support::{arg, guard, out};
use crate::tensor::{over_memory, rlt_tensor};
use rushlight_base::{DType, Device, DeviceType, Result, bail, ensure, err, handles};
use rushlight_tensor::{Dense, Tensor};
use std::ffi::c_void;

/// Version of the exported struct; any 1.x is imported.
const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };
const READ_ONLY: u64 = 1;
const CPU: i32 = 1;
const CUDA: i32 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct DLPackVersion {
    major: u32,
    minor: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DLDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct DLDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DLTensor {
    data: *mut c_void,
    device: DLDevice,
    ndim: i32,
    dtype: DLDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// The struct of DLPack 1.x.
#[repr(C)]
pub struct DLManagedTensorVersioned {
    version: DLPackVersion,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    flags: u64,
    dl_tensor: DLTensor,
}

/// The struct from before DLPack 1.0.
#[repr(C)]
pub struct DLManagedTensor {
    dl_tensor: DLTensor,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// Keeps the exported memory alive. Shape and strides are stored here, and the struct points to them.
struct Exported<M> {
    managed: M,
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// The storage, not the tensor, whose storage may be replaced.
    _memory: Dense,
}

fn dtype_to_dlpack(dtype: DType) -> DLDataType {
    let code = match dtype {
        DType::Bool => 6,
        DType::BF16 => 4,
        dtype if dtype.is_complex() => 5,
        dtype if dtype.is_floating() => 2,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        _ => 0,
    };
    DLDataType { code, bits: (dtype.size() * 8) as u8, lanes: 1 }
}

fn dtype_from_dlpack(dtype: DLDataType) -> Result<DType> {
    DType::all().find(|candidate| dtype_to_dlpack(*candidate) == dtype).ok_or_else(|| {
        let DLDataType { code, bits, lanes } = dtype;
        err!(Type, "DLPack type with code {code}, {bits} bits and {lanes} lanes is not supported")
    })
}

/// Boxes the export, with `dl_tensor` pointing into the box.
fn export<M>(
    tensor: &Tensor,
    make: impl FnOnce(DLTensor) -> M,
    tensor_of: fn(&mut M) -> &mut DLTensor,
) -> Result<*mut Exported<M>> {
    ensure!(!tensor.requires_grad(), Runtime, "Can't export tensors that require gradient, use tensor.detach()");
    let dense = tensor.dense()?;
    ensure!(!dense.lazy.conj, Runtime, "Can't export tensors that have the conjugate bit set");
    ensure!(!dense.lazy.neg, Runtime, "Can't export tensors that have the negative bit set");
    ensure!(!dense.is_meta(), NotImplemented, "a tensor on the meta device has no data to export");
    let dl_tensor = DLTensor {
        data: dense.ptr().cast(),
        device: match dense.device.kind {
            DeviceType::Cuda => DLDevice { device_type: CUDA, device_id: dense.device.index.into() },
            _ => DLDevice { device_type: CPU, device_id: 0 },
        },
        ndim: dense.ndim() as i32,
        dtype: dtype_to_dlpack(dense.dtype),
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let mut exported = Box::new(Exported {
        managed: make(dl_tensor),
        shape: dense.sizes().to_vec(),
        strides: dense.strides().to_vec(),
        _memory: dense.clone(),
    });
    let (shape, strides) = (exported.shape.as_mut_ptr(), exported.strides.as_mut_ptr());
    let inner = tensor_of(&mut exported.managed);
    (inner.shape, inner.strides) = (shape, strides);
    handles::made();
    Ok(Box::into_raw(exported))
}

unsafe fn release<M>(exported: *mut c_void) {
    handles::freed();
    // SAFETY: `exported` is the `manager_ctx` that `export` leaked from a box of this type, and DLPack calls a deleter
    // once.
    drop(unsafe { Box::from_raw(exported.cast::<Exported<M>>()) });
}

/// The deleter that consumers call. Dropping a tensor may run a foreign deleter, so this is guarded as well.
unsafe extern "C" fn delete_versioned(managed: *mut DLManagedTensorVersioned) {
    crate::support::guard_free("DLManagedTensorVersioned.deleter", || {
        // SAFETY: DLPack passes the struct that owns this deleter, made by `rlt_tensor_to_dlpack` with a box of this
        // type; it is called once.
        unsafe { release::<DLManagedTensorVersioned>((*managed).manager_ctx) }
    });
}

unsafe extern "C" fn delete_legacy(managed: *mut DLManagedTensor) {
    crate::support::guard_free("DLManagedTensor.deleter", || {
        // SAFETY: DLPack passes the struct that owns this deleter, made by `rlt_tensor_to_dlpack_legacy` with a box of
        // this type; it is called once.
        unsafe { release::<DLManagedTensor>((*managed).manager_ctx) }
    });
}

/// Exports the tensor's memory to another library, as DLPack 1.0. The consumer calls the struct's deleter once; the
/// struct counts as a live handle until then. A tensor that requires a gradient must be detached first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_to_dlpack(
    tensor: *const rlt_tensor,
    out: *mut *mut DLManagedTensorVersioned,
) -> i32 {
    guard("rlt_tensor_to_dlpack", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let make = |dl_tensor| DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx: std::ptr::null_mut(),
            deleter: Some(delete_versioned),
            flags: 0,
            dl_tensor,
        };
        let exported = export(&tensor, make, |managed| &mut managed.dl_tensor)?;
        // SAFETY: `exported` points to the box just leaked by `export`; no other reference to it exists yet.
        unsafe {
            (*exported).managed.manager_ctx = exported.cast();
            out.set(&raw mut (*exported).managed)
        }
    })
}

/// Like `rlt_tensor_to_dlpack`, for consumers that support only the struct of DLPack before 1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_to_dlpack_legacy(tensor: *const rlt_tensor, out: *mut *mut DLManagedTensor) -> i32 {
    guard("rlt_tensor_to_dlpack_legacy", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let make =
            |dl_tensor| DLManagedTensor { dl_tensor, manager_ctx: std::ptr::null_mut(), deleter: Some(delete_legacy) };
        let exported = export(&tensor, make, |managed| &mut managed.dl_tensor)?;
        // SAFETY: `exported` points to the box just leaked by `export`; no other reference to it exists yet.
        unsafe {
            (*exported).managed.manager_ctx = exported.cast();
            out.set(&raw mut (*exported).managed)
        }
    })
}

/// Creates a tensor over the memory of another library. On success it takes ownership of `managed`: the deleter is
/// called when the memory is no longer used. On failure `managed` still belongs to the caller. The memory must be on
/// the CPU and writable, aligned for its dtype, with non-negative strides.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_from_dlpack(
    managed: *mut DLManagedTensorVersioned,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_tensor_from_dlpack", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `managed` is NULL or readable, and
        // `out` is NULL or writable.
        let (given, out) = unsafe {
            let given = managed.as_ref().ok_or_else(|| err!(NullPointer, "argument `managed` is NULL"))?;
            (given, out::tensor(out, "out")?)
        };
        ensure!(
            given.version.major == VERSION.major,
            Value,
            "DLPack version {}.{} is not supported, only 1.x",
            given.version.major,
            given.version.minor
        );
        ensure!(
            given.flags & READ_ONLY == 0,
            Value,
            "the DLPack tensor is read-only, but tensors can be written: copy it first"
        );
        let (address, deleter) = (managed as usize, given.deleter);
        let free = Box::new(move |_: *mut c_void| {
            if let Some(deleter) = deleter {
                // SAFETY: ownership of the struct was taken at import; its deleter is called here once, with the struct
                // itself.
                unsafe { deleter(address as *mut DLManagedTensorVersioned) }
            }
        });
        // SAFETY: the DLPack producer guarantees that shape, strides and memory stay valid until the deleter is called.
        out.give(unsafe { import(&given.dl_tensor, free) }?)
    })
}

/// Like `rlt_tensor_from_dlpack`, for the struct from before DLPack 1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_from_dlpack_legacy(
    managed: *mut DLManagedTensor,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_tensor_from_dlpack_legacy", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `managed` is NULL or readable, and
        // `out` is NULL or writable.
        let (given, out) = unsafe {
            let given = managed.as_ref().ok_or_else(|| err!(NullPointer, "argument `managed` is NULL"))?;
            (given, out::tensor(out, "out")?)
        };
        let (address, deleter) = (managed as usize, given.deleter);
        let free = Box::new(move |_: *mut c_void| {
            if let Some(deleter) = deleter {
                // SAFETY: ownership of the struct was taken at import; its deleter is called here once, with the struct
                // itself.
                unsafe { deleter(address as *mut DLManagedTensor) }
            }
        });
        // SAFETY: the DLPack producer guarantees that shape, strides and memory stay valid until the deleter is called.
        out.give(unsafe { import(&given.dl_tensor, free) }?)
    })
}

/// Creates the tensor that a DLPack struct describes.
unsafe fn import(given: &DLTensor, free: Box<dyn FnOnce(*mut c_void) + Send + Sync>) -> Result<Tensor> {
    let device = match (given.device.device_type, i8::try_from(given.device.device_id)) {
        (CPU, _) => Device::CPU,
        (CUDA, Ok(index)) => Device::cuda(index),
        (other, _) => bail!(NotImplemented, "DLPack device type {other} is not supported, only the CPU and CUDA"),
    };
    let dtype = dtype_from_dlpack(given.dtype)?;
    let data = given.data.cast::<u8>().wrapping_add(given.byte_offset as usize);
    // SAFETY: DLPack: `shape` has `ndim` elements, and `strides` is NULL or has `ndim` elements; the caller guarantees
    // `given`.
    unsafe {
        let sizes = arg::ints(given.shape, i64::from(given.ndim), "managed.dl_tensor.shape")?;
        let strides = arg::ints_opt(given.strides, i64::from(given.ndim), "managed.dl_tensor.strides")?;
        over_memory(device, data.cast(), dtype, sizes, strides, Some(free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_a_name_of_its_own_in_dlpack() {
        for dtype in DType::all() {
            assert_eq!(dtype_from_dlpack(dtype_to_dlpack(dtype)).unwrap(), dtype);
        }
        assert!(dtype_from_dlpack(DLDataType { code: 0, bits: 8, lanes: 4 }).is_err());
    }
}
