//! Tensors: creation, metadata, access to memory.
//!
//! A tensor is an n-dimensional array: sizes, strides and a dtype over a storage that several tensors may share. A
//! handle is one of its owners. Operators are declared in `rushlight/ops`, one header per family.
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
use crate::support::name::Name;
use crate::support::sized::SizedStruct;
use crate::support::{arg, guard, guard_free, out};
use rushlight_base::{
    Complex, DType, Device, DeviceType, DimVec, Layout, Result, Scalar, Storage, bail, contiguous_strides, ensure, err,
    format_sizes, numel,
};
use rushlight_tensor::{Dense, Geometry, Options, Spec, Tensor, devices};
use std::ffi::c_void;

// ---- Dtypes, with PyTorch's numbers ----

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
/// IEEE half precision
pub const RLT_DTYPE_FLOAT16: i32 = 5;
/// IEEE single precision
pub const RLT_DTYPE_FLOAT32: i32 = 6;
/// IEEE double precision
pub const RLT_DTYPE_FLOAT64: i32 = 7;
/// complex with two half-precision parts
pub const RLT_DTYPE_COMPLEX32: i32 = 8;
/// complex with two single-precision parts
pub const RLT_DTYPE_COMPLEX64: i32 = 9;
/// complex with two double-precision parts
pub const RLT_DTYPE_COMPLEX128: i32 = 10;
/// boolean: one byte, 0 or 1
pub const RLT_DTYPE_BOOL: i32 = 11;
/// signed 8-bit integer with a quantizer
pub const RLT_DTYPE_QINT8: i32 = 12;
/// unsigned 8-bit integer with a quantizer
pub const RLT_DTYPE_QUINT8: i32 = 13;
/// signed 32-bit integer with a quantizer
pub const RLT_DTYPE_QINT32: i32 = 14;
/// brain floating point: bfloat16
pub const RLT_DTYPE_BFLOAT16: i32 = 15;
/// unsigned 16-bit integer
pub const RLT_DTYPE_UINT16: i32 = 27;
/// unsigned 32-bit integer
pub const RLT_DTYPE_UINT32: i32 = 28;
/// unsigned 64-bit integer
pub const RLT_DTYPE_UINT64: i32 = 29;

// ---- Device types ----

/// the CPU
pub const RLT_DEVICE_CPU: i32 = 0;
/// an NVIDIA GPU
pub const RLT_DEVICE_CUDA: i32 = 1;
/// the meta device: shape and dtype without data
pub const RLT_DEVICE_META: i32 = 14;

// ---- Layouts ----

/// dense with strides
pub const RLT_LAYOUT_STRIDED: i32 = 0;
/// sparse in coordinate format (COO)
pub const RLT_LAYOUT_SPARSE: i32 = 1;
/// sparse with compressed rows
pub const RLT_LAYOUT_SPARSE_CSR: i32 = 2;
/// sparse with compressed columns
pub const RLT_LAYOUT_SPARSE_CSC: i32 = 4;

// ---- Memory formats ----

/// contiguous: row-major
pub const RLT_MEMORY_FORMAT_CONTIGUOUS: i32 = 0;
/// the format of the input is preserved
pub const RLT_MEMORY_FORMAT_PRESERVE: i32 = 1;
/// NHWC, for 4 dimensions
pub const RLT_MEMORY_FORMAT_CHANNELS_LAST: i32 = 2;
/// NDHWC, for 5 dimensions
pub const RLT_MEMORY_FORMAT_CHANNELS_LAST_3D: i32 = 3;

// ---- Reductions of a loss: the argument `reduction` ----

/// no reduction
pub const RLT_REDUCTION_NONE: i32 = 0;
/// the mean of the losses
pub const RLT_REDUCTION_MEAN: i32 = 1;
/// the sum of the losses
pub const RLT_REDUCTION_SUM: i32 = 2;

// ---- Tags of a scalar, the same as of an `rlt_value` ----

/// boolean, in `i`
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

/// A scalar: a number as an argument of operators.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_scalar {
    /// `RLT_SCALAR_*`: selects the field
    pub tag: i32,
    /// 0
    pub reserved: i32,
    /// a boolean (0 or 1) or an integer
    pub i: i64,
    /// a real number, or the real part of a complex one
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
    /// Converts the scalar; `name` is the argument's name.
    #[inline]
    pub(crate) fn to_scalar(self, name: impl Name) -> Result<Scalar> {
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
    /// index, or -1 for the current device of its type
    pub index: i32,
}

impl rlt_device {
    /// Converts and checks the device.
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

/// Options of factories besides sizes and values. Start from `RLT_TENSOR_OPTIONS_INIT` and set the options you need; -1
/// means the default (or, for `*_like`, the value of the input).
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
    /// index of the device; -1 is the current one
    pub device_index: i32,
    /// 0 or 1: page-locked host memory
    pub pin_memory: i32,
    /// 0 or 1: used only by `rlt_tensor_from_blob`; operators ignore it, as the schema has no such argument
    pub requires_grad: i32,
}

// SAFETY: `rlt_tensor_options` is repr(C) and begins with `struct_size`; its other fields are integers, for which every
// value is valid.
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
    /// Converts and checks the options.
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

/// Frees a tensor handle. The tensor is freed with its last owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_free(tensor: *mut rlt_tensor) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle that
    // the caller gives up.
    guard_free("rlt_tensor_free", || drop(unsafe { handle::take(tensor) }));
}

/// Adds an owner of the same tensor: `*out` is the same pointer, to be freed once more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_tensor_retain(tensor: *const rlt_tensor, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_tensor_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let tensor = arg::tensor(tensor, "tensor")?;
            out::tensor(out, "out")?.give(Tensor::clone(&tensor))
        }
    })
}

// ---- Tensors from data ----

/// Creates a tensor over memory of the caller, without a copy. `data` must stay valid, and bool elements 0 or 1, until
/// `deleter(ctx, data)` is called, once, when the memory is no longer used (without a deleter: forever). If this
/// function fails, the deleter is not called and `data` still belongs to the caller.
///
/// `strides` are in elements and not negative; NULL means row-major. `data` must be aligned for its dtype, and may be
/// NULL only for a tensor without elements. The device can only be the CPU. With `requires_grad` the result is a leaf
/// that accumulates gradients.
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `sizes` is NULL or points to `ndim`
        // elements, `strides` is NULL or points to `ndim` elements, `options` is NULL or points to `struct_size`
        // readable bytes, and `out` is NULL or writable.
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
            options.device_or_cpu().kind != DeviceType::Meta,
            Value,
            "from_blob: the data must be on the CPU or a CUDA device, not on {}",
            options.device_or_cpu()
        );
        let dtype = options.dtype_or_default();
        ensure!(!dtype.is_quantized(), NotImplemented, "from_blob: a tensor of {dtype} needs a quantizer");
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
                    // SAFETY: the deleter was given for this context and data; `free` is called once, when the storage
                    // is dropped.
                    unsafe { deleter(ctx as *mut c_void, data) }
                }
            }) as Box<dyn FnOnce(*mut c_void) + Send + Sync>
        });
        // SAFETY: the caller guarantees (documentation of `data`) that the memory of this geometry stays valid until
        // the deleter is called.
        let tensor = unsafe { over_memory(options.device_or_cpu(), data, dtype, sizes, strides, free) }?;
        if requires_grad {
            tensor.set_requires_grad(true)?;
        }
        out.give(tensor)
    })
}

/// Notifies the foreign owner that its memory is no longer used.
pub(crate) type FreeMemory = Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>;

/// Creates a tensor over foreign memory of a device. On failure `free` is dropped without being called.
///
/// # Safety
/// The memory that the geometry covers stays valid until `free` is called.
pub(crate) unsafe fn over_memory(
    device: Device,
    data: *mut c_void,
    dtype: DType,
    sizes: &[i64],
    strides: Option<&[i64]>,
    free: FreeMemory,
) -> Result<Tensor> {
    let device = devices::indexed(device)?;
    ensure!(!dtype.is_quantized(), NotImplemented, "a tensor of {dtype} needs a quantizer: memory has none");
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
    // SAFETY: the caller guarantees that the memory of this geometry stays valid until `free` is called; `bytes` was
    // computed from the geometry, so all elements are inside.
    let storage = unsafe { Storage::foreign_on(device, data, bytes, free)? };
    let geometry = Geometry { sizes: DimVec::from_slice(sizes), strides, offset: 0 };
    Ok(Tensor::from_dense(Dense::new(storage, geometry, dtype, device)))
}

/// Creates a tensor with a copy of `nbytes` bytes of row-major elements, which must be exactly the size that `sizes`
/// and `dtype` need. Any nonzero byte is true for bool.
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
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `data` is NULL or points to `nbytes`
        // elements, `sizes` is NULL or points to `ndim` elements, and `out` is NULL or writable.
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
            // SAFETY: the new, unshared storage has one byte per element, and `index` is below the number of bytes,
            // which was checked to equal the size.
            unsafe { dense.ptr().add(index).write(u8::from(byte != 0)) };
        }
        if dtype != DType::Bool {
            // SAFETY: the new, unshared storage has as many bytes as were given (checked), and the caller's memory
            // cannot overlap it.
            unsafe { dense.ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        out.give(Tensor::from_dense(dense))
    })
}

mod metadata;

mod list;

mod weak;

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
