//! Source code with its name, ranges in it, and errors that show the excerpt they are about.

use rushlight_base::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

/// A range of bytes of a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    pub(crate) fn bytes(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How many lines before and after the marked ones an error shows.
const CONTEXT: usize = 2;

/// Longest excerpt of one line in an error, in characters.
const LONGEST_LINE: usize = 400;

/// The text of a file or of a string, with the name that errors show.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    first_line: usize,
}

impl Source {
    /// Source code with the name of its file (PyTorch calls strings `<string>`).
    pub fn new(name: &str, text: &str) -> Result<Source> {
        Source::at_line(name, text, 1)
    }

    /// Source code whose first line is line `first_line` of the file.
    pub fn at_line(name: &str, text: &str, first_line: usize) -> Result<Source> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::new(ErrorKind::Runtime, format!("the source code {name} exceeds 4 GiB")));
        }
        Ok(Source { name: name.into(), text: text.into(), first_line })
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a range; empty if the range does not fit this source.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.bytes()).unwrap_or("")
    }

    /// Line (as an editor counts it) and column (from 0, in characters) of an offset.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let head = self.before(offset);
        let line_start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let column = head.get(line_start..).unwrap_or("").chars().count();
        (self.first_line + head.matches('\n').count(), column)
    }

    /// The text before an offset, which is moved to the start of its character.
    fn before(&self, offset: u32) -> &str {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        self.text.get(..offset).unwrap_or("")
    }

    /// The excerpt around `span`, as PyTorch shows it: file, line, and the marked range.
    pub fn excerpt(&self, span: Span) -> String {
        let start = self.before(span.start).len();
        let end = self.before(span.end).len().max(start);
        let (line, _) = self.position(span.start);
        let mut out = format!("  File \"{}\", line {line}\n", self.name);
        let lines = self.lines();
        let last_line = lines.len().saturating_sub(1);
        let first = lines.partition_point(|range| range.end < start).min(last_line);
        // A range that ends with a newline does not mark the line after it.
        let end_line = lines.partition_point(|range| range.end < end.saturating_sub(1));
        let last = end_line.min(last_line).max(first);
        let shown = lines.len().min(last.saturating_add(CONTEXT + 1));
        for (index, range) in lines.iter().enumerate().take(shown).skip(first.saturating_sub(CONTEXT)) {
            let text = self.text.get(range.clone()).unwrap_or("");
            out.extend(text.chars().take(LONGEST_LINE));
            out.push('\n');
            if (first..=last).contains(&index) {
                let indent = text.len() - text.trim_start().len();
                let skipped = if index == first { 0 } else { indent };
                let from = start.saturating_sub(range.start).max(skipped).min(text.len());
                let to = end.min(range.end).saturating_sub(range.start);
                let marked = text.get(from..to).map_or(0, |marked| marked.chars().count());
                let column = text.get(..from).map_or(0, |head| head.chars().count());
                if column + marked <= LONGEST_LINE {
                    out.extend(std::iter::repeat_n(' ', column));
                    out.extend(std::iter::repeat_n('~', marked.max(1)));
                    out.push_str(if index == last { " <--- HERE\n" } else { "\n" });
                }
            }
        }
        out
    }

    /// The range of each line, without its newline.
    fn lines(&self) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let mut start = 0;
        for (newline, _) in self.text.match_indices('\n') {
            lines.push(start..newline);
            start = newline + 1;
        }
        if start < self.text.len() || lines.is_empty() {
            lines.push(start..self.text.len());
        }
        lines
    }

    /// An error about `span`: the message, then the excerpt.
    #[cold]
    pub fn error(&self, span: Span, message: impl AsRef<str>) -> Error {
        Error::new(ErrorKind::Runtime, format!("{}:\n{}", message.as_ref(), self.excerpt(span)))
    }
}
