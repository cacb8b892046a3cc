//! Streams and events. Work runs as late as the interface allows.
//!
//! A call appends work with what it depends on. Work runs when a call must wait for it, in the thread of that call, and
//! only as much as must run: work of other streams without a dependency does not. So a program that forgets to wait reads
//! memory before it was written, every time.

use super::code::{self, Code};
use super::graph;
use super::work::{Work, perform, sticky};
use super::{Result, State, require, state};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Up to which work of a stream: its number and that of the work.
pub type Point = (u64, u64);

/// Work in a queue.
#[derive(Debug)]
pub struct Node {
    number: u64,
    after: Vec<Point>,
    work: Work,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Its device.
    pub device: usize,
    /// Whether it waits for the legacy default stream, and that one for it.
    pub blocking: bool,
    /// Priority.
    pub priority: i32,
    /// Whether it is a legacy default stream.
    pub legacy: bool,
    /// The capture that it is part of.
    pub capture: Option<u64>,
    /// Whether the program destroyed it.
    pub destroyed: bool,
    queue: VecDeque<Node>,
    /// Work that was appended.
    pub sent: u64,
    /// Work that is complete.
    pub done: u64,
    /// Queries in a row that found work.
    polls: u32,
}

impl Stream {
    /// A stream without work.
    pub fn new(device: usize, blocking: bool, priority: i32, legacy: bool) -> Self {
        Self {
            device,
            blocking,
            priority,
            legacy,
            capture: None,
            destroyed: false,
            queue: VecDeque::new(),
            sent: 0,
            done: 0,
            polls: 0,
        }
    }
}

/// An event.
#[derive(Debug, Default)]
pub struct Event {
    /// Whether it has no times.
    pub untimed: bool,
    /// What it was recorded behind.
    pub point: Option<Point>,
    /// The capture in which it was recorded last, with what the stream knew.
    pub captured: Option<(u64, graph::Known)>,
    /// How often it was recorded.
    pub generation: u64,
    /// The device's clock when it was complete.
    pub time: Option<f64>,
}

/// Queries that find no progress before one runs a piece of work: programs may wait in a loop.
const POLLS: u32 = 3;

thread_local! {
    static CALLBACK: Cell<bool> = const { Cell::new(false) };
    static EXECUTES: Cell<bool> = const { Cell::new(false) };
}

/// Run a function of the program, which must not call the driver.
pub fn as_callback(f: impl FnOnce()) {
    CALLBACK.set(true);
    f();
    CALLBACK.set(false);
}

/// Whether this thread runs a function of the program for a stream.
pub fn in_callback() -> bool {
    CALLBACK.get()
}

/// The stream of a handle: 0 and 1 are the legacy default stream, 2 is that of the thread.
pub fn resolve(handle: u64) -> Result<u64> {
    match handle {
        0 | 1 => {
            let device = require()?;
            Ok(state().device(device)?.legacy)
        }
        2 => {
            let device = require()?;
            let mut state = state();
            let key = (device, std::thread::current().id());
            if let Some(stream) = state.thread_streams.get(&key) {
                return Ok(*stream);
            }
            let stream = state.fresh();
            state.streams.insert(stream, Stream::new(device, true, 0, false));
            state.thread_streams.insert(key, stream);
            Ok(stream)
        }
        _ => match state().streams.get(&handle) {
            Some(stream) if !stream.destroyed && !stream.legacy => Ok(handle),
            _ => Err(code::INVALID_HANDLE),
        },
    }
}

/// Create a stream on the current device.
pub fn create(blocking: bool, priority: i32) -> Result<u64> {
    let device = require()?;
    let mut state = state();
    let stream = state.fresh();
    state.streams.insert(stream, Stream::new(device, blocking, priority, false));
    Ok(stream)
}

/// Destroy a stream; its work still runs.
pub fn destroy(stream: u64) -> Result {
    let mut state = state();
    let stream = state.streams.get_mut(&stream).ok_or(code::INVALID_HANDLE)?;
    if stream.legacy {
        return Err(code::INVALID_HANDLE);
    }
    stream.destroyed = true;
    Ok(())
}

impl State {
    /// Append work to a stream. Returns its number, or 0 if the stream is captured.
    pub fn push(&mut self, stream: u64, work: Work, after: Vec<Point>) -> Result<u64> {
        let target = self.streams.get(&stream).ok_or(code::INVALID_HANDLE)?;
        if target.capture.is_some() {
            return graph::record(self, stream, work).map(|()| 0);
        }
        let (device, legacy, blocking) = (target.device, target.legacy, target.blocking);
        let mut after = after;
        if legacy {
            if self.streams.values().any(|s| s.device == device && s.blocking && s.capture.is_some()) {
                return Err(graph::invalidate_all(self, device, code::CAPTURE_IMPLICIT));
            }
            let others = self.streams.iter().filter(|(id, s)| **id != stream && s.device == device && s.blocking);
            let mut others: Vec<Point> = others.filter(|(_, s)| s.sent > s.done).map(|(id, s)| (*id, s.sent)).collect();
            // The newest stream first: an order that programs do not expect.
            others.sort_by(|a, b| b.cmp(a));
            after.extend(others);
        } else if blocking {
            let id = self.devices[device].legacy;
            let default = &self.streams[&id];
            if default.sent > default.done {
                after.push((id, default.sent));
            }
        }
        let target = self.streams.get_mut(&stream).ok_or(code::INVALID_HANDLE)?;
        target.sent += 1;
        target.queue.push_back(Node { number: target.sent, after, work });
        Ok(target.sent)
    }
}

/// Append work to a stream.
pub fn push(stream: u64, work: Work) -> Result<u64> {
    state().push(stream, work, Vec::new())
}

/// Run the work of these streams up to these points.
pub fn run_until(points: &[Point]) -> Result {
    static EXECUTOR: Mutex<()> = Mutex::new(());
    if EXECUTES.get() {
        return Err(code::NOT_PERMITTED);
    }
    /// Ends with the call, also if that panics.
    struct Executes;
    impl Drop for Executes {
        fn drop(&mut self) {
            EXECUTES.set(false);
        }
    }
    let _token = EXECUTOR.lock().unwrap_or_else(PoisonError::into_inner);
    EXECUTES.set(true);
    let _executes = Executes;
    let result = points.iter().map(|(stream, until)| run_stream(*stream, *until)).find(|c| *c != code::SUCCESS);
    // Streams that the program destroyed go when they have no work left.
    state().streams.retain(|_, s| !s.destroyed || s.sent > s.done);
    match result {
        Some(code) => Err(code),
        None => Ok(()),
    }
}

fn run_stream(stream: u64, until: u64) -> Code {
    loop {
        let (node, device) = {
            let mut state = state();
            let Some(s) = state.streams.get_mut(&stream) else { return code::SUCCESS };
            if s.queue.front().is_none_or(|n| n.number > until) {
                return code::SUCCESS;
            }
            let device = s.device;
            let Some(node) = s.queue.pop_front() else { return code::SUCCESS };
            s.polls = 0;
            (node, device)
        };
        let mut result = code::SUCCESS;
        for (other, point) in &node.after {
            let c = run_stream(*other, *point);
            if result == code::SUCCESS {
                result = c;
            }
        }
        let broken = state().devices[device].sticky;
        if broken == code::SUCCESS && result == code::SUCCESS {
            result = perform(&node.work, device);
            if result != code::SUCCESS && sticky() {
                state().devices[device].sticky = result;
            }
        } else if broken != code::SUCCESS {
            result = broken;
        }
        if let Some(s) = state().streams.get_mut(&stream) {
            s.done = node.number;
        }
        if result != code::SUCCESS {
            return result;
        }
    }
}

/// Wait for a stream.
pub fn synchronize(stream: u64) -> Result {
    let sent = {
        let mut state = state();
        graph::forbid(&mut state, stream)?;
        state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?.sent
    };
    run_until(&[(stream, sent)])
}

/// Wait for all streams of a device, the newest first.
pub fn synchronize_device(device: usize) -> Result {
    let mut points: Vec<Point> = {
        let mut state = state();
        graph::forbid_device(&mut state, device)?;
        state.streams.iter().filter(|(_, s)| s.device == device).map(|(id, s)| (*id, s.sent)).collect()
    };
    points.sort_by(|a, b| b.cmp(a));
    run_until(&points)
}

/// Wait for all streams of all devices.
pub fn synchronize_all() -> Result {
    let mut points: Vec<Point> = state().streams.iter().map(|(id, s)| (*id, s.sent)).collect();
    points.sort_by(|a, b| b.cmp(a));
    run_until(&points)
}

/// Whether work is complete. Now and then a query runs a piece of work, for programs that wait in a loop.
fn poll(stream: u64, until: u64) -> Result {
    let next = {
        let mut state = state();
        let Some(s) = state.streams.get_mut(&stream) else { return Ok(()) };
        if s.done >= until {
            return Ok(());
        }
        s.polls += 1;
        if s.polls <= POLLS {
            return Err(code::NOT_READY);
        }
        s.done + 1
    };
    run_until(&[(stream, next)])?;
    Err(code::NOT_READY)
}

/// `cuStreamQuery`.
pub fn query(stream: u64) -> Result {
    let sent = {
        let mut state = state();
        graph::forbid(&mut state, stream)?;
        state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?.sent
    };
    poll(stream, sent)
}

/// Record an event in a stream.
pub fn record(event: u64, stream: u64) -> Result {
    let mut state = state();
    if !state.events.contains_key(&event) {
        return Err(code::INVALID_HANDLE);
    }
    if let Some(capture) = state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?.capture {
        let known = graph::known(&mut state, stream)?;
        let event = state.events.get_mut(&event).ok_or(code::INVALID_HANDLE)?;
        event.captured = Some((capture, known));
        return Ok(());
    }
    let e = state.events.get_mut(&event).ok_or(code::INVALID_HANDLE)?;
    e.generation += 1;
    e.time = None;
    e.captured = None;
    let generation = e.generation;
    let number = state.push(stream, Work::Record(event, generation), Vec::new())?;
    let e = state.events.get_mut(&event).ok_or(code::INVALID_HANDLE)?;
    e.point = Some((stream, number));
    Ok(())
}

/// Let a stream wait for an event.
pub fn wait(stream: u64, event: u64) -> Result {
    let mut state = state();
    let e = state.events.get(&event).ok_or(code::INVALID_HANDLE)?;
    if let Some((capture, known)) = e.captured.clone() {
        return graph::join(&mut state, stream, capture, &known);
    }
    let point = e.point;
    let captured = state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?.capture.is_some();
    match point {
        // Work outside of a capture cannot be part of it.
        Some(_) if captured => Err(graph::invalidate(&mut state, stream, code::CAPTURE_UNSUPPORTED)),
        Some(point) if point.0 != stream => state.push(stream, Work::Nothing, vec![point]).map(|_| ()),
        _ => Ok(()),
    }
}

fn event_point(event: u64) -> Result<Option<Point>> {
    let state = state();
    let e = state.events.get(&event).ok_or(code::INVALID_HANDLE)?;
    if e.captured.is_some() {
        return Err(code::CAPTURED_EVENT);
    }
    Ok(e.point)
}

/// `cuEventSynchronize`.
pub fn synchronize_event(event: u64) -> Result {
    match event_point(event)? {
        Some(point) => run_until(&[point]),
        None => Ok(()),
    }
}

/// `cuEventQuery`.
pub fn query_event(event: u64) -> Result {
    match event_point(event)? {
        Some((stream, number)) => poll(stream, number),
        None => Ok(()),
    }
}

/// Milliseconds between two events.
pub fn elapsed(start: u64, end: u64) -> Result<f32> {
    let state = state();
    let get = |e: u64| state.events.get(&e).ok_or(code::INVALID_HANDLE);
    let (start, end) = (get(start)?, get(end)?);
    if start.untimed || end.untimed || start.generation == 0 || end.generation == 0 {
        return Err(code::INVALID_HANDLE);
    }
    match (start.time, end.time) {
        (Some(a), Some(b)) => Ok(((b - a) / 1e3) as f32),
        _ => Err(code::NOT_READY),
    }
}
