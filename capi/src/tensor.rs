//! Tensors: making them, asking them, reaching their memory.
//!
//! A tensor is an n-dimensional array: sizes, strides and a dtype over a storage that several tensors may share. A handle is an
//! owner of it. What operators do with tensors stands in `rushlight/ops`, a header for each family.
//!
//! ```c
//! const float values[4] = {1, 2, 3, 4};
//! const int64_t sizes[2] = {2, 2};
//! rlt_tensor *x = NULL, *shifted = NULL, *total = NULL;
//! rlt_scalar value = {0};
//! int32_t status = rlt_tensor_from_data(values, sizeof values, sizes, 2, RLT_DTYPE_FLOAT32, &x);
//! if (!status) status = rlt_tensor_add_Scalar(x, RLT_FLOAT(0.5), RLT_INT(1), &shifted);  // x + 1 * 0.5
//! if (!status) status = rlt_tensor_sum(shifted, NULL, &total);
//! if (!status) status = rlt_tensor_item(total, &value);
//! if (!status) printf("%g\n", value.re);  // prints 12
//! rlt_tensor_free(total);
//! rlt_tensor_free(shifted);
//! rlt_tensor_free(x);
//! ```

//@ /* Options of which nothing is set. */
//@ #define RLT_TENSOR_OPTIONS_INIT {sizeof(rlt_tensor_options), -1, -1, -1, -1, -1, -1}
//@
//@ #ifndef __cplusplus
//@ /* Numbers where a pointer to one is expected: rlt_tensor_add_Scalar(x, RLT_FLOAT(0.5), RLT_INT(1), &y). */
//@ #define RLT_BOOL(value) (&(const rlt_scalar){RLT_SCALAR_BOOL, 0, (value) != 0, 0, 0})
//@ #define RLT_INT(value) (&(const rlt_scalar){RLT_SCALAR_INT, 0, (value), 0, 0})
//@ #define RLT_FLOAT(value) (&(const rlt_scalar){RLT_SCALAR_FLOAT, 0, 0, (value), 0})
//@ #define RLT_COMPLEX(re, im) (&(const rlt_scalar){RLT_SCALAR_COMPLEX, 0, 0, (re), (im)})
//@ #endif

use crate::support::handle::{self, Handle};
use crate::support::sized::SizedStruct;
use crate::support::{arg, guard, guard_free, out};
use rushlight_base::{
    Complex, DType, Device, DeviceType, DimVec, Layout, MemoryFormat, Result, Scalar, Storage, bail,
    contiguous_strides, ensure, err, format_sizes, numel,
};
use rushlight_tensor::{Dense, Geometry, Options, Spec, Tensor, autograd};
use std::ffi::c_void;

// ---- Dtypes, with the numbers that they have everywhere in PyTorch ----

/// unsigned 8-bit integer
pub const RLT_DTYPE_UINT8: i32 = 0;
/// signed 8-bit integer
pub const RLT_DTYPE_INT8: i32 = 1;
/// signed 16-bit integer
pub const RLT_DTYPE_INT16: i32 = 2;
/// signed 32-bit integer
pub const RLT_DTYPE_INT32: i32 = 3;
/// signed 64-bit integer
pub const RLT_DTYPE_INT64: i32 = 4;
/// IEEE half
pub const RLT_DTYPE_FLOAT16: i32 = 5;
/// IEEE single
pub const RLT_DTYPE_FLOAT32: i32 = 6;
/// IEEE double
pub const RLT_DTYPE_FLOAT64: i32 = 7;
/// complex of two halves
pub const RLT_DTYPE_COMPLEX32: i32 = 8;
/// complex of two singles
pub const RLT_DTYPE_COMPLEX64: i32 = 9;
/// complex of two doubles
pub const RLT_DTYPE_COMPLEX128: i32 = 10;
/// one byte, 0 or 1
pub const RLT_DTYPE_BOOL: i32 = 11;
/// brain float
pub const RLT_DTYPE_BFLOAT16: i32 = 15;
/// unsigned 16-bit integer
pub const RLT_DTYPE_UINT16: i32 = 27;
/// unsigned 32-bit integer
pub const RLT_DTYPE_UINT32: i32 = 28;
/// unsigned 64-bit integer
pub const RLT_DTYPE_UINT64: i32 = 29;

// ---- Types of devices ----

/// the host processor
pub const RLT_DEVICE_CPU: i32 = 0;
/// an NVIDIA GPU
pub const RLT_DEVICE_CUDA: i32 = 1;
/// shape and dtype without data
pub const RLT_DEVICE_META: i32 = 14;

// ---- Layouts ----

/// dense with strides
pub const RLT_LAYOUT_STRIDED: i32 = 0;

// ---- Memory formats ----

/// row-major
pub const RLT_MEMORY_FORMAT_CONTIGUOUS: i32 = 0;
/// as the input is laid out
pub const RLT_MEMORY_FORMAT_PRESERVE: i32 = 1;
/// NHWC, for 4 dimensions
pub const RLT_MEMORY_FORMAT_CHANNELS_LAST: i32 = 2;
/// NDHWC, for 5 dimensions
pub const RLT_MEMORY_FORMAT_CHANNELS_LAST_3D: i32 = 3;

// ---- What a loss does with the losses of the elements: the argument `reduction` ----

/// leaves them as they are
pub const RLT_REDUCTION_NONE: i32 = 0;
/// their mean
pub const RLT_REDUCTION_MEAN: i32 = 1;
/// their sum
pub const RLT_REDUCTION_SUM: i32 = 2;

// ---- Tags of a number, the same as of an `rlt_value` ----

/// truth value, in `i`
pub const RLT_SCALAR_BOOL: i32 = 1;
/// signed integer, in `i`
pub const RLT_SCALAR_INT: i32 = 2;
/// unsigned integer, its bits in `i`
pub const RLT_SCALAR_UINT: i32 = 3;
/// real number, in `re`
pub const RLT_SCALAR_FLOAT: i32 = 4;
/// complex number, in `re` and `im`
pub const RLT_SCALAR_COMPLEX: i32 = 5;

/// A tensor: shared and reference-counted. Two handles are the same tensor exactly when the pointers are equal.
pub struct rlt_tensor {
    _private: [u8; 0],
}

impl Handle for rlt_tensor {
    type Rust = Tensor;
}

/// A list of tensors that an operator returned.
pub struct rlt_tensor_list {
    _private: [u8; 0],
}

impl Handle for rlt_tensor_list {
    type Rust = Box<Vec<Tensor>>;
}

/// A number without a tensor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_scalar {
    /// `RLT_SCALAR_*`: which of the fields counts
    pub tag: i32,
    /// 0
    pub reserved: i32,
    /// value of a truth value (0 or 1) or an integer
    pub i: i64,
    /// value of a real number, real part of a complex one
    pub re: f64,
    /// imaginary part
    pub im: f64,
}

impl From<Scalar> for rlt_scalar {
    fn from(value: Scalar) -> rlt_scalar {
        let zero = rlt_scalar { tag: 0, reserved: 0, i: 0, re: 0.0, im: 0.0 };
        match value {
            Scalar::Bool(flag) => rlt_scalar { tag: RLT_SCALAR_BOOL, i: i64::from(flag), ..zero },
            Scalar::Int(int) => rlt_scalar { tag: RLT_SCALAR_INT, i: int, ..zero },
            Scalar::UInt(int) => rlt_scalar { tag: RLT_SCALAR_UINT, i: int.cast_signed(), ..zero },
            Scalar::Float(real) => rlt_scalar { tag: RLT_SCALAR_FLOAT, re: real, ..zero },
            Scalar::Complex(value) => rlt_scalar { tag: RLT_SCALAR_COMPLEX, re: value.re, im: value.im, ..zero },
        }
    }
}

impl rlt_scalar {
    /// The number; `name` is the argument it came in.
    #[inline]
    pub fn to_scalar(self, name: &str) -> Result<Scalar> {
        Ok(match self.tag {
            RLT_SCALAR_BOOL => Scalar::Bool(self.i != 0),
            RLT_SCALAR_INT => Scalar::Int(self.i),
            RLT_SCALAR_UINT => match self.i {
                int @ 0.. => Scalar::Int(int),
                bits => Scalar::UInt(bits.cast_unsigned()),
            },
            RLT_SCALAR_FLOAT => Scalar::Float(self.re),
            RLT_SCALAR_COMPLEX => Scalar::Complex(Complex::new(self.re, self.im)),
            tag => bail!(Type, "argument `{name}`: {tag} is not the tag of a number"),
        })
    }
}

/// A device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_device {
    /// `RLT_DEVICE_*`
    pub r#type: i32,
    /// ordinal, or -1 for the current device of its type
    pub index: i32,
}

impl rlt_device {
    /// The device, checked.
    pub fn to_device(self) -> Result<Device> {
        let kind = DeviceType::from_code(self.r#type)?;
        let index = i8::try_from(self.index).ok().filter(|index| *index >= -1);
        let index = index.ok_or_else(|| err!(Value, "device index {} is out of range", self.index))?;
        ensure!(kind != DeviceType::Cpu || index <= 0, Runtime, "CPU device index must be -1 or zero, got {index}");
        Ok(Device { kind, index })
    }
}

impl From<Device> for rlt_device {
    fn from(device: Device) -> rlt_device {
        rlt_device { r#type: device.kind as i32, index: i32::from(device.index) }
    }
}

/// What factories take besides sizes and values. Start from `RLT_TENSOR_OPTIONS_INIT` and set what matters;
/// -1 means the default (or, for `*_like`, what the input has).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_tensor_options {
    /// `sizeof(rlt_tensor_options)`
    pub struct_size: usize,
    /// `RLT_DTYPE_*`
    pub dtype: i32,
    /// `RLT_LAYOUT_*`
    pub layout: i32,
    /// `RLT_DEVICE_*`
    pub device_type: i32,
    /// ordinal of the device; -1 is the current one
    pub device_index: i32,
    /// 0 or 1: page-locked host memory
    pub pin_memory: i32,
    /// 0 or 1: read by `rlt_tensor_from_blob` alone; operators ignore it, as the schema has no such argument
    pub requires_grad: i32,
}

// SAFETY: repr(C), begins with its size, and any integers are valid.
unsafe impl SizedStruct for rlt_tensor_options {
    const UNSET: Self = rlt_tensor_options {
        struct_size: 0,
        dtype: -1,
        layout: -1,
        device_type: -1,
        device_index: -1,
        pin_memory: -1,
        requires_grad: -1,
    };
    const NAME: &'static str = "rlt_tensor_options";
}

impl rlt_tensor_options {
    /// The options, checked.
    pub fn to_options(self) -> Result<Options> {
        let set = |value: i32| (value != -1).then_some(value);
        let device =
            set(self.device_type).map(|kind| rlt_device { r#type: kind, index: self.device_index }.to_device());
        Ok(Options {
            dtype: set(self.dtype).map(DType::from_code).transpose()?,
            layout: set(self.layout).map(Layout::from_code).transpose()?,
            device: device.transpose()?,
            pin_memory: set(self.pin_memory).map(|pin| pin != 0),
        })
    }
}

// ---- Owners ----

/// Frees a tensor handle. The tensor itself goes with its last owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_free(tensor: *mut rlt_tensor) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_tensor_free", || drop(unsafe { handle::take(tensor) }));
}

/// One more owner of the same tensor: `*out` is the same pointer, to be freed once more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_retain(tensor: *const rlt_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_tensor_retain", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::tensor(out, "out")?.give(Tensor::clone(&tensor))
        }
    })
}

// ---- Tensors of data ----

/// A tensor over memory of the caller: nothing is copied. `data` must stay valid, and bool elements 0 or 1,
/// until `deleter(ctx, data)` is called, once, when nothing uses the memory any more (without a deleter: for
/// good). If this function fails, the deleter is not called and `data` is still the caller's.
///
/// `strides` are in elements and not negative; NULL means row-major. `data` must be aligned for its dtype, and
/// may be NULL only for a tensor without elements. The device can only be the CPU. With `requires_grad` the
/// result is a leaf that collects gradients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_from_blob(
    data: *mut c_void,
    sizes: *const i64,
    strides: *const i64,
    ndim: i64,
    options: *const rlt_tensor_options,
    deleter: Option<unsafe extern "C" fn(ctx: *mut c_void, data: *mut c_void)>,
    ctx: *mut c_void,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_tensor_from_blob", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (sizes, strides, full, out) = unsafe {
            let sizes = arg::ints(sizes, ndim, "sizes")?;
            let strides = arg::ints_opt(strides, ndim, "strides")?;
            let full = if options.is_null() {
                rlt_tensor_options::UNSET
            } else {
                crate::support::sized::read(options, "options")?
            };
            (sizes, strides, full, out::tensor(out, "out")?)
        };
        let options = full.to_options()?;
        options.check()?;
        ensure!(
            options.device_or_cpu().kind == DeviceType::Cpu,
            Value,
            "from_blob: the data must be on the CPU, not on {}",
            options.device_or_cpu()
        );
        let dtype = options.dtype_or_default();
        let requires_grad = full.requires_grad > 0;
        ensure!(
            !requires_grad || dtype.is_differentiable(),
            Runtime,
            "Only Tensors of floating point and complex dtype can require gradients"
        );
        let context = (ctx as usize, deleter);
        let free = deleter.map(|_| {
            Box::new(move |data: *mut c_void| {
                let (ctx, deleter) = context;
                if let Some(deleter) = deleter {
                    // SAFETY: the deleter was given for this context and data, and is called once.
                    unsafe { deleter(ctx as *mut c_void, data) }
                }
            }) as Box<dyn FnOnce(*mut c_void) + Send + Sync>
        });
        // SAFETY: the caller promises that the memory is there until the deleter is called.
        let tensor = unsafe { over_memory(data, dtype, sizes, strides, free) }?;
        if requires_grad {
            tensor.set_requires_grad(true)?;
        }
        out.give(tensor)
    })
}

/// What tells a foreign owner that memory is no longer used.
pub(crate) type FreeMemory = Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>;

/// A tensor over foreign host memory. On failure `free` is dropped without being called.
///
/// # Safety
/// The memory that the geometry covers stays valid until `free` is called.
pub(crate) unsafe fn over_memory(
    data: *mut c_void,
    dtype: DType,
    sizes: &[i64],
    strides: Option<&[i64]>,
    free: FreeMemory,
) -> Result<Tensor> {
    let elements = numel(sizes)?;
    let alignment = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
    ensure!(elements == 0 || !data.is_null(), NullPointer, "argument `data` is NULL");
    ensure!(
        (data as usize).is_multiple_of(alignment),
        Value,
        "the data at {data:p} are not aligned to {alignment} bytes, as {dtype} needs"
    );
    let strides = match strides {
        None => contiguous_strides(sizes),
        Some(strides) => DimVec::from_slice(strides),
    };
    ensure!(
        strides.iter().all(|stride| *stride >= 0),
        Value,
        "strides must not be negative, got {}",
        format_sizes(&strides)
    );
    let mut last = 0i64;
    for (&size, &stride) in sizes.iter().zip(&strides) {
        let reach = (size - 1).max(0).checked_mul(stride).and_then(|reach| last.checked_add(reach));
        last = reach.ok_or_else(|| {
            err!(Value, "sizes {} and strides {} overflow", format_sizes(sizes), format_sizes(&strides))
        })?;
    }
    let count = if elements == 0 { 0 } else { last + 1 };
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(dtype.size()));
    let bytes = bytes.ok_or_else(|| err!(Value, "{} elements of {dtype} do not fit into memory", count))?;
    // SAFETY: as this function's own contract; all elements lie inside of `bytes`.
    let storage = unsafe { Storage::foreign(data, bytes, free)? };
    let geometry = Geometry { sizes: DimVec::from_slice(sizes), strides, offset: 0 };
    Ok(Tensor::from_dense(Dense::new(storage, geometry, dtype, Device::CPU)))
}

/// A tensor with a copy of `nbytes` bytes of row-major elements, which must be exactly what `sizes` and `dtype`
/// need. Any byte but 0 is true for bool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_from_data(
    data: *const c_void,
    nbytes: i64,
    sizes: *const i64,
    ndim: i64,
    dtype: i32,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_tensor_from_data", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (bytes, sizes, out) = unsafe {
            (arg::slice(data.cast::<u8>(), nbytes, "data")?, arg::ints(sizes, ndim, "sizes")?, out::tensor(out, "out")?)
        };
        let dtype = DType::from_code(dtype)?;
        let needed = i128::from(numel(sizes)?) * dtype.size() as i128;
        ensure!(
            needed == i128::from(nbytes),
            Value,
            "a {dtype} tensor of shape {} has {needed} bytes, but {nbytes} were given",
            format_sizes(sizes)
        );
        let dense = Spec::new(sizes, dtype, Device::CPU).allocate()?;
        for (index, &byte) in bytes.iter().enumerate().take(if dtype == DType::Bool { bytes.len() } else { 0 }) {
            // SAFETY: the new storage has one byte per element.
            unsafe { dense.ptr().add(index).write(u8::from(byte != 0)) };
        }
        if dtype != DType::Bool {
            // SAFETY: the new storage has as many bytes as were given, and nobody else has it.
            unsafe { dense.ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        out.give(Tensor::from_dense(dense))
    })
}

// ---- What a tensor is ----

/// Number of dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_ndim(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_ndim", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.ndim() as i64)
        }
    })
}

/// Sizes and strides (in elements), `*ndim` of each, where they stand in the tensor. Borrowed: valid until the
/// tensor is resized, changed in shape or data, or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_geometry(
    tensor: *const rlt_tensor,
    sizes: *mut *const i64,
    strides: *mut *const i64,
    ndim: *mut i64,
) -> i32 {
    guard("rlt_tensor_geometry", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            let (sizes, strides) = (out::value(sizes, "sizes")?, out::value(strides, "strides")?);
            let ndim = out::value(ndim, "ndim")?;
            let (first_size, first_stride, count) = tensor.geometry_parts();
            sizes.set(first_size)?;
            strides.set(first_stride)?;
            ndim.set(count as i64)
        }
    })
}

/// Number of elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_numel(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_numel", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.numel())
        }
    })
}

/// Element type: `RLT_DTYPE_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_dtype(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_dtype", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.dtype() as i32)
        }
    })
}

/// Where the tensor lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_device(tensor: *const rlt_tensor, out: *mut rlt_device) -> i32 {
    guard("rlt_tensor_device", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.device().into())
        }
    })
}

/// Arrangement of elements: `RLT_LAYOUT_*`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_layout(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_layout", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let _tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(Layout::Strided as i32)
        }
    })
}

/// Bytes per element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_element_size(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_element_size", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.dtype().size() as i64)
        }
    })
}

/// Bytes of all elements: elements times bytes per element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_nbytes(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_nbytes", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.numel().saturating_mul(tensor.dtype().size() as i64))
        }
    })
}

/// Where the first element stands in the storage, in elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_storage_offset(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_storage_offset", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.storage_offset())
        }
    })
}

/// Are the elements those of the storage, conjugated? `rlt_tensor_data_ptr` leads to what is stored;
/// `rlt_tensor_resolve_conj` carries the conjugation out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_conj(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_conj", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_conj())
        }
    })
}

/// Are the elements those of the storage, negated? `rlt_tensor_data_ptr` leads to what is stored;
/// `rlt_tensor_resolve_neg` carries the negation out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_neg(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_neg", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_neg())
        }
    })
}

// ---- Elements and storage ----

/// Address of the first element. Borrowed: valid as long as the tensor keeps its storage, which `rlt_tensor_set_data` and
/// resizing to more elements replace; what `rlt_tensor_detach` made before keeps it. Writing through it is
/// not seen by the version counter. NULL for a tensor without elements; an error on the meta
/// device, where there are no data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_data_ptr(tensor: *const rlt_tensor, out: *mut *mut c_void) -> i32 {
    guard("rlt_tensor_data_ptr", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::value(out, "out")?) };
        let dense = tensor.dense()?;
        ensure!(
            !dense.is_meta(),
            Runtime,
            "Cannot access data pointer of Tensor that doesn't have storage: it is on the meta device"
        );
        // Without elements there is nothing to point to, in a view of a tensor that has some neither.
        out.set(if dense.numel() == 0 { std::ptr::null_mut() } else { dense.ptr().cast() })
    })
}

/// Start and size in bytes of the storage that the tensor and its views share. `*data` is NULL on the meta
/// device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_storage(
    tensor: *const rlt_tensor,
    data: *mut *mut c_void,
    nbytes: *mut i64,
) -> i32 {
    guard("rlt_tensor_storage", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, data, nbytes) =
            unsafe { (arg::tensor(tensor, "tensor")?, out::value(data, "data")?, out::value(nbytes, "nbytes")?) };
        let storage = tensor.storage();
        data.set(storage.data().cast())?;
        nbytes.set(storage.bytes() as i64)
    })
}

/// The value of a tensor with one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_item(tensor: *const rlt_tensor, out: *mut rlt_scalar) -> i32 {
    guard("rlt_tensor_item", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            let out = out::scalar(out, "out")?;
            out.set(tensor.item()?)
        }
    })
}

/// Are the elements laid out without gaps in this memory format (`RLT_MEMORY_FORMAT_*`)?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_contiguous(tensor: *const rlt_tensor, memory_format: i32, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_contiguous", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (tensor, out) = unsafe { (arg::tensor(tensor, "tensor")?, out::bool(out, "out")?) };
        out.set(tensor.is_contiguous(MemoryFormat::from_code(memory_format)?))
    })
}

// ---- Identity ----

/// How often the tensor's bytes were written in place, through it or through its views. Tensors made in inference mode do
/// not count that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_version(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_version", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            ensure!(!tensor.is_inference(), Runtime, "Inference tensors do not track version counter.");
            out::value(out, "out")?.set(i64::from(tensor.version()))
        }
    })
}

/// Counts a write in place that the library has not seen, such as one through `rlt_tensor_data_ptr`: what was saved of the
/// tensor for backward is out of date then. An error for a tensor made in inference mode, outside of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_bump_version(tensor: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_bump_version", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let tensor = unsafe { arg::tensor(tensor, "tensor") }?;
        autograd::check_inference_write(&tensor)?;
        tensor.bump_version();
        Ok(())
    })
}

/// Do two tensors share a storage?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_alias_of(a: *const rlt_tensor, b: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_alias_of", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let (a, b) = (arg::tensor(a, "a")?, arg::tensor(b, "b")?);
            out::bool(out, "out")?.set(a.storage().is(&b.storage()))
        }
    })
}

/// How many owners the tensor has: handles, and references inside of Rushlight.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_use_count(tensor: *const rlt_tensor, out: *mut i64) -> i32 {
    guard("rlt_tensor_use_count", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::value(out, "out")?.set(tensor.use_count() as i64)
        }
    })
}

/// Lets `tensor` have the bytes, dtype and shape of `data`. Its identity and gradient stay; other tensors over
/// its former storage keep that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_data(tensor: *const rlt_tensor, data: *const rlt_tensor) -> i32 {
    guard("rlt_tensor_set_data", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let (tensor, data) = (arg::tensor(tensor, "tensor")?, arg::tensor(data, "data")?);
            tensor.set_data(&data)
        }
    })
}

// ---- Numbers as tensors ----

/// Does this 0-dim tensor stand for a number, which yields to other tensors in dtype promotion?
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_is_wrapped_number(tensor: *const rlt_tensor, out: *mut i32) -> i32 {
    guard("rlt_tensor_is_wrapped_number", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::bool(out, "out")?.set(tensor.is_wrapped_number())
        }
    })
}

/// Says whether this 0-dim tensor stands for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_set_wrapped_number(tensor: *const rlt_tensor, on: i32) -> i32 {
    guard("rlt_tensor_set_wrapped_number", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::tensor(tensor, "tensor") }?.set_wrapped_number(arg::bool(on))
    })
}

// ---- Lists of tensors ----

/// A list with one more reference to each of `len` tensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_new(
    tensors: *const *const rlt_tensor,
    len: i64,
    out: *mut *mut rlt_tensor_list,
) -> i32 {
    guard("rlt_tensor_list_new", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let tensors = arg::tensors(tensors, len, "tensors")?;
            out::tensor_list(out, "out")?.give(tensors.to_vec())
        }
    })
}

/// Number of tensors in a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_len(list: *const rlt_tensor_list, out: *mut i64) -> i32 {
    guard("rlt_tensor_list_len", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let list = arg::handle(list, "list")?;
            out::value(out, "out")?.set(list.len() as i64)
        }
    })
}

/// An owned reference to the tensor at `index`, counted from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_list_get(
    list: *const rlt_tensor_list,
    index: i64,
    out: *mut *mut rlt_tensor,
) -> i32 {
    guard("rlt_tensor_list_get", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
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
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_tensor_list_free", || drop(unsafe { handle::take(list) }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_kind_across_the_border() {
        let numbers = [
            Scalar::Bool(true),
            Scalar::Int(-3),
            Scalar::UInt(u64::MAX),
            Scalar::Float(0.5),
            Scalar::Complex(Complex::new(1.0, -2.0)),
        ];
        for number in numbers {
            assert_eq!(rlt_scalar::from(number).to_scalar("x").unwrap(), number);
        }
        let wrong = rlt_scalar { tag: 9, ..rlt_scalar::from(Scalar::Int(1)) };
        assert_eq!(wrong.to_scalar("alpha").unwrap_err().message(), "argument `alpha`: 9 is not the tag of a number");
    }

    #[test]
    fn unset_options_are_none() {
        assert_eq!(rlt_tensor_options::UNSET.to_options().unwrap(), Options::default());
        let options =
            rlt_tensor_options { dtype: RLT_DTYPE_FLOAT64, device_type: RLT_DEVICE_META, ..SizedStruct::UNSET };
        let options = options.to_options().unwrap();
        assert_eq!((options.dtype, options.device), (Some(DType::F64), Some(Device::META)));
    }
}
