//! Calls that are running, with the observers that were notified of their beginning.

use super::call::{Call, Name, Scope, current_thread, next_id};
use super::registry::{Registered, Silent, observers_of_thread};
use crate::dispatch::Value;
use rushlight_base::runtime::{self, LogLevel};
use rushlight_base::{Error, SmallVec};
use std::sync::Arc;

/// Observers, each with what it returned at the beginning of the call.
type Notified = SmallVec<[(Arc<Registered>, usize); 2]>;

/// A call that is running. Dropping it ends it, also when a panic unwinds.
pub(crate) struct Running<'a> {
    call: Call<'a>,
    observers: Notified,
}

impl<'a> Running<'a> {
    /// Begins a call of this scope. `None` if nothing on this thread observes it.
    pub(crate) fn begin(name: Name<'a>, scope: Scope, describe: impl FnOnce(&mut Call<'a>)) -> Option<Running<'a>> {
        let observers = observers_of_thread(scope);
        if observers.is_empty() {
            return None;
        }
        let mut call = new_call(name, scope);
        describe(&mut call);
        let observers = notify_begin(observers, &call);
        Some(Running { call, observers })
    }

    /// Ends the call with these results.
    pub(crate) fn end_with(mut self, outputs: &'a [Value]) {
        self.call.outputs = outputs;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        notify_end(&self.observers, &self.call);
    }
}

fn new_call(name: Name<'_>, scope: Scope) -> Call<'_> {
    Call {
        name,
        scope,
        sequence: -1,
        thread: current_thread(),
        forward_thread: 0,
        id: next_id(),
        debug_handle: -1,
        inputs: &[],
        outputs: &[],
    }
}

fn notify_begin(observers: SmallVec<[Arc<Registered>; 2]>, call: &Call<'_>) -> Notified {
    let _silent = Silent::enter();
    let begin = |registered: Arc<Registered>| {
        let state = registered.observer().begin(call).unwrap_or_else(|error| {
            warn(&error, call);
            0
        });
        (registered, state)
    };
    observers.into_iter().map(begin).collect()
}

fn notify_end(observers: &Notified, call: &Call<'_>) {
    let _silent = Silent::enter();
    for (registered, state) in observers {
        if let Err(error) = registered.observer().end(call, *state) {
            warn(&error, call);
        }
    }
}

/// An observer must not change the outcome of a call: its errors go to the log, as in PyTorch.
#[cold]
fn warn(error: &Error, call: &Call<'_>) {
    runtime::log(LogLevel::Warning, || {
        format!("Exception in RecordFunction callback: {}, for the range {}", error.message(), call.name())
    });
}

/// A range of the program that is running. It owns its name and inputs, and may end on another thread. Dropping it ends it.
pub struct Range {
    name: String,
    inputs: Vec<Value>,
    outputs: Vec<Value>,
    /// The call without what the range owns.
    call: Call<'static>,
    observers: Notified,
}

/// What describes a range besides its scope.
#[derive(Default)]
pub struct Described {
    /// The name.
    pub name: String,
    /// The arguments.
    pub inputs: Vec<Value>,
    /// The sequence number; `None`: there is none.
    pub sequence: Option<i64>,
    /// For a node of backward: the thread that recorded it.
    pub forward_thread: u64,
    /// A number of the program's; `None`: -1.
    pub debug_handle: Option<i64>,
}

/// Begins a range. `None` if nothing on this thread observes such a range.
pub fn begin(scope: Scope, described: Described) -> Option<Range> {
    let observers = observers_of_thread(scope);
    if observers.is_empty() {
        return None;
    }
    let call = Call {
        sequence: described.sequence.unwrap_or(-1),
        forward_thread: described.forward_thread,
        debug_handle: described.debug_handle.unwrap_or(-1),
        ..new_call(Name::Text(""), scope)
    };
    let Described { name, inputs, .. } = described;
    let mut range = Range { name, inputs, outputs: Vec::new(), call, observers: Notified::new() };
    range.observers = notify_begin(observers, &range.call());
    Some(range)
}

impl Range {
    /// The results that observers see at the end.
    pub fn set_outputs(&mut self, outputs: Vec<Value>) {
        self.outputs = outputs;
    }

    fn call(&self) -> Call<'_> {
        Call { name: Name::Text(&self.name), inputs: &self.inputs, outputs: &self.outputs, ..self.call }
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        notify_end(&self.observers, &self.call());
    }
}
