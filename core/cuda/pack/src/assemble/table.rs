//! The summary of a run: a line for each architecture, and one for each file of kernels.

use crate::modules::{Arch, Module};
use crate::output::Report;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
struct Row {
    /// Modules that were assembled.
    modules: usize,
    /// The most registers, and the kernel that has them.
    registers: (u32, String),
    frames: usize,
    spills: usize,
    problems: usize,
}

impl Row {
    fn add(&mut self, module: &Module, report: &Report) {
        self.modules += 1;
        if report.registers > self.registers.0 {
            self.registers = (report.registers, module.name());
        }
        self.frames += usize::from(report.frame > 0 && report.spilled == 0);
        self.spills += usize::from(report.spilled > 0);
        self.problems += usize::from(!report.problems.is_empty());
    }
}

/// Both tables.
pub(crate) fn summary(pairs: &[(&Module, &Arch)], reports: &[Report]) -> String {
    let (mut archs, mut files): (Vec<(String, Row)>, BTreeMap<&str, Row>) = Default::default();
    for ((module, arch), report) in pairs.iter().zip(reports) {
        let name = arch.to_string();
        if archs.last().is_none_or(|(last, _)| *last != name) {
            archs.push((name, Row::default()));
        }
        if let Some((_, row)) = archs.last_mut() {
            row.add(module, report);
        }
        files.entry(&module.file).or_default().add(module, report);
    }
    let mut text = String::new();
    rows(&mut text, "architecture", archs.iter().map(|(name, row)| (name.as_str(), row)));
    rows(&mut text, "file", files.iter().map(|(name, row)| (*name, row)));
    text
}

fn rows<'a>(text: &mut String, title: &str, rows: impl Iterator<Item = (&'a str, &'a Row)>) {
    let _ =
        writeln!(text, "{title:13} {:>9} {:>7} {:>7} {:>7}  most registers", "assembled", "failed", "frames", "spills");
    for (name, row) in rows {
        let Row { modules, registers: (registers, kernel), frames, spills, problems } = row;
        let _ = writeln!(text, "{name:13} {modules:9} {problems:7} {frames:7} {spills:7}  {registers} ({kernel})");
    }
}
