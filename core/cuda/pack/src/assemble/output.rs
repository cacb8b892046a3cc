//! Reads what `ptxas --verbose` prints about a module.

use anyhow::{Context, Result, ensure};

/// What the assembler reports about a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Bytes of the largest stack frame.
    pub(crate) frame: u32,
    /// Bytes of registers that are spilled: stored or loaded, whichever are more.
    pub(crate) spilled: u32,
    /// Errors and warnings.
    pub(crate) problems: Vec<String>,
}

impl Report {
    /// The report of a run that succeeded or failed.
    pub(crate) fn read(text: &str, succeeded: bool) -> Result<Report> {
        let mut report = Report::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(properties) = line.strip_suffix(" bytes spill loads") {
                let numbers: Vec<u32> = properties.split(' ').filter_map(|word| word.parse().ok()).collect();
                let [frame, stores, loads] = numbers[..] else { anyhow::bail!("cannot read: {line}") };
                report.frame = report.frame.max(frame);
                report.spilled = report.spilled.max(stores).max(loads);
            } else if let Some(used) = line.strip_prefix("ptxas info    : Used ") {
                let number = used.split(' ').next().unwrap_or_default();
                let registers: u32 = number.parse().with_context(|| format!("cannot read: {line}"))?;
                report.registers = report.registers.max(registers);
            } else if !line.starts_with("ptxas info") {
                report.problems.push(line.to_string());
            }
        }
        if !succeeded && report.problems.is_empty() {
            report.problems.push("the assembler failed without a message".to_string());
        }
        ensure!(report.registers > 0 || !report.problems.is_empty(), "the assembler reported no registers: {text}");
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "ptxas info    : 160 bytes gmem, 8 bytes cmem[4]\n\
        ptxas info    : Compiling entry function 'softmax__float64' for 'sm_80'\n\
        ptxas info    : Function properties for softmax__float64\n    48 bytes stack frame, 52 bytes spill stores, 108 bytes spill loads\n\
        ptxas info    : Used 64 registers, used 1 barriers, 48 bytes cumulative stack size, 656 bytes cmem[0]\n\
        ptxas info    : Function properties for exp\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";

    #[test]
    fn registers_frames_and_spills_are_read() {
        let report = Report::read(OUTPUT, true).unwrap();
        assert_eq!(report, Report { registers: 64, frame: 48, spilled: 108, problems: Vec::new() });
    }

    #[test]
    fn every_other_line_is_a_problem() {
        let fatal = "ptxas fatal   : Unresolved extern function 'missing'";
        assert_eq!(Report::read(fatal, false).unwrap().problems, [fatal]);
        let warning =
            format!("ptxas warning : Stack size for entry function cannot be statically determined\n{OUTPUT}");
        assert_eq!(Report::read(&warning, true).unwrap().problems.len(), 1);
        assert_eq!(Report::read("", false).unwrap().problems.len(), 1);
        assert!(Report::read("", true).is_err());
    }
}
