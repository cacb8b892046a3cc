//! Devices: their contexts, which one is current, and their properties.

use crate::driver::{self, driver};
use crate::stream::Stream;
use cudarc::driver::sys::{CUcontext, CUdevice, CUdevice_attribute};
use rushlight_base::{Device, DeviceType, Result, ensure};
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

/// The most devices of a process: a device's index is an `i8`.
pub(crate) const DEVICES: usize = 128;

/// A device in use.
pub(crate) struct Gpu {
    pub(crate) index: i8,
    pub(crate) handle: CUdevice,
    pub(crate) context: CUcontext,
    pub(crate) capability: (i32, i32),
    /// Multiprocessors, and the threads that one holds.
    pub(crate) processors: [u32; 2],
}

// SAFETY: the handles are constants that the driver gave out; its functions may be called from any thread.
unsafe impl Send for Gpu {}
// SAFETY: the fields never change, and the driver's functions may be called from any thread.
unsafe impl Sync for Gpu {}

static GPUS: [OnceLock<Gpu>; DEVICES] = [const { OnceLock::new() }; DEVICES];

thread_local! {
    /// The current device of this thread.
    static CURRENT: Cell<i8> = const { Cell::new(0) };
}

/// Number of CUDA devices that this process can use: 0 without driver or GPU.
pub fn device_count() -> i32 {
    driver().map_or(0, |driver| driver.count)
}

/// The index of the current device of this thread.
pub fn current_device() -> Result<i8> {
    driver()?;
    Ok(CURRENT.get())
}

/// Makes a device the current one of this thread.
pub fn set_current_device(device: Device) -> Result<()> {
    let index = resolved(device)?;
    CURRENT.set(index);
    Ok(())
}

/// The index of `device`: that of the current device if it names none.
pub fn resolved(device: Device) -> Result<i8> {
    ensure!(device.kind == DeviceType::Cuda, Value, "expected a CUDA device, got {device}");
    let count = driver()?.count;
    let index = if device.index < 0 { CURRENT.get() } else { device.index };
    ensure!(
        i32::from(index) < count,
        Runtime,
        "CUDA error: invalid device ordinal: there is no device {device}, this machine has {count}"
    );
    Ok(index)
}

/// The device with this index, whose context becomes current for the driver.
pub(crate) fn gpu(device: Device) -> Result<&'static Gpu> {
    let index = resolved(device)?;
    let gpu = match GPUS[index as usize].get() {
        Some(gpu) => gpu,
        None => open(index)?,
    };
    // Not only when this thread changes its device: other code of the program may have changed the context. The call takes
    // some 20 ns if it changes nothing.
    // SAFETY: the context is the device's primary context, which is never released.
    unsafe { driver::set_context(gpu.context) }?;
    Ok(gpu)
}

#[cold]
fn open(index: i8) -> Result<&'static Gpu> {
    let mut handle = 0;
    // SAFETY: `resolved` has asked the driver, and the function writes one handle.
    unsafe { driver::device(&mut handle, index.into()) }?;
    let (major, minor) = capability(handle)?;
    ensure!(
        major >= 7,
        Runtime,
        "device cuda:{index} has compute capability {major}.{minor}, and kernels need 7.0 or later"
    );
    let number = |which| attribute(handle, which).map(|number| number.max(1) as u32);
    let processors = [
        number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
    ];
    let mut context = std::ptr::null_mut();
    // SAFETY: the handle came from the driver, and the function writes one handle.
    unsafe { driver::retain_context(&mut context, handle) }?;
    Ok(GPUS[index as usize].get_or_init(|| Gpu { index, handle, context, capability: (major, minor), processors }))
}

fn attribute(handle: CUdevice, attribute: CUdevice_attribute) -> Result<i32> {
    let mut value = 0;
    // SAFETY: the handle came from the driver, and the function writes one number.
    unsafe { driver::attribute(&mut value, attribute, handle) }?;
    Ok(value)
}

fn capability(handle: CUdevice) -> Result<(i32, i32)> {
    use CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    Ok((attribute(handle, MAJOR)?, attribute(handle, MINOR)?))
}

/// Properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Name, as the driver gives it.
    pub name: String,
    /// Compute capability, major.
    pub major: i32,
    /// Compute capability, minor.
    pub minor: i32,
    /// Bytes of memory.
    pub total_memory: usize,
    /// Number of multiprocessors.
    pub multiprocessors: i32,
    /// Threads that a multiprocessor can hold.
    pub threads_per_multiprocessor: i32,
    /// Bytes of the level-2 cache.
    pub l2_cache: i32,
    /// Threads of a warp.
    pub warp: i32,
    /// Bytes of shared memory that a block can have without and with its consent.
    pub shared_per_block: [i32; 2],
    /// Registers of a multiprocessor.
    pub registers: i32,
    /// The newest CUDA version that the driver supports: 12040 is 12.4.
    pub driver_version: i32,
}

/// The properties of a device.
pub fn properties(device: Device) -> Result<Properties> {
    use CUdevice_attribute as A;
    let gpu = gpu(device)?;
    let mut name = [0 as c_char; 256];
    // SAFETY: the function writes at most 256 bytes with the final NUL.
    unsafe { driver::name(name.as_mut_ptr(), 256, gpu.handle) }?;
    let mut total_memory = 0;
    // SAFETY: the function writes one number.
    unsafe { driver::total_memory(&mut total_memory, gpu.handle) }?;
    let (major, minor) = capability(gpu.handle)?;
    let number = |which| attribute(gpu.handle, which);
    // SAFETY: the driver has written a NUL-terminated name into the array.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    Ok(Properties {
        name,
        major,
        minor,
        total_memory,
        multiprocessors: number(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: number(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        l2_cache: number(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        warp: number(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        shared_per_block: [
            number(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            number(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        ],
        registers: number(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        driver_version: driver()?.version,
    })
}

/// Free and total bytes of a device's memory, as the driver counts them.
pub fn memory_info(device: Device) -> Result<(usize, usize)> {
    gpu(device)?;
    let (mut free, mut total) = (0, 0);
    // SAFETY: the device's context is current, and the function writes two numbers.
    unsafe { driver::memory(&mut free, &mut total) }?;
    Ok((free, total))
}

/// Waits for all work of a device. An error that one of its kernels has reported is the error of this call.
pub fn synchronize(device: Device) -> Result<()> {
    let gpu = gpu(device)?;
    // SAFETY: the device's context is current.
    unsafe { driver::synchronize_context() }?;
    crate::record::check_all(gpu)
}

/// Waits for all work of the current stream of a device.
pub(crate) fn synchronize_stream(device: Device) -> Result<()> {
    Stream::current(gpu(device)?).synchronize()
}
