//! A finished profile: events with their times, and which of them enclose others.

use super::Options;
use super::session::EventName;
use crate::observe::Scope;
use rushlight_base::{DType, DimVec, Result, err, list};
use std::collections::HashMap;

/// A tensor among the arguments of a call, or an argument without one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// The index of the argument.
    pub argument: u32,
    /// Whether the argument is a list: its tensors have the same index.
    pub is_list: bool,
    /// The sizes of the tensor; empty without one.
    pub sizes: DimVec,
    /// The dtype of the tensor. `None`: the argument has no tensor.
    pub dtype: Option<DType>,
}

/// An event while the profile runs. Its times are in nanoseconds from the start of the profile.
pub(super) struct Recorded {
    pub name: EventName,
    pub scope: Scope,
    /// The event of the same thread that encloses it.
    pub parent: Option<u32>,
    pub depth: u32,
    pub sequence: i64,
    pub forward_thread: u64,
    pub inputs: Vec<Input>,
    /// Counters of the thread at the beginning; at the end, their differences.
    pub allocated: i64,
    pub freed: i64,
    pub start: u64,
    pub end: u64,
}

/// One call of an operator, of a node or of a range.
#[derive(Clone, Debug)]
pub struct Event {
    /// The index of its name in [`Profile::names`].
    pub name: usize,
    /// Its kind.
    pub scope: Scope,
    /// The number of its thread.
    pub thread: u64,
    /// The index of the event that encloses it, on the same thread.
    pub parent: Option<usize>,
    /// How many events enclose it.
    pub depth: u32,
    /// The number that connects an operator with its node; -1: none.
    pub sequence: i64,
    /// For a node: the thread that recorded it; 0 for other events.
    pub forward_thread: u64,
    /// Nanoseconds from the start of the profile.
    pub start: u64,
    /// Nanoseconds from the beginning to the end.
    pub duration: u64,
    /// Nanoseconds less those of the events that it encloses.
    pub self_duration: u64,
    /// Bytes of tensor memory that its thread allocated meanwhile.
    pub allocated: i64,
    /// Bytes that its thread freed meanwhile.
    pub freed: i64,
    /// Bytes allocated less bytes freed, without those of the events that it encloses.
    pub self_bytes: i64,
    /// The tensors among the arguments, if shapes are recorded.
    pub inputs: Vec<Input>,
}

/// What a profile recorded.
pub struct Profile {
    /// What was recorded.
    pub options: Options,
    /// Nanoseconds from start to stop.
    pub duration: u64,
    /// Different names of events.
    pub names: Vec<String>,
    /// All events: thread after thread, those of a thread in the order in which they began.
    pub events: Vec<Event>,
}

impl Profile {
    pub(super) fn new(options: Options, duration: u64, threads: Vec<(u64, Vec<Vec<Recorded>>)>) -> Result<Profile> {
        let mut profile = Profile { options, duration, names: Vec::new(), events: Vec::new() };
        let count = threads.iter().flat_map(|(_, blocks)| blocks).map(Vec::len).sum();
        list::reserve(&mut profile.events, count)?;
        let mut names = Names::default();
        for (thread, blocks) in threads {
            let first = profile.events.len();
            for recorded in blocks.into_iter().flatten() {
                let name = names.index(&recorded.name, &mut profile.names)?;
                profile.add(name, thread, first, recorded);
            }
        }
        Ok(profile)
    }

    fn add(&mut self, name: usize, thread: u64, first: usize, recorded: Recorded) {
        let duration = recorded.end - recorded.start;
        let parent = recorded.parent.map(|parent| first + parent as usize);
        let bytes = recorded.allocated - recorded.freed;
        if let Some(parent) = parent.and_then(|parent| self.events.get_mut(parent)) {
            // A range may end after the one that encloses it.
            parent.self_duration = parent.self_duration.saturating_sub(duration);
            parent.self_bytes -= bytes;
        }
        self.events.push(Event {
            name,
            scope: recorded.scope,
            thread,
            parent,
            depth: recorded.depth,
            sequence: recorded.sequence,
            forward_thread: recorded.forward_thread,
            start: recorded.start,
            duration,
            self_duration: duration,
            allocated: recorded.allocated,
            freed: recorded.freed,
            self_bytes: bytes,
            inputs: recorded.inputs,
        });
    }

    /// The name of an event: `aten::add`, `MulBackward0`, or the name of a range.
    pub fn name(&self, event: &Event) -> &str {
        self.names.get(event.name).map_or("", |name| name)
    }
}

/// The index of each name.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn index(&mut self, name: &EventName, names: &mut Vec<String>) -> Result<usize> {
        name.with(|name| {
            if let Some(index) = self.0.get(name) {
                return Ok(*index);
            }
            let index = names.len();
            self.0.try_reserve(1).map_err(|_| err!(OutOfMemory, "not enough memory for the names of a profile"))?;
            list::push(names, name.to_owned())?;
            self.0.insert(name.to_owned(), index);
            Ok(index)
        })
    }
}

/// The shapes of the arguments, as PyTorch prints them: `[[2, 3], [], [[4], [5]]]`. An argument without a tensor is `[]`.
pub(super) fn format_shapes(inputs: &[Input]) -> String {
    let groups = inputs.chunk_by(|one, other| one.argument == other.argument);
    let of_argument = |group: &[Input]| {
        let shapes: Vec<String> = group.iter().map(|input| rushlight_base::format_sizes(&input.sizes)).collect();
        match group {
            [input] if !input.is_list || input.dtype.is_none() => shapes.concat(),
            _ => format!("[{}]", shapes.join(", ")),
        }
    };
    format!("[{}]", groups.map(of_argument).collect::<Vec<_>>().join(", "))
}
