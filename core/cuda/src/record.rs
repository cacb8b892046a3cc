//! The record of each device, in which kernels report elements that are errors. It is read when a stream is waited for
//! that has run such a kernel since the last time.

use crate::device::{DEVICES, Gpu};
use crate::driver;
use crate::stream::Stream;
use cudarc::driver::sys::CUstream;
use rushlight_base::report::Record;
use rushlight_base::{Device, Result, backend};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A device's record.
struct Slot {
    /// Its address on the device.
    at: OnceLock<u64>,
    /// The streams with kernels that may have written it.
    streams: Mutex<Vec<Stream>>,
}

impl Slot {
    fn streams(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static SLOTS: [Slot; DEVICES] = [const { Slot { at: OnceLock::new(), streams: Mutex::new(Vec::new()) } }; DEVICES];

/// The address of the device's record, for a kernel that is about to be started on the current stream.
pub(crate) fn for_launch(gpu: &Gpu) -> Result<u64> {
    let slot = &SLOTS[gpu.index as usize];
    let mut streams = slot.streams();
    let at = match slot.at.get() {
        Some(&at) => at,
        None => {
            let mut at = 0;
            // SAFETY: the device's context is current, and the function writes one address.
            unsafe { driver::allocate(&mut at, size_of::<Record>()) }?;
            write(at, std::ptr::null_mut())?;
            *slot.at.get_or_init(|| at)
        }
    };
    let stream = Stream::current(gpu);
    if !streams.contains(&stream) {
        streams.push(stream);
    }
    Ok(at)
}

/// The error that a kernel of the stream has reported, once. All work of the stream has run.
pub(crate) fn check(stream: Stream) -> Result<()> {
    let slot = &SLOTS[stream.device().index as usize];
    let mut streams = slot.streams();
    let Some(nth) = streams.iter().position(|other| *other == stream) else { return Ok(()) };
    streams.swap_remove(nth);
    read(slot, stream.device(), stream.raw())
}

/// The same for all streams of a device, whose work has run.
pub(crate) fn check_all(gpu: &Gpu) -> Result<()> {
    let slot = &SLOTS[gpu.index as usize];
    let mut streams = slot.streams();
    if streams.is_empty() {
        return Ok(());
    }
    streams.clear();
    read(slot, Device::cuda(gpu.index), std::ptr::null_mut())
}

fn read(slot: &Slot, device: Device, stream: CUstream) -> Result<()> {
    let Some(&at) = slot.at.get() else { return Ok(()) };
    let mut record = Record::default();
    // SAFETY: the device's context is current; both places have the bytes of a record, and the call below waits for the
    // copy.
    unsafe {
        driver::copy_to_host((&raw mut record).cast(), at, size_of::<Record>(), stream)?;
        driver::synchronize_stream(stream)?;
    }
    if record.taken == 0 {
        return Ok(());
    }
    write(at, stream)?;
    Err(backend::reported(&record, device))
}

/// Empties the record.
fn write(at: u64, stream: CUstream) -> Result<()> {
    let empty = Record::default();
    // SAFETY: the device's context is current; both places have the bytes of a record, and the call below waits for the
    // copy.
    unsafe {
        driver::copy_to_device(at, (&raw const empty).cast(), size_of::<Record>(), stream)?;
        driver::synchronize_stream(stream)
    }
}
