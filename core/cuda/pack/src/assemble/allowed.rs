//! The kernels that may use local memory (`local_memory.txt`).

use crate::modules::Module;
use crate::output::Report;
use anyhow::{Context, Result, bail, ensure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Frame,
    Spill,
}

#[derive(Debug)]
enum Kernels {
    /// Those whose name `file.kernel` starts so.
    Prefix(String),
    /// Those whose module has a function with this name in its own.
    Calls(String),
}

#[derive(Debug)]
struct Line {
    kind: Kind,
    kernels: Kernels,
    most: u32,
    text: String,
    is_needed: bool,
}

impl Line {
    fn parse(text: &str) -> Result<Line> {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        let [kind, kernels, most, reason] = words[..] else { bail!("a line has four columns: {text}") };
        let kind = match kind {
            "frame" => Kind::Frame,
            "spill" => Kind::Spill,
            other => bail!("'{other}' is neither frame nor spill: {text}"),
        };
        ensure!(!reason.trim().is_empty(), "a line without a reason: {text}");
        let kernels = match kernels.strip_prefix("calls:") {
            Some(function) => Kernels::Calls(function.to_string()),
            None => Kernels::Prefix(kernels.to_string()),
        };
        let most = most.parse().with_context(|| format!("no number of bytes: {text}"))?;
        Ok(Line { kind, kernels, most, text: text.to_string(), is_needed: false })
    }

    fn is_about(&self, module: &Module) -> bool {
        match &self.kernels {
            Kernels::Prefix(start) => module.name().starts_with(start),
            Kernels::Calls(function) => module.text.contains(function),
        }
    }
}

/// The list.
pub(crate) struct Allowed(Vec<Line>);

impl Allowed {
    /// Reads it. Lines that start with `#` are comments.
    pub(crate) fn parse(text: &str) -> Result<Allowed> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(Allowed(lines.map(Line::parse).collect::<Result<_>>()?))
    }

    /// What the list does not explain of a module's report. A frame of a kernel that spills holds the registers.
    pub(crate) fn check(&mut self, module: &Module, report: &Report) -> Option<String> {
        let (kind, bytes, what) = match report {
            Report { spilled: 0, frame: 0, .. } => return None,
            Report { spilled: 0, frame, .. } => (Kind::Frame, *frame, "of a stack frame"),
            Report { spilled, .. } => (Kind::Spill, *spilled, "of spilled registers"),
        };
        let mut most = None;
        for line in self.0.iter_mut().filter(|line| line.kind == kind && line.is_about(module)) {
            line.is_needed = true;
            most = most.max(Some(line.most));
        }
        match most {
            Some(most) if bytes <= most => None,
            Some(most) => Some(format!("{bytes} bytes {what}, and local_memory.txt allows {most}")),
            None => Some(format!("{bytes} bytes {what}, and local_memory.txt does not list the kernel")),
        }
    }

    /// Descriptions of the lines that no module needed.
    pub(crate) fn unneeded(&self) -> impl Iterator<Item = String> {
        let lines = self.0.iter().filter(|line| !line.is_needed);
        lines.map(|line| format!("local_memory.txt: no kernel needs this line: {}", line.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::Arch;

    fn module(kernel: &str, text: &str) -> Module {
        let target = Arch::parse("70").unwrap();
        Module { file: "rows".into(), kernel: kernel.into(), target, text: text.into() }
    }

    fn report(frame: u32, spilled: u32) -> Report {
        Report { registers: 1, frame, spilled, problems: Vec::new() }
    }

    #[test]
    fn local_memory_that_is_not_listed_is_a_problem() {
        let mut list =
            Allowed::parse("# comment\nspill rows.softmax__ 8 few registers\nframe calls:sine 16 a table\n").unwrap();
        assert_eq!(list.check(&module("softmax__float32", ""), &report(0, 0)), None);
        assert_eq!(list.unneeded().count(), 2);
        assert_eq!(list.check(&module("softmax__float32", ""), &report(8, 8)), None);
        assert_eq!(list.check(&module("tan__float32", "call sine, ("), &report(16, 0)), None);
        assert_eq!(list.unneeded().count(), 0);
        let of = |list: &mut Allowed, kernel: &str, report| list.check(&module(kernel, ""), &report).unwrap();
        assert!(
            of(&mut list, "softmax__float32", report(8, 12))
                .contains("12 bytes of spilled registers, and local_memory.txt allows 8")
        );
        assert!(of(&mut list, "softmax__float32", report(8, 0)).contains("does not list the kernel"));
        assert!(of(&mut list, "tan__float32", report(16, 0)).contains("16 bytes of a stack frame"));
    }

    #[test]
    fn a_line_needs_a_kind_a_number_and_a_reason() {
        for text in ["spill rows 8", "stack rows 8 reason", "spill rows many reason", "spill rows 8  "] {
            assert!(Allowed::parse(text).is_err(), "{text}");
        }
    }
}
