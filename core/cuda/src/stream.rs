//! Streams and events. Work of one stream runs in its order; work of different streams runs in any order, unless an
//! event orders it.

use crate::device::{DEVICES, Gpu, gpu};
use crate::{driver, record};
use cudarc::driver::sys::{self, CUevent, CUstream};
use rushlight_base::{Device, Result, ensure};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Streams of a priority that a device has: [`Stream::from_pool`] gives them out in turn.
const POOL: usize = 32;

/// A stream of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    device: i8,
    /// The driver's handle as a number; 0: the default stream.
    handle: usize,
}

struct Pool {
    streams: [OnceLock<usize>; POOL],
    next: AtomicU32,
}

impl Pool {
    const fn new() -> Pool {
        Pool { streams: [const { OnceLock::new() }; POOL], next: AtomicU32::new(0) }
    }
}

/// The streams of each device: of normal and of high priority.
static POOLS: [[Pool; 2]; DEVICES] = [const { [Pool::new(), Pool::new()] }; DEVICES];

thread_local! {
    /// The current stream of each device.
    static CURRENT: [Cell<usize>; DEVICES] = const { [const { Cell::new(0) }; DEVICES] };
}

impl Stream {
    /// The default stream of a device.
    pub fn default_of(device: Device) -> Result<Stream> {
        Ok(Stream { device: gpu(device)?.index, handle: 0 })
    }

    /// The current stream of a device for this thread.
    pub fn current_of(device: Device) -> Result<Stream> {
        Ok(Stream::current(gpu(device)?))
    }

    #[inline]
    pub(crate) fn current(gpu: &Gpu) -> Stream {
        Stream { device: gpu.index, handle: CURRENT.with(|current| current[gpu.index as usize].get()) }
    }

    /// A stream from the device's pool: of high priority if asked for. The pool's streams are given out in turn.
    pub fn from_pool(device: Device, high_priority: bool) -> Result<Stream> {
        let gpu = gpu(device)?;
        let pool = &POOLS[gpu.index as usize][usize::from(high_priority)];
        let slot = &pool.streams[pool.next.fetch_add(1, Ordering::Relaxed) as usize % POOL];
        let handle = match slot.get() {
            Some(&handle) => handle,
            None => {
                let created = create(high_priority)?;
                // Of two threads that create a stream for the same slot, one finds the other's: its own stays unused.
                *slot.get_or_init(|| created)
            }
        };
        Ok(Stream { device: gpu.index, handle })
    }

    /// A stream that the program created itself.
    ///
    /// # Safety
    /// `handle` is a stream of the device, and lives as long as it is used.
    pub unsafe fn external(device: Device, handle: usize) -> Result<Stream> {
        Ok(Stream { device: gpu(device)?.index, handle })
    }

    /// Makes this the current stream of its device for this thread.
    pub fn make_current(self) {
        CURRENT.with(|current| current[self.device as usize].set(self.handle));
    }

    /// The device of the stream.
    pub fn device(self) -> Device {
        Device::cuda(self.device)
    }

    /// The driver's handle as a number; 0: the default stream.
    pub fn handle(self) -> usize {
        self.handle
    }

    #[inline]
    pub(crate) fn raw(self) -> CUstream {
        std::ptr::with_exposed_provenance_mut(self.handle)
    }

    /// Waits for all work of the stream. An error that one of its kernels has reported is the error of this call.
    pub fn synchronize(self) -> Result<()> {
        gpu(self.device())?;
        // SAFETY: the stream is live (streams of the pool are never destroyed), and its device's context is current.
        unsafe { driver::synchronize_stream(self.raw()) }?;
        record::check(self)
    }

    /// Whether all work of the stream has run.
    pub fn query(self) -> Result<bool> {
        gpu(self.device())?;
        // SAFETY: the stream is live, and its device's context is current.
        unsafe { driver::is_stream_done(self.raw()) }
    }

    /// Lets later work of this stream wait for all work that `other` has now.
    pub fn wait_for(self, other: Stream) -> Result<()> {
        if self == other {
            return Ok(());
        }
        let event = Event::new(false)?;
        event.record(other)?;
        event.block(self)
    }
}

fn create(high_priority: bool) -> Result<usize> {
    let (mut lowest, mut highest) = (0, 0);
    // SAFETY: the caller has made a device's context current, and the function writes two numbers.
    unsafe { driver::priorities(&mut lowest, &mut highest) }?;
    let mut stream: CUstream = std::ptr::null_mut();
    let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
    // SAFETY: a device's context is current, and the priority is in the range that the driver gave.
    unsafe { driver::create_stream(&mut stream, flags, if high_priority { highest } else { 0 }) }?;
    Ok(stream.expose_provenance())
}

/// A point in the work of a stream.
#[derive(Debug)]
pub struct Event {
    timing: bool,
    /// Created for the device of the first stream that records it.
    created: OnceLock<(i8, usize)>,
}

impl Event {
    /// An event that no stream has recorded. One with `timing` can be used by [`Event::elapsed`].
    pub fn new(timing: bool) -> Result<Event> {
        Ok(Event { timing, created: OnceLock::new() })
    }

    fn created_for(&self, device: i8) -> Result<CUevent> {
        let (owner, handle) = match self.created.get() {
            Some(&created) => created,
            None => {
                let mut event: CUevent = std::ptr::null_mut();
                let flags = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
                // SAFETY: the caller has made the context of the device current.
                unsafe { driver::create_event(&mut event, if self.timing { 0 } else { flags }) }?;
                *self.created.get_or_init(|| (device, event.expose_provenance()))
            }
        };
        ensure!(
            owner == device,
            Runtime,
            "Event device cuda:{owner} does not match recording stream's device cuda:{device}."
        );
        Ok(std::ptr::with_exposed_provenance_mut(handle))
    }

    fn handle(&self) -> Option<(Device, CUevent)> {
        let &(device, handle) = self.created.get()?;
        Some((Device::cuda(device), std::ptr::with_exposed_provenance_mut(handle)))
    }

    /// Records all work that the stream has now.
    pub fn record(&self, stream: Stream) -> Result<()> {
        gpu(stream.device())?;
        let event = self.created_for(stream.device)?;
        // SAFETY: event and stream belong to the device whose context is current.
        unsafe { driver::record_event(event, stream.raw()) }
    }

    /// Lets later work of the stream wait for the recorded work. Nothing happens if none was recorded.
    pub fn block(&self, stream: Stream) -> Result<()> {
        gpu(stream.device())?;
        match self.handle() {
            None => Ok(()),
            // SAFETY: the event is live, and the stream belongs to the device whose context is current.
            Some((_, event)) => unsafe { driver::wait_for_event(stream.raw(), event, 0) },
        }
    }

    /// Whether the recorded work has run.
    pub fn query(&self) -> Result<bool> {
        let Some((device, event)) = self.handle() else { return Ok(true) };
        gpu(device)?;
        // SAFETY: the event is live, and its device's context is current.
        unsafe { driver::is_event_done(event) }
    }

    /// Waits for the recorded work.
    pub fn synchronize(&self) -> Result<()> {
        let Some((device, event)) = self.handle() else { return Ok(()) };
        gpu(device)?;
        // SAFETY: the event is live, and its device's context is current.
        unsafe { driver::synchronize_event(event) }
    }

    /// Milliseconds from this event to `end`. Both have timing, and their work has run.
    pub fn elapsed(&self, end: &Event) -> Result<f32> {
        let (Some((device, start)), Some((there, stop))) = (self.handle(), end.handle()) else {
            rushlight_base::bail!(Value, "Both events must be recorded before calculating elapsed time.")
        };
        ensure!(self.timing && end.timing, Value, "Both events must be created with argument 'enable_timing=True'.");
        ensure!(device == there, Value, "Events must be on the same device, got {device} and {there}");
        gpu(device)?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are live and recorded, and the function writes one number.
        unsafe { driver::elapsed(&mut milliseconds, start, stop) }?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let Some((device, event)) = self.handle() else { return };
        if gpu(device).is_ok() {
            // SAFETY: the event is live and dropped once; the driver frees it when its work has run. An error leaves it
            // to the context.
            let _ = unsafe { driver::destroy_event(event) };
        }
    }
}
