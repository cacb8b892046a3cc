//! A running profile: a buffer of events for each thread.
//!
//! Each buffer has a lock that only its thread takes while calls run, so that it is free, and which the thread that stops
//! the profile takes once. A thread remembers its buffer of the last session.

use super::Options;
use super::events::{Input, Profile, Recorded};
use crate::dispatch::Value;
use crate::observe::{Call, Name, Observer, current_thread, qualified};
use crate::tensor::Tensor;
use rushlight_base::{Error, Result, err, list, memory};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Events of a block of a buffer: a full block is never moved.
const BLOCK: usize = 1024;

/// The time of the end of an event that is running.
const RUNNING: u64 = u64::MAX;

/// The events of one thread, in the order in which they began.
#[derive(Default)]
struct Events {
    blocks: Vec<Vec<Recorded>>,
    /// The events that are running, outermost first.
    open: Vec<u32>,
    /// The error after which nothing is recorded.
    failed: Option<Error>,
    is_over: bool,
}

/// The buffer of one thread.
struct Buffer {
    thread: u64,
    events: Mutex<Events>,
}

impl Buffer {
    fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running profile.
pub(super) struct Session {
    /// A number that no other session has.
    id: u64,
    options: Options,
    start: Instant,
    buffers: Mutex<Vec<Arc<Buffer>>>,
}

thread_local! {
    /// The buffer of this thread, with the number of its session. The session owns the buffer.
    static MINE: Cell<(u64, *const Buffer)> = const { Cell::new((0, std::ptr::null())) };
}

impl Session {
    pub(super) fn new(options: Options) -> Session {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Session { id, options, start: Instant::now(), buffers: Mutex::new(Vec::new()) }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Calls `change` with the events of a thread.
    fn with_events<R>(&self, thread: u64, change: impl FnOnce(&mut Events) -> R) -> R {
        let (session, buffer) = MINE.get();
        if session == self.id && thread == current_thread() {
            // SAFETY: the pointer was stored together with the number of this session, which no other session has. The
            // session keeps its buffers until it is dropped, and `self` borrows it.
            return change(&mut unsafe { &*buffer }.events());
        }
        let buffer = self.buffer_of(thread);
        if thread == current_thread() {
            MINE.set((self.id, Arc::as_ptr(&buffer)));
        }
        change(&mut buffer.events())
    }

    /// The buffer of a thread.
    #[cold]
    fn buffer_of(&self, thread: u64) -> Arc<Buffer> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = buffers.iter().find(|buffer| buffer.thread == thread) {
            return buffer.clone();
        }
        let buffer = Arc::new(Buffer { thread, events: Mutex::default() });
        buffers.push(buffer.clone());
        buffer
    }

    /// Ends the events that are running, and takes all of them.
    pub(super) fn finish(&self) -> Result<Profile> {
        let end = self.now();
        let buffers = list::copied(&self.buffers.lock().unwrap_or_else(PoisonError::into_inner))?;
        let mut recorded = Vec::new();
        for buffer in buffers {
            let mut events = buffer.events();
            events.is_over = true;
            let taken = std::mem::take(&mut *events);
            events.is_over = true;
            drop(events);
            if let Some(error) = taken.failed {
                return Err(error);
            }
            let mut blocks = taken.blocks;
            for event in blocks.iter_mut().flatten().filter(|event| event.end == RUNNING) {
                event.end = end.max(event.start);
            }
            list::push(&mut recorded, (buffer.thread, blocks))?;
        }
        Profile::new(self.options, end, recorded)
    }

    fn record(&self, call: &Call<'_>, events: &mut Events) -> Result<usize> {
        let inputs = if self.options.shapes { inputs(call.inputs)? } else { Vec::new() };
        let (allocated, freed) = if self.options.memory { memory::thread_traffic() } else { (0, 0) };
        if events.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            list::push(&mut events.blocks, list::with_capacity(BLOCK)?)?;
        }
        let index = (events.blocks.len() - 1) * BLOCK + events.blocks.last().map_or(0, Vec::len);
        let number = u32::try_from(index).map_err(|_| err!(OutOfMemory, "a profile of more than 2^32 events"))?;
        let parent = events.open.last().copied();
        list::push(&mut events.open, number)?;
        let event = Recorded {
            name: name(call),
            scope: call.scope,
            parent,
            depth: events.open.len() as u32 - 1,
            sequence: call.sequence,
            forward_thread: call.forward_thread,
            inputs,
            allocated,
            freed,
            start: self.now(),
            end: RUNNING,
        };
        if let Some(block) = events.blocks.last_mut() {
            block.push(event);
        }
        Ok(index + 1)
    }
}

impl Observer for Session {
    /// The state of an event is its index plus 1; 0: it was not recorded.
    fn begin(&self, call: &Call<'_>) -> Result<usize> {
        self.with_events(call.thread, |events| {
            if events.is_over || events.failed.is_some() {
                return Ok(0);
            }
            let recorded = self.record(call, events);
            // The call goes on; the end of the profile reports the error.
            Ok(recorded.unwrap_or_else(|error| {
                *events = Events { failed: Some(error), ..Events::default() };
                0
            }))
        })
    }

    fn end(&self, call: &Call<'_>, state: usize) -> Result<()> {
        let end = self.now();
        let Some(index) = state.checked_sub(1) else { return Ok(()) };
        let (allocated, freed) = if self.options.memory { memory::thread_traffic() } else { (0, 0) };
        self.with_events(call.thread, |events| {
            // Nearly always the last one: ranges of the program may end in another order.
            if let Some(position) = events.open.iter().rposition(|open| *open as usize == index) {
                events.open.remove(position);
            }
            let event = events.blocks.get_mut(index / BLOCK).and_then(|block| block.get_mut(index % BLOCK));
            if let Some(event) = event {
                event.end = end;
                // The counters are those of a thread.
                let is_here = call.thread == current_thread();
                event.allocated = if is_here { allocated - event.allocated } else { 0 };
                event.freed = if is_here { freed - event.freed } else { 0 };
            }
        });
        Ok(())
    }
}

/// The name of an event: the string of an operator is created at the end.
pub(super) enum EventName {
    Row(&'static str),
    Text(Box<str>),
}

impl EventName {
    pub(super) fn with<R>(&self, read: impl FnOnce(&str) -> R) -> R {
        match self {
            EventName::Row(name) => read(&qualified(name)),
            EventName::Text(text) => read(text),
        }
    }
}

fn name(call: &Call<'_>) -> EventName {
    match call.name {
        Name::Op(crate::dispatch::Op::BuiltIn(row)) => EventName::Row(row.name()),
        _ => EventName::Text(call.name().into()),
    }
}

/// The shapes and dtypes of the arguments; an argument without a tensor has an entry without a dtype.
fn inputs(values: &[Value]) -> Result<Vec<Input>> {
    let mut inputs = list::with_capacity(values.len())?;
    for (argument, value) in values.iter().enumerate() {
        let is_list = matches!(value, Value::Tensors(_) | Value::List(_) | Value::Tuple(_));
        let of = |tensor: &Tensor| {
            let (sizes, dtype, _) = tensor.shape_and_kind();
            Input { argument: argument as u32, is_list, sizes, dtype: Some(dtype) }
        };
        let before = inputs.len();
        let mut failed = Ok(());
        value.for_each_tensor(|tensor| {
            if failed.is_ok() {
                failed = list::push(&mut inputs, of(tensor));
            }
        });
        failed?;
        if inputs.len() == before {
            list::push(
                &mut inputs,
                Input { argument: argument as u32, is_list, sizes: rushlight_base::DimVec::new(), dtype: None },
            )?;
        }
    }
    Ok(inputs)
}
