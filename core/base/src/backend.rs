//! Devices with memory and kernels of their own, as the crates see them that know no driver.
//!
//! A [`Backend`] is what a kind of device needs: memory, copies, launches of kernels. It is registered
//! when its first device is used ([`register`]), so that this crate depends on no driver. The CPU has none: its kernels
//! are called directly.

use crate::{DType, Device, DeviceType, Error, Result, err};
use std::any::Any;
use std::cell::Cell;
use std::sync::OnceLock;

/// A kernel, by the names under which the files of kernels hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The file of kernels: a subject such as `arithmetic`.
    pub file: &'static str,
    /// The function in it.
    pub function: &'static str,
    /// The dtype for which the function is compiled.
    pub dtype: DType,
}

impl Kernel {
    /// The symbol of the kernel: `add__f32`.
    pub fn symbol(&self) -> String {
        format!("{}__{}", self.function, self.dtype.name())
    }
}

/// A call of a kernel on a device. It runs after all earlier work of the device's current stream.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The device.
    pub device: Device,
    /// The kernel.
    pub kernel: Kernel,
    /// Blocks of the grid in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Bytes of shared memory that the launch adds to the kernel's own.
    pub shared: u32,
    /// The bytes of each parameter, as the kernel declares it. Addresses are those of the device.
    pub parameters: &'a [&'a [u8]],
}

/// Memory of a device, or of the host.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The device. [`Device::CPU`] for memory of the host.
    pub device: Device,
    /// The first byte. Not an address of the host, unless `device` is the CPU.
    pub at: *mut u8,
}

/// A kind of device.
pub trait Backend: Send + Sync {
    /// The compute capability of a device: 9.0 is (9, 0).
    fn capability(&self, device: Device) -> Result<(i32, i32)>;

    /// The index of the current device of this thread.
    fn current_device(&self) -> Result<i8>;

    /// Allocates `bytes` bytes, more than 0, on a device with an index. Work of the current stream may use them at once.
    fn allocate(&self, device: Device, bytes: usize) -> Result<*mut u8>;

    /// Frees what [`Backend::allocate`] returned, with the same device and size. Work in the device's streams that uses
    /// it may still be running.
    ///
    /// # Safety
    /// The block is live, and nothing that is submitted later uses it.
    unsafe fn free(&self, device: Device, at: *mut u8, bytes: usize);

    /// Copies `bytes` bytes after all earlier work of the current stream. One of the places is on a device of this kind.
    /// Memory of the host may be used as soon as this returns; `wait` is whether the caller reads it then.
    ///
    /// # Safety
    /// Both places have as many bytes, which stay allocated until the copy has run.
    unsafe fn copy(&self, to: Place, from: Place, bytes: usize, wait: bool) -> Result<()>;

    /// Starts a kernel.
    ///
    /// # Safety
    /// The parameters are those that the kernel declares, and the memory that they name is allocated on the device.
    unsafe fn launch(&self, launch: &Launch) -> Result<()>;
}

thread_local! {
    /// The operator that runs on a device in this thread.
    static OPERATOR: Cell<&'static str> = const { Cell::new("") };
}

/// Names the operator whose kernel is about to run on a device, for [`no_kernel`].
pub fn enter_operator(operator: &'static str) {
    OPERATOR.set(operator);
}

/// Ends a kernel that was about to read or write memory of `device` from the host, because the device has no kernel for
/// it. It unwinds, so that the thousand kernels of the host need no branch for it; nothing is printed. The border to
/// other languages turns it into an error ([`missing_kernel`]). Nothing was written.
#[cold]
pub fn no_kernel(device: Device) -> ! {
    let error = match OPERATOR.get() {
        "" => err!(NotImplemented, "no kernel on device {device}"),
        operator => err!(NotImplemented, "no kernel for operator {operator} on device {device}"),
    };
    std::panic::resume_unwind(Box::new(error))
}

/// The error of [`no_kernel`], if that is what was caught.
pub fn missing_kernel(payload: Box<dyn Any + Send>) -> std::result::Result<Error, Box<dyn Any + Send>> {
    payload.downcast::<Error>().map(|error| *error)
}

static CUDA: OnceLock<&'static dyn Backend> = OnceLock::new();

/// Registers the backend of CUDA devices. The first one stays.
pub fn register(backend: &'static dyn Backend) {
    let _ = CUDA.set(backend);
}

/// The backend of the devices of this kind.
pub fn of(kind: DeviceType) -> Result<&'static dyn Backend> {
    let backend = if kind == DeviceType::Cuda { CUDA.get() } else { None };
    backend.copied().ok_or_else(|| err!(Runtime, "no device of type {} is in use", kind.name()))
}
