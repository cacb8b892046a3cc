//! Work of streams.

use super::code::{self, Code};
use super::settings::{report, settings};
use super::{State, arena, state};
use crate::exec::{Fault, Kind, Launch, launch};
use crate::ptx::Kernel;
use std::sync::Arc;

/// The value of bytes that were not written.
const POISON: u8 = 0xcd;

/// An address in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An address of a device.
    Device(u64),
    /// An address of the host.
    Host(usize),
}

/// A rectangle of bytes: `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// From a row to the next one in the destination.
    pub to_pitch: usize,
    /// From a row to the next one in the source.
    pub from_pitch: usize,
}

impl Shape {
    /// One row.
    pub fn line(width: usize) -> Self {
        Self { width, height: 1, to_pitch: width, from_pitch: width }
    }

    /// Bytes from the first to the last one with this pitch.
    pub fn span(&self, pitch: usize) -> usize {
        if self.height == 0 || self.width == 0 { 0 } else { pitch * (self.height - 1) + self.width }
    }
}

/// A function of the program with its argument.
#[derive(Clone, Copy, Debug)]
pub struct HostCall {
    /// `void (*)(void*)`.
    pub function: unsafe extern "C" fn(*mut libc::c_void),
    /// The argument.
    pub data: usize,
}

/// A callback of a stream with its arguments.
#[derive(Clone, Copy, Debug)]
pub struct StreamCall {
    /// `void (*)(CUstream, CUresult, void*)`.
    pub function: unsafe extern "C" fn(*mut libc::c_void, Code, *mut libc::c_void),
    /// The stream's handle.
    pub stream: usize,
    /// The argument.
    pub data: usize,
}

/// Something that a stream does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Nothing but its dependencies.
    Nothing,
    /// A kernel.
    Launch(Arc<Kernel>, Arc<Launch>),
    /// A copy.
    Copy {
        /// Destination.
        to: Place,
        /// Source.
        from: Place,
        /// Bytes.
        shape: Shape,
    },
    /// A copy of bytes that were read when the call was made.
    Upload {
        /// Destination.
        to: u64,
        /// The bytes.
        bytes: Arc<Vec<u8>>,
    },
    /// Set elements.
    Fill {
        /// The first address.
        to: u64,
        /// The value.
        value: u32,
        /// Bytes of an element: 1, 2 or 4.
        unit: usize,
        /// Elements.
        count: usize,
    },
    /// Release memory.
    Free(u64),
    /// Call a function.
    Host(HostCall),
    /// Call a function with the stream and its status.
    Callback(StreamCall),
    /// Record an event: its number and how often it was recorded.
    Record(u64, u64),
    /// The work of a graph.
    Graph(Arc<super::graph::Graph>),
}

/// The code of a fault.
pub fn fault_code(fault: &Fault) -> Code {
    match fault.kind {
        Kind::Address => code::ILLEGAL_ADDRESS,
        Kind::Misaligned => code::MISALIGNED_ADDRESS,
        Kind::Instruction => code::ILLEGAL_INSTRUCTION,
        Kind::Launch => code::LAUNCH_FAILED,
        Kind::Timeout => code::LAUNCH_TIMEOUT,
    }
}

/// Do a stream's work on its device.
pub fn perform(work: &Work, device: usize) -> Code {
    match work {
        Work::Nothing => code::SUCCESS,
        Work::Launch(kernel, parameters) => {
            let view = state().view(device);
            match launch(kernel, parameters, &view) {
                Ok(stats) => {
                    state().clock += 1.0 + stats.steps as f64 * 1e-4;
                    code::SUCCESS
                }
                Err(fault) => {
                    report(&fault.text);
                    fault_code(&fault)
                }
            }
        }
        Work::Host(call) => {
            super::stream::as_callback(|| {
                // SAFETY: the program passed a function that may be called with this argument once the work before it is
                // complete.
                unsafe { (call.function)(call.data as *mut libc::c_void) }
            });
            code::SUCCESS
        }
        Work::Callback(call) => {
            super::stream::as_callback(|| {
                // SAFETY: the program passed a function that may be called with these arguments.
                unsafe {
                    (call.function)(call.stream as *mut libc::c_void, code::SUCCESS, call.data as *mut libc::c_void)
                }
            });
            code::SUCCESS
        }
        Work::Graph(graph) => {
            graph.work.iter().map(|w| perform(w, device)).find(|c| *c != code::SUCCESS).unwrap_or(code::SUCCESS)
        }
        Work::Record(event, generation) => {
            let mut state = state();
            state.clock += 0.5;
            let clock = state.clock;
            if let Some(event) = state.events.get_mut(event).filter(|e| e.generation == *generation) {
                event.time = Some(clock);
            }
            code::SUCCESS
        }
        Work::Free(address) => {
            let mut state = state();
            let owner = arena::device_of(*address).and_then(|d| state.devices.get_mut(d));
            if owner.is_some_and(|d| d.arena.release(*address)) {
                return code::SUCCESS;
            }
            report(&format!("cuMemFreeAsync of {address:#x}, which is no allocation any more"));
            code::ILLEGAL_ADDRESS
        }
        Work::Upload { to, bytes } => {
            let from = Place::Host(bytes.as_ptr() as usize);
            copy(&mut state(), Place::Device(*to), from, Shape::line(bytes.len()))
        }
        Work::Copy { to, from, shape } => copy(&mut state(), *to, *from, *shape),
        Work::Fill { to, value, unit, count } => fill(&mut state(), *to, *value, *unit, *count),
    }
}

/// The data and flags at an address. Flags are null if all bytes are written.
fn resolve(state: &State, place: Place, size: usize) -> Option<(*mut u8, *mut u8)> {
    match place {
        Place::Host(at) => Some((at as *mut u8, std::ptr::null_mut())),
        Place::Device(at) => {
            if let Some(device) = arena::device_of(at) {
                let extent = state.devices.get(device)?.arena.find(at, size)?;
                let offset = (at - extent.start) as usize;
                // SAFETY: `find` checked that the bytes are within the allocation, which has a flag for each.
                return Some(unsafe { (extent.data.add(offset), extent.written.add(offset)) });
            }
            state.host.find(at as usize, size)?;
            Some((at as *mut u8, std::ptr::null_mut()))
        }
    }
}

fn copy(state: &mut State, to: Place, from: Place, shape: Shape) -> Code {
    state.clock += 1.0;
    let (to_span, from_span) = (shape.span(shape.to_pitch), shape.span(shape.from_pitch));
    let (Some((to, to_flags)), Some((from, from_flags))) =
        (resolve(state, to, to_span), resolve(state, from, from_span))
    else {
        report(&format!(
            "a copy of {} x {} bytes from {from:x?} to {to:x?}, which was released",
            shape.height, shape.width
        ));
        return code::ILLEGAL_ADDRESS;
    };
    for row in 0..shape.height {
        let (a, b) = (row * shape.to_pitch, row * shape.from_pitch);
        // SAFETY: `resolve` checked the rows of device memory; those of the host are the program's to guarantee.
        unsafe {
            std::ptr::copy(from.add(b), to.add(a), shape.width);
            match (to_flags.is_null(), from_flags.is_null()) {
                (false, false) => std::ptr::copy(from_flags.add(b), to_flags.add(a), shape.width),
                (false, true) => to_flags.add(a).write_bytes(1, shape.width),
                (true, false) => {
                    let flags = std::slice::from_raw_parts(from_flags.add(b), shape.width);
                    for (i, _) in flags.iter().enumerate().filter(|(_, f)| **f == 0) {
                        *to.add(a + i) = POISON;
                    }
                }
                (true, true) => {}
            }
        }
    }
    code::SUCCESS
}

fn fill(state: &mut State, to: u64, value: u32, unit: usize, count: usize) -> Code {
    state.clock += 1.0;
    let Some((data, flags)) = resolve(state, Place::Device(to), unit * count) else {
        report(&format!("a memset of {count} elements at {to:#x}, which was released"));
        return code::ILLEGAL_ADDRESS;
    };
    let bytes = value.to_le_bytes();
    // SAFETY: `resolve` checked that the elements and their flags exist.
    unsafe {
        if unit == 1 || bytes[..unit].iter().all(|b| *b == bytes[0]) {
            data.write_bytes(bytes[0], unit * count);
        } else {
            for i in 0..count {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.add(i * unit), unit);
            }
        }
        if !flags.is_null() {
            flags.write_bytes(1, unit * count);
        }
    }
    code::SUCCESS
}

/// Whether a failure of the device stays until its context is reset.
pub fn sticky() -> bool {
    settings().sticky
}
