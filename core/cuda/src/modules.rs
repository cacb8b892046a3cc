//! Kernels: from the files of PTX to functions of the driver.
//!
//! The driver compiles a kernel when it is first used on a device, and keeps the result in its own cache on disk.

use crate::device::{Gpu, gpu};
use crate::{driver, kernels};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute, CUmodule};
use rushlight_base::backend::{Kernel, Launch};
use rushlight_base::{Device, Result, err};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

/// Bytes of shared memory that every kernel may use; more needs consent.
const SHARED: u32 = 48 << 10;

/// Parameters that a kernel may have.
const MOST_PARAMETERS: usize = 16;

/// A function of the driver, and the most shared memory that it has consented to.
#[derive(Clone, Copy)]
struct Function(CUfunction);

// SAFETY: the handle is a constant that the driver gave out; modules are never unloaded, and the driver's functions may
// be called from any thread.
unsafe impl Send for Function {}
// SAFETY: `&Function` gives out the same handle, which any thread may use.
unsafe impl Sync for Function {}

type Table = RwLock<HashMap<(i8, Kernel), Function>>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(Table::default)
}

fn function(gpu: &Gpu, kernel: &Kernel) -> Result<Function> {
    let key = (gpu.index, *kernel);
    if let Some(function) = table().read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(*function);
    }
    load(gpu, kernel)
}

#[cold]
fn load(gpu: &Gpu, kernel: &Kernel) -> Result<Function> {
    // One at a time: the compiler of the driver takes milliseconds, and two threads often need the same kernel.
    static LOADING: Mutex<()> = Mutex::new(());
    let _alone = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (gpu.index, *kernel);
    if let Some(function) = table().read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(*function);
    }
    let function = compile(kernel).map_err(|error| error.context(format!("kernel {}", kernel.symbol())))?;
    table().write().unwrap_or_else(PoisonError::into_inner).insert(key, function);
    Ok(function)
}

fn compile(kernel: &Kernel) -> Result<Function> {
    let text = kernels::text(kernel)?;
    let name = CString::new(kernel.symbol()).map_err(|_| err!(Internal, "a name holds a NUL"))?;
    let mut module: CUmodule = std::ptr::null_mut();
    let mut function: CUfunction = std::ptr::null_mut();
    // SAFETY: the caller has made a device's context current; the text is NUL-terminated, and the function writes one
    // handle.
    unsafe { driver::load_module(&mut module, text.as_ptr().cast()) }?;
    // SAFETY: the module is loaded, the name is NUL-terminated, and the function writes one handle.
    unsafe { driver::find_function(&mut function, module, name.as_ptr()) }?;
    Ok(Function(function))
}

/// Starts a kernel on the current stream of its device.
///
/// # Safety
/// The parameters are those that the kernel declares, and the memory that they name is allocated on the device.
pub(crate) unsafe fn launch(launch: &Launch) -> Result<()> {
    let gpu = gpu(launch.device)?;
    let Function(function) = function(gpu, &launch.kernel)?;
    if launch.shared > SHARED {
        let more = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is loaded in the current context.
        unsafe { driver::set_attribute(function, more, launch.shared as i32) }?;
    }
    let mut parameters = [std::ptr::null_mut::<c_void>(); MOST_PARAMETERS];
    rushlight_base::ensure!(
        launch.parameters.len() <= MOST_PARAMETERS,
        Internal,
        "kernel {} has {} parameters",
        launch.kernel.symbol(),
        launch.parameters.len()
    );
    for (pointer, bytes) in parameters.iter_mut().zip(launch.parameters) {
        *pointer = bytes.as_ptr().cast_mut().cast();
    }
    let ([bx, by, bz], [tx, ty, tz]) = (launch.blocks, launch.threads);
    let stream = crate::stream::Stream::current(gpu).raw();
    // SAFETY: function and stream belong to the current context; the caller guarantees the kernel's parameters, which the
    // driver reads before it returns.
    let launched = unsafe {
        driver::launch_kernel(
            function,
            bx,
            by,
            bz,
            tx,
            ty,
            tz,
            launch.shared,
            stream,
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    launched.map_err(|error| error.context(format!("kernel {}", launch.kernel.symbol())))?;
    if is_blocking() { crate::device::synchronize_stream(Device::cuda(gpu.index)) } else { Ok(()) }
}

/// Whether each launch waits for its kernel: the environment variable `CUDA_LAUNCH_BLOCKING` is 1.
fn is_blocking() -> bool {
    static BLOCKING: OnceLock<bool> = OnceLock::new();
    *BLOCKING.get_or_init(|| std::env::var("CUDA_LAUNCH_BLOCKING").is_ok_and(|value| value.trim() == "1"))
}
