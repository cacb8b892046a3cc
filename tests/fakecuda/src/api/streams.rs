//! Streams, events and graphs.

use super::{Needs, Out, api, enter};
use crate::driver::code::{self, Code};
use crate::driver::work::{HostCall, StreamCall, Work};
use crate::driver::{context_handle, graph, state, stream};
use std::ffi::c_void;

/// `CUhostFn`.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// `CUstreamCallback`.
pub type StreamFunction = Option<unsafe extern "C" fn(*mut c_void, Code, *mut c_void)>;

api! {
    Context fn cuStreamCreate(out: Out<u64>, flags: u32) {
        if flags > 1 {
            return Err(code::INVALID_VALUE);
        }
        out.set(stream::create(flags == 0, 0)?)
    }

    Context fn cuStreamCreateWithPriority(out: Out<u64>, flags: u32, priority: i32) {
        if flags > 1 {
            return Err(code::INVALID_VALUE);
        }
        out.set(stream::create(flags == 0, priority.clamp(-5, 0))?)
    }

    Context fn cuStreamDestroy_v2(handle: u64) {
        if handle <= 2 {
            return Err(code::INVALID_HANDLE);
        }
        stream::destroy(stream::resolve(handle)?)
    }

    Context fn cuStreamSynchronize(handle: u64) {
        stream::synchronize(stream::resolve(handle)?)
    }

    Context fn cuStreamQuery(handle: u64) {
        stream::query(stream::resolve(handle)?)
    }

    Context fn cuStreamWaitEvent(handle: u64, event: u64, _flags: u32) {
        stream::wait(stream::resolve(handle)?, event)
    }

    Context fn cuStreamGetPriority(handle: u64, priority: Out<i32>) {
        let id = stream::resolve(handle)?;
        let value = state().streams.get(&id).ok_or(code::INVALID_HANDLE)?.priority;
        priority.set(value)
    }

    Context fn cuStreamGetFlags(handle: u64, flags: Out<u32>) {
        let id = stream::resolve(handle)?;
        let blocking = state().streams.get(&id).ok_or(code::INVALID_HANDLE)?.blocking;
        flags.set(u32::from(!blocking))
    }

    Context fn cuStreamGetCtx(handle: u64, context: Out<u64>) {
        let id = stream::resolve(handle)?;
        let device = state().streams.get(&id).ok_or(code::INVALID_HANDLE)?.device;
        context.set(context_handle(device))
    }

    Context fn cuStreamGetId(handle: u64, id: Out<u64>) {
        id.set(stream::resolve(handle)?)
    }

    Context fn cuStreamAddCallback(handle: u64, function: StreamFunction, data: *mut c_void, flags: u32) {
        let function = function.filter(|_| flags == 0).ok_or(code::INVALID_VALUE)?;
        let id = stream::resolve(handle)?;
        if graph::status(&state(), id)?.0 != 0 {
            return Err(graph::invalidate(&mut state(), id, code::CAPTURE_UNSUPPORTED));
        }
        let call = StreamCall { function, stream: handle as usize, data: data as usize };
        stream::push(id, Work::Callback(call)).map(|_| ())
    }

    Context fn cuLaunchHostFunc(handle: u64, function: HostFunction, data: *mut c_void) {
        let function = function.ok_or(code::INVALID_VALUE)?;
        let call = HostCall { function, data: data as usize };
        stream::push(stream::resolve(handle)?, Work::Host(call)).map(|_| ())
    }

    Context fn cuEventCreate(out: Out<u64>, flags: u32) {
        let mut state = state();
        let id = state.fresh();
        state.events.insert(id, stream::Event { untimed: flags & 2 != 0, ..Default::default() });
        out.set(id)
    }

    Context fn cuEventDestroy_v2(event: u64) {
        state().events.remove(&event).map(|_| ()).ok_or(code::INVALID_HANDLE)
    }

    Context fn cuEventRecord(event: u64, handle: u64) {
        stream::record(event, stream::resolve(handle)?)
    }

    Context fn cuEventRecordWithFlags(event: u64, handle: u64, _flags: u32) {
        stream::record(event, stream::resolve(handle)?)
    }

    Context fn cuEventQuery(event: u64) {
        stream::query_event(event)
    }

    Context fn cuEventSynchronize(event: u64) {
        stream::synchronize_event(event)
    }

    Context fn cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) {
        milliseconds.set(stream::elapsed(start, end)?)
    }

    Context fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64) {
        milliseconds.set(stream::elapsed(start, end)?)
    }

    Context fn cuStreamBeginCapture_v2(handle: u64, mode: u32) {
        let id = stream::resolve(handle)?;
        graph::begin(&mut state(), id, mode)
    }

    Context fn cuStreamEndCapture(handle: u64, out: Out<u64>) {
        let id = stream::resolve(handle)?;
        let graph = graph::end(&mut state(), id)?;
        out.set(graph)
    }

    Context fn cuStreamIsCapturing(handle: u64, out: Out<u32>) {
        let id = stream::resolve(handle)?;
        let (status, _) = graph::status(&state(), id)?;
        out.set(status)
    }

    Context fn cuStreamGetCaptureInfo_v2(
        handle: u64, status: Out<u32>, number: Out<u64>, graph: Out<u64>, nodes: Out<usize>, count: Out<usize>,
    ) {
        let id = stream::resolve(handle)?;
        let (value, capture) = graph::status(&state(), id)?;
        status.set(value)?;
        number.set_optional(capture);
        graph.set_optional(0);
        nodes.set_optional(0);
        count.set_optional(0);
        Ok(())
    }

    Context fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) {
        thread_local! {
            static MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
        }
        if mode.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: callers pass null or a pointer to a mode.
        unsafe { *mode = MODE.replace(*mode) };
        Ok(())
    }

    Context fn cuGraphInstantiateWithFlags(out: Out<u64>, graph: u64, _flags: u64) {
        let mut state = state();
        let graph = state.graphs.get(&graph).cloned().ok_or(code::INVALID_HANDLE)?;
        let id = state.fresh();
        state.execs.insert(id, graph);
        out.set(id)
    }

    Context fn cuGraphUpload(exec: u64, handle: u64) {
        stream::resolve(handle)?;
        if state().execs.contains_key(&exec) { Ok(()) } else { Err(code::INVALID_HANDLE) }
    }

    Context fn cuGraphLaunch(exec: u64, handle: u64) {
        let id = stream::resolve(handle)?;
        let graph = state().execs.get(&exec).cloned().ok_or(code::INVALID_HANDLE)?;
        stream::push(id, Work::Graph(graph)).map(|_| ())
    }

    Context fn cuGraphGetNodes(graph: u64, nodes: *mut u64, count: *mut usize) {
        let state = state();
        let graph = state.graphs.get(&graph).ok_or(code::INVALID_HANDLE)?;
        if count.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let total = graph.work.len();
        // SAFETY: callers pass a count, and an array of as many nodes if there is one.
        unsafe {
            if !nodes.is_null() {
                for i in 0..total.min(*count) {
                    *nodes.add(i) = i as u64 + 1;
                }
            }
            *count = total;
        }
        Ok(())
    }

    Context fn cuGraphExecDestroy(exec: u64) {
        state().execs.remove(&exec).map(|_| ()).ok_or(code::INVALID_HANDLE)
    }

    Context fn cuGraphDestroy(graph: u64) {
        state().graphs.remove(&graph).map(|_| ()).ok_or(code::INVALID_HANDLE)
    }
}
