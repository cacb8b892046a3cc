//! The driver: found and checked once, and its calls as functions that return a [`Result`].
//!
//! cudarc looks up each symbol at its first call and panics if it is missing. [`driver`] therefore looks up all symbols
//! that this crate calls, and nothing here is called without it.

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUevent, CUfunction, CUfunction_attribute, CUmodule, CUresult,
    CUstream,
};
use rushlight_base::{Error, Result, bail, ensure, err};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is known of a driver that works.
pub(crate) struct Driver {
    /// Number of devices, more than 0.
    pub(crate) count: i32,
    /// The newest CUDA version that it supports: 12040 is 12.4.
    pub(crate) version: i32,
}

/// Set in a forked child of a process that has initialized the driver, which does not work there.
static FORKED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

/// The driver, or the reason why there is none.
pub(crate) fn driver() -> Result<&'static Driver> {
    static DRIVER: OnceLock<std::result::Result<Driver, String>> = OnceLock::new();
    match DRIVER.get_or_init(|| open().map_err(|error| error.message().to_string())) {
        Err(reason) => bail!(Runtime, "no CUDA device: {reason}"),
        Ok(driver) => {
            ensure!(
                !FORKED.load(Ordering::Relaxed),
                Runtime,
                "Cannot re-initialize CUDA in forked subprocess. CUDA was used before the fork: start the process before \
                 the first use of CUDA, or with exec"
            );
            Ok(driver)
        }
    }
}

fn open() -> Result<Driver> {
    // SAFETY: the check only tries to open the driver library.
    ensure!(unsafe { sys::is_culib_present() }, Runtime, "no NVIDIA driver with a GPU was found on this machine");
    // SAFETY: the library is present, so this returns it.
    let library = unsafe { sys::culib() };
    for symbol in CHECKED.iter().chain(&OTHERS) {
        // SAFETY: the symbol is only looked up: a pointer of this type is not called.
        let found = unsafe { library.get::<*const ()>(symbol.as_bytes()) };
        ensure!(found.is_ok(), Runtime, "the NVIDIA driver is too old: it has no function {symbol:?}");
    }
    // SAFETY: the symbol exists, and 0 is the only flag.
    unsafe { initialize(0) }?;
    let (mut count, mut version) = (0, 0);
    // SAFETY: the driver is initialized, and the function writes one number.
    unsafe { device_count(&mut count) }?;
    // SAFETY: the function writes one number.
    unsafe { driver_version(&mut version) }?;
    ensure!(count > 0, Runtime, "the NVIDIA driver sees no GPU");
    // SAFETY: the handler only stores to a static, and glibc drops it when this library is unloaded.
    #[cfg(unix)]
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    }
    Ok(Driver { count: count.min(i32::from(i8::MAX)), version })
}

/// The error of a call, unless it succeeded.
#[inline]
fn check(code: CUresult, call: &str) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failed(code, call)) }
}

#[cold]
fn failed(code: CUresult, call: &str) -> Error {
    let (mut name, mut text) = (std::ptr::null(), std::ptr::null());
    // SAFETY: both functions only write the address of a constant string, or null for an unknown code.
    unsafe {
        sys::cuGetErrorName(code, &mut name);
        sys::cuGetErrorString(code, &mut text);
    }
    let string = |at: *const c_char| {
        if at.is_null() {
            return "unknown error".into();
        }
        // SAFETY: the driver returned a NUL-terminated constant string.
        unsafe { CStr::from_ptr(at) }.to_string_lossy()
    };
    let (name, text) = (string(name), string(text));
    if code == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        return err!(OutOfMemory, "CUDA error: {text} ({name} in {call})");
    }
    err!(
        Runtime,
        "CUDA error: {text} ({name} in {call}). Errors of kernels may be reported by a later call: with \
         CUDA_LAUNCH_BLOCKING=1 the call that fails reports its own"
    )
}

/// Calls of the driver, one function each, and the list of their symbols. Handles come from earlier calls, and the context of their device is current.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),*);)*) => {
        /// The symbols of these functions.
        const CHECKED: &[&str] = &[$(stringify!($symbol)),*];

        $($(#[$doc])*
        ///
        /// # Safety
        /// Handles are live and of the current context. Memory that is named exists until the work has run.
        #[inline]
        #[allow(clippy::too_many_arguments)] // the driver's
        pub(crate) unsafe fn $name($($argument: $type),*) -> Result<()> {
            // SAFETY: the caller guarantees live handles and memory; the symbol was found by `driver`, which every
            // handle comes from.
            check(unsafe { sys::$symbol($($argument),*) }, stringify!($symbol))
        })*
    };
}

calls! {
    /// Makes a context the current one of this thread.
    set_context = cuCtxSetCurrent(context: CUcontext);
    /// Waits for all work of the current context.
    synchronize_context = cuCtxSynchronize();
    /// The lowest and the highest priority of streams; smaller numbers have priority.
    priorities = cuCtxGetStreamPriorityRange(lowest: *mut c_int, highest: *mut c_int);
    /// Allocates device memory.
    allocate = cuMemAlloc_v2(at: *mut u64, bytes: usize);
    /// Frees device memory.
    free = cuMemFree_v2(at: u64);
    /// Free and total bytes of the device.
    memory = cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    /// Copies from the host to the device.
    copy_to_device = cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: CUstream);
    /// Copies from the device to the host.
    copy_to_host = cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: CUstream);
    /// Copies within the device.
    copy_within = cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: CUstream);
    /// Copies between devices.
    copy_between = cuMemcpyPeerAsync(to: u64, there: CUcontext, from: u64, here: CUcontext, bytes: usize, stream: CUstream);
    /// Creates a stream.
    create_stream = cuStreamCreateWithPriority(stream: *mut CUstream, flags: u32, priority: c_int);
    /// Waits for all work of a stream.
    synchronize_stream = cuStreamSynchronize(stream: CUstream);
    /// Lets later work of a stream wait for an event.
    wait_for_event = cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: u32);
    /// Creates an event.
    create_event = cuEventCreate(event: *mut CUevent, flags: u32);
    /// Destroys an event.
    destroy_event = cuEventDestroy_v2(event: CUevent);
    /// Records an event after the work of a stream.
    record_event = cuEventRecord(event: CUevent, stream: CUstream);
    /// Waits for an event.
    synchronize_event = cuEventSynchronize(event: CUevent);
    /// Milliseconds between two events.
    elapsed = cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    /// Loads a module from PTX.
    load_module = cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    /// Finds a kernel in a module.
    find_function = cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    /// Initializes the driver.
    initialize = cuInit(flags: u32);
    /// Number of devices.
    device_count = cuDeviceGetCount(count: *mut i32);
    /// The newest CUDA version that the driver supports.
    driver_version = cuDriverGetVersion(version: *mut i32);
    /// The handle of a device.
    device = cuDeviceGet(device: *mut CUdevice, index: i32);
    /// The primary context of a device, which lives as long as the process.
    retain_context = cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    /// A number that describes a device.
    attribute = cuDeviceGetAttribute(value: *mut i32, which: CUdevice_attribute, device: CUdevice);
    /// The name of a device, in at most `len` bytes with the final NUL.
    name = cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
    /// Bytes of a device's memory.
    total_memory = cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    /// Sets a number of a kernel.
    set_attribute = cuFuncSetAttribute(function: CUfunction, which: CUfunction_attribute, value: i32);
    /// Starts a kernel.
    launch_kernel = cuLaunchKernel(
        function: CUfunction, blocks_x: u32, blocks_y: u32, blocks_z: u32, threads_x: u32, threads_y: u32, threads_z: u32,
        shared: u32, stream: CUstream, parameters: *mut *mut c_void, extra: *mut *mut c_void
    );
}

/// The symbols of calls whose code is not only success or an error.
const OTHERS: [&str; 4] = ["cuGetErrorName", "cuGetErrorString", "cuStreamQuery", "cuEventQuery"];

/// Whether the work of a stream is done.
///
/// # Safety
/// The stream is live, and the context of its device is current.
pub(crate) unsafe fn is_stream_done(stream: CUstream) -> Result<bool> {
    // SAFETY: the caller guarantees a live stream of the current context.
    is_done(unsafe { sys::cuStreamQuery(stream) }, "cuStreamQuery")
}

/// Whether the work before an event is done.
///
/// # Safety
/// The event is live, and the context of its device is current.
pub(crate) unsafe fn is_event_done(event: CUevent) -> Result<bool> {
    // SAFETY: the caller guarantees a live event of the current context.
    is_done(unsafe { sys::cuEventQuery(event) }, "cuEventQuery")
}

/// A code other than success and "not ready" is an error.
fn is_done(code: CUresult, call: &str) -> Result<bool> {
    if code == CUresult::CUDA_ERROR_NOT_READY { Ok(false) } else { check(code, call).map(|()| true) }
}
