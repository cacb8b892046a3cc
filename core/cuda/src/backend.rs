//! CUDA as a backend of tensors.

use crate::device::{self, gpu};
use crate::stream::Stream;
use crate::{allocator, driver, modules, record};
use rushlight_base::backend::{self, Backend, Launch, Place};
use rushlight_base::{Device, DeviceType, Result};

struct Cuda;

/// Registers the CUDA devices with the tensors of this process, and checks that there is one.
pub fn install() -> Result<()> {
    driver::driver()?;
    backend::register(&Cuda);
    Ok(())
}

impl Backend for Cuda {
    fn capability(&self, device: Device) -> Result<(i32, i32)> {
        Ok(gpu(device)?.capability)
    }

    fn processors(&self, device: Device) -> Result<[u32; 2]> {
        Ok(gpu(device)?.processors)
    }

    fn current_device(&self) -> Result<i8> {
        device::current_device()
    }

    fn allocate(&self, device: Device, bytes: usize) -> Result<*mut u8> {
        Ok(std::ptr::without_provenance_mut(allocator::allocate(device, bytes)? as usize))
    }

    unsafe fn free(&self, device: Device, at: *mut u8, _bytes: usize) {
        allocator::free(device, at.addr() as u64);
    }

    unsafe fn copy(&self, to: Place, from: Place, bytes: usize, wait: bool) -> Result<()> {
        let on_device = |place: &Place| place.device.kind == DeviceType::Cuda;
        let (source, target) = (from.at.addr() as u64, to.at.addr() as u64);
        let gpu = gpu(if on_device(&to) { to.device } else { from.device })?;
        let stream = Stream::current(gpu);
        // SAFETY: the caller guarantees both places for as long as the copy runs, and the stream belongs to the device
        // whose context is current.
        unsafe {
            match (on_device(&to), on_device(&from)) {
                (true, false) => driver::copy_to_device(target, from.at.cast(), bytes, stream.raw())?,
                (false, true) => driver::copy_to_host(to.at.cast(), source, bytes, stream.raw())?,
                _ if from.device == to.device => driver::copy_within(target, source, bytes, stream.raw())?,
                _ => return copy_between(to, from, bytes),
            }
        }
        if wait || !on_device(&to) || !on_device(&from) { stream.synchronize() } else { Ok(()) }
    }

    unsafe fn launch(&self, launch: &Launch) -> Result<()> {
        // SAFETY: the caller makes the same promises.
        unsafe { modules::launch(launch) }
    }

    fn record(&self, device: Device) -> Result<u64> {
        record::for_launch(gpu(device)?)
    }
}

/// A copy between two devices: after the work of both current streams, and before their later work.
///
/// # Safety
/// Both places have as many bytes, which stay allocated until the copy has run.
unsafe fn copy_between(to: Place, from: Place, bytes: usize) -> Result<()> {
    let (there, here) = (gpu(to.device)?, gpu(from.device)?);
    let (target, source) = (Stream::current(there), Stream::current(here));
    source.wait_for(target)?;
    gpu(from.device)?;
    // SAFETY: the caller guarantees both places; the contexts are those of their devices, and the stream belongs to the
    // source's, which is current.
    unsafe {
        driver::copy_between(
            to.at.addr() as u64,
            there.context,
            from.at.addr() as u64,
            here.context,
            bytes,
            source.raw(),
        )?;
    }
    target.wait_for(source)
}
