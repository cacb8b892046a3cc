//! Memory: allocations, copies, fills, pinned memory.

use super::{Needs, Out, api, enter};
use crate::driver::code::{self, Code};
use crate::driver::settings::settings;
use crate::driver::work::{Place, Shape, Work};
use crate::driver::{Result, arena, context_handle, graph, module, require, state, stream};
use std::ffi::c_void;
use std::sync::Arc;

fn allocate(out: Out<u64>, size: usize) -> Result {
    let device = require()?;
    let mut state = state();
    let arena = &mut state.device(device)?.arena;
    if size == 0 {
        return Err(code::INVALID_VALUE);
    }
    if size > settings().memory.saturating_sub(arena.used) {
        return Err(code::OUT_OF_MEMORY);
    }
    let address = arena.allocate(size, true).ok_or(code::OUT_OF_MEMORY)?;
    out.set(address)
}

/// Bytes of device memory, or of pinned memory by its unified address.
fn check(address: u64, size: usize) -> Result {
    if size > 0 && !module::known(address, size) { Err(code::INVALID_VALUE) } else { Ok(()) }
}

/// Memory of the host that the device cannot use directly.
fn pageable(place: Place, size: usize) -> bool {
    match place {
        Place::Host(at) => state().host.find(at, size).is_none(),
        Place::Device(_) => false,
    }
}

fn read_host(at: usize, shape: Shape) -> Result<Vec<u8>> {
    if at == 0 {
        return Err(code::INVALID_VALUE);
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(shape.width * shape.height).map_err(|_| code::OUT_OF_MEMORY)?;
    for row in 0..shape.height {
        // SAFETY: callers of a copy guarantee that the rows of the source can be read.
        bytes.extend_from_slice(unsafe {
            std::slice::from_raw_parts((at as *const u8).add(row * shape.from_pitch), shape.width)
        });
    }
    Ok(bytes)
}

/// Append a copy to a stream; wait for it as long as the API promises that.
fn copy(to: Place, from: Place, shape: Shape, handle: u64, wait: bool) -> Result {
    let stream = stream::resolve(handle)?;
    if shape.width == 0 || shape.height == 0 {
        return Ok(());
    }
    let (to_span, from_span) = (shape.span(shape.to_pitch), shape.span(shape.from_pitch));
    for (place, span) in [(to, to_span), (from, from_span)] {
        match place {
            Place::Device(at) => check(at, span)?,
            Place::Host(at) => {
                if at == 0 {
                    return Err(code::INVALID_VALUE);
                }
            }
        }
    }
    let captured = graph::status(&state(), stream)?.0 != 0;
    if captured && wait {
        return Err(graph::invalidate(&mut state(), stream, code::CAPTURE_UNSUPPORTED));
    }
    if !captured
        && shape.height == 1
        && pageable(from, from_span)
        && let (Place::Host(at), Place::Device(to)) = (from, to)
    {
        // The call may return before the copy, but not before it read the source.
        let bytes = Arc::new(read_host(at, shape)?);
        let number = stream::push(stream, Work::Upload { to, bytes })?;
        return if wait { stream::run_until(&[(stream, number)]) } else { Ok(()) };
    }
    let number = stream::push(stream, Work::Copy { to, from, shape })?;
    let host = pageable(to, to_span) || pageable(from, from_span);
    if wait || (host && !captured) {
        return stream::run_until(&[(stream, number)]);
    }
    Ok(())
}

fn line(to: Place, from: Place, size: usize, handle: u64, wait: bool) -> Result {
    copy(to, from, Shape::line(size), handle, wait)
}

fn fill(to: u64, value: u32, unit: usize, count: usize, handle: u64) -> Result {
    let stream = stream::resolve(handle)?;
    if !to.is_multiple_of(unit as u64) {
        return Err(code::INVALID_VALUE);
    }
    check(to, unit.checked_mul(count).ok_or(code::INVALID_VALUE)?)?;
    if count > 0 {
        stream::push(stream, Work::Fill { to, value, unit, count })?;
    }
    Ok(())
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy2D {
    from_x: usize,
    from_y: usize,
    from_kind: u32,
    from_host: usize,
    from_device: u64,
    from_array: usize,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: u32,
    to_host: usize,
    to_device: u64,
    to_array: usize,
    to_pitch: usize,
    width: usize,
    height: usize,
}

impl Copy2D {
    fn run(self, handle: u64, wait: bool) -> Result {
        let place = |kind, host: usize, device: u64, x: usize, y: usize, pitch: usize| {
            let offset = y * pitch + x;
            Ok(match kind {
                1 => Place::Host(host + offset),
                2 => Place::Device(device + offset as u64),
                // Unified addresses.
                4 => module::place(device + offset as u64),
                _ => return Err(code::INVALID_VALUE),
            })
        };
        let pitch = |p: usize| if p == 0 { self.width } else { p };
        let (to_pitch, from_pitch) = (pitch(self.to_pitch), pitch(self.from_pitch));
        if to_pitch < self.width || from_pitch < self.width {
            return Err(code::INVALID_VALUE);
        }
        let to = place(self.to_kind, self.to_host, self.to_device, self.to_x, self.to_y, to_pitch)?;
        let from = place(self.from_kind, self.from_host, self.from_device, self.from_x, self.from_y, from_pitch)?;
        copy(to, from, Shape { width: self.width, height: self.height, to_pitch, from_pitch }, handle, wait)
    }
}

fn copy_2d(copy: *const Copy2D, handle: u64, wait: bool) -> Result {
    if copy.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: callers pass null or a valid description.
    unsafe { *copy }.run(handle, wait)
}

/// Attributes of pointers.
fn pointer_attribute(data: *mut c_void, attribute: i32, address: u64) -> Result {
    if data.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let state = state();
    let device = arena::device_of(address);
    let (start, size, owner) = match device {
        Some(d) => {
            let extent = state.devices.get(d).and_then(|x| x.arena.find(address, 1)).ok_or(code::INVALID_VALUE)?;
            (extent.start, (extent.end - extent.start) as usize, d)
        }
        None => {
            let (start, range) = state.host.find(address as usize, 1).ok_or(code::INVALID_VALUE)?;
            (start as u64, range.size, 0)
        }
    };
    /// Write an attribute.
    fn put<T>(data: *mut c_void, value: T) -> Result {
        // SAFETY: callers pass a pointer to a place for the attribute's type.
        unsafe { data.cast::<T>().write_unaligned(value) };
        Ok(())
    }
    match attribute {
        // Context, kind of memory, address on the device, address on the host.
        1 => put(data, context_handle(owner)),
        2 => put(data, if device.is_some() { 2u32 } else { 1u32 }),
        3 => put(data, address),
        4 if device.is_none() => put(data, address),
        4 => Err(code::INVALID_VALUE),
        // A number of the allocation; managed memory; ordinal; range; whether it is mapped.
        7 => put(data, start),
        8 => put(data, 0u32),
        9 => put(data, owner as i32),
        11 => put(data, start),
        12 => put(data, size),
        13 => put(data, 1u32),
        _ => Err(code::INVALID_VALUE),
    }
}

api! {
    Context fn cuMemAlloc_v2(address: Out<u64>, size: usize) {
        graph::forbid_unsafe(&mut state())?;
        allocate(address, size)
    }

    Context fn cuMemFree_v2(address: u64) {
        if address == 0 {
            return Ok(());
        }
        graph::forbid_unsafe(&mut state())?;
        let device = arena::device_of(address).ok_or(code::INVALID_VALUE)?;
        // The driver waits for the device.
        stream::synchronize_device(device)?;
        if state().device(device)?.arena.release(address) { Ok(()) } else { Err(code::INVALID_VALUE) }
    }

    Context fn cuMemAllocAsync(address: Out<u64>, size: usize, handle: u64) {
        let stream = stream::resolve(handle)?;
        if graph::status(&state(), stream)?.0 != 0 {
            return Err(graph::invalidate(&mut state(), stream, code::NOT_SUPPORTED));
        }
        allocate(address, size)
    }

    Context fn cuMemFreeAsync(address: u64, handle: u64) {
        check(address, 1)?;
        stream::push(stream::resolve(handle)?, Work::Free(address)).map(|_| ())
    }

    Context fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let device = require()?;
        let used = state().device(device)?.arena.used;
        free.set(settings().memory.saturating_sub(used))?;
        total.set(settings().memory)
    }

    Context fn cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, address: u64) {
        let device = arena::device_of(address).ok_or(code::INVALID_VALUE)?;
        let extent = state().device(device)?.arena.find(address, 1).ok_or(code::NOT_FOUND)?;
        base.set_optional(extent.start);
        size.set_optional((extent.end - extent.start) as usize);
        Ok(())
    }

    Context fn cuMemcpyHtoD_v2(to: u64, from: usize, size: usize) {
        line(Place::Device(to), Place::Host(from), size, 0, true)
    }

    Context fn cuMemcpyDtoH_v2(to: usize, from: u64, size: usize) {
        line(Place::Host(to), Place::Device(from), size, 0, true)
    }

    Context fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) {
        line(Place::Device(to), Place::Device(from), size, 0, false)
    }

    Context fn cuMemcpy(to: u64, from: u64, size: usize) {
        let (to, from) = (module::place(to), module::place(from));
        let wait = !matches!((to, from), (Place::Device(_), Place::Device(_)));
        line(to, from, size, 0, wait)
    }

    Context fn cuMemcpyPeer(to: u64, _to_context: u64, from: u64, _from_context: u64, size: usize) {
        line(Place::Device(to), Place::Device(from), size, 0, false)
    }

    Context fn cuMemcpyHtoDAsync_v2(to: u64, from: usize, size: usize, handle: u64) {
        line(Place::Device(to), Place::Host(from), size, handle, false)
    }

    Context fn cuMemcpyDtoHAsync_v2(to: usize, from: u64, size: usize, handle: u64) {
        line(Place::Host(to), Place::Device(from), size, handle, false)
    }

    Context fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, handle: u64) {
        line(Place::Device(to), Place::Device(from), size, handle, false)
    }

    Context fn cuMemcpyAsync(to: u64, from: u64, size: usize, handle: u64) {
        line(module::place(to), module::place(from), size, handle, false)
    }

    Context fn cuMemcpyPeerAsync(to: u64, _to_context: u64, from: u64, _from_context: u64, size: usize, handle: u64) {
        line(Place::Device(to), Place::Device(from), size, handle, false)
    }

    Context fn cuMemcpy2D_v2(copy: *const Copy2D) {
        copy_2d(copy, 0, true)
    }

    Context fn cuMemcpy2DAsync_v2(copy: *const Copy2D, handle: u64) {
        copy_2d(copy, handle, false)
    }

    Context fn cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        fill(to, u32::from(value), 1, count, 0)
    }

    Context fn cuMemsetD16_v2(to: u64, value: u16, count: usize) {
        fill(to, u32::from(value), 2, count, 0)
    }

    Context fn cuMemsetD32_v2(to: u64, value: u32, count: usize) {
        fill(to, value, 4, count, 0)
    }

    Context fn cuMemsetD8Async(to: u64, value: u8, count: usize, handle: u64) {
        fill(to, u32::from(value), 1, count, handle)
    }

    Context fn cuMemsetD16Async(to: u64, value: u16, count: usize, handle: u64) {
        fill(to, u32::from(value), 2, count, handle)
    }

    Context fn cuMemsetD32Async(to: u64, value: u32, count: usize, handle: u64) {
        fill(to, value, 4, count, handle)
    }

    Context fn cuMemHostAlloc(out: Out<usize>, size: usize, flags: u32) {
        let at = state().host.allocate(size, flags)?;
        out.set(at)
    }

    Context fn cuMemAllocHost_v2(out: Out<usize>, size: usize) {
        let at = state().host.allocate(size, 0)?;
        out.set(at)
    }

    Context fn cuMemFreeHost(at: usize) {
        stream::synchronize_all()?;
        state().host.remove(at, true)
    }

    Context fn cuMemHostGetDevicePointer_v2(out: Out<u64>, at: usize, flags: u32) {
        if flags != 0 || state().host.find(at, 1).is_none() {
            return Err(code::INVALID_VALUE);
        }
        out.set(at as u64)
    }

    Context fn cuMemHostGetFlags(flags: Out<u32>, at: usize) {
        let (_, range) = state().host.find(at, 1).ok_or(code::INVALID_VALUE)?;
        flags.set(range.flags)
    }

    Context fn cuMemHostRegister_v2(at: usize, size: usize, flags: u32) {
        state().host.register(at, size, flags)
    }

    Context fn cuMemHostUnregister(at: usize) {
        stream::synchronize_all()?;
        state().host.remove(at, false)
    }

    Init fn cuDeviceGetDefaultMemPool(pool: Out<u64>, device: i32) {
        pool.set(context_handle(super::device::index(device)?))
    }

    Init fn cuDeviceGetMemPool(pool: Out<u64>, device: i32) {
        pool.set(context_handle(super::device::index(device)?))
    }

    // The pool of a device keeps nothing: its memory is that of `cuMemAlloc`.
    Init fn cuMemPoolTrimTo(_pool: u64, _bytes: usize) {
        Ok(())
    }

    Init fn cuMemPoolSetAttribute(_pool: u64, attribute: i32, value: *mut c_void) {
        if value.is_null() || !(1..=8).contains(&attribute) { Err(code::INVALID_VALUE) } else { Ok(()) }
    }

    Context fn cuPointerGetAttribute(data: *mut c_void, attribute: i32, address: u64) {
        pointer_attribute(data, attribute, address)
    }
}
