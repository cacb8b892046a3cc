//! Errors of programs: the call stack in PyTorch's words, and exceptions that a program raised.

use super::function::Linker;
use crate::graph::Location;
use crate::source::Span;
use rushlight_base::{Error, ErrorKind};
use std::fmt::Write;
use std::sync::Arc;

/// An exception that a program raised, as the payload of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The class, such as `builtins.ValueError`.
    pub class: Option<String>,
    /// The message, without the call stack.
    pub message: String,
}

impl Exception {
    pub(super) fn into_error(self) -> Error {
        Error::new(ErrorKind::Runtime, self.message.clone()).carrying(Some(Arc::new(self)))
    }
}

/// A function that was running.
pub(super) struct Frame<'a> {
    pub(super) function: &'a str,
    pub(super) location: Option<&'a Location>,
}

/// Frames that a message shows at each end of a deep stack.
const SHOWN: usize = 50;

const TITLE: &str = "The following operation failed in the TorchScript interpreter.\n";

/// The error with the call stack, outermost function first. An error that has one already, such as that of a future, and
/// a cancelled run are unchanged.
#[cold]
pub(super) fn failure(error: Error, frames: &[Frame<'_>], linker: &dyn Linker) -> Error {
    if error.kind() == ErrorKind::Cancelled || error.message().starts_with(TITLE) {
        return error;
    }
    let mut text = format!("{TITLE}Traceback of TorchScript (most recent call last):\n");
    for (index, frame) in frames.iter().enumerate() {
        if index >= SHOWN && index + SHOWN < frames.len() {
            if index == SHOWN {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "  [{} more calls]", frames.len() - 2 * SHOWN);
            }
            continue;
        }
        if let Some(location) = frame.location {
            describe(frame.function, location, linker, &mut text);
        }
    }
    let exception = error.payload().and_then(|payload| payload.downcast_ref::<Exception>()).cloned();
    let class = match &exception {
        Some(Exception { class: Some(class), .. }) => class.as_str(),
        _ => "RuntimeError",
    };
    let _ = writeln!(text, "{class}: {}", error.message());
    let kind = match error.kind() {
        kept @ (ErrorKind::NotImplemented
        | ErrorKind::OutOfMemory
        | ErrorKind::Callback
        | ErrorKind::Internal
        | ErrorKind::UnknownOperator) => kept,
        _ => ErrorKind::Runtime,
    };
    let payload = error.payload().cloned();
    let message = error.message().to_owned();
    let payload = payload.or_else(|| Some(Arc::new(Exception { class: None, message })));
    error.notes().iter().fold(Error::new(kind, text).carrying(payload), |error, note| error.with_note(note))
}

/// File, line and function, with the excerpt if the source is known.
fn describe(function: &str, location: &Location, linker: &dyn Linker, text: &mut String) {
    let heading = format!("  File \"{}\", line {}, in {function}\n", location.file, location.line);
    text.push_str(&heading);
    let Some(source) = linker.source(&location.file) else { return };
    let Some(span) = span_of(source.text(), location) else { return };
    let excerpt = source.excerpt(span);
    // The excerpt begins with a heading of its own, without the function.
    text.push_str(excerpt.split_once('\n').map_or("", |(_, lines)| lines));
}

/// The rest of the line from the location on.
fn span_of(text: &str, location: &Location) -> Option<Span> {
    let mut start = 0;
    for line in text.split_inclusive('\n').take(location.line.checked_sub(1)?) {
        start += line.len();
    }
    let line = text.get(start..)?.lines().next()?;
    let from = line.char_indices().nth(location.column).map_or(line.len(), |(at, _)| at);
    let end = start + line.trim_end().len().max(from);
    Some(Span { start: u32::try_from(start + from).ok()?, end: u32::try_from(end).ok()? })
}
