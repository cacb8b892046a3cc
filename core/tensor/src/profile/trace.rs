//! A profile as a trace in Chrome's format, which `chrome://tracing` and Perfetto show.

use super::events::{Event, Profile};
use crate::observe::Scope;
use rushlight_base::{DType, Result, err, list};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

impl Profile {
    /// Writes the trace: a complete event for each call, and an arrow from each recorded operator to its node. Times are in
    /// microseconds.
    pub fn write_chrome_trace(&self, out: &mut dyn Write) -> Result<()> {
        let mut trace = Trace { out, first: true, process: std::process::id() };
        write!(trace.out, "{{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        trace.put(
            &json!({"ph": "M", "pid": trace.process, "tid": 0, "name": "process_name", "args": {"name": "rushlight"}}),
        )?;
        let mut threads = list::collect(self.events.iter().map(|event| event.thread))?;
        threads.dedup();
        for thread in threads {
            let name = format!("thread {thread}");
            trace.put(
                &json!({"ph": "M", "pid": trace.process, "tid": thread, "name": "thread_name", "args": {"name": name}}),
            )?;
        }
        for event in &self.events {
            trace.put(&self.complete_event(event, trace.process))?;
        }
        self.write_arrows(&mut trace)?;
        write!(trace.out, "\n]}}\n")?;
        Ok(trace.out.flush()?)
    }

    /// Writes the trace to a file.
    pub fn save_chrome_trace(&self, path: &Path) -> Result<()> {
        let name = path.display();
        let file = File::create(path).map_err(|error| err!(Io, "{name}: {error}"))?;
        self.write_chrome_trace(&mut BufWriter::new(file)).map_err(|error| error.context(name.to_string()))
    }

    /// The trace in memory.
    pub fn chrome_trace(&self) -> Result<Vec<u8>> {
        let mut bytes = Bytes(Vec::new());
        match self.write_chrome_trace(&mut bytes) {
            Ok(()) => Ok(bytes.0),
            Err(_) => Err(err!(OutOfMemory, "not enough memory for a trace of {} events", self.events.len())),
        }
    }

    fn complete_event(&self, event: &Event, process: u32) -> Value {
        let mut args = serde_json::Map::new();
        if event.sequence >= 0 {
            args.insert("Sequence number".into(), event.sequence.into());
        }
        if event.forward_thread != 0 {
            args.insert("Fwd thread id".into(), event.forward_thread.into());
        }
        if self.options.shapes && event.scope != Scope::User {
            let groups = || event.inputs.chunk_by(|one, other| one.argument == other.argument);
            let dims = |group: &[super::Input]| match group {
                [input] if !input.is_list || input.dtype.is_none() => json!(input.sizes.as_slice()),
                _ => group.iter().map(|input| input.sizes.as_slice()).collect(),
            };
            args.insert("Input Dims".into(), groups().map(dims).collect());
            let dtype = |group: &[super::Input]| group[0].dtype.map_or("", DType::c10_name);
            args.insert("Input type".into(), groups().map(dtype).collect());
        }
        if self.options.memory {
            args.insert("Bytes allocated".into(), event.allocated.into());
            args.insert("Bytes freed".into(), event.freed.into());
        }
        json!({
            "ph": "X", "cat": category(event.scope), "name": self.name(event), "pid": process, "tid": event.thread,
            "ts": microseconds(event.start), "dur": microseconds(event.duration), "args": args,
        })
    }

    /// Arrows from the innermost operator with a sequence number to the node that has the same one.
    fn write_arrows(&self, trace: &mut Trace<'_>) -> Result<()> {
        let mut forward = HashMap::new();
        for event in self.events.iter().filter(|event| event.scope == Scope::Function && event.forward_thread == 0) {
            if event.sequence >= 0 {
                forward.insert((event.thread, event.sequence), event);
            }
        }
        let nodes = self.events.iter().filter(|event| event.scope == Scope::BackwardFunction);
        for (id, node) in nodes.enumerate() {
            let Some(from) = forward.get(&(node.forward_thread, node.sequence)) else { continue };
            for (phase, event) in [("s", *from), ("f", node)] {
                trace.put(&json!({
                    "ph": phase, "bp": "e", "id": id, "cat": "fwdbwd", "name": "fwdbwd", "pid": trace.process,
                    "tid": event.thread, "ts": microseconds(event.start),
                }))?;
            }
        }
        Ok(())
    }
}

fn category(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "user_annotation",
        _ => "cpu_op",
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// The list of events that is being written.
struct Trace<'a> {
    out: &'a mut dyn Write,
    first: bool,
    process: u32,
}

impl Trace<'_> {
    fn put(&mut self, event: &Value) -> Result<()> {
        let before = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        self.out.write_all(before.as_bytes())?;
        Ok(serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)?)
    }
}

/// Bytes in memory; running out of it is an error.
struct Bytes(Vec<u8>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
