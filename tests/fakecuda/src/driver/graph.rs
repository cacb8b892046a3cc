//! Graphs: captures of streams.
//!
//! A capture keeps the work in the order of the calls, which is an order that the dependencies allow. For each stream it
//! knows how much of the others' work comes before the stream's next one; so it finds streams that were not joined.

use super::code::{self, Code};
use super::work::Work;
use super::{Result, State};
use std::collections::HashMap;

/// How many pieces of each stream's work come before.
pub type Known = HashMap<u64, usize>;

/// A graph.
#[derive(Debug)]
pub struct Graph {
    /// Work in order.
    pub work: Vec<Work>,
}

/// A capture in progress.
#[derive(Debug)]
pub struct Capture {
    /// The stream in which it began.
    pub origin: u64,
    /// Whether calls that are unsafe in captures are allowed.
    pub relaxed: bool,
    work: Vec<Work>,
    /// Pieces of work of each stream.
    counts: HashMap<u64, usize>,
    known: HashMap<u64, Known>,
    invalid: bool,
}

/// Begin a capture. Modes are 0 global, 1 of the thread, 2 relaxed.
pub fn begin(state: &mut State, stream: u64, mode: u32) -> Result {
    let id = state.fresh();
    let s = state.streams.get_mut(&stream).ok_or(code::INVALID_HANDLE)?;
    if s.legacy || mode > 2 {
        return Err(if s.legacy { code::CAPTURE_UNSUPPORTED } else { code::INVALID_VALUE });
    }
    if s.capture.is_some() {
        return Err(code::INVALID_VALUE);
    }
    s.capture = Some(id);
    let capture = Capture {
        origin: stream,
        relaxed: mode == 2,
        work: Vec::new(),
        counts: HashMap::from([(stream, 0)]),
        known: HashMap::from([(stream, Known::new())]),
        invalid: false,
    };
    state.captures.insert(id, capture);
    Ok(())
}

/// End a capture. Returns the graph's handle.
pub fn end(state: &mut State, stream: u64) -> Result<u64> {
    let s = state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?;
    let id = s.capture.ok_or(code::INVALID_VALUE)?;
    let capture = state.captures.get(&id).ok_or(code::INVALID_VALUE)?;
    if capture.origin != stream {
        return Err(code::CAPTURE_UNMATCHED);
    }
    let Some(capture) = state.captures.remove(&id) else { return Err(code::INVALID_VALUE) };
    for s in state.streams.values_mut().filter(|s| s.capture == Some(id)) {
        s.capture = None;
    }
    if capture.invalid {
        return Err(code::CAPTURE_INVALIDATED);
    }
    let known = &capture.known[&stream];
    for (other, count) in capture.counts.iter().filter(|(other, _)| **other != stream) {
        if known.get(other).copied().unwrap_or(0) < *count || !known.contains_key(other) {
            return Err(code::CAPTURE_UNJOINED);
        }
    }
    let graph = state.fresh();
    state.graphs.insert(graph, std::sync::Arc::new(Graph { work: capture.work }));
    Ok(graph)
}

/// 0 if a stream is not captured, 1 if it is, 2 if its capture is invalid; and the capture.
pub fn status(state: &State, stream: u64) -> Result<(u32, u64)> {
    let s = state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?;
    Ok(match s.capture {
        None => (0, 0),
        Some(id) => (if state.captures.get(&id).is_some_and(|c| c.invalid) { 2 } else { 1 }, id),
    })
}

/// Append work to a captured stream.
pub fn record(state: &mut State, stream: u64, work: Work) -> Result {
    let id = state.streams.get(&stream).and_then(|s| s.capture).ok_or(code::INVALID_HANDLE)?;
    let capture = state.captures.get_mut(&id).ok_or(code::INVALID_HANDLE)?;
    if capture.invalid {
        return Err(code::CAPTURE_INVALIDATED);
    }
    if matches!(work, Work::Free(_)) {
        capture.invalid = true;
        return Err(code::CAPTURE_UNSUPPORTED);
    }
    capture.work.push(work);
    *capture.counts.entry(stream).or_default() += 1;
    Ok(())
}

/// What comes before the next work of a captured stream.
pub fn known(state: &mut State, stream: u64) -> Result<Known> {
    let id = state.streams.get(&stream).and_then(|s| s.capture).ok_or(code::INVALID_HANDLE)?;
    let capture = state.captures.get(&id).ok_or(code::INVALID_HANDLE)?;
    if capture.invalid {
        return Err(code::CAPTURE_INVALIDATED);
    }
    let mut known = capture.known.get(&stream).cloned().unwrap_or_default();
    known.insert(stream, capture.counts.get(&stream).copied().unwrap_or(0));
    Ok(known)
}

/// A stream waits for an event of a capture, and so becomes part of it.
pub fn join(state: &mut State, stream: u64, id: u64, known: &Known) -> Result {
    if !state.captures.contains_key(&id) {
        return Err(code::CAPTURED_EVENT);
    }
    let s = state.streams.get_mut(&stream).ok_or(code::INVALID_HANDLE)?;
    if s.legacy {
        return Err(invalidate_capture(state, id, code::CAPTURE_IMPLICIT));
    }
    match s.capture {
        Some(other) if other != id => return Err(invalidate_capture(state, id, code::CAPTURE_MERGE)),
        _ => s.capture = Some(id),
    }
    let Some(capture) = state.captures.get_mut(&id) else { return Err(code::CAPTURED_EVENT) };
    capture.counts.entry(stream).or_default();
    let own = capture.known.entry(stream).or_default();
    for (other, count) in known {
        let entry = own.entry(*other).or_default();
        *entry = (*entry).max(*count);
    }
    Ok(())
}

fn invalidate_capture(state: &mut State, id: u64, code: Code) -> Code {
    if let Some(capture) = state.captures.get_mut(&id) {
        capture.invalid = true;
    }
    code
}

/// Make the capture of a stream invalid. Returns the code.
pub fn invalidate(state: &mut State, stream: u64, code: Code) -> Code {
    match state.streams.get(&stream).and_then(|s| s.capture) {
        Some(id) => invalidate_capture(state, id, code),
        None => code,
    }
}

/// Make the captures of a device's blocking streams invalid. Returns the code.
pub fn invalidate_all(state: &mut State, device: usize, code: Code) -> Code {
    let ids: Vec<u64> =
        state.streams.values().filter(|s| s.device == device && s.blocking).filter_map(|s| s.capture).collect();
    for id in ids {
        invalidate_capture(state, id, code);
    }
    code
}

/// Fail if a stream is captured: the call would have to wait for it.
pub fn forbid(state: &mut State, stream: u64) -> Result {
    if state.streams.get(&stream).is_some_and(|s| s.capture.is_some()) {
        return Err(invalidate(state, stream, code::CAPTURE_UNSUPPORTED));
    }
    let legacy = state.streams.get(&stream).filter(|s| s.legacy).map(|s| s.device);
    if let Some(device) = legacy
        && state.streams.values().any(|s| s.device == device && s.blocking && s.capture.is_some())
    {
        return Err(invalidate_all(state, device, code::CAPTURE_IMPLICIT));
    }
    Ok(())
}

/// Fail if a stream of the device is captured.
pub fn forbid_device(state: &mut State, device: usize) -> Result {
    let captured = state.streams.values().find(|s| s.device == device && s.capture.is_some()).and_then(|s| s.capture);
    match captured {
        Some(id) => Err(invalidate_capture(state, id, code::CAPTURE_UNSUPPORTED)),
        None => Ok(()),
    }
}

/// Fail if a capture is in progress that is not relaxed: for calls such as `cuMemAlloc`, which may wait for the device.
pub fn forbid_unsafe(state: &mut State) -> Result {
    let strict = state.captures.iter().find(|(_, c)| !c.relaxed).map(|(id, _)| *id);
    match strict {
        Some(id) => Err(invalidate_capture(state, id, code::CAPTURE_UNSUPPORTED)),
        None => Ok(()),
    }
}
