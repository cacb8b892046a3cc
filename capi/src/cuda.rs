//! CUDA devices: memory, streams and events of NVIDIA GPUs.
//!
//! The driver is searched when the first function needs it. Without a driver or a GPU `rlt_cuda_device_count` gives 0,
//! and every other function is an error that says what is missing. The index -1 is the current device of the calling
//! thread. Work is submitted to the current stream of a device and runs later: errors of kernels are reported by a later
//! call, at the latest by `rlt_cuda_synchronize`.
//!
//! ```c
//! int32_t count = -1;
//! int32_t status = rlt_cuda_device_count(&count);
//! if (!status && count > 0) status = rlt_cuda_synchronize(-1);
//! if (!status) printf("%s\n", count >= 0 ? "counted" : "not counted");  // prints counted
//! ```

#![cfg_attr(
    not(feature = "cuda"),
    allow(unused_imports, unused_variables, reason = "a build without CUDA only checks")
)]

use crate::dispatch::rlt_stream;
use crate::support::handle::{self, Handle};
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::{rlt_device, rlt_tensor};
use rushlight_base::{Device, Result};
#[cfg(feature = "cuda")]
use rushlight_base::{DeviceType, ensure, err};
use rushlight_tensor::devices;
use std::ffi::{c_char, c_void};

#[cfg(feature = "cuda")]
use devices::cuda;

/// A point in the work of a stream.
pub struct rlt_cuda_event {
    _private: [u8; 0],
}

impl Handle for rlt_cuda_event {
    #[cfg(feature = "cuda")]
    type Rust = Box<cuda::Event>;
    #[cfg(not(feature = "cuda"))]
    type Rust = Box<()>;
}

/// Properties of a CUDA device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_cuda_properties {
    /// `sizeof(rlt_cuda_properties)`, set by the caller.
    pub struct_size: usize,
    /// Bytes of memory.
    pub total_memory: i64,
    /// Compute capability: 9.0 is 9 and 0.
    pub major: i32,
    /// Compute capability, minor number.
    pub minor: i32,
    /// Number of multiprocessors.
    pub multiprocessors: i32,
    /// Threads that a multiprocessor can hold.
    pub threads_per_multiprocessor: i32,
    /// Threads of a warp.
    pub warp_size: i32,
    /// Bytes of the level-2 cache.
    pub l2_cache_size: i32,
    /// Bytes of shared memory that a block can have.
    pub shared_memory_per_block: i32,
    /// Bytes of shared memory that a block can have if the kernel consents.
    pub shared_memory_per_block_optin: i32,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: i32,
    /// The newest CUDA version that the driver supports: 12040 is 12.4.
    pub driver_version: i32,
    /// The name, NUL-terminated.
    pub name: [c_char; 256],
}

// SAFETY: `rlt_cuda_properties` is repr(C) and begins with `struct_size`; its other fields are integers and bytes, for
// which every value is valid.
unsafe impl SizedStruct for rlt_cuda_properties {
    const UNSET: Self = rlt_cuda_properties {
        struct_size: 0,
        total_memory: 0,
        major: 0,
        minor: 0,
        multiprocessors: 0,
        threads_per_multiprocessor: 0,
        warp_size: 0,
        l2_cache_size: 0,
        shared_memory_per_block: 0,
        shared_memory_per_block_optin: 0,
        registers_per_multiprocessor: 0,
        driver_version: 0,
        name: [0; 256],
    };
    const NAME: &'static str = "rlt_cuda_properties";
}

/// A number of the caching allocator.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_cuda_counter {
    /// Now.
    pub current: i64,
    /// The maximum since the last reset.
    pub peak: i64,
    /// The sum of the increases.
    pub allocated: i64,
    /// The sum of the decreases.
    pub freed: i64,
}

/// Statistics of the caching allocator of a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_cuda_memory_stats {
    /// `sizeof(rlt_cuda_memory_stats)`, set by the caller.
    pub struct_size: usize,
    /// Bytes of live blocks.
    pub allocated_bytes: rlt_cuda_counter,
    /// Bytes of segments: live and cached blocks.
    pub reserved_bytes: rlt_cuda_counter,
    /// Bytes of live blocks, and of freed ones that wait for a stream.
    pub active_bytes: rlt_cuda_counter,
    /// Bytes that tensors asked for, before rounding.
    pub requested_bytes: rlt_cuda_counter,
    /// Live blocks.
    pub allocations: rlt_cuda_counter,
    /// Segments.
    pub segments: rlt_cuda_counter,
    /// Requests that were repeated after cached segments had been returned to the driver.
    pub retries: i64,
    /// Requests that failed.
    pub out_of_memory: i64,
}

const NONE: rlt_cuda_counter = rlt_cuda_counter { current: 0, peak: 0, allocated: 0, freed: 0 };

// SAFETY: `rlt_cuda_memory_stats` is repr(C) and begins with `struct_size`; its other fields are integers, for which
// every value is valid.
unsafe impl SizedStruct for rlt_cuda_memory_stats {
    const UNSET: Self = rlt_cuda_memory_stats {
        struct_size: 0,
        allocated_bytes: NONE,
        reserved_bytes: NONE,
        active_bytes: NONE,
        requested_bytes: NONE,
        allocations: NONE,
        segments: NONE,
        retries: 0,
        out_of_memory: 0,
    };
    const NAME: &'static str = "rlt_cuda_memory_stats";
}

/// The CUDA device with an index; -1 is the current one.
fn device(index: i32) -> Result<Device> {
    let index = i8::try_from(index)
        .map_err(|_| rushlight_base::err!(Value, "argument `index` is {index}: there is no such device"))?;
    devices::indexed(Device::cuda(index.max(-1)))
}

/// The block, in a build with CUDA; else an error.
macro_rules! with_cuda {
    ($body:block) => {{
        #[cfg(feature = "cuda")]
        {
            $body
        }
        #[cfg(not(feature = "cuda"))]
        Err(devices::no_cuda(Device::cuda(0)))
    }};
}

#[cfg(feature = "cuda")]
fn stream_of(stream: rlt_stream) -> Result<cuda::Stream> {
    let device = devices::indexed(stream.device.to_device()?)?;
    ensure!(device.kind == DeviceType::Cuda, Value, "argument `stream` is of device {device}, not of a CUDA device");
    let handle = usize::try_from(stream.id).map_err(|_| err!(Value, "{} is not the number of a stream", stream.id))?;
    // SAFETY: docs/c-abi.md obliges the caller: a stream came from this library, or is one of the driver's that lives as
    // long as it is used.
    unsafe { cuda::Stream::external(device, handle) }
}

#[cfg(feature = "cuda")]
fn to_c(stream: cuda::Stream) -> rlt_stream {
    rlt_stream { device: rlt_device::from(stream.device()), id: stream.handle() as i64 }
}

// ---- Devices ----

/// Returns the number of CUDA devices: 0 without a driver, without a GPU, and in a build without CUDA.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_device_count(out: *mut i32) -> i32 {
    guard("rlt_cuda_device_count", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::value(out, "out") }?.set(devices::cuda_count())
    })
}

/// Returns the index of the current device of the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_current_device(out: *mut i32) -> i32 {
    guard("rlt_cuda_current_device", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::value(out, "out") }?.set(device(-1)?.index.into())
    })
}

/// Makes a device the current one of the calling thread: that of tensors whose device has no index.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_set_device(index: i32) -> i32 {
    guard("rlt_cuda_set_device", || {
        let device = device(index)?;
        with_cuda!({ cuda::set_current_device(device) })
    })
}

/// Returns the properties of a device. The caller sets `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_device_properties(index: i32, out: *mut rlt_cuda_properties) -> i32 {
    guard("rlt_cuda_device_properties", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or points to `struct_size`
        // readable bytes.
        unsafe { sized::read(out, "out") }?;
        let device = device(index)?;
        with_cuda!({
            let found = cuda::properties(device)?;
            let mut value = rlt_cuda_properties {
                total_memory: found.total_memory as i64,
                major: found.major,
                minor: found.minor,
                multiprocessors: found.multiprocessors,
                threads_per_multiprocessor: found.threads_per_multiprocessor,
                warp_size: found.warp,
                l2_cache_size: found.l2_cache,
                shared_memory_per_block: found.shared_per_block[0],
                shared_memory_per_block_optin: found.shared_per_block[1],
                registers_per_multiprocessor: found.registers,
                driver_version: found.driver_version,
                ..SizedStruct::UNSET
            };
            for (to, byte) in value.name[..255].iter_mut().zip(found.name.bytes()) {
                *to = byte as c_char;
            }
            // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` (`struct_size` bytes) is NULL
            // or writable.
            unsafe { sized::write(out, &value, "out") }
        })
    })
}

/// Waits for all work of a device. Errors of earlier kernels are reported here at the latest.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_synchronize(index: i32) -> i32 {
    guard("rlt_cuda_synchronize", || {
        let device = device(index)?;
        with_cuda!({ cuda::synchronize(device) })
    })
}

// ---- Memory ----

/// Returns free and total bytes of a device's memory, as the driver counts them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_memory_info(index: i32, free: *mut i64, total: *mut i64) -> i32 {
    guard("rlt_cuda_memory_info", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `free` and `total` are NULL or
        // writable.
        let (free, total) = unsafe { (out::value(free, "free")?, out::value(total, "total")?) };
        let device = device(index)?;
        with_cuda!({
            let (unused, all) = cuda::memory_info(device)?;
            free.set(unused as i64)?;
            total.set(all as i64)
        })
    })
}

/// Returns statistics of the caching allocator of a device. The caller sets `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_memory_get_stats(index: i32, stats: *mut rlt_cuda_memory_stats) -> i32 {
    guard("rlt_cuda_memory_get_stats", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `stats` is NULL or points to
        // `struct_size` readable bytes.
        unsafe { sized::read(stats, "stats") }?;
        let device = device(index)?;
        with_cuda!({
            let now = cuda::stats(device)?;
            let counter = |counter: cuda::Counter| rlt_cuda_counter {
                current: counter.current,
                peak: counter.peak,
                allocated: counter.allocated,
                freed: counter.freed,
            };
            let value = rlt_cuda_memory_stats {
                struct_size: 0,
                allocated_bytes: counter(now.allocated_bytes),
                reserved_bytes: counter(now.reserved_bytes),
                active_bytes: counter(now.active_bytes),
                requested_bytes: counter(now.requested_bytes),
                allocations: counter(now.allocation),
                segments: counter(now.segment),
                retries: now.retries,
                out_of_memory: now.out_of_memory,
            };
            // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `stats` (`struct_size` bytes) is
            // NULL or writable.
            unsafe { sized::write(stats, &value, "stats") }
        })
    })
}

/// Sets the peaks of `rlt_cuda_memory_get_stats` to the current numbers.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_memory_reset_peak(index: i32) -> i32 {
    guard("rlt_cuda_memory_reset_peak", || {
        let device = device(index)?;
        with_cuda!({ cuda::reset_peak_stats(device) })
    })
}

/// Returns cached memory of a device to the driver.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_empty_cache(index: i32) -> i32 {
    guard("rlt_cuda_empty_cache", || {
        let device = device(index)?;
        with_cuda!({ cuda::empty_cache(device) })
    })
}

/// Limits the memory of this process on a device to a fraction of it, from 0 to 1.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_set_memory_fraction(index: i32, fraction: f64) -> i32 {
    guard("rlt_cuda_set_memory_fraction", || {
        let device = device(index)?;
        with_cuda!({ cuda::set_memory_fraction(fraction, device) })
    })
}

/// Tells the allocator that work of a stream uses the tensor's memory: after the tensor is freed, the memory is not
/// reused before that work has run. Needed if the stream is not the one in which the tensor was created.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_record_stream(tensor: *const rlt_tensor, stream: rlt_stream) -> i32 {
    guard("rlt_cuda_record_stream", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `tensor` is NULL or a live handle.
        let dense = unsafe { arg::tensor(tensor, "tensor") }?.dense()?.clone();
        with_cuda!({
            ensure!(
                dense.device.kind == DeviceType::Cuda,
                Value,
                "argument `tensor` is on device {}, not on a CUDA device",
                dense.device
            );
            cuda::record_stream(dense.device, dense.storage.data().addr() as u64, stream_of(stream)?)
        })
    })
}

// ---- Streams ----

/// Returns the default stream of a device, which has the number 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_stream_default(index: i32, out: *mut rlt_stream) -> i32 {
    guard("rlt_cuda_stream_default", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let (out, device) = (unsafe { out::value(out, "out") }?, device(index)?);
        with_cuda!({ out.set(to_c(cuda::Stream::default_of(device)?)) })
    })
}

/// Returns a stream from the pool of a device, which has 32 streams of each priority and gives them out in turn. They
/// are never destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_stream_from_pool(index: i32, high_priority: i32, out: *mut rlt_stream) -> i32 {
    guard("rlt_cuda_stream_from_pool", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let (out, device) = (unsafe { out::value(out, "out") }?, device(index)?);
        let high = arg::bool(high_priority);
        with_cuda!({ out.set(to_c(cuda::Stream::from_pool(device, high)?)) })
    })
}

/// Returns the current stream of a device for the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_stream_current(index: i32, out: *mut rlt_stream) -> i32 {
    guard("rlt_cuda_stream_current", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let (out, device) = (unsafe { out::value(out, "out") }?, device(index)?);
        with_cuda!({ out.set(to_c(cuda::Stream::current_of(device)?)) })
    })
}

/// Makes a stream the current one of its device for the calling thread. `id` may be a stream of the driver that the
/// program created itself (a `CUstream` as a number), which must live as long as it is used.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_stream_set_current(stream: rlt_stream) -> i32 {
    guard("rlt_cuda_stream_set_current", || {
        with_cuda!({
            stream_of(stream)?.make_current();
            Ok(())
        })
    })
}

/// Waits for all work of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_stream_synchronize(stream: rlt_stream) -> i32 {
    guard("rlt_cuda_stream_synchronize", || with_cuda!({ stream_of(stream)?.synchronize() }))
}

/// Returns whether all work of a stream has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_stream_query(stream: rlt_stream, out: *mut i32) -> i32 {
    guard("rlt_cuda_stream_query", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let out = unsafe { out::bool(out, "out") }?;
        with_cuda!({ out.set(stream_of(stream)?.query()?) })
    })
}

/// Lets later work of `stream` wait for all work that `other` has now.
#[unsafe(no_mangle)]
pub extern "C" fn rlt_cuda_stream_wait_stream(stream: rlt_stream, other: rlt_stream) -> i32 {
    guard("rlt_cuda_stream_wait_stream", || with_cuda!({ stream_of(stream)?.wait_for(stream_of(other)?) }))
}

// ---- Events ----

/// Creates an event. One with `timing` can be used by `rlt_cuda_event_elapsed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_new(timing: i32, out: *mut *mut rlt_cuda_event) -> i32 {
    guard("rlt_cuda_event_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        let (out, timing) = (unsafe { out::handle(out, "out") }?, arg::bool(timing));
        with_cuda!({ out.give(Box::new(cuda::Event::new(timing)?)) })
    })
}

/// Frees an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_free(event: *mut rlt_cuda_event) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `event` is NULL or a live handle that the
    // caller gives up.
    guard_free("rlt_cuda_event_free", || drop(unsafe { handle::take(event) }));
}

/// Records the work that a stream has now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_record(event: *const rlt_cuda_event, stream: rlt_stream) -> i32 {
    guard("rlt_cuda_event_record", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `event` is NULL or a live handle.
        let event = unsafe { arg::handle(event, "event") }?;
        with_cuda!({ event.record(stream_of(stream)?) })
    })
}

/// Lets later work of a stream wait for the recorded work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_block(event: *const rlt_cuda_event, stream: rlt_stream) -> i32 {
    guard("rlt_cuda_event_block", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `event` is NULL or a live handle.
        let event = unsafe { arg::handle(event, "event") }?;
        with_cuda!({ event.block(stream_of(stream)?) })
    })
}

/// Returns whether the recorded work has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_query(event: *const rlt_cuda_event, out: *mut i32) -> i32 {
    guard("rlt_cuda_event_query", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `event` is NULL or a live handle, and
        // `out` is NULL or writable.
        let (event, out) = unsafe { (arg::handle(event, "event")?, out::bool(out, "out")?) };
        with_cuda!({ out.set(event.query()?) })
    })
}

/// Waits for the recorded work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_synchronize(event: *const rlt_cuda_event) -> i32 {
    guard("rlt_cuda_event_synchronize", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `event` is NULL or a live handle.
        let event = unsafe { arg::handle(event, "event") }?;
        with_cuda!({ event.synchronize() })
    })
}

/// Returns the milliseconds from `start` to `end`. Both have timing, and their work has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_event_elapsed(
    start: *const rlt_cuda_event,
    end: *const rlt_cuda_event,
    out: *mut f64,
) -> i32 {
    guard("rlt_cuda_event_elapsed", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `start` and `end` are NULL or live
        // handles, and `out` is NULL or writable.
        let (start, end, out) =
            unsafe { (arg::handle(start, "start")?, arg::handle(end, "end")?, out::value(out, "out")?) };
        with_cuda!({ out.set(start.elapsed(&end)?.into()) })
    })
}

// ---- Kernels ----

/// Hands over the bytes of a file of kernels, such as `arithmetic` for `arithmetic.z`. Without this call the files are
/// read from the folder that the environment variable `RUSHLIGHT_KERNELS` names, or from the folder `rushlight-kernels`
/// beside the library. The bytes are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_cuda_provide_kernels(name: *const c_char, data: *const c_void, nbytes: i64) -> i32 {
    guard("rlt_cuda_provide_kernels", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `name` is NULL or a NUL-terminated
        // string, and `data` is NULL or points to `nbytes` bytes.
        let (name, bytes) = unsafe { (arg::string(name, "name")?, arg::slice(data.cast::<u8>(), nbytes, "data")?) };
        with_cuda!({
            cuda::provide(name, bytes);
            Ok(())
        })
    })
}
