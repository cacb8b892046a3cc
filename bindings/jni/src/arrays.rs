//! Values in and out: copies of Java arrays, and direct buffers without a copy.

use crate::support::{
    EnvUnowned, Frame, JClass, JLongs, JObject, TensorHandle, border, dtype, guard, jint, jlong, jlongArray, jobject,
};
use jni::sys::{JNI_ABORT, JNIEnv, jarray, jsize};
use rushlight_base::{
    DType, Device, DeviceType, DimVec, MemoryFormat, Result, Storage, contiguous_strides, ensure, err, format_sizes,
    numel,
};
use rushlight_tensor::{Dense, Geometry, Lazy, Spec, Tensor, ops};
use std::ffi::c_void;

/// The function table of the JVM, for the few calls that work on arrays and buffers of any element type.
macro_rules! call {
    ($env:expr, $version:ident, $function:ident $(, $argument:expr)*) => {{
        let env: *mut JNIEnv = $env;
        ((**env).$version.$function)(env $(, $argument)*)
    }};
}

/// Gives access to the bytes of a primitive array while the garbage collector is paused: `body` must not call into the
/// JVM.
pub(crate) fn with_bytes<T>(
    frame: &mut Frame<'_>,
    array: &JObject<'_>,
    written: bool,
    body: impl FnOnce(*mut u8) -> T,
) -> Result<T> {
    let (env, array) = (frame.raw(), array.as_raw() as jarray);
    let mode = if written { 0 } else { JNI_ABORT };
    // SAFETY: `NativeCore` passes a non-null primitive array; between acquiring and releasing it only `body` runs,
    // which copies memory and calls no JNI function.
    unsafe {
        let bytes = call!(env, v1_2, GetPrimitiveArrayCritical, array, std::ptr::null_mut());
        ensure!(!bytes.is_null(), OutOfMemory, "the JVM cannot give access to an array");
        let result = body(bytes.cast());
        call!(env, v1_2, ReleasePrimitiveArrayCritical, array, bytes, mode);
        Ok(result)
    }
}

/// The length of a primitive array.
pub(crate) fn length(frame: &mut Frame<'_>, array: &JObject<'_>) -> Result<i64> {
    ensure!(!array.is_null(), NullPointer, "argument 'array' is null");
    // SAFETY: `NativeCore` passes a non-null primitive array.
    let length: jsize = unsafe { call!(frame.raw(), v1_1, GetArrayLength, array.as_raw() as jarray) };
    Ok(i64::from(length))
}

/// The sizes in a `long[]`, without the cost of the environment: creating a small tensor takes as long as a few calls.
fn sizes_of(frame: &mut Frame<'_>, array: &JLongs<'_>) -> Result<DimVec> {
    ensure!(!array.is_null(), NullPointer, "argument 'shape' is null");
    let array = array.as_raw() as jlongArray;
    // SAFETY: the argument is a non-null `long[]`, and the region is exactly its length.
    unsafe {
        let length: jsize = call!(frame.raw(), v1_1, GetArrayLength, array as jarray);
        let mut sizes = DimVec::from_elem(0, length as usize);
        call!(frame.raw(), v1_1, GetLongArrayRegion, array, 0, length, sizes.as_mut_ptr());
        Ok(sizes)
    }
}

/// `NativeCore.fromArray`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_fromArray<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    array: JObject<'l>,
    sizes: JLongs<'l>,
    code: jint,
) -> jlong {
    guard(env, |frame| {
        let (sizes, dtype) = (sizes_of(frame, &sizes)?, dtype(code)?);
        let (elements, given) = (count(&sizes)?, length(frame, &array)?);
        ensure!(elements == given, Runtime, "shape '{}' is invalid for input of size {given}", format_sizes(&sizes));
        let dense = Spec::new(&sizes, dtype, Device::CPU).allocate()?;
        let bytes = elements as usize * dtype.size();
        if bytes > 0 {
            with_bytes(frame, &array, false, |from| {
                // SAFETY: the array has `elements` elements of the dtype's size (checked), as has the new, unshared
                // tensor.
                unsafe { dense.ptr().copy_from_nonoverlapping(from, bytes) }
            })?;
        }
        Ok(frame.give(Tensor::from_dense(dense)))
    })
}

/// Number of elements; negative sizes are rejected with PyTorch's message.
fn count(sizes: &[i64]) -> Result<i64> {
    if let Some(negative) = sizes.iter().find(|size| **size < 0) {
        return Err(err!(
            Runtime,
            "Trying to create tensor with negative dimension {negative}: {}",
            format_sizes(sizes)
        ));
    }
    numel(sizes)
}

/// `NativeCore.toArray`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_toArray<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
    array: JObject<'l>,
) {
    guard(env, |frame| {
        let plain = ops::resolve_neg(&ops::resolve_conj(&tensor.get("self")?.untracked_alias())?)?;
        let packed = ops::contiguous(&plain, MemoryFormat::Contiguous)?;
        let dense = on_host(&packed)?;
        let bytes = dense.numel() as usize * dense.dtype.size();
        let unit = if dense.dtype == DType::C128 { 2 } else { 1 };
        let given = length(frame, &array)?;
        ensure!(given == dense.numel() * unit, Value, "{} elements do not fit into an array of {given}", dense.numel());
        if bytes > 0 {
            with_bytes(frame, &array, true, |to| {
                // SAFETY: the array is large enough for the elements (`Tensor` chose its type by the dtype, and its
                // length was checked), and the tensor is contiguous.
                unsafe { to.copy_from_nonoverlapping(dense.ptr(), bytes) }
            })?;
        }
        Ok(())
    })
}

/// The body of a contiguous tensor, copied to host memory if it is not there.
pub(crate) fn on_host(tensor: &Tensor) -> Result<Dense> {
    let dense = tensor.dense()?;
    ensure!(
        dense.lazy == Lazy::NONE,
        Runtime,
        "the tensor has its conj or neg bit set: call resolve_conj() and resolve_neg() first"
    );
    ensure!(!dense.is_meta(), NotImplemented, "Cannot copy out of meta tensor; no data!");
    ops::transfer::on_host(&dense)
}

/// `NativeCore.fromBuffer`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_fromBuffer<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    buffer: JObject<'l>,
    byte_offset: jlong,
    byte_length: jlong,
    sizes: JLongs<'l>,
    code: jint,
) -> jlong {
    guard(env, |frame| {
        let (sizes, dtype) = (frame.longs(&sizes, "shape")?, dtype(code)?);
        ensure!(!buffer.is_null(), NullPointer, "argument 'buffer' is null");
        let bytes = count(&sizes)?.saturating_mul(dtype.size() as i64);
        ensure!(
            bytes <= byte_length,
            Runtime,
            "shape '{}' of {dtype} needs {bytes} bytes, but the buffer has {byte_length} left",
            format_sizes(&sizes)
        );
        // SAFETY: the argument is a non-null java.nio.Buffer; for one that is not direct the JVM returns null.
        let start = unsafe { call!(frame.env().get_raw(), v1_4, GetDirectBufferAddress, buffer.as_raw()) };
        ensure!(!start.is_null(), Value, "the buffer is not direct");
        ensure!(!dtype.is_quantized(), NotImplemented, "a tensor of {dtype} needs a quantizer: a buffer has none");
        let start = start.cast::<u8>().wrapping_offset(byte_offset as isize);
        ensure!(
            start.align_offset(dtype.size().min(8)) == 0,
            Value,
            "the position of the buffer is not aligned for {dtype}"
        );
        let keep = frame.env().new_global_ref(&buffer).map_err(border)?;
        // SAFETY: the buffer has `bytes` bytes from there on (checked), and stays reachable until the deleter drops the
        // reference to it.
        let storage = unsafe {
            Storage::foreign(start.cast(), bytes as usize, Some(Box::new(move |_: *mut c_void| drop(keep))))
        }?;
        let strides = contiguous_strides(&sizes);
        let geometry = Geometry { sizes: sizes.as_slice().into(), strides, offset: 0 };
        let dense = Dense::new(storage, geometry, dtype, Device::CPU);
        Ok(frame.give(Tensor::from_dense(dense)))
    })
}

/// `NativeCore.toBuffer`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_toBuffer<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    tensor: TensorHandle,
) -> jobject {
    guard(env, |frame| {
        let tensor = tensor.get("self")?;
        let place = tensor.device();
        ensure!(place.kind != DeviceType::Cuda, Runtime, "toBuffer needs a tensor on the CPU, not on {place}");
        let dense = on_host(&tensor)?;
        ensure!(dense.is_contiguous(), Runtime, "toBuffer needs a contiguous tensor; contiguous() makes one");
        let bytes = dense.numel() as usize * dense.dtype.size();
        ensure!(bytes <= i32::MAX as usize, Value, "{bytes} bytes do not fit into a Java buffer");
        // An empty tensor may have no memory at all, but a buffer needs an address.
        let start = if bytes == 0 { std::ptr::dangling_mut() } else { dense.ptr() };
        // SAFETY: the caller passes an alias owned by the buffer, so that its storage is never replaced, and keeps it
        // as long as the buffer is reachable.
        let buffer = unsafe { frame.env().new_direct_byte_buffer(start, bytes) }.map_err(border)?;
        Ok(buffer.as_raw())
    })
}
